"""The config file: its location, the settings it may contain, and their validation.

Knows names and types of settings, not what commands do with them. Without a file, no TOML parser
is imported: most users have none, and every start would pay for it.
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

Value = str | tuple[str, ...]


class Stated(NamedTuple):
    """A value from the file and its line."""

    value: Value
    line: int


class Setting(NamedTuple):
    """A setting: how its value is validated, and the parameter that it is the default of."""

    read: Callable[[object], Value]
    parameter: str
    meaning: str


class SettingSource(NamedTuple):
    """A config file and its text, for error messages."""

    path: Path
    text: str

    def find_line(self, name: str) -> int:
        """Return the line of a setting; 1 if it cannot be found."""
        found = re.search(rf"^[ \t]*\[*[ \t]*[\"']?{re.escape(name)}\b", self.text, re.MULTILINE)
        return self.text.count("\n", 0, found.start()) + 1 if found else 1

    def refuse(self, name: str, reason: str) -> NoReturn:
        """Raise UsageError about the setting `name`."""
        raise UsageError(f"{self.path}, line {self.find_line(name)}: {reason}")


def find_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the path of the file, whether or not it exists."""
    chosen = environment.get(VARIABLE)
    if chosen:
        return Path(chosen).absolute()
    if "linux" in sys.platform:
        # The same as platformdirs returns, whose import would take half of a warm run.
        base = environment.get("XDG_CONFIG_HOME", "").strip()
        return Path(base or Path.home() / ".config") / "recollect" / NAME
    import platformdirs  # not needed everywhere

    return Path(platformdirs.user_config_dir("recollect", appauthor=False)) / NAME


def load_stated(environment: Mapping[str, str] = os.environ) -> dict[str, Stated]:
    """Return the values in the file by setting; empty if there is no file.

    Raise UsageError, with the line, for invalid settings.
    """
    path = find_path(environment)
    try:
        source = SettingSource(path, path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        if environment.get(VARIABLE):
            raise UsageError(f"{VARIABLE}: {path} does not exist.") from None
        return {}
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not valid UTF-8.") from None
    except OSError as error:
        raise UsageError(f"Cannot read {path}: {error.strerror}.") from error
    return {name: _read(source, name, value) for name, value in _parse(source).items()}


def _parse(source: SettingSource) -> dict[str, object]:
    import tomllib  # only where there is a file

    try:
        return tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{source.path} is not valid TOML: {error}.") from error


def _read(source: SettingSource, name: str, value: object) -> Stated:
    if name not in SETTINGS:
        source.refuse(name, f"Unknown setting `{name}`. Valid settings: {', '.join(SETTINGS)}.")
    try:
        return Stated(SETTINGS[name].read(value), source.find_line(name))
    except (UsageError, ValueError) as error:
        source.refuse(name, f"`{name}`: {error}")


def _read_directories(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [None]
    if not items or not all(isinstance(item, str) and item for item in items):
        raise ValueError('expected a list of directories, such as ["~/.claude"].')
    return tuple(map(_read_path, items))


def _read_path(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError('expected a quoted path, such as "~/prices.toml".')
    path = os.path.expanduser(value)
    # A relative path would depend on the directory that a command is called from.
    if not os.path.isabs(path):
        raise ValueError(f"{value} is a relative path; start it with / or ~.")
    return path


def _read_zone(value: object) -> str:
    from recollect.usage.zones import load_zone  # only where it is set

    if not isinstance(value, str) or not value:
        raise ValueError('expected a quoted name, such as "Europe/Berlin".')
    load_zone(value)
    return value


SETTINGS: Final[Mapping[str, Setting]] = {
    "roots": Setting(_read_directories, "claude_dirs", "Claude directories to read"),
    "timezone": Setting(_read_zone, "timezone", "time zone of days"),
    "prices": Setting(_read_path, "prices", "your own price file"),
}
"""Settings by their name in the file."""
