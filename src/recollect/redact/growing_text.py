"""Mask text that is still being written: it is shown up to where nothing that follows can make it a
secret.

A model writes in pieces, and a secret is recognised only when it is complete. So the last word
waits, a line that may hold a secret waits for a harmless one after it, and a private key waits for
its end. Whatever is left is masked when the text is complete.
"""

import re
from collections.abc import Callable
from typing import Final

from recollect.redact import may_contain_secret

_LINE_END: Final = re.compile(r"\n|\\n")
"""Also as it is written in the JSON of a tool's input."""
_KEY_START: Final = "-----BEGIN"
_KEY_END: Final = re.compile(r"-----END[^\n]{0,60}?-----")


class GrowingText:
    """Masks a text piece by piece."""

    def __init__(self, mask: Callable[[str], str]) -> None:
        """Start with an empty text; `mask` returns a text without its secrets."""
        self._mask = mask
        self._held = ""

    def add(self, piece: str) -> str:
        """Add a piece; return the text that can be shown now, after the text returned before."""
        self._held += piece
        end = _find_harmless_end(self._held)
        shown, self._held = self._held[:end], self._held[end:]
        return self._mask(shown) if shown else ""

    def finish(self) -> str:
        """Return the rest of a text that is complete."""
        held, self._held = self._held, ""
        return self._mask(held) if held else ""


def _find_harmless_end(text: str) -> int:
    """Return the end of the text that can be masked without knowing the rest."""
    end = _find_line_end(text)
    while (start := text.rfind(_KEY_START, 0, end)) >= 0:
        found = _KEY_END.search(text, start, end)
        if found is not None:
            break
        end = _find_line_end(text[:start])
    return end


def _find_line_end(text: str) -> int:
    """Return the end of the last word if it is harmless, else of the last harmless line."""
    ends = [0, *(found.end() for found in _LINE_END.finditer(text))]
    # With the line before: a name there may belong to a value here.
    if not may_contain_secret(text[ends[max(len(ends) - 2, 0)] :]):
        return max(text.rfind(" "), text.rfind("\t"), ends[-1] - 1) + 1
    while len(ends) > 1 and may_contain_secret(text[ends[-2] : ends[-1]]):
        ends.pop()
    return ends[-1]
