"""The directories with Claude Code's data (the flag, the environment, then the defaults), and the
names in them: encoded project directories, safe file names, and the ids that file names stand for.

Names are functions of strings, without a look at the file system. There is no decoder on purpose,
because every separator, dot, space and non-ASCII character becomes the same dash and long names are
hashed; the working directory is read from the records instead.

Nothing here looks inside a root. `CLAUDE_CONFIG_DIR` is one path to Claude Code but a
comma-separated list to other tools, so the whole value is tried as a path first: a directory with a
comma in its name keeps working.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from recollect.errors import NothingFound
from recollect.sources.safe_files import is_directory

TRANSCRIPT_SUFFIX: Final = ".jsonl"
AGENT_PREFIX: Final = "agent-"
"""How the names of subagents' files start."""
PROJECTS_DIRECTORY: Final = "projects"
TIMELINES_DIRECTORY: Final = ".timelines"
"""In a project's directory: checkpoints by opcode, a front end for Claude Code."""

SUBAGENTS_DIRECTORY: Final = "subagents"
PROJECT_NAME_LIMIT: Final = 200
# Maximum length of a file name without `.jsonl` on a file system with 255-byte names.
PLAIN_NAME_LIMIT: Final = 255 - len(TRANSCRIPT_SUFFIX)

# Ids have this form. Device names that match have four characters at most.
_ID: Final = re.compile("[0-9A-Za-z_-]{5,200}")
_PLAIN_ID: Final = re.compile("[0-9A-Za-z_][0-9A-Za-z_.-]*")
_BASE_36: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_KEPT_UNITS: Final = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
# Separators of all systems, drives and alternate streams, and control characters.
_FORBIDDEN: Final = frozenset("/\\:\x7f") | frozenset(map(chr, range(32)))
# Windows opens these as devices in any directory and with any extension.
_DEVICES: Final = frozenset(
    ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"]
    + [f"{port}{digit}" for port in ("COM", "LPT") for digit in "0123456789¹²³"]
)
_NOT_TRANSCRIPTS: Final = frozenset({"history.jsonl", "journal.jsonl"})


_WORKTREE: Final = re.compile(r"[/\\](?:\.claude[/\\])?\.?worktrees[/\\]([^/\\]+)$")


def split_directory(path: str) -> list[str]:
    """Return the names in the path of a directory, of any system; the last one identifies it.

    A git worktree below its project is identified by both: `reef/side` for
    `/srv/reef/.claude/worktrees/side`.
    """
    path = path.rstrip("/\\")
    worktree = _WORKTREE.search(path)
    if worktree is None or not worktree.start():
        return re.split(r"[/\\]", path)
    *parents, project = re.split(r"[/\\]", path[: worktree.start()])
    return [*parents, f"{project}/{worktree[1]}"]


def encode_project_path(cwd: str) -> str:
    """Return the name below `projects/` that current versions give to a working directory.

    The path is used as it is; symbolic links have to be resolved first, as Claude Code does.
    """
    name = encode_without_limit(cwd)
    if len(name) <= PROJECT_NAME_LIMIT:
        return name
    return f"{name[:PROJECT_NAME_LIMIT]}-{_hash_units(_utf16_units(cwd))}"


def encode_without_limit(cwd: str) -> str:
    """Return the name that versions up to 2.1.5 used, which had no length limit."""
    return "".join(chr(unit) if unit in _KEPT_UNITS else "-" for unit in _utf16_units(cwd))


def list_project_names(cwd: str) -> tuple[str, str]:
    """Return the names that current and old versions give to a working directory."""
    return encode_project_path(cwd), encode_without_limit(cwd)


def is_plain_name(name: str) -> bool:
    """Return whether an untrusted string may be joined to a directory as one component.

    The same on every system: a name rejected on Windows is rejected everywhere.
    """
    # Nearly every name is an id, and a list checks thousands.
    return _ID.fullmatch(name) is not None or (
        bool(name)
        and _FORBIDDEN.isdisjoint(name)
        and not name.endswith((".", " "))
        and name.partition(".")[0].rstrip().upper() not in _DEVICES
        and _fits_file_system(name)
    )


