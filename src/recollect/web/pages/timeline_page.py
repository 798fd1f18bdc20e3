"""`/s/{id}/timeline`: a session over time, as a chart and a table: prompts, calls, a lane for each
subagent, and the cost per minute.

Active time is drawn to scale. All longer pauses have the same width, labelled with their length:
otherwise a night between two prompts would squeeze everything else.

Zooming needs no script: the number of a turn links to the chart of that turn alone. Transcripts do
not record when a permission was given, but newer ones record who gave it: a call that the user
approved waited at most as long as it took.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from markupsafe import Markup
from msgspec import Struct

from recollect.documents.kinds import RejectedBy, ToolStatus
from recollect.documents.session_listing import SessionListing
from recollect.library.opening import price_at_list
from recollect.quantities import MICRO, format_duration, format_time, to_dollars
from recollect.records.conversation_records import User
from recollect.records.tools.file_tools import FILE_TOOLS
from recollect.records.tools.planning_tools import ASKING_TOOLS
from recollect.render.html.html_text import show_text
from recollect.session.session import Session
from recollect.session.subagents import Subagent
from recollect.session.times import find_range, parse_time
from recollect.session.tool_calls import ToolCall
from recollect.session.turns import Turn
from recollect.versions.session_evidence import name_prompt
from recollect.web.http_messages import Id
from recollect.web.pages.session_page import make_session_url
from recollect.web.services import Services
from recollect.web.templating import PageContent, Translator

PAUSE_SECONDS: Final = 120.0
"""A longer time without activity is drawn as a pause."""
MAX_LANES: Final = 12
_WIDTH: Final = 1200
"""Width in pixels of the active time; pauses are added."""
_LEFT: Final = 12
_PAUSE_ROOM: Final = 46
_LANE: Final = 20
_TOP: Final = 22
_COST_HEIGHT: Final = 40
_TIME_HEIGHT: Final = 22
_CHARACTER: Final = 7
"""Width in pixels of a character in a label."""
_LINK: Final = Markup('<a href="{href}"><title>{title}</title>{shape}</a>')
_RECT: Final = Markup('<rect class="{name}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{h}"/>')
_TEXT: Final = Markup('<text class="{name}" x="{x:.1f}" y="{y}">{words}</text>')


class TimelineBar(Struct, frozen=True, kw_only=True):
    """An interval, in seconds since 1970, and the page that shows it."""

    kind: str
    """`turn`, `call`, `change`, `failed`, `waiting`, `agent` or `compaction`."""
    start: float
    end: float
    title: str
    url: str
    lane: int
    rate: float = 0.0
    """Dollars per minute, for a turn."""


def render_timeline(bars: Sequence[TimelineBar], format_pause: Callable[[float], str]) -> Markup:
    """Draw all bars; each is a link."""
    scale = _Scale(bars)
    lanes = 1 + max((bar.lane for bar in bars), default=0)
    bottom = _TOP + lanes * _LANE
    parts = [_render_bar(bar, scale) for bar in bars]
    parts += _render_pauses(scale.pauses, format_pause, bottom + _COST_HEIGHT)
    parts += _render_rates(bars, scale, bottom + _COST_HEIGHT)
    parts += _render_times(bars, scale, bottom + _COST_HEIGHT + _TIME_HEIGHT - 6)
    return Markup('<svg class="timeline" width="{}" height="{}">{}</svg>').format(
        scale.width, bottom + _COST_HEIGHT + _TIME_HEIGHT, Markup().join(parts)
    )


def _render_pauses(
    pauses: Sequence[tuple[float, float]], format_pause: Callable[[float], str], bottom: int
) -> list[Markup]:
    """Mark all pauses, and write how long they were where there is room: the longest first."""
    drawn: list[Markup] = []
    taken: list[tuple[float, float]] = []
    for start, pause in sorted(pauses, key=lambda each: -each[1]):
        middle, words = start + _PAUSE_ROOM / 2, format_pause(pause * 1000)
        drawn.append(
            Markup('<path class="pause" d="M{:.1f} {}V{}"><title>{}</title></path>').format(
                middle, _TOP, bottom, words
            )
        )
        half = _CHARACTER * (len(words) + 1) / 2
        if all(middle + half <= left or middle - half >= right for left, right in taken):
            taken.append((middle - half, middle + half))
            drawn.append(_TEXT.format(name="pause", x=middle, y=14, words=words))
    return drawn


def _render_bar(bar: TimelineBar, scale: "_Scale") -> Markup:
    left, right = scale.place(bar.start), scale.place(bar.end)
    shape = _RECT.format(
        name=bar.kind,
        x=left,
        y=_TOP + bar.lane * _LANE + 2,
        width=max(right - left, 2),
        h=_LANE - 4,
    )
    return _LINK.format(href=bar.url, title=show_text(bar.title), shape=shape)


def _render_rates(bars: Sequence[TimelineBar], scale: "_Scale", base: int) -> list[Markup]:
    turns = [bar for bar in bars if bar.kind == "turn" and bar.rate]
    most = max((bar.rate for bar in turns), default=0.0)
    drawn = []
    for bar in turns:
        height = max(round((_COST_HEIGHT - 6) * bar.rate / most), 1)
        left, right = scale.place(bar.start), scale.place(bar.end)
        drawn.append(
            _RECT.format(name="cost", x=left, y=base - height, width=max(right - left, 2), h=height)
        )
    return drawn


def _render_times(bars: Sequence[TimelineBar], scale: "_Scale", base: int) -> list[Markup]:
    """Draw the start times of turns where there is room, with the day if it is a new one."""
    drawn: list[Markup] = []
    free, day = 0.0, ""
    for start in sorted(bar.start for bar in bars if bar.kind == "turn"):
        left = scale.place(start)
        if left < free:
            continue
        date, _, clock = format_time(start).rpartition(" ")
        words = clock if date == day else f"{date} {clock}".strip()
        drawn.append(_TEXT.format(name="time", x=left, y=base, words=words))
        free, day = left + _CHARACTER * (len(words) + 2), date
    return drawn


class _Scale:
    """Maps times to horizontal positions."""

    def __init__(self, bars: Sequence[TimelineBar]) -> None:
        spans = _merge_spans([(bar.start, bar.end) for bar in bars])
        busy = sum(end - start for start, end in spans) or 1.0
        gaps = [later[0] - earlier[1] for earlier, later in pairwise(spans)]
        self._pixels = _WIDTH / busy
        self._spans: list[tuple[float, float, float]] = []
        self.pauses: list[tuple[float, float]] = []
        """The start and the length of each pause."""
        across = float(_LEFT)
        for number, (start, end) in enumerate(spans):
            self._spans.append((start, end, across))
            across += (end - start) * self._pixels
            if number < len(gaps):
                self.pauses.append((across, gaps[number]))
                across += _PAUSE_ROOM
        self.width = round(across) + _LEFT

    def place(self, moment: float) -> float:
        """Return the horizontal position of a time."""
        for start, end, across in self._spans:
            if moment <= end:
                return across + max(moment - start, 0) * self._pixels
        return float(self.width - _LEFT)


def _merge_spans(spans: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the active intervals, without pauses."""
    merged: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if merged and start - merged[-1][1] <= PAUSE_SECONDS:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


