"""Download a session as a file. Secrets are masked: only a command can export without that."""

from typing import Annotated

from msgspec import Meta, Struct

from recollect.export.exporter import Exporter, name_export
from recollect.export.material import SessionPart
from recollect.export.options import (
    MEDIA_TYPES,
    READABLE,
    ExportOptions,
    Format,
    Level,
    Table,
    Theme,
)
from recollect.web.api.session_endpoints import Project
from recollect.web.parameters import Id
from recollect.web.responses import Download
from recollect.web.services import Services
from recollect.workspace.session_questions import open_priced


class ExportParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which session, as what."""

    id: Id
    project: Project | None = None
    format: Annotated[
        str, Meta(pattern="^(html|markdown|text|json|csv)$", description="The format of the file.")
    ] = "html"
    level: Annotated[
        str,
        Meta(
            pattern="^(prompts|conversation|tools|full)$",
            description="How much of each turn html, markdown and text contain.",
        ),
    ] = "full"
    theme: Annotated[str, Meta(pattern="^(system|light|dark)$")] = "system"
    table: Annotated[
        str, Meta(pattern="^(messages|calls|usage)$", description="The table of a CSV file.")
    ] = "messages"


def export_session(services: Services, wanted: ExportParameters) -> Download:
    """The session as a file; secrets are masked as the config file says."""
    workspace = services.workspace
    found = workspace.locate(wanted.id, wanted.project)
    kind = Format(wanted.format)
    options = ExportOptions(
        format=kind,
        level=Level(wanted.level) if kind in READABLE else Level.FULL,
        theme=Theme(wanted.theme),
        table=Table(wanted.table),
        redaction=workspace.redaction,
    )
    exporter = Exporter(options)
    # Opened for itself: the one that pages use must not be held for as long as this takes, and
    # it is masked by the policy of what leaves the machine.
    part = SessionPart(exporter.open_masked(lambda: open_priced(found.transcript, workspace)))
    data = b"".join(exporter.stream(part))
    return Download(data, MEDIA_TYPES[kind], name_export(part, options))
