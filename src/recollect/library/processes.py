"""Find running clients by the files that they keep, and read small sidecar files.

Reads `sessions/<pid>.json` and checks whether that process is alive; never opens the secrets beside
it. A process id alone is not trusted: after a crash the file remains and the id is reused, so if
the start time of a process is available, it must equal that in the file. Small files are read up to
a limit, and reading never raises: sidecars may vanish, be unreadable or be something else entirely,
and the session is shown anyway.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from recollect.documents.session_listing import LiveProcess
from recollect.errors import UnreadableInput
from recollect.locations.claude_directories import encode_id
from recollect.locations.sidecars import list_process_files
from recollect.sources.safe_files import open_file

SMALL: Final = 1024 * 1024
"""Maximum size of a sidecar in bytes."""


def read_small(path: Path | str, limit: int = SMALL) -> bytes | None:
    """Return the content of the file at `path`; None if it is unreadable or larger than `limit`."""
    head = read_head(path, limit + 1)
    return head if head is not None and len(head) <= limit else None


def read_head(path: Path | str, length: int) -> bytes | None:
    """Return the first `length` bytes of the file at `path`; None if it cannot be read."""
    try:
        with open_file(str(path)) as file:
            return file.read(length)
    except (UnreadableInput, OSError):
        return None


_START_FIELD: Final = 19
"""Position of the start time in `/proc/<pid>/stat`, after the name in parentheses."""

_ZOMBIE: Final = "Z"
"""The state of a process that has exited, but whose parent has not read its exit code."""

_MIN_SECRET: Final = 12
"""Minimum length of a secret; a status or version is shorter."""

_SYNCHRONIZE: Final = 0x00100000
_WAIT_TIMEOUT: Final = 0x00000102


class ProcessFile(msgspec.Struct, frozen=True, rename="camel"):
    """The content of a client's file; the client may have exited since."""

    pid: int | None = None
    session_id: str | None = None
    proc_start: str | None = None
    status: str | None = None
    waiting_for: str | None = None
    name: str | None = None
    version: str | None = None
    updated_at: float | None = None


def find_live_processes(root: Path) -> dict[str, LiveProcess]:
    """Return the running clients of a root by the session that they have open."""
    found: dict[str, LiveProcess] = {}
    for _, stated in iter_process_files(root):
        if stated and stated.pid and stated.session_id and is_running(stated):
            found[encode_id(stated.session_id)] = _make_process(stated.pid, stated)
    return found


def iter_process_files(root: Path) -> Iterator[tuple[Path, ProcessFile | None]]:
    """Yield the files of clients and their content; None if it is unreadable or incomplete."""
    for path in list_process_files(root):
        data = read_small(path)
        yield path, _decode(data) if data else None


def _decode(data: bytes) -> ProcessFile | None:
    try:
        return msgspec.json.decode(data, type=ProcessFile)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # A newer client may write a field differently; decoding leniently loads all record types.
        from recollect.records.decoding import decode_value

        return decode_value(data, ProcessFile)


def _make_process(pid: int, stated: ProcessFile) -> LiveProcess:
    updated = stated.updated_at
    return LiveProcess(
        pid=pid,
        status=_mask(stated.status),
        name=_mask(stated.name),
        version=_mask(stated.version),
        updated_at=None if updated is None else updated / 1000,
    )


def _mask(name: str | None) -> str | None:
    if not name or len(name) < _MIN_SECRET:
        return name
    from recollect.redact.quick_masks import mask_words  # only for clients that have a name

    return mask_words(name)


def is_running(stated: ProcessFile) -> bool:
    """Return whether the client that wrote the file is still running."""
    pid = stated.pid or 0
    if pid <= 0 or not is_alive(pid):
        return False
    state, started = _read_stat(pid)
    if state == _ZOMBIE:
        return False
    return (
        started is None or not (stated.proc_start or "").isdigit() or started == stated.proc_start
    )


def is_alive(pid: int) -> bool:
    """Return whether there is a process with this id, owned by any user."""
    if sys.platform == "win32":
        return _is_alive_on_windows(pid)
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def _is_alive_on_windows(pid: int) -> bool:
    # `os.kill(pid, 0)` would send Ctrl+C on Windows.
    import ctypes  # slow to import

    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - exists on Windows only
    handle = kernel.OpenProcess(_SYNCHRONIZE, False, pid)
    if not handle:
        return False
    is_waiting = kernel.WaitForSingleObject(handle, 0) == _WAIT_TIMEOUT
    kernel.CloseHandle(handle)
    return bool(is_waiting)


def _read_stat(pid: int) -> tuple[str | None, str | None]:
    """Return the state and start time of a process, as Linux formats them; None elsewhere."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None, None
    fields = text.rpartition(")")[2].split()
    return (fields[0], fields[_START_FIELD]) if len(fields) > _START_FIELD else (None, None)
