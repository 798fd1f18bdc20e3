"""A session, or some of its turns, as a file to download, with secrets masked. The original lines,
which cannot be masked, are only for a person who confirms that: see `export_review`.

Empty parameters are those of a form that was sent without a choice.
"""

from typing import Annotated, Final

from msgspec import Meta, Struct

from recollect.export import export_options
from recollect.export.export_content import SessionPart
from recollect.export.exporter import Exporter, name_file
from recollect.redact.findings import RedactionPolicy
from recollect.web.http_messages import Download, Id, parameter_errors
from recollect.web.services import Services
from recollect.web.session_endpoints import Project
from recollect.workspace import turn_selection
from recollect.workspace.session_queries import open_with_prices

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
