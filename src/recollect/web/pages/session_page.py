"""`/s/{id}` and below: turns, tool calls, subagents and raw records of a session.

The first screen of a long session comes from the start of its file; the page is marked as partial,
and its script requests the same turns again once the file has been read completely.
"""

from itertools import accumulate
from typing import Annotated
from urllib.parse import quote, urlencode

import msgspec
from markupsafe import Markup
from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from recollect.documents.session_documents import OutlineEntry
from recollect.documents.session_listing import SessionListing
from recollect.errors import RecollectError
from recollect.export.export_tables import has_parquet
from recollect.launch.client_commands import format_command, plan_resume
from recollect.library.sidecar_files import load_lists
from recollect.lineage import Relatives
from recollect.quantities import format_dollars, to_dollars
from recollect.reader.transcript_reader import read_shown
from recollect.redact.quick_masks import mask_path
from recollect.render.html.html_parts import PartOptions, render_parts
from recollect.render.html.html_turns import Frame, render_call, render_turn
from recollect.render.views.notices import show_raw
from recollect.render.views.overview import build_outline
from recollect.render.views.record_notices import list_sidecar_notices
from recollect.web.conversations.registry import START
from recollect.web.http_messages import MAX_ID, Id
from recollect.web.services import Services
from recollect.web.session_endpoints import (
    MAX_TURNS,
    Marks,
    Project,
    SessionParameters,
    TurnsParameters,
    load_turns,
)
from recollect.web.template_filters import or_dash
from recollect.web.templating import PageContent, Translator
from recollect.workspace.session_catalog import FoundSession
from recollect.workspace.session_places import RecordLocation, find_call, find_line, find_span
from recollect.workspace.turn_selection import TurnRange

FIRST_TURNS = 20
FIRST_STEPS = 80
"""Number of steps in the page, enough for a few screens; the rest is loaded on scrolling."""

SectionName = Annotated[str, Meta(min_length=1, max_length=MAX_ID)]


class SessionPageParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters: a session, and the place to open it at."""

    id: Id
    project: Project | None = None
    start: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    at: Annotated[str, Meta(max_length=MAX_ID)] = ""
    """The uuid of a record: the page starts near it."""
    offset: Annotated[int, Meta(ge=0)] | None = None
    """The offset of that record, if several have its uuid."""
    mark: Marks = ""
    """Words to mark in that record, one per line."""
    details: bool = False
    """Whether outline and details of calls are in the page, for browsers without scripts."""


class SessionPageContent(Struct, frozen=True, kw_only=True):
    """A session with its first turns, or with those around the requested record."""

    session: SessionListing
    relatives: Relatives
    """The sessions that it continues or was forked from, and those that continue it."""
    url: str
    query: str
    """Query string for all URLs below, which distinguishes sessions with the same id.
    """
    turns: tuple[Markup, ...]
    """One `article.turn` each."""
    has_details: bool
    outline: tuple[OutlineEntry, ...]
    """One line per turn, if details are in the page; otherwise a script fetches it."""
    lists: tuple[tuple[str, Markup], ...]
    """The todo lists and tasks stored beside the session, each with its title."""
    start: int
    total: int | None
    """Number of turns; None until the session has been read completely."""
    messages: int | None
    """Prompts and replies; None until then too."""
    is_partial: bool
    at: str
    """The anchor of the requested record."""
    nonce: str
    """For starting conversations; empty if this server may not run anything."""
    way: str
    """The subagents to open to reach a record of one."""
    mark: str
    branches: int
    """Abandoned branches; none until the session has been read completely."""
    segments: int
    has_parquet: bool
    """Whether a table can be exported as Parquet."""
    resume_command: str
    """Shell command that resumes the session, to copy; empty if it cannot be resumed."""


class SessionFacts(Struct, frozen=True, kw_only=True):
    """The figures in the header of a session, for a page of one that grows."""

    session: SessionListing
    relatives: Relatives
    url: str
    query: str


class TurnsPageParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters: a range of turns of a session."""

    id: Id
    project: Project | None = None
    start: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    count: Annotated[int, Meta(ge=1, le=MAX_TURNS)] = FIRST_TURNS
    at: Annotated[str, Meta(max_length=MAX_ID)] = ""
    offset: Annotated[int, Meta(ge=0)] | None = None
    mark: Marks = ""


