"""Everything about the whole session that the view of a single turn needs, computed once per
session.

A session's contents do not change until it grows, so the timeline is cached with them.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import TypeVar
from weakref import WeakKeyDictionary

from msgspec import Struct

from recollect.documents.kinds import SubagentOutcome
from recollect.records.envelope import Chain, Damaged, Oversized, Record, Torn, Unknown
from recollect.records.state import QueueOperation, State
from recollect.records.system_records import System
from recollect.render.views.task_reports import read_outcomes
from recollect.session import client_reports, hook_runs, record_texts, times
from recollect.session.facts import Facts
from recollect.session.messages import Message
from recollect.session.session import Contents, Session
from recollect.session.subagents import Subagent
from recollect.session.turns import Segment, Turn

V = TypeVar("V")
ReportEntry = (
    client_reports.Notice
    | client_reports.Recap
    | client_reports.FailedRequest
    | client_reports.ModelChange
    | hook_runs.HookRun
)
Irregular = Damaged | Torn | Oversized | Unknown


class TimelineEntry(Struct, frozen=True):
    """An entry of a turn: a record, with the message it is part of, or a separate report."""

    what: Chain | Irregular | ReportEntry | State
    message: Message | None = None


class ModelSwitch(Struct, frozen=True):
    """A change to another model, which replies from here on."""

    before: str
    after: str


class Timeline(Struct, frozen=True, kw_only=True):
    """The position of everything in a session."""

    contents: Contents
    entries: tuple[tuple[TimelineEntry, ...], ...]
    """By turn index, each in file order."""
    turn_of: dict[str, int]
    """The turn index of each record, by uuid."""
    segment_of: dict[str, Segment]
    """The segment of each record, by uuid."""
    reports: dict[str, tuple[ReportEntry, ...]]
    """The reports in each record, by uuid."""
    switches: dict[str, ModelSwitch]
    """Changes of the model, by the first record that shows them."""
    subagents: dict[str, tuple[Subagent, ...]]
    """By the id of the call that started them."""
    orphans: frozenset[str]
    """Calls that have a result here but were made elsewhere."""
    outcomes: dict[str, SubagentOutcome]
    """How background tasks ended, by task and by call."""
    hooks: dict[str, tuple[hook_runs.HookRun, ...]]
    """The hooks that are shown with a call, by its id."""


_FAILURES = frozenset(
    {hook_runs.HookOutcome.FAILED, hook_runs.HookOutcome.BLOCKED, hook_runs.HookOutcome.STOPPED}
)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_FAR_AHEAD = datetime.max.replace(tzinfo=UTC)
_known: WeakKeyDictionary[Session, Timeline] = WeakKeyDictionary()


def build_timeline(session: Session) -> Timeline:
    """Build the timeline of `session`."""
    timeline = _known.get(session)
    contents = session.contents
    if timeline is None or timeline.contents is not contents:
        timeline = _known[session] = _build_timeline(contents)
    return timeline


def find_turn_index(session: Session, uuid: str) -> int | None:
    """Return the index of the turn with the record `uuid`; None if there is no such record."""
    return build_timeline(session).turn_of.get(uuid)


def _build_timeline(contents: Contents) -> Timeline:
    links = contents.tree.links
    turn_of = _assign_turns(contents.turns, links)
    turn_of |= {copy: turn_of[original] for copy, original in contents.copies.items()}
    hooks = _group((_find_hooked(contents, run), run) for run in contents.hooks)
    folded = {id(run) for runs in hooks.values() for run in runs}
    others = (run for run in contents.hooks if id(run) not in folded)
    reports = (*_iter_reports(contents.facts.reports), *others)
    by_uuid = _group((report.uuid, report) for report in reports if report.uuid in links)
    lone = [report for report in reports if report.uuid not in links]
    return Timeline(
        contents=contents,
        entries=_order(contents, turn_of, lone),
        turn_of=turn_of,
        segment_of=_find_segments(contents.segments, links),
        reports=by_uuid,
        switches=_find_switches(contents.facts),
        subagents=_group(
            (child.call.id if child.call else None, child) for child in contents.subagents
        ),
        orphans=frozenset(contents.orphan_results),
        outcomes=read_outcomes(contents.messages),
        hooks=hooks,
    )


def _find_hooked(contents: Contents, run: hook_runs.HookRun) -> str | None:
    """Return the call that a hook is shown with; None if it is shown where it ran."""
    if run.tool_use_id is None or run.outcome in _FAILURES:
        return None
    return run.tool_use_id if contents.calls.get(run.tool_use_id) else None


def _iter_reports(reports: client_reports.Reports) -> Iterator[ReportEntry]:
    yield from reports.notices
    yield from reports.away_summaries
    yield from reports.api_errors
    yield from reports.model_changes


def _group(pairs: Iterable[tuple[str | None, V]]) -> dict[str, tuple[V, ...]]:
    groups: defaultdict[str, list[V]] = defaultdict(list)
    for key, value in pairs:
        if key is not None:
            groups[key].append(value)
    return {key: tuple(values) for key, values in groups.items()}


def _assign_turns(turns: Sequence[Turn], links: dict[str, Chain]) -> dict[str, int]:
    """Return the turn of each record: by its message, by its parent, or else the last turn.

    Sessions assign records to turns in the same way; records before the first turn belong to it.
    """
    turn_of = {uuid: turn.index for turn in turns for said in turn.messages for uuid in said.uuids}
    last = 0
    for uuid, link in links.items():
        if uuid in turn_of:
            last = max(last, turn_of[uuid])
        else:
            turn_of[uuid] = turn_of.get(link.parent_uuid or "", last)
    return turn_of


class _Rows:
    """The entries of each turn, each with the rank of the record it follows."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._rows: list[list[tuple[int, TimelineEntry]]] = [[] for _ in turns or (None,)]

    def add(self, turn: int, rank: int, entry: TimelineEntry) -> None:
        """Add `entry` after those of the same `rank`."""
        self._rows[turn].append((rank, entry))

    def order(self) -> tuple[tuple[TimelineEntry, ...], ...]:
        """Return the entries of each turn in file order."""
        # The sort is stable: entries of one rank stay in insertion order.
        return tuple(
            tuple([entry for _, entry in sorted(row, key=itemgetter(0))]) for row in self._rows
        )


