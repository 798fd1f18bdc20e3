"""The config file: its location, the settings it may contain, and their validation.

Defines the names and types of settings, not their effect. Settings in a table have names like
`redact.emails`. The TOML parser is only imported if there is a file, because most users have none.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from recollect.errors import UsageError

if TYPE_CHECKING:
    from recollect.redact.findings import RedactionPolicy

VARIABLE: Final = "RECOLLECT_CONFIG"
NAME: Final = "config.toml"

Value = str | tuple[str, ...]


class ConfigValue(NamedTuple):
    """A value from the file and its line."""

    value: Value
    line: int


class Setting(NamedTuple):
    """A setting: its validation, and the parameter for which it is the default."""

    read: Callable[[object], Value]
    parameter: str | None
    meaning: str


class SettingSource(NamedTuple):
    """A config file and its text, for error messages."""

    path: Path
    text: str

    def find_line(self, name: str) -> int:
        """Return the line of a setting; 1 if it cannot be found."""
        table, _, key = name.rpartition(".")
        start = self._find(table, 0) if table else 0
        # `redact.emails = true` is the same as `emails = true` below `[redact]`.
        at = max(self._find(name, start), self._find(key, start)) if table else self._find(key, 0)
        return self.text.count("\n", 0, max(at, start, 0)) + 1

    def _find(self, name: str, start: int) -> int:
        found = re.compile(rf"^[ \t]*\[*[ \t]*[\"']?{re.escape(name)}\b", re.MULTILINE).search(
            self.text, max(start, 0)
        )
        return found.start() if found else -1

    def reject(self, name: str, reason: str) -> NoReturn:
        """Raise UsageError about the setting `name`."""
        raise UsageError(f"{self.path}, line {self.find_line(name)}: {reason}")


def find_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the path of the file, whether or not it exists."""
    chosen = environment.get(VARIABLE)
    if chosen:
        return Path(chosen).absolute()
    if "linux" in sys.platform:
        # The same as in platformdirs, whose import would take half the time of a warm run.
        base = environment.get("XDG_CONFIG_HOME", "").strip()
        return Path(base or Path.home() / ".config") / "recollect" / NAME
    import platformdirs  # not needed everywhere

    return Path(platformdirs.user_config_dir("recollect", appauthor=False)) / NAME


def load_config_values(environment: Mapping[str, str] = os.environ) -> dict[str, ConfigValue]:
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
    return {name: _read(source, name, value) for name, value in _iter_settings(_parse(source))}


def _iter_settings(parsed: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in parsed.items():
        if name in TABLES and isinstance(value, dict):
            yield from ((f"{name}.{key}", each) for key, each in value.items())
        else:
            yield name, value


def _parse(source: SettingSource) -> dict[str, object]:
    import tomllib  # only where there is a file

    try:
        return tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{source.path} is not valid TOML: {error}.") from error


def _read(source: SettingSource, name: str, value: object) -> ConfigValue:
    if name not in SETTINGS:
        source.reject(name, f"Unknown setting `{name}`. Valid settings: {', '.join(SETTINGS)}.")
    try:
        return ConfigValue(SETTINGS[name].read(value), source.find_line(name))
    except (UsageError, ValueError) as error:
        source.reject(name, f"`{name}`: {error}")


def _read_directories(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [None]
    if not items or not all(isinstance(item, str) and item for item in items):
        raise ValueError('expected a list of directories, such as ["~/.claude"].')
    return tuple(map(_read_path, items))


def _read_path(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError('expected a quoted path, such as "~/prices.toml".')
    path = os.path.expanduser(value)
    # A relative path would depend on the current directory.
    if not os.path.isabs(path):
        raise ValueError(f"{value} is a relative path; start it with / or ~.")
    return path


def _read_zone(value: object) -> str:
    from recollect.usage.zones import load_zone  # only where it is set

    if not isinstance(value, str) or not value:
        raise ValueError('expected a quoted name, such as "Europe/Berlin".')
    load_zone(value)
    return value


def _read_boolean(value: object) -> str:
    if not isinstance(value, bool):
        raise ValueError("expected true or false.")  # noqa: TRY004 - reported like any bad value
    return "true" if value else "false"


def _read_names(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [None]
    if not all(isinstance(item, str) and item for item in items):
        raise ValueError('expected a list of names, such as ["mara"].')
    return tuple(items)


def _read_expressions(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [None]
    if not all(isinstance(item, str) and item for item in items):
        raise ValueError('expected a list of regular expressions, such as ["test-[0-9]+"].')
    _check_expressions(items)
    return tuple(items)


def _read_patterns(value: object) -> tuple[str, ...]:
    """Return the user's patterns as `kind=pattern`."""
    items = value if isinstance(value, dict) else {"": None}
    if not all(re.fullmatch(_KIND, kind) and isinstance(each, str) for kind, each in items.items()):
        raise ValueError(
            "expected a table of regular expressions by kind, such as "
            '{ acme-key = "acme_[a-z0-9]{20}" }.'
        )
    _check_expressions(items.values())
    return tuple(f"{kind}={pattern}" for kind, pattern in items.items())


def _check_expressions(patterns: Iterable[Any]) -> None:
    from recollect.redact.policy import compile_pattern  # only where they are set

    for pattern in patterns:
        compile_pattern(pattern)


TABLES: Final = frozenset({"redact"})
_KIND: Final = r"[a-z0-9]+(?:-[a-z0-9]+)*"

SETTINGS: Final[Mapping[str, Setting]] = {
    "roots": Setting(_read_directories, "claude_dirs", "Claude directories to read"),
    "timezone": Setting(_read_zone, "timezone", "time zone of days"),
    "prices": Setting(_read_path, "prices", "your own price file"),
    "archive_identity": Setting(_read_path, "identity", "age identity of an encrypted archive"),
    "redact.home": Setting(_read_boolean, None, "mask your home directory in exports"),
    "redact.users": Setting(_read_names, None, "user names to mask in exports"),
    "redact.hosts": Setting(_read_names, None, "host names to mask in exports"),
    "redact.emails": Setting(_read_boolean, None, "mask e-mail addresses in exports"),
    "redact.patterns": Setting(_read_patterns, None, "your own kinds of secrets"),
    "redact.allow": Setting(_read_expressions, None, "values that are not secrets"),
}
"""Settings by their name in the file."""
_REDACT: Final = ("home", "users", "hosts", "emails", "patterns", "allow")


def load_own_policy(environment: Mapping[str, str] = os.environ) -> "RedactionPolicy | None":
    """Return the policy in the settings if it has rules of the user's own; None otherwise."""
    configured = load_config_values(environment)
    has_own = not {"redact.patterns", "redact.allow"}.isdisjoint(configured)
    return load_policy(environment) if has_own else None


def load_policy(environment: Mapping[str, str] = os.environ) -> "RedactionPolicy":
    """Return the redaction policy in the settings."""
    from recollect.redact.findings import OwnPattern, RedactionPolicy

    configured = load_config_values(environment)
    values = {name: _list_values(configured.get(f"redact.{name}")) for name in _REDACT}
    kinds = [each.partition("=") for each in values["patterns"]]
    return RedactionPolicy(
        home=str(Path.home()) if values["home"] == ("true",) else None,
        users=values["users"],
        hosts=values["hosts"],
        emails=values["emails"] == ("true",),
        patterns=tuple(OwnPattern(kind, pattern) for kind, _, pattern in kinds),
        allow=values["allow"],
    )


def _list_values(configured: ConfigValue | None) -> tuple[str, ...]:
    if configured is None:
        return ()
    return (configured.value,) if isinstance(configured.value, str) else configured.value
