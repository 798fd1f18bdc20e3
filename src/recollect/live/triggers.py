"""Triggers of `follow`: an error, a permission request, a query match or a cost limit.

Decides when a trigger fires in a stream of events; acting on it is up to the caller. Records that
existed before, or that are repeated after a reset, do not fire any; only a cost limit counts from
the first event on, each message once and with its largest usage. A query has the language and the
texts of `search` and is matched without an index: one text of the record must match all of it.
Matches inside longer words, which a search falls back to when it finds too little, are left out.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Final

from msgspec import Struct, structs

from recollect.documents.kinds import StatusKind, TextKind
from recollect.errors import UsageError
from recollect.live import live_events
from recollect.locations import TranscriptKind, encode_project_path
from recollect.pricing import Prices
from recollect.quantities import MICRO, format_dollars
from recollect.records import attachments, conversation_records, envelope, state
from recollect.search import parse_query, query_tree
from recollect.search.query_plan import ROLES, is_tool
from recollect.search.regexes import check_regexes, compile_regex
from recollect.search.snippets import find_spans
from recollect.session.record_texts import iter_tool_uses
from recollect.session.searchable_texts import SearchableText, list_searchable_texts
from recollect.session.times import parse_time

_KINDS: Final[Mapping[str, tuple[TextKind, ...]]] = {
    "command": (TextKind.COMMAND,),
    "prompt": (TextKind.PROMPT, TextKind.COMMAND),
    "summary": (TextKind.SUMMARY,),
    "thinking": (TextKind.THINKING,),
}
_NAMING_PATHS: Final = (TextKind.TOOL_INPUT, TextKind.COMMAND, TextKind.PROMPT)


class MatchCandidate(Struct, frozen=True):
    """A text with its record and file; `tool` is the tool whose input or output it is."""

    document: SearchableText
    record: envelope.Record
    source: live_events.EventSubject
    tool: str | None

    def read(self, name: str) -> str:
        """Return a field of the record in lower case, or "" if it has none."""
        value = getattr(self.record, name, None)
        return value.casefold() if isinstance(value, str) else ""


class Matcher:
    """Matches records against one query; raises `QueryError` if the query is invalid."""

    def __init__(self, text: str) -> None:
        self._query = parse_query(text)
        check_regexes(self._query)

    def find(
        self,
        record: envelope.Record,
        source: live_events.EventSubject,
        tools: Mapping[str, str],
        *,
        ignored: Collection[str] = (),
    ) -> str | None:
        """Return the first text of `record` that matches and is not `ignored`.

        `tools` has the tools of calls by id.
        """
        is_subagent = source.kind is not TranscriptKind.SESSION
        for document in list_searchable_texts(record, is_subagent=is_subagent):
            if document.text.strip() in ignored:
                continue
            is_queued = document.part is TextKind.QUEUED
            asked = structs.replace(document, part=TextKind.PROMPT) if is_queued else document
            tool = document.tool or tools.get(document.owner)
            if self._matches(self._query.root, MatchCandidate(asked, record, source, tool)):
                return document.text
        return None

    def _matches(self, node: query_tree.Node, candidate: MatchCandidate) -> bool:
        matches = partial(self._matches, candidate=candidate)
        match node:
            case query_tree.And():
                return all(map(matches, node.parts))
            case query_tree.Or():
                return any(map(matches, node.parts))
            case query_tree.Not():
                return not matches(node.part)
            case query_tree.Regex():
                pattern = compile_regex(node, str(self._query))
                return pattern.search(candidate.document.text) is not None
        return _matches_leaf(node, candidate)


def _matches_leaf(leaf: query_tree.Leaf, candidate: MatchCandidate) -> bool:
    if isinstance(leaf, query_tree.Bound):
        return _is_within(leaf, candidate)
    if isinstance(leaf, query_tree.FieldTerm):
        return _FIELDS[leaf.name](leaf.value.casefold(), candidate)
    return bool(find_spans(candidate.document.text, query_tree.Query(leaf)))


def _is_within(bound: query_tree.Bound, candidate: MatchCandidate) -> bool:
    moment = parse_time(getattr(candidate.record, "timestamp", None))
    if moment is None:
        return False
    return moment >= bound.moment if bound.name == "since" else moment < bound.moment


def _is_in_project(wanted: str, candidate: MatchCandidate) -> bool:
    is_named = encode_project_path(wanted) in candidate.source.project.casefold()
    return is_named or wanted in candidate.read("cwd")


def _is_by_model(wanted: str, candidate: MatchCandidate) -> bool:
    message = getattr(candidate.record, "message", None)
    return wanted in (getattr(message, "model", None) or "").casefold()


def _names_file(wanted: str, candidate: MatchCandidate) -> bool:
    is_there = bool(
        find_spans(candidate.document.text, query_tree.Query(query_tree.Phrase(wanted)))
    )
    return is_there and candidate.document.part in _NAMING_PATHS


def _is_of_tool(wanted: str, candidate: MatchCandidate) -> bool:
    return is_tool((candidate.tool or "").casefold(), wanted)


def _is_kind(kind: str, candidate: MatchCandidate) -> bool:
    if kind == "error":
        return candidate.document.is_error
    if kind == "subagent":
        is_inline = isinstance(candidate.record, envelope.Chain) and candidate.record.is_sidechain
        return is_inline or candidate.source.kind is not TranscriptKind.SESSION
    return candidate.document.part in _KINDS[kind]


_FIELDS: Final[Mapping[query_tree.TextField, Callable[[str, MatchCandidate], bool]]] = {
    "project": _is_in_project,
    "session": lambda wanted, it: it.source.session_id.casefold().startswith(wanted),
    "role": lambda wanted, it: it.document.part in ROLES[wanted],
    "tool": _is_of_tool,
    "file": _names_file,
    "model": _is_by_model,
    "branch": lambda wanted, it: wanted in it.read("git_branch"),
    "is": _is_kind,
}


ERROR: Final = "error"
PERMISSION: Final = "permission"
_COST: Final = "cost:"
_MAX_CALLS: Final = 1000
"""Maximum number of calls whose tool is remembered until their result arrives."""


class FiredTrigger(Struct, frozen=True, kw_only=True):
    """A trigger that fired; `text` is untrusted, like everything in a transcript."""

    trigger: str
    session_id: str
    agent_id: str | None = None
    path: str | None = None
    text: str = ""


class SpendCounter:
    """The cost of all messages so far, in millionths of a dollar."""

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._costs: dict[str, int] = {}
        self.total = 0

    def add(self, record: envelope.Record) -> None:
        """Count a line of a message; of several lines, only the most expensive is counted."""
        message = record.message if isinstance(record, conversation_records.Assistant) else None
        if (
            not isinstance(record, conversation_records.Assistant)
            or message is None
            or not message.usage
        ):
            return
        cost = self._prices.cost(message.model, message.usage, record.timestamp)
        key = message.id or record.uuid or ""
        more = (cost.total if cost else 0) - self._costs.get(key, 0)
        if more > 0:
            self._costs[key] = self._costs.get(key, 0) + more
            self.total += more


class Triggers:
    """Checks a stream of events against the requested triggers."""

    def __init__(self, conditions: Iterable[str], prices: Prices | None = None) -> None:
        texts = tuple(conditions)
        self._is_live = False
        self._wants_errors = ERROR in texts
        self._wants_permissions = PERMISSION in texts
        self._limits = [(text, _read_limit(text)) for text in texts if text.startswith(_COST)]
        self._matchers = [(text, Matcher(text)) for text in texts if _is_query(text)]
        self._spend = SpendCounter(prices or Prices.load()) if self._limits else None
        self._tools: dict[str, str] = {}
        self._queued: dict[tuple[str, str], None] = {}

    def feed(self, event: live_events.AnyEvent) -> Iterator[FiredTrigger]:
        """Yield the triggers that `event` fires."""
        match event:
            case live_events.CaughtUp():
                self._is_live = True
                yield from self._check_limits("")
            case live_events.Reset():
                self._is_live = False
                self._queued.clear()
            case live_events.Appended():
                yield from self._feed_record(event.record, event.source)
            case live_events.StatusChanged() if self._wants_permissions:
                if event.status.kind is StatusKind.WAITING_FOR_PERMISSION:
                    yield FiredTrigger(
                        trigger=PERMISSION, session_id=event.session_id, text=event.status.reason
                    )

    def _feed_record(
        self, record: envelope.Record, source: live_events.EventSubject
    ) -> Iterator[FiredTrigger]:
        self._remember_calls(record)
        if self._spend:
            self._spend.add(record)
        if not self._is_live:
            return
        yield from self._check_limits(source.session_id)
        for trigger, text in self._iter_hits(record, source):
            yield FiredTrigger(
                trigger=trigger,
                session_id=source.session_id,
                agent_id=source.agent_id,
                path=source.path,
                text=text,
            )

    def _iter_hits(
        self, record: envelope.Record, source: live_events.EventSubject
    ) -> Iterator[tuple[str, str]]:
        if self._wants_errors:
            is_subagent = source.kind is not TranscriptKind.SESSION
            documents = list_searchable_texts(record, is_subagent=is_subagent)
            yield from ((ERROR, each.text) for each in documents if each.is_error)
        ignored = self._take_repeated(record, source) if self._matchers else frozenset()
        for trigger, matcher in self._matchers:
            text = matcher.find(record, source, self._tools, ignored=ignored)
            if text is not None:
                yield trigger, text

    def _take_repeated(
        self, record: envelope.Record, source: live_events.EventSubject
    ) -> frozenset[str]:
        """Return the texts of `record` that were already matched in a line of the queue.

        Some clients write a prompt only to the queue, others also as a separate record: the line of
        the queue, which comes first, is the one that is matched.
        """
        if not isinstance(
            record, conversation_records.User | attachments.Attachment | state.QueueOperation
        ):
            return frozenset()
        documents = list_searchable_texts(record)
        inputs = {(source.session_id, each.text.strip()) for each in documents if each.is_input}
        if isinstance(record, state.QueueOperation):
            self._queued |= dict.fromkeys(inputs)
            while len(self._queued) > _MAX_CALLS:
                del self._queued[next(iter(self._queued))]
            return frozenset()
        repeated = inputs & self._queued.keys()
        for key in repeated:
            del self._queued[key]
        return frozenset(text for _, text in repeated)

    def _check_limits(self, session_id: str) -> Iterator[FiredTrigger]:
        total = self._spend.total if self._spend else 0
        reached = [each for each in self._limits if total >= each[1]]
        self._limits = [each for each in self._limits if total < each[1]]
        for trigger, _ in reached:
            text = f"{format_dollars(total / MICRO)} at list prices"
            yield FiredTrigger(trigger=trigger, session_id=session_id, text=text)

    def _remember_calls(self, record: envelope.Record) -> None:
        message = record.message if isinstance(record, conversation_records.Assistant) else None
        for use in iter_tool_uses(message.content if message else None):
            self._tools[use.id] = use.name
            if len(self._tools) > _MAX_CALLS:
                del self._tools[next(iter(self._tools))]


def _is_query(text: str) -> bool:
    return text not in (ERROR, PERMISSION) and not text.startswith(_COST)


def _read_limit(text: str) -> float:
    try:
        dollars = float(text.removeprefix(_COST))
    except ValueError:
        dollars = 0.0
    if not 0 < dollars < float("inf"):
        raise UsageError(f"{text!r} is not a valid limit. Write it as cost:5.00, in dollars.")
    return dollars * MICRO
