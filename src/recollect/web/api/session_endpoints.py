"""One session: its metadata, figures, subagents and outline, and single records and tool calls.

Ids are compared with what the session contains; any other is NothingFound. A record is read from
the file and the offset that the session knows, and no part of a request becomes part of a path.
Also the overview, the list of projects, and the health report.
"""

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import asdict

from recollect.documents.api_documents import (
    FindDocument,
    FindHit,
    HealthDocument,
    OutlineDocument,
    ProjectsDocument,
    SessionDocument,
    SessionMetrics,
    SubagentRow,
)
from recollect.documents.events import ConversationsDocument
from recollect.documents.session_documents import Overview
from recollect.reader.transcript_reader import read_shown
from recollect.render.views.overview import build_outline
from recollect.session.finding import find_text
from recollect.session.metadata import Metrics
from recollect.session.session import Session
from recollect.web.parameters import MAX_ID, Id
from recollect.web.services import Services
from recollect.workspace.served_workspace import LIST_SECONDS
from recollect.workspace.session_places import find_span, iter_subagents

Project = Annotated[
    str, Meta(max_length=MAX_ID, description="A project's directory name, if ids repeat.")
]


class SessionParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which session."""

    id: Id
    project: Project | None = None


class FindParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which words in which session."""

    id: Id
    q: Annotated[str, Meta(min_length=1, max_length=500)]
    project: Project | None = None


def describe_session(services: Services, wanted: SessionParameters) -> SessionDocument:
    """All that is known of a session but what was said."""
    workspace = services.workspace
    found = workspace.locate(wanted.id, wanted.project)
    with workspace.use(found) as session:
        return SessionDocument(
            session=workspace.complete(found.listing),
            metrics=describe_metrics(session.metrics),
            segments=len(session.segments),
            branches=len(session.branches),
            subagents=list_subagents(session),
            irregular=len(session.irregular),
        )


def describe_outline(services: Services, wanted: SessionParameters) -> OutlineDocument:
    """The prompts of a session, to jump to."""
    found = services.workspace.locate(wanted.id, wanted.project)
    with services.workspace.use(found) as session:
        return OutlineDocument(id=found.listing.id, turns=build_outline(session))


def find_in_session(services: Services, wanted: FindParameters) -> FindDocument:
    """The records of a session that hold some words, those that no page shows yet included."""
    found = services.workspace.locate(wanted.id, wanted.project)
    with services.workspace.use(found) as session:
        hits = tuple(FindHit(uuid=uuid) for uuid in find_text(session, wanted.q))
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


Uuid = Annotated[
    str, Meta(min_length=1, max_length=MAX_ID, description="The `uuid` that the record says.")
]


class RecordParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which record of which session."""

    id: Id
    uuid: Uuid
    project: Project | None = None


def load_record(services: Services, wanted: RecordParameters) -> bytes:
    """The bytes of the record, without its line end and with secrets masked."""
    found = services.workspace.locate(wanted.id, wanted.project)
    with services.workspace.use(found) as session:
        span = find_span(session, wanted.uuid)
    return read_shown(span).rstrip(b"\r\n")


class NoParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Nothing to choose."""


def list_projects(services: Services, _: NoParameters) -> ProjectsDocument:
    """All projects."""
    services.workspace.catalog.wait_for_list(LIST_SECONDS)
    return ProjectsDocument(projects=services.workspace.choices.projects)


def describe_overview(services: Services, _: NoParameters) -> Overview:
    """What the home page shows."""
    return services.workspace.overview()


def describe_health(services: Services, _: NoParameters) -> HealthDocument:
    """How the files and the index are."""
    report = services.workspace.health()
    known = services.workspace.catalog.snapshot
    return HealthDocument(
        report=report,
        sessions=len(known.sessions),
        is_listed=known.is_listed,
        is_searchable=known.is_searchable,
        index_failure=known.failure,
    )


def list_conversations(services: Services, _: NoParameters) -> ConversationsDocument:
    """Return the conversations that this server runs."""
    return services.conversations.document
