"""Run `recollect` and log function calls between modules and file reads.

`python -m tools.probe ARGUMENTS` behaves like `python -m recollect ARGUMENTS`. Each process writes
to its own file in the directory PROBE_LOG, unbuffered, because workers exit without cleanup. Hooks
are installed on import, since a spawned process imports this module again.
"""

import os
import signal
import sys
import threading
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

from recollect.sources import source

LOG_VARIABLE: Final = "PROBE_LOG"
PACKAGE: Final = str(Path(__file__).resolve().parent.parent / "src" / "recollect") + os.sep
CALL, READ, MARK = "call", "read", "mark"


class Log:
    """Tab-separated lines, in one file per process."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._pid = 0
        self._descriptor = -1

    def write(self, *words: object) -> None:
        """Append a line."""
        if self._pid != os.getpid():
            self._pid = os.getpid()
            path = os.path.join(self._folder, f"{self._pid}.log")  # noqa: PTH118 - in every call
            self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(self._descriptor, ("\t".join(map(str, words)) + "\n").encode())


class CallProbe:
    """Logs each pair of caller and called function of the package once.

    The caller is the next function of the package on the stack, so a framework in between does not
    hide a call from one layer to another. Class bodies, lambdas and comprehensions do not count as
    functions.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._seen: set[tuple[CodeType | None, CodeType]] = set()

    def start(self) -> None:
        """Log the calls of this thread and of all threads started later."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        signal.signal(signal.SIGUSR1, self._forget)

    def _forget(self, _signal: int, _frame: FrameType | None) -> None:
        self._seen.clear()
        self._log.write(MARK)

    def _note(self, frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event != "call" or not _is_function(code):
            return
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(PACKAGE):
            caller = caller.f_back
        pair = (caller.f_code if caller else None, code)
        if pair not in self._seen:
            self._seen.add(pair)
            source = caller.f_code.co_filename if caller else code.co_filename
            self._log.write(CALL, source, code.co_filename, code.co_qualname)


def _is_function(code: CodeType) -> bool:
    return (
        code.co_filename.startswith(PACKAGE)
        and bool(code.co_flags & CO_OPTIMIZED)
        and not code.co_name.startswith("<")
    )


def count_reads(log: Log) -> None:
    """From now on, log how many bytes were read from each transcript when it is closed."""

    class CountedFile(source.DiskFile):
        """A file that counts the bytes read."""

        _count = 0

        def read(self, size: int | None = -1, /) -> bytes:
            found = super().read(-1 if size is None else size)
            self._count += len(found or b"")
            return found

        def readall(self) -> bytes:
            found = super().readall()
            self._count += len(found)
            return found

        def readinto(self, buffer: Any, /) -> int:
            length = super().readinto(buffer)
            self._count += length
            return length

        def close(self) -> None:
            if not self.closed and str(self.name).endswith(".jsonl"):
                # Not with its own method, which would be logged as a call of the program.
                log.write(READ, self.name, self._count, os.fstat(self.fileno()).st_size)
            super().close()

    source.DiskFile = CountedFile  # type: ignore[misc]


if LOG_VARIABLE in os.environ:
    _log = Log(os.environ[LOG_VARIABLE])
    count_reads(_log)
    if __name__ == "__main__":
        CallProbe(_log).start()

if __name__ == "__main__":
    from recollect.cli import main

    main()