def _order(
    contents: Contents, turn_of: dict[str, int], lone: Iterable[ReportEntry]
) -> tuple[tuple[TimelineEntry, ...], ...]:
    links, turns = contents.tree.links, contents.turns
    messages = {id(line): said for turn in turns for said in turn.messages for line in said.records}
    rows = _Rows(turns)
    ranks: dict[str, int] = {}
    for rank, (uuid, link) in enumerate(links.items()):
        ranks[uuid] = rank
        rows.add(turn_of[uuid], rank, TimelineEntry(link, messages.get(id(link))))
    for turn in turns:
        _add_nameless(rows, turn, ranks)
    _add_unlinked(rows, contents, turn_of)
    starts = [times.parse_time(turn.start) or _LONG_AGO for turn in turns]
    begun = list(accumulate(starts, max))
    for report in lone:
        at = bisect_right(begun, times.parse_time(report.timestamp) or _FAR_AHEAD) - 1
        rows.add(max(at, 0), len(links), TimelineEntry(report))
    return rows.order()


def _add_nameless(rows: _Rows, turn: Turn, ranks: dict[str, int]) -> None:
    """Add lines without a uuid after the line before them."""
    rank = -1
    for message in turn.messages:
        for line in message.records:
            if line.uuid:
                rank = ranks[line.uuid]
            else:
                rows.add(turn.index, rank, TimelineEntry(line, message))


def _add_unlinked(rows: _Rows, contents: Contents, turn_of: dict[str, int]) -> None:
    """Add records without a link, and damaged lines, after the record before them in the file."""
    irregular = [
        each for each in contents.irregular if not isinstance(each, Unknown) or not each.uuid
    ]
    # System messages are shown as reports.
    nameless = (link for link in contents.nameless if not isinstance(link, System))
    unlinked = [*irregular, *nameless, *_list_stated(contents.states)]
    if not unlinked:
        return
    uuids = list(contents.tree.links)
    offsets = _order_offsets([_offset(link) for link in contents.tree.links.values()])
    for record in unlinked:
        rank = bisect_right(offsets, _offset(record)) - 1 if record.span else len(uuids) - 1
        rows.add(turn_of[uuids[rank]] if rank >= 0 else 0, rank, TimelineEntry(record))


def _list_stated(states: Iterable[State]) -> list[State]:
    """Return the state records whose texts differ from the last record of their kind.

    Clients write the same state again at every resume and flush. Queue records are prompts.
    """
    last: dict[type[State], list[record_texts.NamedText]] = {}
    found: list[State] = []
    for state in states:
        if isinstance(state, QueueOperation):
            continue
        texts = record_texts.list_texts(state)
        if texts and last.get(type(state)) != texts:
            found.append(state)
        last[type(state)] = texts
    return found


def _order_offsets(offsets: list[int]) -> list[int]:
    """Return `offsets` with each one that is out of order replaced by its predecessor.

    A repeated line keeps its first position, but has a later offset than its followers.
    """
    lowest = list(accumulate(reversed(offsets), min))[::-1]
    ordered: list[int] = []
    for offset, low in zip(offsets, lowest, strict=True):
        ordered.append(offset if offset == low else ordered[-1] if ordered else -1)
    return ordered


def _offset(record: Record) -> int:
    return record.span.offset if record.span else -1


def _find_segments(segments: Sequence[Segment], links: Iterable[str]) -> dict[str, Segment]:
    firsts = {segment.first_uuid: segment for segment in segments}
    found: dict[str, Segment] = {}
    current = segments[0] if segments else None
    for uuid in links:
        current = firsts.get(uuid, current)
        if current is not None:
            found[uuid] = current
    return found


def _find_switches(facts: Facts) -> dict[str, ModelSwitch]:
    """Return the places where the model changes without a report."""
    reported = {change.fallback for change in facts.reports.model_changes}
    return {
        later.uuid: ModelSwitch(earlier.value, later.value)
        for earlier, later in pairwise(facts.models)
        if later.uuid and later.value not in reported
    }
