"""`recollect statusline` without click: standard input to one line, whatever comes in.

Claude Code blanks the line of a command that fails or says nothing, so that this ends with 0 and a
line in every case; what is wrong is said in the line itself.
"""

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from recollect.cli.clock import read_clock
from recollect.cli.config.file import load_stated
from recollect.cli.statusline.figures import Figures, IndexState, find_figures
from recollect.cli.statusline.input import Status, parse_status, read_input
from recollect.cli.statusline.text import count_columns, make_line
from recollect.errors import RecollectError
from recollect.render.terminal import safe_text, shorten
from recollect.store.place import find_data_directory
from recollect.usage.zones import Zone, load_zone

SETUP: Final = "--setup"
JSON: Final = "--json"
NO_SYNC: Final = "--no-sync"
OPTIONS: Final = (SETUP, JSON, NO_SYNC)

ADVICE: Final = "Put this into settings.json in your Claude directory. Nothing was changed."

_STDOUT, _STDERR = 1, 2


def run_statusline(arguments: Sequence[str]) -> None:
    """Print one line, or what the arguments ask for instead; never raises."""
    unknown = [word for word in arguments if word not in OPTIONS]
    if unknown:
        _print(f"recollect statusline has no option {safe_text(unknown[0], single_line=True)}")
    elif SETUP in arguments:
        from recollect.cli.statusline.setup import make_setup  # noqa: PLC0415 - once in a lifetime

        _say(ADVICE)
        _print(make_setup())
    else:
        _print(_make_output(arguments))


def _make_output(arguments: Sequence[str]) -> str:
    columns = count_columns(os.environ)
    try:
        status = parse_status(_read())
        now, directory, zone = read_clock(), find_data_directory(), _find_zone()
        figures = find_figures(status, directory, zone, now)
    except (RecollectError, OSError, RuntimeError) as error:
        message = next(iter(str(error).splitlines()), type(error).__name__)
        return shorten(f"recollect: {safe_text(message, single_line=True)}", columns)
    if NO_SYNC not in arguments:
        _keep_level(figures, status, directory)
    line = make_line(figures, int(now.timestamp()), columns)
    return _describe(figures, line, zone, now) if JSON in arguments else line


def _read() -> bytes:
    try:
        return read_input()
    except (OSError, ValueError):
        # Closed, or nothing that can be waited for.
        return b""


def _find_zone() -> Zone:
    stated = load_stated().get("timezone")
    return load_zone(str(stated.value) if stated else None)


def _keep_level(figures: Figures, status: Status, directory: Path) -> None:
    root = status.root
    if figures.state is IndexState.BEHIND and root is not None and os.path.isdir(root):  # noqa: PTH112
        from recollect.cli.statusline.sync import start_sync  # noqa: PLC0415 - seldom

        start_sync(directory, root)


def _describe(figures: Figures, line: str, zone: Zone, now: datetime) -> str:
    from recollect.cli.statusline.document import describe_line  # noqa: PLC0415 - not for a line

    return describe_line(figures, line, zone, now)


def _print(text: str) -> None:
    _write(_STDOUT, text)


def _say(text: str) -> None:
    _write(_STDERR, text)


def _write(descriptor: int, text: str) -> None:
    """Past Python's buffers, which would complain at the end about a client that has gone."""
    try:
        os.write(descriptor, f"{text}\n".encode(errors="backslashreplace"))
    except OSError:
        # There is nobody left to tell.
        return
