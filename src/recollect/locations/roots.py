"""Find the directories with Claude Code's data: the flag, the environment, then the defaults.

Does not look inside a root. `CLAUDE_CONFIG_DIR` is one path to Claude Code but a comma-separated
list to other tools, so the whole value is tried as a path first: a directory with a comma in its
name keeps working.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from recollect.errors import NothingFound
from recollect.locations.project_names import PROJECTS_DIRECTORY
from recollect.sources.safe_files import is_directory

CONFIG_VARIABLE: Final = "CLAUDE_CONFIG_DIR"


def resolve_roots(
    given: Sequence[Path] = (), environment: Mapping[str, str] = os.environ
) -> tuple[Path, ...]:
    """Return the roots to read, each real directory once, in order of precedence.

    Raises NothingFound, with every directory that was tried, if there is none.
    """
    if given:
        return _require_all(given)
    configured = _configured_places(environment.get(CONFIG_VARIABLE, ""))
    if configured:
        return _require_some(configured, [place for place in configured if is_directory(place)])
    defaults = _default_places(environment)
    return _require_some(
        defaults, [place for place in defaults if is_directory(place / PROJECTS_DIRECTORY)]
    )


def find_home(environment: Mapping[str, str]) -> Path | None:
    """Return the home directory from the environment, or else the system's."""
    # Claude Code asks Node for the home directory, and Node ignores HOME on Windows, where a
    # Unix-like shell may have set it to a path that Windows cannot open.
    names = ("USERPROFILE", "HOME") if os.name == "nt" else ("HOME", "USERPROFILE")
    for name in names:
        if value := environment.get(name):
            return Path(value)
    try:
        return Path.home()
    except RuntimeError:
        return None


def _configured_places(value: str) -> tuple[Path, ...]:
    if value and is_directory(Path(value)):
        return (Path(value),)
    return tuple(Path(entry.strip()) for entry in value.split(",") if entry.strip())


def _default_places(environment: Mapping[str, str]) -> tuple[Path, ...]:
    places = []
    xdg = Path(environment.get("XDG_CONFIG_HOME", ""))
    # By the XDG specification a relative path is invalid and ignored.
    if xdg.is_absolute():
        places.append(xdg / "claude")
    if home := find_home(environment):
        places += [home / ".config" / "claude", home / ".claude"]
    return tuple(dict.fromkeys(places))


def _require_all(given: Sequence[Path]) -> tuple[Path, ...]:
    missing = [place for place in given if not is_directory(place)]
    if missing:
        raise NothingFound(
            f"No such directory: {', '.join(map(str, missing))}. Give --claude-dir a directory "
            "that holds Claude Code's `projects` directory, usually ~/.claude."
        )
    return _unique(given)


def _require_some(looked_at: Sequence[Path], found: Sequence[Path]) -> tuple[Path, ...]:
    if found:
        return _unique(found)
    places = "".join(f"\n  {place}" for place in looked_at) or "\n  (no home directory is known)"
    raise NothingFound(
        f"No Claude Code data found. Looked at:{places}\n"
        "Name the directory that holds `projects` with --claude-dir, "
        f"or set {CONFIG_VARIABLE} to it."
    )


def _unique(places: Iterable[Path]) -> tuple[Path, ...]:
    by_real_path: dict[str, Path] = {}
    for place in places:
        key = os.path.normcase(os.path.realpath(place))
        by_real_path.setdefault(key, place.absolute())
    return tuple(by_real_path.values())
