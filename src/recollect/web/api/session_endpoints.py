"""One session: its metadata, figures, subagents and outline, and single records and tool calls.

Ids are compared with what the session contains; any other is NothingFound. A record is read from
the file and the offset that the session knows, and no part of a request becomes part of a path.
Also the list of projects, and the health report.
"""

from collections.abc import Iterator
from typing import Annotated, Final

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
from recollect.documents.turns import ToolStep
from recollect.errors import NothingFound
from recollect.locations.transcript_files import name_of
from recollect.reader.transcript_reader import read_span, read_transcript
from recollect.records.envelope import Span
from recollect.render.views.overview import build_outline
from recollect.render.views.timeline import find_turn_index
from recollect.render.views.turn_views import build_turn_view
from recollect.render.views.whole_calls import complete_call
from recollect.session.finding import find_text
from recollect.session.metadata import Metrics
from recollect.session.session import Session, Subagent
from recollect.web.parameters import MAX_ID, Id
from recollect.web.services import Services
from recollect.workspace.served_workspace import LIST_SECONDS
from recollect.workspace.session_catalog import FoundSession

_MAX_DIGITS: Final = 15
"""Of an offset: more than any file has bytes."""


def iter_subagents(session: Session) -> Iterator[Subagent]:
    """The subagents of a session and theirs, each once."""
    waiting, seen = [session], {id(session)}
    while waiting:
        for child in waiting.pop().subagents:
            if id(child.session) not in seen:
                seen.add(id(child.session))
                waiting.append(child.session)
                yield child


def find_agent(session: Session, agent_id: str) -> Session:
    """The conversation of a subagent."""
    for child in iter_subagents(session):
        if child.agent_id == agent_id:
            return child.session
    raise NothingFound(f"The session has no subagent {agent_id!r}.")


def find_span(session: Session, uuid: str) -> Span:
    """Where a record lies, of the session itself or of one of its subagents."""
    for each in (session, *(child.session for child in iter_subagents(session))):
        record = each.find_record(uuid)
        if record is not None and record.span is not None:
            return record.span
    raise NothingFound(f"The session has no record {uuid!r}.")


def find_line(found: FoundSession, line: str) -> tuple[Span, str | None]:
    """The span and uuid of the record at `file:offset`, where lists have `file` as an id.

    Only files of the session are looked at.
    """
    name, _, digits = line.rpartition(":")
    if digits.isdecimal() and len(digits) <= _MAX_DIGITS:
        for each in (found.transcript, *found.relatives):
            if name_of(each) == name:
                record = next(read_transcript(each.file, int(digits)), None)
                if record and record.span and record.span.offset == int(digits):
                    return record.span, getattr(record, "uuid", None)
    raise NothingFound(f"The session has no line {line!r}.")


class RecordLocation(Struct, frozen=True):
    """Where the page of a session shows a record."""

    turn: int
    """The index of the turn."""
    anchor: str
    """The uuid of what is shown there: of a copy its original, of a subagent's record its call."""


def find_location(session: Session, uuid: str, offset: int | None = None) -> RecordLocation:
    """Where a record is shown; of several with one uuid, the one at `offset` of the file."""
    anchor = session.find_anchor(uuid, offset)
    index = find_turn_index(session, anchor)
    if index is not None:
        return RecordLocation(index, anchor)
    for child in session.subagents:
        inner = (child.session, *(each.session for each in iter_subagents(child.session)))
        if any(each.find_record(uuid) for each in inner):
            anchor = child.call.call_uuid or "" if child.call else ""
            # Without a known call no turn shows the subagent.
            return RecordLocation(find_turn_index(session, anchor) or 0, anchor)
    raise NothingFound(f"The session has no record {uuid!r}.")


def find_call(session: Session, call_id: str) -> ToolStep:
    """A tool call with everything that it was given and returned, as `--tools full` shows it."""
    call = session.find_tool_call(call_id)
    index = find_turn_index(session, call.call_uuid or "") if call else None
    if call is not None and index is not None:
        view = build_turn_view(session, session.turns[index])
        for step in view.steps:
            if isinstance(step, ToolStep) and step.call_id == call_id:
                return complete_call(step, call)
    raise NothingFound(f"The session has no tool call {call_id!r}.")


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
    """The bytes of the record, without its line end."""
    found = services.workspace.locate(wanted.id, wanted.project)
    with services.workspace.use(found) as session:
        span = find_span(session, wanted.uuid)
    return read_span(span).rstrip(b"\r\n")


class NoParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Nothing to choose."""


def list_projects(services: Services, _: NoParameters) -> ProjectsDocument:
    """All projects."""
    services.workspace.catalog.wait_for_list(LIST_SECONDS)
    return ProjectsDocument(projects=services.workspace.choices.projects)


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
