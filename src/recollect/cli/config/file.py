"""The user's own defaults: where the file is, what may stand in it, and what it says.

Knows names and types of settings; refuses to know what commands do with them. Without a file
nothing is imported that reads one: most people have none, and every start would pay for it.
"""

import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

from recollect.errors import UsageError

VARIABLE: Final = "RECOLLECT_CONFIG"
NAME: Final = "config.toml"

Value = str | bool | tuple[str, ...]


class Stated(NamedTuple):
    """A setting that the file makes, and the line it stands on."""

    value: Value
    line: int


class Setting(NamedTuple):
    """What may be set: how a value is read, and the option that it is the default of."""

    read: Callable[[object], Value]
    parameter: str
    meaning: str


class Source(NamedTuple):
    """A file with text, for messages about it."""

    path: Path
    text: str

    def find_line(self, name: str) -> int:
        """The line on which a setting is made; 1 if it is written in an unusual way."""
        found = re.search(rf"^[ \t]*\[*[ \t]*[\"']?{re.escape(name)}\b", self.text, re.MULTILINE)
        return self.text.count("\n", 0, found.start()) + 1 if found else 1

    def refuse(self, name: str, reason: str) -> NoReturn:
        """Raise `UsageError` about the setting called `name`."""
        raise UsageError(f"{self.path}, line {self.find_line(name)}: {reason}")


def find_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Where the file is, or would be."""
    chosen = environment.get(VARIABLE)
    if chosen:
        return Path(chosen).absolute()
    if "linux" in sys.platform:
        # What platformdirs answers here; importing it would cost half of a warm answer.
        base = environment.get("XDG_CONFIG_HOME", "").strip()
        return Path(base or Path.home() / ".config") / "recollect" / NAME
    import platformdirs  # noqa: PLC0415 - not needed everywhere

    return Path(platformdirs.user_config_dir("recollect", appauthor=False)) / NAME


def load_stated(environment: Mapping[str, str] = os.environ) -> dict[str, Stated]:
    """What the file says, by the names of settings; nothing when there is no file.

    Raises `UsageError`, with the line, for what cannot be followed.
    """
    path = find_path(environment)
    try:
        source = Source(path, path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        if environment.get(VARIABLE):
            raise UsageError(f"{VARIABLE} names {path}, and there is no such file.") from None
        return {}
    except UnicodeDecodeError:
        raise UsageError(f"{path} is no UTF-8 text. Save it as such.") from None
    except OSError as error:
        raise UsageError(f"Cannot read {path}: {error.strerror}.") from error
    return {name: _read(source, name, value) for name, value in _parse(source).items()}


def _parse(source: Source) -> dict[str, object]:
    import tomllib  # noqa: PLC0415 - only where there is a file

    try:
        return tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{source.path} is no TOML: {error}.") from error


def _read(source: Source, name: str, value: object) -> Stated:
    if name not in SETTINGS:
        source.refuse(name, f"`{name}` is no setting. There are {', '.join(SETTINGS)}.")
    try:
        return Stated(SETTINGS[name].read(value), source.find_line(name))
    except (UsageError, ValueError) as error:
        source.refuse(name, f"`{name}`: {error}")


def _read_directories(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [None]
    if not items or not all(isinstance(item, str) and item for item in items):
        raise ValueError('give a list of directories, as in ["~/.claude"].')
    return tuple(map(_read_path, items))


def _read_path(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError('give a path in quotes, as in "~/prices.toml".')
    path = os.path.expanduser(value)  # noqa: PTH111 - Path raises where there is no home
    # A file for every directory that a command may be called from has no directory of its own.
    if not os.path.isabs(path):  # noqa: PTH117
        raise ValueError(f"{value} is relative; begin it with / or ~.")
    return path


def _read_zone(value: object) -> str:
    from recollect.usage.zones import load_zone  # noqa: PLC0415 - only where it is set

    if not isinstance(value, str) or not value:
        raise ValueError('give a name in quotes, as in "Europe/Berlin".')
    load_zone(value)
    return value


def _read_switch(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("give true or false.")  # noqa: TRY004 - of the file, not of our code
    return value


SETTINGS: Final[Mapping[str, Setting]] = {
    "roots": Setting(_read_directories, "claude_dirs", "Claude directories to read"),
    "timezone": Setting(_read_zone, "timezone", "whose days are counted"),
    "prices": Setting(_read_path, "prices", "a price file of your own"),
    "redaction": Setting(_read_switch, "redact", "whether secrets are taken out of exports"),
}
"""By the name that each has in the file."""
