"""Restore a version of a file from its page: the diff first, then, if confirmed, the file.

Only with `--allow-run`, and only for pages of this server (`Permits`). A transcript can name any
path and any work directory, so the file must be in a directory whose sessions Claude Code keeps
under its name, which no transcript decides. Hidden files and those in hidden directories may be
settings that run something: they are left to `recollect restore`, and so is a home directory.
"""

import difflib
import hashlib
from pathlib import Path
from typing import Final

from anyio import to_thread
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from recollect.errors import NothingFound, UsageError
from recollect.locations.project_names import encode_project_path, encode_without_limit
from recollect.redact.text_masking import mask_in_lines
from recollect.versions.file_restore import (
    RestorePlan,
    find_target,
    plan_restore,
    write_restored,
)
from recollect.versions.file_texts import decode_file
from recollect.versions.recorded_paths import relative_to
from recollect.versions.replay import Grade
from recollect.web.api.file_endpoints import FilePath, find_recorded
from recollect.web.parameters import decode_body
from recollect.web.responses import Refused, json_response
from recollect.web.services import Services

RESTORE_PATH: Final = "/file/restore"
_CERTAIN: Final = (Grade.EXACT, Grade.REPLAYED)
_NOTHING: Final = "nothing"
"""Stands for the hash of a file that is not there."""
_CONFLICT: Final = 409


class RestoreBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which version of which file."""

    path: FilePath
    version: int
    present: str = ""
    """The `present` of the diff that was confirmed; without it nothing is written."""


class RestoreAnswer(Struct, frozen=True, kw_only=True):
    """The diff against the current file, or what was written."""

    target: str
    diff: str = ""
    """Empty if the file has this content already."""
    present: str = ""
    """Identifies the current content."""
    is_written: bool = False
    copy: str | None = None
    """Where the replaced content is."""


def name_scope(path: str) -> str:
    """Return what a nonce of the page of this file is good for."""
    return f"restore {path}"


class FileRestoring:
    """Answers `POST /file/restore`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def answer(self, request: Request) -> Response:
        """Return the diff, or restore the file if the diff was confirmed."""
        body = decode_body(await request.body(), RestoreBody)
        self._services.permits.check(request, name_scope(body.path))
        return json_response(await to_thread.run_sync(self._restore, body))

    def _restore(self, body: RestoreBody) -> RestoreAnswer:
        plan = _make_plan(self._services, body)
        present = _identify(plan.present)
        if not body.present:
            diff = "" if plan.changes_nothing else _describe(plan, body.version)
            return RestoreAnswer(target=str(plan.target), diff=diff, present=present)
        if body.present != present:
            raise Refused(_CONFLICT, "changed", "The file has changed meanwhile. Try again.")
        copy = write_restored(plan)
        return RestoreAnswer(
            target=str(plan.target), is_written=True, copy=str(copy) if copy else None
        )


def _make_plan(services: Services, body: RestoreBody) -> RestorePlan:
    history = find_recorded(services, body.path).history
    version = next((each for each in history.versions if each.number == body.version), None)
    if version is None:
        raise NothingFound("The file has no version of that number.")
    if version.known not in _CERTAIN:
        raise UsageError(f"Version {version.number} is not certain. Use `recollect restore`.")
    target = _find_place(services, history.path, history.sessions)
    return plan_restore(version, target, history.read_backup(version))


def _find_place(services: Services, path: str, sessions: tuple[str, ...]) -> Path:
    """Return where the file may be written; raise UsageError if a page must not."""
    for listing in services.workspace.snapshot.sessions:
        root = listing.cwd or ""
        names = (encode_project_path(root), encode_without_limit(root))
        if listing.id not in sessions or listing.project not in names or _is_above_home(root):
            continue
        inside = relative_to(path, root) or "."
        if not any(part.startswith(".") for part in inside.split("/")):
            target = find_target(path, root, Path(root))
            if target is not None:
                return target
    raise UsageError(
        f"{path} is hidden, a link, or in no directory of a session. Use `recollect restore`."
    )


def _is_above_home(root: str) -> bool:
    return not root or Path.home().is_relative_to(root)


def _identify(present: bytes | None) -> str:
    return _NOTHING if present is None else hashlib.sha256(present).hexdigest()


def _describe(plan: RestorePlan, number: int) -> str:
    old, new = decode_file(plan.present or b""), decode_file(plan.data)
    if old is None or new is None:
        return "Binary files differ"
    before, after = (mask_in_lines(each.text).splitlines() for each in (old, new))
    lines = difflib.unified_diff(before, after, str(plan.target), f"v{number}", lineterm="")
    return "\n".join(lines) or "Only line endings or the encoding differ"
