"""One session: its metadata, figures, turns, subagents and outline, single records and tool calls,
its file versions, and downloads of the session or some of its turns.

Ids are only compared with those in the session; any other raises NothingFound. A record is read
from its file and offset in the session, and no part of a request becomes part of a path. Also the
overview, the list of projects, and the health report.

The first turns of a long session can be shown before all of it is read: with `quick`, the response
comes from the beginning of the file and is marked as partial, and the rest is read in the
background.

Secrets are masked in downloads. The original lines, which cannot be masked, are only for a person
who confirms that: see `export_review`. Empty parameters are those of a form that was sent without a
choice.
"""

from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta, Struct, structs

from recollect.documents import session_documents
from recollect.documents.events import ConversationsDocument
from recollect.documents.file_versions import CheckpointsDocument, FileDocument
from recollect.errors import NothingFound
from recollect.export import export_options
from recollect.export.export_content import SessionPart
from recollect.export.exporter import Exporter, name_file
from recollect.library.opening import price_turn
from recollect.library.session_filters import hide_path
from recollect.quantities import to_dollars
from recollect.reader.transcript_reader import read_shown
from recollect.redact.findings import RedactionPolicy
from recollect.render.views.overview import build_outline, list_changed_files
from recollect.render.views.timeline import build_timeline
from recollect.session.finding import find_text
from recollect.session.metadata import Metrics
from recollect.session.session import Session
from recollect.versions.recorded_evidence import BackupDirectory
from recollect.versions.session_checkpoints import build_checkpoints
from recollect.web.http_messages import ID_PATTERN, MAX_ID, Download, Id, parameter_errors
from recollect.web.services import Services
from recollect.workspace import file_queries, turn_selection
from recollect.workspace.served_workspace import LIST_SECONDS
from recollect.workspace.session_places import find_span, iter_subagents
from recollect.workspace.session_queries import open_with_prices
from recollect.workspace.turn_selection import MAX_STEPS, TurnRange, TurnWindow

Project = Annotated[
    str, Meta(max_length=MAX_ID, description="A project's directory name, if several have this id.")
]


class SessionParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters: a session."""

    id: Id
    project: Project | None = None


class FindParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters: a session, and the words to find in it."""

    id: Id
    q: Annotated[str, Meta(min_length=1, max_length=500)]
    project: Project | None = None


def describe_session(
    services: Services, wanted: SessionParameters
) -> session_documents.SessionDocument:
    """Everything known about a session except the conversation itself."""
    workspace = services.workspace
    found = workspace.locate(wanted.id, wanted.project)
    shares = workspace.attribute_tokens([found.transcript]).get(found.transcript.file)
    with workspace.use(found) as session:
        return session_documents.SessionDocument(
            session=hide_path(workspace.complete(found.listing)),
            metrics=describe_metrics(session.metrics, shares),
            segments=len(session.segments),
            branches=len(session.branches),
            subagents=list_subagents(session),
            irregular=len(session.irregular),
        )


def describe_outline(
    services: Services, wanted: SessionParameters
) -> session_documents.OutlineDocument:
    """The prompts of a session with their costs, what failed, and the changed files."""
    found = services.workspace.locate(wanted.id, wanted.project)
    with services.workspace.use(found) as session:
        turns, prices = session.turns, services.workspace.price_list
        return session_documents.OutlineDocument(
            id=found.listing.id,
            turns=tuple(
                structs.replace(entry, cost_usd=to_dollars(price_turn(turns[number], prices)))
                for number, entry in enumerate(build_outline(session))
            ),
            files=list_changed_files(session),
        )


def find_in_session(services: Services, wanted: FindParameters) -> session_documents.FindDocument:
    """The records of a session that contain some words, including those not rendered yet."""
    found = services.workspace.locate(wanted.id, wanted.project)
    with services.workspace.use(found) as session:
        turn_of = build_timeline(session).turn_of
        hits = tuple(
            session_documents.FindHit(
                uuid=uuid, turn=turn_of[uuid] + 1 if uuid in turn_of else None
            )
            for uuid in find_text(session, wanted.q)
        )
        return session_documents.FindDocument(id=found.listing.id, hits=hits)


def describe_metrics(
    metrics: Metrics, shares: session_documents.TokenShares | None
) -> session_documents.SessionMetrics:
    """The figures; the cost reported by the client is in `/api/usage/explain`."""
    values = structs.asdict(metrics)
    if shares is not None:
        values |= {"tokens": shares.own, "copied_tokens": shares.copied}
    return session_documents.SessionMetrics(
        **{name: values[name] for name in session_documents.SessionMetrics.__struct_fields__}
    )


