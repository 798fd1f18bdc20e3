"""`/s/{id}` and what belongs to it: a session's turns, a call's body, a subagent, a raw record.

The first screen of a long session comes from the beginning of its file; the page says that it is
partial, and its script asks for the same turns again when all of it has been read.
"""

from typing import Annotated

from markupsafe import Markup
from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from recollect.errors import RecollectError
from recollect.launch.resume import check_shown, plan_resume
from recollect.reader.transcript import read_span
from recollect.render.html.conversation import Frame, render_call, render_turn
from recollect.render.views.raw import build_raw_view
from recollect.usage.totals import to_dollars
from recollect.web.api.finding import find_agent, find_call, find_span, iter_subagents
from recollect.web.api.rows import SessionRow, make_row
from recollect.web.api.sessions import Project, SessionParameters, locate
from recollect.web.api.turns import MOST_TURNS, TurnRange, TurnsParameters, load_turns
from recollect.web.formats import show_money
from recollect.web.languages import Translator
from recollect.web.pages.drawn import Drawn
from recollect.web.parameters import Id
from recollect.web.services import Services
from recollect.web.shelf import Found

FIRST_TURNS = 20
FIRST_STEPS = 80
"""Steps that fill a few screens; the rest comes as it is scrolled to."""

Inner = Annotated[str, Meta(min_length=1, max_length=300)]


class SessionPageParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which session, and where in it."""

    id: Id
    project: Project | None = None
    start: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    at: Annotated[str, Meta(max_length=200)] = ""
    """The uuid of a record: the page begins near it."""


class SessionPage(Struct, frozen=True, kw_only=True):
    """A session with its first turns, or those around the record that was asked for."""

    session: SessionRow
    address: str
    turns: tuple[Markup, ...]
    """One `article.turn` each."""
    start: int
    total: int | None
    """Turns in all; None while the session has not been read to its end."""
    is_partial: bool
    at: str
    resume_command: str
    """What takes the session up again, for a shell; empty when there is no such command. Nothing
    is run from here."""


class TurnsPageParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which turns of a session."""

    id: Id
    project: Project | None = None
    start: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    count: Annotated[int, Meta(ge=1, le=MOST_TURNS)] = FIRST_TURNS
    at: Annotated[str, Meta(max_length=200)] = ""


class TurnsFragment(Struct, frozen=True, kw_only=True):
    """Some turns of a session or a subagent, to be put into a page that is open."""

    turns: tuple[Markup, ...]
    start: int
    next_start: int
    """The index behind the last of them."""
    total: int | None
    is_partial: bool
    agent: str
    """The subagent whose turns they are; empty for the session's own."""


class CallParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which tool call of which session."""

    id: Id
    call: Inner
    project: Project | None = None


class AgentParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which subagent of which session, and which of its turns."""

    id: Id
    agent: Inner
    project: Project | None = None
    start: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    count: Annotated[int, Meta(ge=1, le=MOST_TURNS)] = FIRST_TURNS


class CallFragment(Struct, frozen=True, kw_only=True):
    """What opens behind a tool call."""

    body: Markup


class RawParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which record of which session."""

    id: Id
    uuid: Inner
    project: Project | None = None


class RawPage(Struct, frozen=True, kw_only=True):
    """A record as its bytes say it, indented."""

    session: SessionRow
    address: str
    uuid: str
    path: str
    offset: int
    length: int
    text: str


def draw_session(
    services: Services, wanted: SessionPageParameters, translator: Translator
) -> Drawn:
    """The page of a session."""
    found = locate(services, SessionParameters(id=wanted.id, project=wanted.project))
    turns = load_turns(
        services,
        TurnsParameters(
            id=wanted.id,
            project=wanted.project,
            start=wanted.start,
            count=FIRST_TURNS,
            at=wanted.at,
            steps=FIRST_STEPS,
            quick=True,
        ),
    )
    row = make_row(services.shelf.known, found.listing)
    address = make_address(wanted.id)
    page = SessionPage(
        session=row,
        address=address,
        turns=_render(turns, address, translator),
        start=turns.start,
        total=turns.total,
        is_partial=turns.is_partial,
        at=wanted.at,
        resume_command=_find_resume_command(found),
    )
    title = row.title or row.first_prompt or row.id
    return Drawn("session.html", page, title=title, section="sessions")


def draw_turns(services: Services, wanted: TurnsPageParameters, translator: Translator) -> Drawn:
    """Some turns of a session."""
    return _draw_fragment(services, TurnsParameters(**asdict(wanted)), translator)


def draw_agent(services: Services, wanted: AgentParameters, translator: Translator) -> Drawn:
    """Some turns of a subagent."""
    return _draw_fragment(services, TurnsParameters(**asdict(wanted)), translator)


def draw_call(services: Services, wanted: CallParameters, translator: Translator) -> Drawn:
    """What opens behind a tool call, of the session or of any of its subagents."""
    found = locate(services, SessionParameters(id=wanted.id, project=wanted.project))
    with services.opened.use(found) as session:
        owner = session
        if session.find_tool_call(wanted.call) is None:
            agents = (child.agent_id for child in iter_subagents(session))
            holding = (find_agent(session, agent) for agent in agents)
            owner = next((s for s in holding if s.find_tool_call(wanted.call)), session)
        call = find_call(owner, wanted.call)
        body = render_call(call, _frame(make_address(wanted.id), translator))
    return Drawn("call.html", CallFragment(body=body))


def draw_raw(services: Services, wanted: RawParameters) -> Drawn:
    """A record as it stands in the file."""
    found = locate(services, SessionParameters(id=wanted.id, project=wanted.project))
    with services.opened.use(found) as session:
        span = find_span(session, wanted.uuid)
        view = build_raw_view(session, wanted.uuid, read_span)
    text = view.text if view else read_span(span).decode("utf-8", "replace")
    page = RawPage(
        session=make_row(services.shelf.known, found.listing),
        address=make_address(wanted.id),
        uuid=wanted.uuid,
        path=span.file,
        offset=span.offset,
        length=span.length,
        text=text,
    )
    return Drawn("raw.html", page, title=wanted.uuid, section="sessions")


def _draw_fragment(services: Services, wanted: TurnsParameters, translator: Translator) -> Drawn:
    turns = load_turns(services, wanted)
    fragment = TurnsFragment(
        turns=_render(turns, make_address(wanted.id), translator),
        start=turns.start,
        next_start=turns.start + len(turns.turns),
        total=turns.total,
        is_partial=turns.is_partial,
        agent=wanted.agent,
    )
    return Drawn("turns.html", fragment)


def _render(turns: TurnRange, address: str, translator: Translator) -> tuple[Markup, ...]:
    costs = {
        turn.index: show_money(to_dollars(cost))
        for turn, cost in zip(turns.turns, turns.costs, strict=True)
    }
    frame = replace(_frame(address, translator), show_cost=lambda turn: costs[turn.index])
    return tuple(render_turn(turn, frame) for turn in turns.turns)


def _frame(address: str, translator: Translator) -> Frame:
    return Frame(address=address, translate=translator.translate)


def _find_resume_command(found: Found) -> str:
    try:
        plan = plan_resume(found.transcript, found.listing.cwd)
        check_shown(plan)
    except RecollectError:
        return ""
    return plan.shell_command


def make_address(session_id: str) -> str:
    """Where a session has its page."""
    return f"/s/{session_id}"
