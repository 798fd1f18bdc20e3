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
    MAX_READ,
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
        raise _say_unknown(path)
    return found


def find_within_budget(services: Services, path: str) -> tuple[FoundFile | None, int]:
    """Return what sessions recorded of a file, and how many of them are still to be read.

    Those are read in the background. Raise NothingFound if all are read and none names the file.
    """
    request = FileRequest(Path(path), budget=MAX_READ)
    finder = FileFinder(services.workspace, request)
    found = finder.find(request.path, with_git=False)
    if found is None and not finder.unread:
        raise _say_unknown(path)
    if finder.unread:
        for project in finder.projects:
            services.workspace.outline_ahead(project)
    return found, finder.unread


def _say_unknown(path: str) -> NothingFound:
    return NothingFound(f"No session has recorded a version of {path}.")


def list_versions(services: Services, wanted: PathParameters) -> FileDocument:
    """Return the versions of a file."""
    return describe_history(find_recorded(services, wanted.path).history)


def list_checkpoints(services: Services, wanted: SessionParameters) -> CheckpointsDocument:
    """Return the states of a session's files at its prompts."""
    found = services.workspace.locate(wanted.id, wanted.project)
    backups = BackupDirectory(find_root_of(found.transcript))
    with services.workspace.use(found) as session:
        return describe_checkpoints(build_checkpoints(session, backups))
