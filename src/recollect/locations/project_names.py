"""Names: how Claude Code names a project directory, which strings may stand as one file name, and
which ids file names stand for.

Refuses to know the file system: everything here is a function of strings. There is no decoder on
purpose, because every separator, dot, space and non-ASCII character becomes the same dash and long
names are hashed; the work directory is read from the records instead.
"""

import os
import re
from collections.abc import Iterable
from typing import Final

TRANSCRIPT_SUFFIX: Final = ".jsonl"
PROJECTS_DIRECTORY: Final = "projects"
SUBAGENTS_DIRECTORY: Final = "subagents"
PROJECT_NAME_LIMIT: Final = 200
# The longest stem that a file of a 255-byte file system can have beside its `.jsonl`.
PLAIN_NAME_LIMIT: Final = 255 - len(TRANSCRIPT_SUFFIX)

# Ids are of this form. The names of devices that are, have four signs at most.
_ID: Final = re.compile("[0-9A-Za-z_-]{5,200}")
_PLAIN_ID: Final = re.compile("[0-9A-Za-z_][0-9A-Za-z_.-]*")
_BASE_36: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_KEPT_UNITS: Final = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
# Separators of either system, drives and alternate streams, and control characters.
_FORBIDDEN: Final = frozenset("/\\:\x7f") | frozenset(map(chr, range(32)))
# Windows opens these as devices whatever the directory and the extension.
_DEVICES: Final = frozenset(
    ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"]
    + [f"{port}{digit}" for port in ("COM", "LPT") for digit in "0123456789¹²³"]
)
_NOT_TRANSCRIPTS: Final = frozenset({"history.jsonl", "journal.jsonl"})


def encode_project_path(cwd: str) -> str:
    """Return the name below `projects/` that current versions give to a work directory.

    The path is taken as it is; a symbolic link has to be resolved first, as Claude Code does.
    """
    name = encode_without_limit(cwd)
    if len(name) <= PROJECT_NAME_LIMIT:
        return name
    return f"{name[:PROJECT_NAME_LIMIT]}-{_hash_units(_utf16_units(cwd))}"


def encode_without_limit(cwd: str) -> str:
    """Return the name that versions up to 2.1.5 used, which knew no limit of length."""
    return "".join(chr(unit) if unit in _KEPT_UNITS else "-" for unit in _utf16_units(cwd))


def is_plain_name(name: str) -> bool:
    """Tell whether a string that came from outside may be joined to a directory as one component.

    The answer is the same on every system, so that a name refused on Windows is refused everywhere.
    """
    # Nearly every name asked about is an id, and a list asks about thousands.
    return _ID.fullmatch(name) is not None or (
        bool(name)
        and _FORBIDDEN.isdisjoint(name)
        and not name.endswith((".", " "))
        and name.partition(".")[0].rstrip().upper() not in _DEVICES
        and _fits_file_system(name)
    )


def encode_id(name: str) -> str:
    """Return the id that a file or directory name stands for: nearly always the name itself.

    An id is text that can be typed, printed and put into an address. What is not (bytes that are no
    UTF-8, control and bidi characters) is percent-encoded, and so are `%` and a `-` or `.` at the
    beginning, which a command line or a browser would take for something else.
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
    """Return the file name that an id stands for; it may be no plain name."""
    if "%" not in session_id:
        return session_id
    from urllib.parse import unquote  # hardly ever

    return unquote(session_id, errors="surrogateescape")


def is_transcript_name(name: str) -> bool:
    """Tell whether a file found on disk may be a transcript, going by its name alone."""
    return (
        name.endswith(TRANSCRIPT_SUFFIX)
        and name not in _NOT_TRANSCRIPTS
        # macOS leaves such companions of every file on foreign volumes; they hold no text.
        and not name.startswith("._")
    )


def _is_kept(character: str) -> bool:
    return character.isprintable() and character != "%"


def _escape(character: str) -> str:
    # A byte that is no UTF-8 is read as one of these; other lone surrogates exist on Windows.
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
        # A lone surrogate out of a record: no file can have that name, and asking would raise.
        return False
