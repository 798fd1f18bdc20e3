"""What sessions recorded of a file, and the states of files at the prompts of a session."""

from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta, Struct

from recollect.documents.file_versions import CheckpointsDocument, FileDocument
from recollect.errors import NothingFound
from recollect.locations.sidecars import find_root_of
from recollect.versions.backups import BackupDirectory
from recollect.versions.session_checkpoints import build_checkpoints
from recollect.web.api.session_endpoints import SessionParameters
from recollect.web.parameters import ID_PATTERN
from recollect.web.services import Services
from recollect.workspace.file_questions import (
    FileFinder,
    FileRequest,
    FoundFile,
    describe_checkpoints,
    describe_history,
)

_MAX_PATH: Final = 4096
FilePath = Annotated[
    str,
    Meta(pattern=ID_PATTERN, max_length=_MAX_PATH, description="The absolute path of a file."),
]


class PathParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which file."""

    path: FilePath


def find_recorded(services: Services, path: str) -> FoundFile:
    """Return what sessions recorded of a file; raise NothingFound if that is nothing.

    Neither the file on disk nor git is asked.
    """
    request = FileRequest(Path(path))
    found = FileFinder(services.workspace, request).find(request.path, with_git=False)
    if found is None:
        raise NothingFound(f"No session has recorded a version of {path}.")
    return found


def list_versions(services: Services, wanted: PathParameters) -> FileDocument:
    """Return the versions of a file."""
    return describe_history(find_recorded(services, wanted.path).history)


def list_checkpoints(services: Services, wanted: SessionParameters) -> CheckpointsDocument:
    """Return the states of a session's files at its prompts."""
    found = services.workspace.locate(wanted.id, wanted.project)
    backups = BackupDirectory(find_root_of(found.transcript))
    with services.workspace.use(found) as session:
        return describe_checkpoints(build_checkpoints(session, backups))
