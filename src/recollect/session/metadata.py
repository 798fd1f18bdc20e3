"""What listings show of a session: title, metadata and figures.

Tokens are counted once per message, by its largest usage; lines that the client made up count
nothing. A subagent's figures are those of its own session, never part of its parent's.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, structs

from recollect.documents.kinds import InputKind, ToolStatus
from recollect.documents.session_listing import LiveProcess, Metadata
from recollect.records import blocks, conversation_records, envelope, state, token_usage
from recollect.session import record_texts, session_records, times
from recollect.session.facts import Facts, build_facts
from recollect.session.messages import Message, build_messages
from recollect.session.prompts import USER_KINDS, Prompt, is_own_words

if TYPE_CHECKING:
    # The types of all tools, which a list of sessions does without.
    from recollect.session.tool_calls import ToolCall
    from recollect.session.turns import Turn

# What 1.0.x wrote as a title if the request for one failed.
_NO_TITLES = ("API Error", "Invalid API key")

_CLIENT_COMMANDS = frozenset(
    "/add-dir /cd /clear /color /compact /config /effort /export /fast /hooks /ide /login /mcp "
    "/memory /model /output-style /permissions /plugin /rename /resume /statusline /tag /theme "
    "/vim".split()
)
"""Commands whose arguments are settings and names, which no model reads."""


_MAX_ANSWER = 120
"""Characters of a reply in a title."""


class Provenance(Struct, frozen=True, kw_only=True):
    """Where a session's records come from: what records cannot say of themselves.

    `foreign_summaries` are titles in other files of the project, by the uuid of the record that
    they name.
    """

    id: str | None = None
    project: str | None = None
    path: str | None = None
    size: int | None = None
    modified: float | None = None
    agent_id: str | None = None
    foreign_summaries: dict[str, str] = {}
    live: LiveProcess | None = None


def build_metadata(
    origins: Provenance, log: session_records.Log, messages: Sequence[Message], facts: Facts
) -> Metadata:
    """Return the metadata of a session."""
    prompts = [m for m in messages if m.prompt and m.prompt.kind in USER_KINDS]
    first = find_first_prompt(messages, is_subagent=bool(log.starts_in_sidechain))
    created, last_active = times.find_range(link.timestamp for link in log.chain)
    replies = sum(m.role == "assistant" and not m.is_synthetic for m in messages)
    return Metadata(
        id=origins.id or (facts.session_ids[-1] if facts.session_ids else ""),
        project=origins.project,
        cwd=facts.cwds[-1].value if facts.cwds else None,
        title=choose_title(facts, _summary_of(origins, facts, log.chain), _opening(first, log)),
        first_prompt=first_words(first),
        first_prompt_time=first.timestamp if first else None,
        created=created,
        last_active=last_active,
        modified=origins.modified,
        message_count=len(prompts) + replies,
        is_subagent=bool(log.starts_in_sidechain),
        agent_id=origins.agent_id or _agent_id(log.chain),
        path=origins.path,
        size=origins.size,
        version=facts.versions[-1].value if facts.versions else None,
        git_branch=facts.git_branches[-1].value if facts.git_branches else None,
        tag=facts.tag,
        live=origins.live,
    )


class LogSummary(NamedTuple):
    """What a list shows of a session whose records are in a log, perhaps not all of them."""

    metadata: Metadata
    facts: Facts
    last_active: float | None
    """The time of the newest record, in seconds since 1970."""
    duration_ms: float | None


def summarize_log(
    origins: Provenance,
    log: session_records.Log,
    first_prompt: Message | None,
    *,
    is_whole: bool,
) -> LogSummary:
    """Return what a list shows; of a log that is not whole, `first_prompt` is the only message."""
    if is_whole:
        known = session_records.read_conversation(log)
        is_subagent = bool(log.starts_in_sidechain)
        messages = build_messages(known.chain, known.superseded, is_subagent=is_subagent)
    else:
        messages = (first_prompt,) if first_prompt else ()
    facts = build_facts(log.chain, log.states)
    metadata = build_metadata(origins, log, messages, facts)
    newest = times.parse_time(metadata.last_active)
    return LogSummary(
        metadata,
        facts,
        newest.timestamp() if newest else None,
        times.milliseconds_between(metadata.created, metadata.last_active),
    )


def find_first_prompt(messages: Sequence[Message], *, is_subagent: bool) -> Message | None:
    """Return the first request of the user; if there is none, the first command or image."""
    asked = USER_KINDS | {InputKind.SUBAGENT_TASK} if is_subagent else USER_KINDS
    candidates = [m for m in messages if m.prompt and m.prompt.kind in asked]
    requests = (m for m in candidates if m.prompt and is_request(m.prompt))
    return next(requests, candidates[0] if candidates else None)


def is_request(prompt: Prompt) -> bool:
    """Return whether a prompt asks a model for something in words, such as `/review 12`.

    A command without arguments, one that only configures the client, and a shell line do not.
    """
    if prompt.command is not None:
        return bool(prompt.command.arguments) and prompt.command.name not in _CLIENT_COMMANDS
    return bool(prompt.words) and prompt.kind is not InputKind.SHELL


def first_words(message: Message | None) -> str | None:
    """Return the text of a prompt; for a command, the command line."""
    return _words(message) or None if message else None


def _opening(message: Message | None, log: session_records.Log) -> str | None:
    """Return what a session began with; a bare command is followed by what it was answered."""
    words = first_words(message)
    prompt = message.prompt if message else None
    if words is None or prompt is None or prompt.command is None or prompt.command.arguments:
        return words
    if prompt.command.name in _CLIENT_COMMANDS:
        return words
    answer = next(_iter_answers(log.chain), "")
    return f"{words}: {answer}" if answer else words


def _iter_answers(chain: Iterable[envelope.Chain]) -> Iterator[str]:
    """Yield how each reply begins: its first line with letters, without marks of a heading."""
    for link in chain:
        message = link.message if isinstance(link, conversation_records.Assistant) else None
        if message is None or message.model == conversation_records.SYNTHETIC_MODEL:
            continue
        for block in record_texts.list_blocks(message.content):
            if isinstance(block, blocks.Text):
                lines = (line.strip(" \t#*>-") for line in (block.text or "").splitlines())
                yield from (line[:_MAX_ANSWER] for line in lines if line)


def _words(message: Message) -> str:
    prompt = message.prompt
    if prompt is None:
        return ""
    if prompt.command is not None:
        return f"{prompt.command.name} {prompt.command.arguments}".strip()
    return prompt.words


def choose_title(facts: Facts, summary: str | None, first_prompt: str | None) -> str | None:
    """Return the user's title, or else a model's, a summary, or the first prompt."""
    last = facts.last_prompt if facts.last_prompt and is_own_words(facts.last_prompt) else None
    candidates = (facts.custom_title, facts.ai_title, summary, last, first_prompt)
    return next((title for title in candidates if title), None)


def _summary_of(origins: Provenance, facts: Facts, chain: Sequence[envelope.Chain]) -> str | None:
    """Return the summary of a record of this session, from any file."""
    known = {**origins.foreign_summaries, **dict(facts.own_summaries)}
    if not known:
        return None
    named = [known[link.uuid] for link in chain if link.uuid in known]
    return next((text for text in reversed(named) if not text.startswith(_NO_TITLES)), None)


def _agent_id(chain: Sequence[envelope.Chain]) -> str | None:
    return next((link.agent_id for link in chain if link.agent_id), None)


PriceList = Callable[[Sequence[Message]], int | None]
"""Messages → their total cost in micro-dollars; None if it is not known.

