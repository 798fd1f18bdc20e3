"""`/s/ID/timeline`: a session over time, as a drawing and as a table.

Zooming needs no script: the number of a turn leads to a drawing of that turn alone. The time that a
call waited for permission is part of it, because transcripts do not say when it was given.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from markupsafe import Markup
from msgspec import Struct

from recollect.documents.kinds import ToolStatus
from recollect.documents.session_listing import SessionListing
from recollect.library.opening import price_at_list
from recollect.quantities import format_duration
from recollect.records.tools.file_tools import FILE_TOOLS
from recollect.session.session import Session, Subagent
from recollect.session.times import find_range, parse_time
from recollect.session.tool_calls import ToolCall
from recollect.session.turns import Turn
from recollect.versions.session_evidence import name_prompt
from recollect.web.pages.session_page import make_address
from recollect.web.parameters import Id
from recollect.web.services import Services
from recollect.web.templating import PageContent, Translator
from recollect.web.timeline_drawing import MAX_LANES, TimelineBar, draw_timeline

_MICRO = 1_000_000
_MINUTE = 60.0
_FAILED = frozenset({ToolStatus.FAILED, ToolStatus.REJECTED, ToolStatus.INTERRUPTED})


class TimelineParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which session, and which turn alone."""

    id: Id
    project: str | None = None
    turn: int | None = None


class TimelineRow(Struct, frozen=True, kw_only=True):
    """A turn in the table."""

    number: int
    prompt: str
    start: str | None
    pause_ms: float | None
    """How long nothing happened before it."""
    duration_ms: float
    calls: int
    failed: int
    subagents: int
    cost_usd: float | None
    address: str
    zoom: str


class TimelinePage(Struct, frozen=True, kw_only=True):
    """The drawing and the table."""

    session: SessionListing
    address: str
    turn: int | None
    drawing: Markup
    rows: tuple[TimelineRow, ...]
    compactions: int


def render_timeline_page(
    services: Services, wanted: TimelineParameters, translator: Translator
) -> PageContent:
    """Render a session over time."""
    found = services.workspace.locate(wanted.id, wanted.project)
    with services.workspace.use(found) as session:
        maker = _Maker(session, make_address(wanted.id))
        bars = maker.list_bars(wanted.turn)
        rows = tuple(maker.iter_rows())
    page = TimelinePage(
        session=services.workspace.complete(found.listing),
        address=make_address(wanted.id),
        turn=wanted.turn,
        drawing=draw_timeline(bars, lambda pause: format_duration(pause, translator.language)),
        rows=rows,
        compactions=sum(bar.kind == "compaction" for bar in bars),
    )
    return PageContent("timeline.html", page, title="timeline.title", section="sessions")


