"""End a client and everything it started, even if the process that started it is killed.

The guard is a separate program (`start_guard`) that waits until its parent has exited and then ends
the client, which would otherwise finish its turn. Tools of a client may have their own process
groups, so all its descendants are ended too. Uses only the standard library, so it starts within
milliseconds and stays small.
"""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

MARK_VARIABLE = "_RECOLLECT_CONVERSATION"
GRACE_SECONDS = 3.0
_POLL_SECONDS = 2.0
_STEP_SECONDS = 0.05
_KERNEL = 2
"""The id of the process whose children are kernel threads."""
_PARENT_FIELD = 1
_START_FIELD = 19
"""Index of the start time in `/proc/<pid>/stat`, counted after the name in parentheses."""

Process = tuple[int, str]
"""A process id and when the process started, so that a reused id is not mistaken for it."""


def make_mark() -> str:
    """Return an environment variable that marks a client and everything it starts."""
    return f"{MARK_VARIABLE}={os.urandom(16).hex()}"


def start_guard(client: int, mark: str) -> "subprocess.Popen[bytes] | None":
    """Start a guard for the client, which leads its own process group; None on Windows."""
    if sys.platform == "win32":
        return None
    return subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, str(client), str(os.getpid()), mark],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )


def stop_guard(guard: "subprocess.Popen[bytes] | None") -> None:
    """End a guard without ending its client."""
    if guard is not None:
        guard.kill()
        guard.wait()
        if guard.stdin:
            guard.stdin.close()


def list_process_tree(client: int, mark: str) -> list[Process]:
    """Return the client and all its descendants, whatever process group they are in.

    A tool whose parent has exited is found by the client's mark, if the system shows the
    environment of processes.
    """
    parents = _read_processes()
    tree = [client]
    for pid in tree:
        tree += [each for each, (parent, _) in parents.items() if parent == pid]
    found = [(pid, parents[pid][1]) for pid in tree if pid in parents]
    return found + _list_marked(mark, found)


def _list_marked(mark: str, known: list[Process]) -> list[Process]:
    """Return the processes with a mark that are not in `known`."""
    now = _read_processes()
    others = [(pid, started) for pid, (_, started) in now.items() if (pid, started) not in known]
    marked: list[Process] = []
    deadline = time.monotonic() + GRACE_SECONDS
    while others:
        settings = {each: read_settings(each[0]) for each in others}
        marked += [each for each in others if mark.encode() in (settings[each] or ())]
        # On older systems kernel threads look as if they were still being loaded.
        loading = [each for each in others if settings[each] is None]
        others = [each for each in loading if _KERNEL not in (each[0], now[each[0]][0])]
        if time.monotonic() > deadline:
            break
        time.sleep(_STEP_SECONDS / 10 if others else 0)
    return marked


def read_settings(pid: int) -> list[bytes] | None:
    """Return the environment of a process, as far as it is readable.

    None while its program is being loaded: for a moment it has neither arguments nor environment.
    """
    directory = Path(f"/proc/{pid}")
    try:
        found = (directory / "environ").read_bytes()
        if not found and not (directory / "cmdline").read_bytes():
            return None
        return (found or (directory / "environ").read_bytes()).split(b"\0")
    except OSError:
        return []


def signal_process_tree(group: int, tree: list[Process], number: int) -> None:
    """Send a signal to a process group, and to the processes of a tree that are not in it."""
    _send(os.killpg, group, number)
    now = _read_processes()
    for pid, started in tree:
        if pid in now and now[pid][1] == started:
            _send(os.kill, pid, number)


def is_any_running(tree: list[Process]) -> bool:
    """Return whether any process of a tree is still running."""
    now = _read_processes()
    return any(pid in now and now[pid][1] == started for pid, started in tree)


def _send(send: Callable[[int, int], None], target: int, number: int) -> None:
    try:
        send(target, number)
    except (ProcessLookupError, PermissionError):
        # It has exited meanwhile, or its id belongs to another user's process now.
        return


def _read_processes() -> dict[int, tuple[int, str]]:
    """Return parent and start time of every process that is running."""
    if sys.platform == "linux":
        found = dict(filter(None, map(_read_stat, Path("/proc").glob("[0-9]*"))))
    else:
        found = _list_by_program()
    return found


def _list_by_program() -> dict[int, tuple[int, str]]:
    listing = subprocess.run(
        ["/bin/ps", "-A", "-o", "pid=,ppid=,stat=,lstart="],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    rows = [line.split(None, 3) for line in listing.stdout.splitlines()]
    return {int(row[0]): (int(row[1]), row[3]) for row in rows if "Z" not in row[2]}


def _read_stat(directory: Path) -> tuple[int, tuple[int, str]] | None:
    try:
        text = (directory / "stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    if fields[0] == "Z":
        return None
    return int(directory.name), (int(fields[_PARENT_FIELD]), fields[_START_FIELD])


def end_process_tree(
    client: int, tree: list[Process], mark: str, grace: float = GRACE_SECONDS
) -> None:
    """Terminate, then kill, the remaining processes of a client's tree.

    A client that has exited may have started a tool after the tree was listed.
    """
    tree = tree + _list_marked(mark, tree)
    if not is_any_running(tree):
        return
    signal_process_tree(client, tree, signal.SIGTERM)
    deadline = time.monotonic() + grace
    while is_any_running(tree) and time.monotonic() < deadline:
        time.sleep(_STEP_SECONDS)
    signal_process_tree(client, tree + _list_marked(mark, tree), signal.SIGKILL)


def main(client: int, parent: int, mark: str) -> None:
    """Wait for the parent to exit, then end the client."""
    while os.getppid() == parent:
        # The pipe is closed when the parent exits, unless another child of it holds a copy.
        if select.select([0], [], [], _POLL_SECONDS)[0]:
            break
    end_process_tree(client, list_process_tree(client, mark), mark)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
