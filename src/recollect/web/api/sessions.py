"""One session: its head data, figures, subagents and outline."""

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import asdict

from recollect.errors import NothingFound
from recollect.records.tokens import Tokens
from recollect.render.views.outline import OutlineEntry, build_outline
from recollect.session.finding import find_words
from recollect.session.metrics import Metrics
from recollect.session.session import Session
from recollect.web.api.finding import iter_subagents
from recollect.web.api.rows import SessionRow, make_row
from recollect.web.parameters import Id
from recollect.web.services import Services
from recollect.web.shelf import Found, find_session

Project = Annotated[
    str, Meta(max_length=300, description="A project's directory name, if ids repeat.")
]


class SessionParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which session."""

    id: Id
    project: Project | None = None


class SessionMetrics(Struct, frozen=True, kw_only=True):
    """The figures of a session, without those of its subagents."""

    tokens: Tokens
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
    lines_added: int
    lines_removed: int


class SubagentRow(Struct, frozen=True, kw_only=True):
    """A subagent, at any depth."""

    agent_id: str
    kind: str
    agent_type: str | None
    description: str | None
    call_id: str | None
    """The tool call that started it."""
    turns: int


class SessionDocument(Struct, frozen=True, kw_only=True):
    """A session as a whole."""

    session: SessionRow
    metrics: SessionMetrics
    segments: int
    """Stretches between compactions."""
    branches: int
    """Places where the conversation was taken up twice."""
    subagents: list[SubagentRow]
    irregular: int
    """Lines that are no known record."""


class FindParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which words in which session."""

    id: Id
    q: Annotated[str, Meta(min_length=1, max_length=500)]
    project: Project | None = None


class FindHit(Struct, frozen=True, kw_only=True):
    """A record in which the words stand."""

    uuid: str


class FindDocument(Struct, frozen=True, kw_only=True):
    """Where the words stand."""

    id: str
    hits: tuple[FindHit, ...]


class OutlineDocument(Struct, frozen=True, kw_only=True):
    """The turns of a session, one line each."""

    id: str
    turns: tuple[OutlineEntry, ...]


def locate(services: Services, wanted: SessionParameters) -> Found:
    """The session that is wanted, by its id."""
    services.shelf.wait_for_list(3.0)
    try:
        return find_session(services.shelf.known, wanted.id, wanted.project)
    except NothingFound:
        # The newest are listed first: of an older one, only the whole list can say that it is none.
        services.shelf.wait_for_all(5.0)
        return find_session(services.shelf.known, wanted.id, wanted.project)


def describe_session(services: Services, wanted: SessionParameters) -> SessionDocument:
    """All that is known of a session but what was said."""
    found = locate(services, wanted)
    row = make_row(services.shelf.known, found.listing)
    with services.opened.use(found) as session:
        return SessionDocument(
            session=row,
            metrics=describe_metrics(session.metrics),
            segments=len(session.segments),
            branches=len(session.branches),
            subagents=list_subagents(session),
            irregular=len(session.irregular),
        )


def describe_outline(services: Services, wanted: SessionParameters) -> OutlineDocument:
    """The prompts of a session, to jump to."""
    found = locate(services, wanted)
    with services.opened.use(found) as session:
        return OutlineDocument(id=found.listing.id, turns=build_outline(session))


def find_in_session(services: Services, wanted: FindParameters) -> FindDocument:
    """The records of a session that hold some words, those that no page shows yet included."""
    found = locate(services, SessionParameters(id=wanted.id, project=wanted.project))
    with services.opened.use(found) as session:
        hits = tuple(FindHit(uuid=uuid) for uuid in find_words(session, wanted.q))
        return FindDocument(id=found.listing.id, hits=hits)


def describe_metrics(metrics: Metrics) -> SessionMetrics:
    """The figures; the client's own word on the cost is for `/api/usage/explain`."""
    values = asdict(metrics)
    return SessionMetrics(**{name: values[name] for name in SessionMetrics.__struct_fields__})


def list_subagents(session: Session) -> list[SubagentRow]:
    """The subagents at any depth."""
    return [
        SubagentRow(
            agent_id=child.agent_id,
            kind=child.kind.value,
            agent_type=child.agent_type,
            description=child.description,
            call_id=child.call.id if child.call else None,
            turns=len(child.session.turns),
        )
        for child in iter_subagents(session)
    ]