class _Maker:
    """Makes bars and rows of a session."""

    def __init__(self, session: Session, address: str) -> None:
        self._session = session
        self._id = address
        self._turns = [turn for turn in session.turns if _span(turn.start, turn.end)]
        self._costs = {turn.number: price_at_list(turn.messages) for turn in self._turns}

    def list_bars(self, number: int | None) -> list[TimelineBar]:
        """Return the bars of all turns, or of one, by their time."""
        bars = list(self.iter_bars())
        if number is None:
            return bars
        turn = next((each for each in self._turns if each.number == number), None)
        first, last = (_span(turn.start, turn.end) if turn else None) or (0.0, -1.0)
        return [bar for bar in bars if first <= bar.start <= last]

    def iter_bars(self) -> Iterator[TimelineBar]:
        for turn in self._turns:
            yield from self._make_turn(turn)
        for call in self._session.tool_calls:
            yield from self._make_call(call, 1)
        agents = [each for each in self._session.subagents if not each.is_warmup]
        for number, agent in enumerate(agents):
            yield from self._make_agent(agent, 2 + min(number, MAX_LANES - 1))
        for segment in self._session.segments:
            record = self._session.find_record(segment.boundary_uuid or "")
            moment = parse_time(record.timestamp) if record else None
            if segment.follows_compaction and moment is not None:
                at = moment.timestamp()
                yield self._bar("compaction", (at, at), "compaction", segment.boundary_uuid, 0)

    def _bar(
        self, kind: str, span: tuple[float, float], title: str, uuid: str | None, lane: int
    ) -> TimelineBar:
        session_id = self._session.id
        return TimelineBar(
            kind=kind,
            start=span[0],
            end=span[1],
            title=title,
            address=make_address(session_id, uuid),
            lane=lane,
        )

    def _make_turn(self, turn: Turn) -> Iterator[TimelineBar]:
        span = _span(turn.start, turn.end)
        if span is not None:
            cost = self._costs[turn.number] or 0
            minutes = max((span[1] - span[0]) / _MINUTE, 1 / _MINUTE)
            yield TimelineBar(
                kind="turn",
                start=span[0],
                end=span[1],
                title=f"#{turn.number} {name_prompt(turn)}",
                address=self._find_address(turn),
                lane=0,
                rate=cost / _MICRO / minutes,
            )

    def _find_address(self, turn: Turn) -> str:
        uuids = [uuid for message in turn.messages[:1] for uuid in message.uuids]
        return make_address(self._session.id, uuids[0] if uuids else None)

    def _make_call(self, call: ToolCall, lane: int) -> Iterator[TimelineBar]:
        span = _span(call.started, call.ended or call.started)
        if span is not None:
            is_change = call.name in FILE_TOOLS and call.name != "Read"
            kind = "failed" if call.status in _FAILED else "change" if is_change else "call"
            yield self._bar(kind, span, f"{call.name}, {call.status.value}", call.call_uuid, lane)

    def _make_agent(self, agent: Subagent, lane: int) -> Iterator[TimelineBar]:
        chain = agent.session.tree.links.values()
        first, last = find_range(link.timestamp for link in chain)
        span = _span(first, last)
        if span is not None:
            name = (agent.meta.description if agent.meta else None) or agent.agent_id
            uuid = agent.call.call_uuid if agent.call else None
            yield self._bar("agent", span, name, uuid, lane)
            for call in agent.session.tool_calls:
                for bar in self._make_call(call, lane):
                    yield self._bar(bar.kind, (bar.start, bar.end), bar.title, uuid, lane)

    def iter_rows(self) -> Iterator[TimelineRow]:
        before: float | None = None
        calls = self._session.tool_calls
        starts = _list_starts(calls)
        failures = _list_starts(each for each in calls if each.status in _FAILED)
        agents = _list_starts(each.call for each in self._session.subagents if each.call)
        for turn in self._turns:
            start, end = _span(turn.start, turn.end) or (0.0, 0.0)
            cost = self._costs[turn.number]
            yield TimelineRow(
                number=turn.number,
                prompt=name_prompt(turn),
                start=turn.start,
                pause_ms=None if before is None else max(start - before, 0) * 1000,
                duration_ms=(end - start) * 1000,
                calls=_count_within(starts, start, end),
                failed=_count_within(failures, start, end),
                subagents=_count_within(agents, start, end),
                cost_usd=None if cost is None else cost / _MICRO,
                address=self._find_address(turn),
                zoom=f"{self._id}/timeline?turn={turn.number}",
            )
            before = end


def _span(start: str | None, end: str | None) -> tuple[float, float] | None:
    first, last = parse_time(start), parse_time(end)
    if first is None:
        return None
    return first.timestamp(), max(first, last or first).timestamp()


def _list_starts(calls: Iterable[ToolCall]) -> list[float]:
    moments = (parse_time(call.started) for call in calls)
    return sorted(moment.timestamp() for moment in moments if moment is not None)


def _count_within(starts: Sequence[float], first: float, last: float) -> int:
    return bisect_right(starts, last) - bisect_left(starts, first)