def encode_id(name: str) -> str:
    """Return the id for a file or directory name: nearly always the name itself.

    An id can be typed, printed and put into a URL. What cannot (bytes that are not UTF-8, control
    and bidi characters) is percent-encoded, and so are `%` and a leading `-` or `.`, which a
    command line or a browser would misinterpret.
    """
    if _PLAIN_ID.fullmatch(name) is not None:
        return name
    encoded = encode_name(name)
    return f"%{ord(encoded[0]):02X}{encoded[1:]}" if encoded[:1] in {"-", "."} else encoded


def encode_name(name: str) -> str:
    """Return a name as printable text, with everything else and `%` percent-encoded."""
    if name.isprintable() and "%" not in name:
        return name
    return "".join(each if _is_kept(each) else _escape(each) for each in name)


def decode_id(session_id: str) -> str:
    """Return the file name of an id; it may not be a plain name."""
    if "%" not in session_id:
        return session_id
    from urllib.parse import unquote  # rarely needed

    return unquote(session_id, errors="surrogateescape")


def is_transcript_name(name: str) -> bool:
    """Return whether a file may be a transcript, by its name alone."""
    return (
        name.endswith(TRANSCRIPT_SUFFIX)
        and name not in _NOT_TRANSCRIPTS
        # macOS creates such companions of every file on foreign volumes; they contain no text.
        and not name.startswith("._")
    )


def _is_kept(character: str) -> bool:
    return character.isprintable() and character != "%"


def _escape(character: str) -> str:
    # A byte that is not UTF-8 is read as one of these; other lone surrogates exist on Windows.
    is_byte = "\udc80" <= character <= "\udcff"
    data = character.encode("utf-8", "surrogateescape" if is_byte else "surrogatepass")
    return "".join(f"%{byte:02X}" for byte in data)


def _utf16_units(text: str) -> Iterable[int]:
    data = text.encode("utf-16-le", "surrogatepass")
    return [low | high << 8 for low, high in zip(data[::2], data[1::2], strict=True)]


def _hash_units(units: Iterable[int]) -> str:
    value = 0
    for unit in units:
        value = (value * 31 + unit) & 0xFFFFFFFF
    return _to_base_36(abs(value - (1 << 32) if value & 0x80000000 else value))


def _to_base_36(number: int) -> str:
    digits = ""
    while number:
        number, remainder = divmod(number, 36)
        digits = _BASE_36[remainder] + digits
    return digits or "0"


def _fits_file_system(name: str) -> bool:
    try:
        return len(os.fsencode(name)) <= PLAIN_NAME_LIMIT
    except UnicodeEncodeError:
        # A lone surrogate from a record: no file can have that name, and checking would raise.
        return False


CONFIG_VARIABLE: Final = "CLAUDE_CONFIG_DIR"
HOME_SYMBOL: Final = "~"


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


def shorten_home(path: Path, home: Path | None) -> str:
    """Return a path with `~` for the home directory."""
    if home is None or not path.is_relative_to(home):
        return str(path)
    return str(Path(HOME_SYMBOL, path.relative_to(home)))


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
            "that contains Claude Code's `projects` directory, usually ~/.claude."
        )
    return _unique(given)


def _require_some(searched: Sequence[Path], found: Sequence[Path]) -> tuple[Path, ...]:
    if found:
        return _unique(found)
    places = "".join(f"\n  {place}" for place in searched) or "\n  (no home directory found)"
    raise NothingFound(
        f"No Claude Code data found. Looked in:{places}\n"
        "Use --claude-dir to specify the directory that contains `projects`, "
        f"or set {CONFIG_VARIABLE} to it."
    )


def _unique(places: Iterable[Path]) -> tuple[Path, ...]:
    by_real_path: dict[str, Path] = {}
    for place in places:
        key = os.path.normcase(os.path.realpath(place))
        by_real_path.setdefault(key, place.absolute())
    return tuple(by_real_path.values())


def is_inside(path: Path, root: Path) -> bool:
    """Return whether a path leads into a Claude directory; a loop of links leads nowhere."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))
