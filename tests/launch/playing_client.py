"""A stand-in for the user's own client: plays a script instead of asking a model.

Not imported by any test: `fake_client.make_client` writes it as an executable called `claude`, with
`claude.json` beside it. A script is a list of steps: a dictionary is printed as one message, a
string is printed unchanged, and a list is an action and its arguments, see `ACTIONS`. What it was
called with is written to `called.json`. On SIGINT it prints a last message and exits with 130.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(sys.argv[0]).resolve().parent


def say(line: str) -> None:
    """Print a line and flush it."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def complain(text: str) -> None:
    """Print a line to stderr."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def leave(seconds: float, is_apart: bool = False) -> None:
    """Start a program that keeps the output open, in a process session of its own like tools."""
    left = subprocess.Popen(
        [sys.executable, "-S", "-c", f"import time; time.sleep({seconds})"],
        start_new_session=is_apart,
    )
    (HERE / "left.pid").write_text(str(left.pid))


def ignore(name: str) -> None:
    """Ignore a signal."""
    signal.signal(getattr(signal, name), signal.SIG_IGN)


def note(name: str) -> None:
    """Record a signal in a file of its name, and continue."""
    signal.signal(getattr(signal, name), lambda *_: (HERE / name).touch())


def wait_until(name: str) -> None:
    """Wait until the test has made this file."""
    while not (HERE / name).exists():
        time.sleep(0.02)


def echo() -> None:
    """Print standard input."""
    say(sys.stdin.read())


def end(number: int, frame: object) -> None:
    """Print that it was interrupted, and exit."""
    say(json.dumps({"type": "result", "subtype": "error_during_execution", "is_error": True}))
    os._exit(130)


def leave_late(seconds: float) -> None:
    """Start a program only when interrupted, like a client that has just called a tool."""

    def leave_and_end(number: int, frame: object) -> None:
        leave(seconds, is_apart=True)
        end(number, frame)

    signal.signal(signal.SIGINT, leave_and_end)


ACTIONS: dict[str, Any] = {
    "wait": time.sleep,
    "complain": complain,
    "leave": leave,
    "leave_apart": lambda seconds: leave(seconds, is_apart=True),
    "leave_late": leave_late,
    "until": wait_until,
    "ignore": ignore,
    "note": note,
    "echo": echo,
    "exit": sys.exit,
}


def main() -> None:
    """Log the call and play the script."""
    signal.signal(signal.SIGINT, end)
    called = {"arguments": sys.argv[1:], "directory": str(Path.cwd()), "pid": os.getpid()}
    called["root"] = os.environ.get("CLAUDE_CONFIG_DIR", "")
    (HERE / "called.json").write_text(json.dumps(called), encoding="utf-8")
    for step in json.loads((HERE / "claude.json").read_text(encoding="utf-8")):
        if isinstance(step, list):
            ACTIONS[step[0]](*step[1:])
        else:
            say(step if isinstance(step, str) else json.dumps(step))


if __name__ == "__main__":
    main()