A session is given its prices: records alone do not say what a token costs.
"""


class Metrics(Struct, frozen=True, kw_only=True):
    """The figures of a session."""

    tokens: token_usage.Tokens
    """Its own tokens: those copied from another session count there."""
    start: str | None
    end: str | None
    duration_ms: float | None
    active_ms: float
    turns: int
    person_turns: int
    replies: int
    tool_calls: int
    tool_calls_by_name: dict[str, int]
    tool_calls_by_status: dict[str, int]
    errors: int
    """Failed tool calls and API failures."""
    lines_added: int
    lines_removed: int
    cost_state: state.CostState | None
    """Claude Code's own last figure for the cost, including the sessions it descends from."""
    copied_tokens: token_usage.Tokens = token_usage.Tokens()
    """Tokens of replies copied from another session, by a fork or an old resume."""
    list_price_usd: float | None = None
    """Cost of its own replies at the list prices of their days; None if a price is not known."""
    client_cost_usd: float | None = None
    """Cost that a client up to 1.0.2x recorded for its own replies (`costUSD`); None if none."""
    client_priced: int = 0
    """Replies without token counts: their cost is only known from the client."""


def count_tokens(usages: Iterable[token_usage.Usage]) -> token_usage.Tokens:
    """Return the sum of `usages`."""
    return token_usage.sum_tokens(map(token_usage.split_usage, usages))


