"""Text that nobody vouches for → text that a terminal may show.

Knows which characters make a terminal act, reorder or hide text; refuses to know colours and
layout. They are replaced by a visible name rather than dropped, because a hidden instruction is
something a reader wants to see. Pipes get the same: their end is usually a terminal again.
"""

import re
import unicodedata

ESCAPE_SIGN = "␛"

_UNSAFE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but for tab and line feed, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # direction: text that reads as another
    "\u00ad\u180e\u200b\u2028\u2029\u2060-\u2065\ufeff\ufff9-\ufffb"  # invisible, or a line end
    "\ud800-\udfff"  # lone surrogates, which no output can encode
    "\U000e0000-\U000e007f"  # tags: a whole hidden alphabet
    "]"
)
_LINE_BREAKS = re.compile("[\t\n]")
_ELLIPSIS = "…"
_JOINERS = "\u200c\u200d"


def safe_text(text: str, *, single_line: bool = False) -> str:
    """`text` with a visible form in place of everything that could drive a terminal.

    Line feeds and tabs stay, unless the text has to fit on a `single_line`.
    """
    safe = _UNSAFE.sub(_show, text)
    return _LINE_BREAKS.sub(_show, safe) if single_line else safe


def _show(match: re.Match[str]) -> str:
    character = match.group()
    return ESCAPE_SIGN if character == "\x1b" else f"\u2039U+{ord(character):04X}\u203a"


def measure(text: str) -> int:
    """How many columns safe, single-line `text` takes in a terminal."""
    return sum(map(_columns_of, text))


def shorten(text: str, columns: int) -> str:
    """Safe, single-line `text` in at most `columns`, its middle left out: both ends tell most."""
    if measure(text) <= columns:
        return text
    room = max(columns - 1, 0)
    tail = _take(text[::-1], room * 2 // 3)[::-1]
    return _take(text, room - measure(tail)) + _ELLIPSIS + tail


def _take(text: str, columns: int) -> str:
    used = 0
    for position, character in enumerate(text):
        used += _columns_of(character)
        if used > columns:
            return text[:position]
    return text


def _columns_of(character: str) -> int:
    if unicodedata.combining(character) or character in _JOINERS:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
