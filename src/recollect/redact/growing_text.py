"""Mask text that is still being written, holding back what may turn out to be a secret.

A model writes in pieces, and a secret is recognised only when it is complete. So the last word is
held back, a line that may contain a secret until a harmless line follows, and a private key until
its end. The rest is masked when the text is complete.
"""

import re
from collections.abc import Callable
from typing import Final

from recollect.redact.quick_masks import may_lead_to_secret

_LINE_END: Final = re.compile(r"\n|\\n")
"""Also in the JSON of a tool's input."""
_KEY_START: Final = "-----BEGIN"
_KEY_END: Final = re.compile(r"-----END[^\n]{0,60}?-----")


class GrowingText:
    """Masks a text piece by piece."""

    def __init__(self, mask: Callable[[str], str]) -> None:
        """Start with an empty text; `mask` removes the secrets of a text."""
        self._mask = mask
        self._held = ""

    def add(self, piece: str) -> str:
        """Add a piece; return the text that can be shown now, after the text returned before."""
        self._held += piece
        end = _find_harmless_end(self._held)
        shown, self._held = self._held[:end], self._held[end:]
        return self._mask(shown) if shown else ""

    def finish(self) -> str:
        """Return the rest of the text, which is now complete."""
        held, self._held = self._held, ""
        return self._mask(held) if held else ""


def _find_harmless_end(text: str) -> int:
    """Return the end of the part that can be masked without knowing the rest."""
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
    # Together with the previous line, which may have the name of a value in this one.
    if not may_lead_to_secret(text[ends[max(len(ends) - 2, 0)] :]):
        return max(text.rfind(" "), text.rfind("\t"), ends[-1] - 1) + 1
    while len(ends) > 1 and may_lead_to_secret(text[ends[-2] : ends[-1]]):
        ends.pop()
    return ends[-1]