def list_subagents(session: Session) -> list[session_documents.SubagentRow]:
    """The subagents at any depth."""
    return [
        session_documents.SubagentRow(
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
    str, Meta(min_length=1, max_length=MAX_ID, description="The `uuid` of the record.")
]


class RecordParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters: a record of a session."""

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
    """No parameters."""


def list_projects(services: Services, _: NoParameters) -> session_documents.ProjectsDocument:
    """All projects."""
    services.workspace.catalog.wait_for_list(LIST_SECONDS)
    return session_documents.ProjectsDocument(projects=services.workspace.choices.projects)


def describe_overview(services: Services, _: NoParameters) -> session_documents.Overview:
    """Return the content of the home page."""
    found = services.workspace.overview()
    return structs.replace(
        found,
        live=tuple(map(hide_path, found.live)),
        recent=tuple(map(hide_path, found.recent)),
        expiring=tuple(map(hide_path, found.expiring)),
    )


def describe_health(services: Services, _: NoParameters) -> session_documents.HealthDocument:
    """The status of the files and the index."""
    report = services.workspace.health()
    known = services.workspace.catalog.snapshot
    return session_documents.HealthDocument(
        report=report,
        sessions=len(known.sessions),
        is_listed=known.is_listed,
        is_searchable=known.is_searchable,
        index_failure=known.failure,
    )


def list_conversations(services: Services, _: NoParameters) -> ConversationsDocument:
    """Return the conversations that this server runs."""
    return services.conversations.document


MAX_TURNS: Final = 200
MAX_MARKS: Final = 2000


Marks = Annotated[
    str,
    Meta(
        max_length=MAX_MARKS,
        description="Words in that record, one per line, if several steps show it.",
    ),
]


class TurnsParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters: a range of turns of a session."""

    id: Id
    project: Project | None = None
    start: Annotated[int, Meta(ge=0, le=10_000_000, description="How many turns to skip.")] = 0
    count: Annotated[int, Meta(ge=1, le=MAX_TURNS)] = 20
    at: Annotated[
        str, Meta(max_length=MAX_ID, description="Start a little before the turn of this record.")
    ] = ""
    offset: (
        Annotated[
            int,
            Meta(ge=0, description="Its offset in the file, if several records have its uuid."),
        ]
        | None
    ) = None
    mark: Marks = ""
    agent: Annotated[
        str,
        Meta(max_length=MAX_ID, description="Turns of this subagent instead of the session's own."),
    ] = ""
    steps: Annotated[
        int,
        Meta(ge=1, le=MAX_STEPS, description="Do not start another turn after this many steps."),
    ] = MAX_STEPS
    quick: Annotated[
        bool,
        Meta(
            description="Respond with the start of a long file if the rest has not been read yet."
        ),
    ] = False


def load_turns(
    services: Services, wanted: TurnsParameters, *, is_complete: bool = False
) -> TurnRange:
    """Return the requested turns; their tool calls are whole if `is_complete`."""
    window = TurnWindow(
        start=wanted.start,
        count=wanted.count,
        at=wanted.at,
        offset=wanted.offset,
        words=tuple(wanted.mark.splitlines()),
        agent=wanted.agent,
        steps=wanted.steps,
        is_quick=wanted.quick,
        is_complete=is_complete,
    )
    return services.workspace.turns(services.workspace.locate(wanted.id, wanted.project), window)


def list_turns(services: Services, wanted: TurnsParameters) -> session_documents.TurnsDocument:
    """Return the requested turns."""
    found = load_turns(services, wanted, is_complete=True)
    return session_documents.TurnsDocument(
        id=wanted.id,
        start=found.start,
        total=found.total,
        is_partial=found.is_partial,
        turns=found.turns,
    )


_MAX_PATH: Final = 4096
FilePath = Annotated[
    str,
    Meta(pattern=ID_PATTERN, max_length=_MAX_PATH, description="The absolute path of a file."),
]


class PathParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters: the path of a file."""

    path: FilePath


def find_recorded(services: Services, path: str) -> file_queries.FoundFile:
    """Return the recorded history of a file; raise NothingFound if there is none.

    Uses neither the file on disk nor git.
    """
    request = file_queries.FileRequest(Path(path))
    found = file_queries.FileFinder(services.workspace, request).find(request.path, with_git=False)
    if found is None:
        raise _no_version(path)
    return found


def find_within_budget(services: Services, path: str) -> tuple[file_queries.FoundFile | None, int]:
    """Return the recorded history of a file, and the number of sessions still to be read.

    Those are read in the background. Raise NothingFound if all are read and none mentions the file.
    """
    request = file_queries.FileRequest(Path(path), budget=file_queries.MAX_READ)
    finder = file_queries.FileFinder(services.workspace, request)
    found = finder.find(request.path, with_git=False)
    if found is None and not finder.unread:
        raise _no_version(path)
    if finder.unread:
        for project in finder.projects:
            services.workspace.outline_ahead(project)
    return found, finder.unread


def _no_version(path: str) -> NothingFound:
    return NothingFound(f"No session has recorded a version of {path}.")


def list_versions(services: Services, wanted: PathParameters) -> FileDocument:
    """Return the versions of a file."""
    return file_queries.describe_history(find_recorded(services, wanted.path).history)


def list_checkpoints(services: Services, wanted: SessionParameters) -> CheckpointsDocument:
    """Return the states of a session's files at its prompts."""
    found = services.workspace.locate(wanted.id, wanted.project)
    backups = BackupDirectory(found.transcript.root)
    with services.workspace.use(found) as session:
        return file_queries.describe_checkpoints(build_checkpoints(session, backups))


DOWNLOADED: Final = (
    export_options.Format.HTML,
    export_options.Format.MARKDOWN,
    export_options.Format.TEXT,
    export_options.Format.JSON,
    export_options.Format.CSV,
    export_options.Format.PARQUET,
)
"""Download formats that are masked."""
_MAX_SELECTION: Final = 40


class ExportParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters: a session, a selection of its turns, and the format."""

    id: Id
    project: Project | None = None
    format: Annotated[
        str, Meta(pattern=f"^({'|'.join(DOWNLOADED)})$", description="The format of the file.")
    ] = "html"
    level: Annotated[
        str,
        Meta(
            pattern="^(prompts|conversation|tools|full)$",
            description="How much of each turn to include in html, markdown and text.",
        ),
    ] = "full"
    turns: Annotated[
        str,
        Meta(max_length=_MAX_SELECTION, description="Only these turns: 2-5, 4-, -3..-1 or 3."),
    ] = ""
    branch: Annotated[
        str,
        Meta(max_length=_MAX_SELECTION, description="Abandoned branch N, or `all` branches."),
    ] = ""
    segment: Annotated[
        str,
        Meta(
            max_length=_MAX_SELECTION,
            description="Only segment N: 0 is before the first compaction, -1 is the last.",
        ),
    ] = ""
    theme: Annotated[str, Meta(pattern="^(system|light|dark)$")] = "system"
    table: Annotated[
        str, Meta(pattern="^(messages|calls|usage)$", description="The table of a CSV file.")
    ] = "messages"


def export_session(services: Services, wanted: ExportParameters) -> Download:
    """The session as a file; secrets are masked as the config file says."""
    return make_download(services, wanted, services.workspace.redaction)


def make_download(
    services: Services, wanted: ExportParameters, redaction: RedactionPolicy | None
) -> Download:
    """Export the session with a policy for secrets; None leaves them in."""
    workspace, selection = services.workspace, read_selection(wanted)
    found = workspace.locate(wanted.id, wanted.project)
    kind = export_options.Format(wanted.format)
    options = export_options.ExportOptions(
        format=kind,
        level=export_options.Level(wanted.level)
        if kind in export_options.READABLE
        else export_options.Level.FULL,
        theme=export_options.Theme(wanted.theme),
        table=export_options.Table(wanted.table),
        redaction=redaction,
    )
    exporter = Exporter(options)
    # Opened separately: a slow export must not lock the session that pages use, and exports have
    # their own mask.
    session = exporter.open_masked(lambda: open_with_prices(found.transcript, workspace))
    turns = turn_selection.choose_turns(session, selection)
    shares = workspace.attribute_tokens([found.transcript]).get(found.transcript.file)
    part = SessionPart(session, turns, is_masked=True, shares=shares)
    data = b"".join(exporter.stream(part))
    name = name_file(session.metadata, options)
    return Download(data, export_options.MEDIA_TYPES[kind], name)


def read_selection(wanted: ExportParameters) -> turn_selection.TurnSelection:
    """Return the requested turns; raises BadParameter."""
    with parameter_errors("turns"):
        turns = turn_selection.parse_turns(wanted.turns) if wanted.turns else None
    with parameter_errors("segment"):
        segment = turn_selection.parse_segment(wanted.segment) if wanted.segment else None
    return turn_selection.TurnSelection(turns=turns, branch=wanted.branch or None, segment=segment)
