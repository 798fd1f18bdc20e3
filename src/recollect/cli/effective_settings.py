"""Effective settings and their origin.

Precedence: options, environment, config file, built-in defaults. Commands get their values through
click; this module reports the same values to `recollect config`.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from recollect.archive.encryption import IDENTITY_VARIABLE
from recollect.documents.command_reports import Effective, SettingOrigin
from recollect.errors import NothingFound
from recollect.locations import resolve_roots
from recollect.locations.claude_directories import CONFIG_VARIABLE
from recollect.usage.zones import load_zone
from recollect.workspace.config_file import SETTINGS, Value, load_config_values

PRICES_VARIABLE: Final = "RECOLLECT_PRICES"


def find_effective(
    options: Mapping[str, Value | None], environment: Mapping[str, str] = os.environ
) -> list[Effective]:
    """Return all settings, given the `options` on the command line."""
    stated = load_config_values(environment)
    found = []
    for name, setting in SETTINGS.items():
        value, origin, place = _find_default(name, environment), SettingOrigin.DEFAULT, None
        if name in stated:
            value, origin, place = (
                stated[name].value,
                SettingOrigin.FILE,
                f"line {stated[name].line}",
            )
        variable = _VARIABLES.get(name)
        if variable and environment.get(variable):
            value, origin, place = (
                _FROM_VARIABLE[name](environment),
                SettingOrigin.ENVIRONMENT,
                variable,
            )
        if options.get(name):
            value, origin, place = options[name], SettingOrigin.OPTION, _OPTIONS[name]
        found.append(
            Effective(name=name, value=value, origin=origin, place=place, meaning=setting.meaning)
        )
    return found


def find_prices(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Return the price file that commands use by default."""
    effective = {each.name: each.value for each in find_effective({}, environment)}
    prices = effective["prices"]
    return Path(prices) if isinstance(prices, str) else None


def _find_default(name: str, environment: Mapping[str, str]) -> Value | None:
    find = _DEFAULTS.get(name)
    return find(environment) if find else None


def _find_roots(environment: Mapping[str, str]) -> tuple[str, ...]:
    try:
        return tuple(map(str, resolve_roots(environment=environment)))
    except NothingFound:
        return ()


_Find = Callable[[Mapping[str, str]], Value | None]
_OPTIONS: Final = {"roots": "--claude-dir", "timezone": "--timezone", "prices": "--prices"}
_VARIABLES: Final = {
    "roots": CONFIG_VARIABLE,
    "prices": PRICES_VARIABLE,
    "archive_identity": IDENTITY_VARIABLE,
}
_FROM_VARIABLE: Final[Mapping[str, _Find]] = {
    "roots": _find_roots,
    "prices": lambda environment: environment[PRICES_VARIABLE],
    "archive_identity": lambda environment: environment[IDENTITY_VARIABLE],
}
_DEFAULTS: Final[Mapping[str, _Find]] = {
    "roots": _find_roots,
    "timezone": lambda _: load_zone().name,
    "redact.home": lambda _: "false",
    "redact.emails": lambda _: "false",
}
