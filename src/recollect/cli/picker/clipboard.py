"""Text → the clipboard, by the desktop's own program, or through the terminal.

Only text of our own making comes here: commands with quoted arguments, never words of a session.
"""

import base64
import os
import shutil
import subprocess
from collections.abc import Callable

_PROGRAMS: tuple[tuple[str | None, tuple[str, ...]], ...] = (
    (None, ("pbcopy",)),
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    (None, ("clip.exe",)),
)
"""Each program, and the variable that says whether the screen that it needs is there."""
_SECONDS = 2.0


def copy_text(text: str, write: Callable[[str], object]) -> None:
    """Put `text` on the clipboard; `write` reaches the terminal, for when no program does it."""
    for variable, command in _PROGRAMS:
        is_possible = variable is None or os.environ.get(variable)
        if is_possible and shutil.which(command[0]) and _run(command, text):
            return
    # OSC 52: most terminals take it, through SSH as well.
    write(f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07")


def _run(command: tuple[str, ...], text: str) -> bool:
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command, and the text goes to its input
            command, input=text.encode(), capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
