"""What a listing shows of a session, and the rule by which it gets its title."""

from collections.abc import Sequence

from msgspec import Struct

from recollect.records.envelope import Chain
from recollect.session.facts import Facts
from recollect.session.live_process import LiveProcess
from recollect.session.log import Log
from recollect.session.messages import Message
from recollect.session.prompts import PERSON_KINDS, InputKind
from recollect.session.times import find_range

# What 1.0.x wrote as a title when the request for one failed.
_NO_TITLES = ("API Error", "Invalid API key")


class Origins(Struct, frozen=True, kw_only=True):
    """Where a session's records come from: what records cannot say of themselves.

    `foreign_summaries` are titles that other files of the project give, by the uuid of the record
    that they name.
    """

    id: str | None = None
    project: str | None = None
    path: str | None = None
    size: int | None = None
    modified: float | None = None
    agent_id: str | None = None
    foreign_summaries: dict[str, str] = {}
    live: LiveProcess | None = None


class Metadata(Struct, frozen=True, kw_only=True):
    """The head data of a session."""

    id: str
    project: str | None
    cwd: str | None
    title: str | None
    first_prompt: str | None
    first_prompt_time: str | None
    created: str | None
    last_active: str | None
    modified: float | None
    """When the file was last written, in seconds since 1970."""
    message_count: int
    """Prompts of a person, and distinct replies."""
    is_subagent: bool
    agent_id: str | None
    path: str | None
    size: int | None
    version: str | None
    git_branch: str | None
    tag: str | None
    live: LiveProcess | None


def build_metadata(
    origins: Origins, log: Log, messages: Sequence[Message], facts: Facts
) -> Metadata:
    """The head data of a session."""
    prompts = [m for m in messages if m.prompt and m.prompt.kind in PERSON_KINDS]
    first = find_first_prompt(messages, is_subagent=bool(log.starts_in_sidechain))
    created, last_active = find_range(link.timestamp for link in log.chain)
    replies = sum(m.role == "assistant" and not m.is_synthetic for m in messages)
    return Metadata(
        id=origins.id or (facts.session_ids[-1] if facts.session_ids else ""),
        project=origins.project,
        cwd=facts.cwds[-1].value if facts.cwds else None,
        title=choose_title(facts, _summary_of(origins, facts, log.chain), first_words(first)),
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


def find_first_prompt(messages: Sequence[Message], *, is_subagent: bool) -> Message | None:
    """The first message with words that somebody wrote; a command only if there is no other."""
    asked = PERSON_KINDS | {InputKind.SUBAGENT_TASK} if is_subagent else PERSON_KINDS
    commands = {InputKind.COMMAND, InputKind.SHELL}
    candidates = [m for m in messages if m.prompt and m.prompt.kind in asked]
    worded = [m for m in candidates if m.prompt and m.prompt.kind not in commands and _words(m)]
    return next(iter(worded or candidates), None)


def first_words(message: Message | None) -> str | None:
    """The words of a prompt; for a command, the command line."""
    return _words(message) or None if message else None


def _words(message: Message) -> str:
    prompt = message.prompt
    if prompt is None:
        return ""
    if prompt.command is not None:
        return f"{prompt.command.name} {prompt.command.arguments}".strip()
    return prompt.words


def choose_title(facts: Facts, summary: str | None, first_prompt: str | None) -> str | None:
    """What the person said, then what a model said, then a summary, then the prompts."""
    candidates = (facts.custom_title, facts.ai_title, summary, facts.last_prompt, first_prompt)
    return next((title for title in candidates if title), None)


def _summary_of(origins: Origins, facts: Facts, chain: Sequence[Chain]) -> str | None:
    """The summary that names a record of this session, from whatever file."""
    known = {**origins.foreign_summaries, **dict(facts.own_summaries)}
    if not known:
        return None
    named = [known[link.uuid] for link in chain if link.uuid in known]
    return next((text for text in reversed(named) if not text.startswith(_NO_TITLES)), None)


def _agent_id(chain: Sequence[Chain]) -> str | None:
    return next((link.agent_id for link in chain if link.agent_id), None)