class TurnsFragment(Struct, frozen=True, kw_only=True):
    """Some turns of a session or a subagent, to be inserted into an open page."""

    turns: tuple[Markup, ...]
    start: int
    next_start: int
    """The index after the last one."""
    total: int | None
    is_partial: bool
    agent: str
    """The subagent of the turns; empty for the session's own."""
    at: str
    """The anchor of the requested record."""
    way: str = "[]"
    """The subagents to open to reach a record of one, as JSON."""
    revision: int | None = None
    """For a running conversation: the page can request the changes after this revision."""
    details_revision: int | None = None
    """For a running conversation: counts the changes of its todo list and files."""
    messages: int | None = None
    """Number of prompts and replies; None until the session has been read completely."""


class CallParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters: a tool call of a session."""

    id: Id
    call: SectionName
    project: Project | None = None
    whole: bool = False
    """Whether to include fields that the view of its tool leaves out."""


class AgentParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters: a range of turns of a subagent."""

    id: Id
    agent: SectionName
    project: Project | None = None
    start: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    count: Annotated[int, Meta(ge=1, le=MAX_TURNS)] = FIRST_TURNS


class CallFragment(Struct, frozen=True, kw_only=True):
    """The details of a tool call."""

    body: Markup


class RawParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters: a record of a session."""

    id: Id
    uuid: SectionName
    """A line without a uuid is identified by `line`."""
    project: Project | None = None
    line: Annotated[str, Meta(max_length=MAX_ID)] = ""
    """`file:offset`, because several lines may share a uuid; the file is identified by its id."""


class RawPage(Struct, frozen=True, kw_only=True):
    """A raw record, indented."""

    session: SessionListing
    url: str
    """The link to the record in the session."""
    uuid: str
    path: str
    offset: int
    length: int
    text: str


def render_session_page(
    services: Services, wanted: SessionPageParameters, translator: Translator
) -> PageContent:
    """Render a session."""
    found = services.workspace.locate(wanted.id, wanted.project)
    turns = load_turns(
        services,
        TurnsParameters(
            id=wanted.id,
            project=wanted.project,
            start=wanted.start,
            count=FIRST_TURNS,
            at=wanted.at,
            offset=wanted.offset,
            mark=wanted.mark,
            steps=FIRST_STEPS,
            quick=not wanted.details,
        ),
    )
    row = services.workspace.complete(found.listing)
    # With the same options as the page's script, because turns that are loaded again must be equal.
    frame = replace(
        _make_frame(services, found, row.project, translator), has_details=wanted.details
    )
    page = SessionPageContent(
        session=row,
        relatives=services.workspace.find_relatives(found.listing),
        url=frame.url,
        query=frame.query,
        turns=_render(turns, frame),
        has_details=wanted.details,
        outline=_load_outline(services, found) if wanted.details else (),
        lists=_render_lists(found, translator),
        start=turns.start,
        total=turns.total,
        messages=turns.messages,
        is_partial=turns.is_partial,
        at=turns.at,
        nonce=services.run_access.make_nonce(START) if frame.can_fork else "",
        way=_describe_way(turns.location),
        mark=wanted.mark,
        branches=turns.branches,
        segments=turns.segments,
        has_parquet=has_parquet(),
        resume_command=_find_resume_command(found),
    )
    title = row.title or row.first_prompt or row.id
    return PageContent("session.html", page, title=title, section="sessions")


def render_facts(
    services: Services, wanted: SessionParameters, translator: Translator
) -> PageContent:
    """Render the figures in the header of a session."""
    found = services.workspace.locate(wanted.id, wanted.project)
    row = services.workspace.complete(found.listing)
    frame = _make_frame(services, found, row.project, translator)
    relatives = services.workspace.find_relatives(found.listing)
    facts = SessionFacts(session=row, relatives=relatives, url=frame.url, query=frame.query)
    return PageContent("session_facts.html", facts)


def _load_outline(services: Services, found: FoundSession) -> tuple[OutlineEntry, ...]:
    with services.workspace.use(found) as session:
        return tuple(each for each in build_outline(session) if each.line and each.is_by_person)


def _render_lists(found: FoundSession, translator: Translator) -> tuple[tuple[str, Markup], ...]:
    notices = list_sidecar_notices(load_lists(found.transcript), found.listing.id)
    return tuple((translator.translate(each.title), render_parts(each.parts)) for each in notices)


def render_turns(
    services: Services, given: TurnsPageParameters | AgentParameters, translator: Translator
) -> PageContent:
    """Render some turns of a session or a subagent."""
    wanted = TurnsParameters(**asdict(given))
    turns = load_turns(services, wanted)
    found = services.workspace.locate(wanted.id, wanted.project)
    frame = _make_frame(services, found, wanted.project, translator)
    if wanted.agent:
        # The client can only continue from messages of the session itself.
        frame = replace(frame, can_fork=False)
    fragment = TurnsFragment(
        turns=_render(turns, frame),
        start=turns.start,
        next_start=turns.start + len(turns.turns),
        total=turns.total,
        is_partial=turns.is_partial,
        agent=wanted.agent,
        at=turns.at,
        way=_describe_way(turns.location),
        messages=turns.messages,
    )
    return PageContent("turns.html", fragment)


def render_call_fragment(
    services: Services, wanted: CallParameters, translator: Translator
) -> PageContent:
    """Render the details of a tool call, of the session or of any of its subagents."""
    found = services.workspace.locate(wanted.id, wanted.project)
    with services.workspace.use(found) as session:
        frame = _make_frame(services, found, wanted.project, translator)
        call = find_call(session, wanted.call, frame.directory)
        body = render_call(
            call.whole if wanted.whole else call.step,
            frame,
            has_more=not wanted.whole and call.whole != call.step,
        )
    return PageContent("call.html", CallFragment(body=body))


def render_raw_page(services: Services, wanted: RawParameters) -> PageContent:
    """Render a record with the original field names and order."""
    found = services.workspace.locate(wanted.id, wanted.project)
    if wanted.line:
        span, uuid = find_line(found, wanted.line)
    else:
        with services.workspace.use(found) as session:
            span, uuid = find_span(session, wanted.uuid), wanted.uuid
    page = RawPage(
        session=services.workspace.complete(found.listing),
        url=make_session_url(wanted.id, at=uuid, offset=span.offset if wanted.line else None),
        uuid=wanted.uuid,
        path=span.file,
        offset=span.offset,
        length=span.length,
        text=show_raw(read_shown(span)).text,
    )
    return PageContent("raw.html", page, title=wanted.uuid, section="sessions")


def render_nested_turns(
    services: Services, wanted: TurnsParameters, translator: Translator
) -> tuple[Markup, ...]:
    """Render turns inside another page, where their numbers are not unique."""
    found = services.workspace.locate(wanted.id, wanted.project)
    frame = _make_frame(services, found, wanted.project, translator)
    return _render(load_turns(services, wanted), replace(frame, can_fork=False, is_nested=True))


def _describe_way(location: RecordLocation | None) -> str:
    """Return the subagents to open, with a turn and an anchor for each, as JSON."""
    steps: list[tuple[str, int, str]] = []
    while location is not None and location.inside is not None:
        inside = location.inside
        steps.append((location.agent_id, inside.turn, inside.anchor))
        location = inside
    return msgspec.json.encode(steps).decode()


def _render(turns: TurnRange, frame: Frame) -> tuple[Markup, ...]:
    def show(cost: int | None) -> str:
        return or_dash(format_dollars)(to_dollars(cost))

    costs = {turn.number: cost for turn, cost in zip(turns.turns, turns.costs, strict=True)}
    totals = dict(zip(costs, accumulate(cost or 0 for cost in costs.values()), strict=True))
    before = turns.cost_before
    priced = replace(
        frame,
        show_cost=lambda turn: show(costs[turn.number]),
        show_total=None if before is None else lambda turn: show(before + totals[turn.number]),
        show_agent_cost=lambda agent: show(turns.agent_costs.get(agent)),
    )
    return tuple(render_turn(turn, priced) for turn in turns.turns)


def _make_frame(
    services: Services, found: FoundSession, project: str | None, translator: Translator
) -> Frame:
    query = f"?project={quote(project, safe='')}" if project else ""
    may_run = services.run_access.allow_run and not services.settings.is_demo
    return Frame(
        url=make_session_url(found.listing.id),
        query=query,
        translate=translator.translate,
        translate_phrase=translator.translate_phrase,
        parts=PartOptions(translate=translator.translate_phrase, directory=found.listing.cwd),
        language=translator.language,
        directory=found.listing.cwd,
        can_fork=may_run and bool(_find_resume_command(found)),
        file_page=make_file_url,
        reveals=True,
    )


def _find_resume_command(found: FoundSession) -> str:
    try:
        return format_command(plan_resume(found.transcript, found.listing.cwd))
    except RecollectError:
        return ""


def make_file_url(path: str) -> str:
    """Return the URL of the page with the history of a file; empty if it contains a secret."""
    if mask_path(path) != path:
        return ""
    return f"/file?{urlencode({'path': path})}"


def make_session_url(session_id: str, at: str | None = None, offset: int | None = None) -> str:
    """Return the URL of a session's page, or of a record on it."""
    url = f"/s/{quote(session_id, safe='')}"
    if not at:
        return url
    anchor = quote(at, safe="")
    return f"{url}?at={anchor}{'' if offset is None else f'&offset={offset}'}#{anchor}"