_MINUTE = 60.0
_FAILED = frozenset({ToolStatus.FAILED, ToolStatus.REJECTED, ToolStatus.INTERRUPTED})


class TimelineParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The session, and the only turn to show."""

    id: Id
    project: str | None = None
    turn: int | None = None


class TimelineRow(Struct, frozen=True, kw_only=True):
    """A turn in the table."""

    number: int
    prompt: str
    start: str | None
    pause_ms: float | None
    """The length of the pause before it."""
    duration_ms: float
    waited_ms: float
    """The maximum time that its calls waited for the user."""
    calls: int
    failed: int
    subagents: int
    cost_usd: float | None
    url: str
    zoom: str


class TimelinePage(Struct, frozen=True, kw_only=True):
    """The chart and the table."""

    session: SessionListing
    url: str
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
        maker = TimelineMaker(session, make_session_url(wanted.id), translator)
        bars = maker.list_bars(wanted.turn)
        rows = tuple(maker.iter_rows())
    page = TimelinePage(
        session=services.workspace.complete(found.listing),
        url=make_session_url(wanted.id),
        turn=wanted.turn,
        drawing=render_timeline(bars, lambda pause: format_duration(pause, translator.language)),
        rows=rows,
        compactions=sum(bar.kind == "compaction" for bar in bars),
    )
    return PageContent("timeline.html", page, title="timeline.title", section="sessions")


class TimelineMaker:
    """Makes bars and rows of a session."""

    def __init__(self, session: Session, url: str, translator: Translator) -> None:
        self._session = session
        self._language = translator.language
        self._waiting = translator("timeline.waiting")
        self._url = url
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
        """Yield turns, calls, subagents with their calls, and compactions."""
        for turn in self._turns:
            yield from self._make_turn(turn)
        for call in self._session.tool_calls:
            yield from self._make_call(self._session, call, 1)
        agents = [each for each in self._session.subagents if not each.is_warmup]
        spans = [_find_span(agent) for agent in agents]
        for agent, span, lane in zip(agents, spans, assign_lanes(spans), strict=True):
            if span is not None:
                yield from self._make_agent(agent, span, 2 + lane)
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
            url=make_session_url(session_id, uuid),
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
                url=self._find_url(turn),
                lane=0,
                rate=cost / MICRO / minutes,
            )

    def _find_url(self, turn: Turn) -> str:
        uuids = [uuid for message in turn.messages[:1] for uuid in message.uuids]
        return make_session_url(self._session.id, uuids[0] if uuids else None)

    def _make_call(self, session: Session, call: ToolCall, lane: int) -> Iterator[TimelineBar]:
        span = _span(call.started, call.ended or call.started)
        if span is None:
            return
        title = f"{call.name}, {call.status.value}"
        is_change = call.name in FILE_TOOLS and call.name != "Read"
        kind = "failed" if call.status in _FAILED else "change" if is_change else "call"
        if _has_asked(session, call):
            waited = format_duration((span[1] - span[0]) * 1000, self._language)
            sign = "" if call.name in ASKING_TOOLS else "≤ "
            kind, title = "waiting", f"{title}: {self._waiting} {sign}{waited}"
        yield self._bar(kind, span, title, call.call_uuid, lane)

    def _make_agent(
        self, agent: Subagent, span: tuple[float, float], lane: int
    ) -> Iterator[TimelineBar]:
        name = (agent.meta.description if agent.meta else None) or agent.agent_id
        uuid = agent.call.call_uuid if agent.call else None
        yield self._bar("agent", span, name, uuid, lane)
        for call in agent.session.tool_calls:
            for bar in self._make_call(agent.session, call, lane):
                yield self._bar(bar.kind, (bar.start, bar.end), bar.title, uuid, lane)

    def iter_rows(self) -> Iterator[TimelineRow]:
        """Yield the turns with their figures."""
        before: float | None = None
        calls = self._session.tool_calls
        starts = _list_starts(calls)
        # As everywhere: a call that was rejected or interrupted has not failed.
        failures = _list_starts(each for each in calls if each.status is ToolStatus.FAILED)
        agents = _list_starts(each.call for each in self._session.subagents if each.call)
        waits = list(_iter_waits(self._session))
        for turn in self._turns:
            start, end = _span(turn.start, turn.end) or (0.0, 0.0)
            cost = self._costs[turn.number]
            yield TimelineRow(
                number=turn.number,
                prompt=name_prompt(turn),
                start=turn.start,
                pause_ms=None if before is None else max(start - before, 0) * 1000,
                duration_ms=(end - start) * 1000,
                waited_ms=sum(last - first for first, last in waits if start <= first <= end)
                * 1000,
                calls=_count_within(starts, start, end),
                failed=_count_within(failures, start, end),
                subagents=_count_within(agents, start, end),
                cost_usd=to_dollars(cost),
                url=self._find_url(turn),
                zoom=f"{self._url}/timeline?turn={turn.number}",
            )
            before = end


def _span(start: str | None, end: str | None) -> tuple[float, float] | None:
    first, last = parse_time(start), parse_time(end)
    if first is None:
        return None
    return first.timestamp(), max(first, last or first).timestamp()


def _find_span(agent: Subagent) -> tuple[float, float] | None:
    links = agent.session.tree.links.values()
    return _span(*find_range(link.timestamp for link in links))


def assign_lanes(spans: Sequence[tuple[float, float] | None]) -> list[int]:
    """Return a lane for each span: the first free one, so that only overlapping spans need more."""
    ends: list[float] = []
    lanes = [0] * len(spans)
    for number, span in sorted(enumerate(spans), key=lambda pair: pair[1] or (0.0, 0.0)):
        if span is None:
            continue
        lane = next((lane for lane, end in enumerate(ends) if end <= span[0]), len(ends))
        if lane == len(ends) < MAX_LANES:
            ends.append(span[1])
        lanes[number] = lane = min(lane, MAX_LANES - 1)
        ends[lane] = max(ends[lane], span[1])
    return lanes


def _iter_waits(session: Session) -> Iterator[tuple[float, float]]:
    for call in session.tool_calls:
        span = _span(call.started, call.ended or call.started)
        if span is not None and _has_asked(session, call):
            yield span


def _has_asked(session: Session, call: ToolCall) -> bool:
    """Whether the user was asked about a call, as far as recorded."""
    if call.name in ASKING_TOOLS or call.rejected_by is RejectedBy.PERSON:
        return True
    record = session.find_record(call.result_uuid) if call.result_uuid else None
    decision = record.permission_decision if isinstance(record, User) else None
    return decision is not None and (decision.source or "").startswith("user")


def _list_starts(calls: Iterable[ToolCall]) -> list[float]:
    moments = (parse_time(call.started) for call in calls)
    return sorted(moment.timestamp() for moment in moments if moment is not None)


def _count_within(starts: Sequence[float], first: float, last: float) -> int:
    return bisect_right(starts, last) - bisect_left(starts, first)