def build_metrics(
    chain: Iterable[envelope.Chain],
    messages: Sequence[Message],
    turns: "tuple[Turn, ...]",
    tool_calls: "tuple[ToolCall, ...]",
    lines: tuple[int, int],
    cost_state: state.CostState | None,
) -> Metrics:
    """Return the figures of a session from its views; `lines` are those added and removed."""
    replies = [m for m in messages if m.role == "assistant" and not m.is_synthetic]
    failures = sum(message.failure is not None for message in messages)
    usages = [message.usage for message in replies if message.usage]
    statuses = Counter(call.status for call in tool_calls)
    start, end = times.find_range(link.timestamp for link in chain)
    return Metrics(
        tokens=count_tokens(usages),
        start=start,
        end=end,
        duration_ms=times.milliseconds_between(start, end),
        active_ms=sum(turn.active_ms or 0 for turn in turns),
        turns=len(turns),
        person_turns=sum(turn.is_by_person for turn in turns),
        replies=len(replies),
        tool_calls=len(tool_calls),
        tool_calls_by_name=dict(sorted(Counter(call.name for call in tool_calls).items())),
        tool_calls_by_status={status.value: statuses[status] for status in ToolStatus},
        errors=statuses[ToolStatus.FAILED] + failures,
        lines_added=lines[0],
        lines_removed=lines[1],
        cost_state=cost_state,
    )


def separate_copies(
    metrics: Metrics, messages: Iterable[Message], copied: Collection[str]
) -> Metrics:
    """Return the figures with the tokens of the replies in `copied` kept apart."""
    usages = [m.usage for m in messages if m.id in copied and m.usage]
    if not usages:
        return metrics
    apart = count_tokens(usages)
    counts = zip(structs.astuple(metrics.tokens), structs.astuple(apart), strict=True)
    own = token_usage.Tokens(*(whole - part for whole, part in counts))
    return structs.replace(metrics, tokens=own, copied_tokens=apart)


def add_recorded_costs(metrics: Metrics, own: Iterable[Message]) -> Metrics:
    """The figures with the costs that a client noted on the session's own replies."""
    noted = [
        (message, cost) for message in own if (cost := find_recorded_cost(message)) is not None
    ]
    if not noted:
        return metrics
    missing = sum(1 for message, _ in noted if not (message.usage and message.usage.total_tokens))
    total = sum(cost for _, cost in noted)
    return structs.replace(metrics, client_cost_usd=total, client_priced=missing)


def find_recorded_cost(message: Message) -> float | None:
    """The largest cost that a client noted on its lines; None if there is none."""
    lines = (
        record for record in message.records if isinstance(record, conversation_records.Assistant)
    )
    return max((line.cost_usd for line in lines if line.cost_usd is not None), default=None)
