"""How the keywords of secrets are written in raw JSON lines: in common cases, escaped, in base64,
and split by the end of a wrapped line.
"""

import base64
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from recollect.redact import context_rules
from recollect.redact.findings import Rule
from recollect.redact.token_rules import HINTS

_MIN_CUT: Final = 6
_MIN_ENCODED: Final = 4
_MAX_ENCODED: Final = 6
"""Maximum bytes of a keyword to match in base64. The result is checked; more would be slower."""


def list_cased(keyword: str, rules: Iterable[Rule]) -> list[str]:
    """Return the common spellings of a keyword, by case, that a rule can match."""
    patterns = [rule.pattern for rule in rules]
    cased = {keyword, keyword.upper(), keyword.title()}
    for suffix in ("key", "string", "url"):
        if keyword.endswith(suffix) and keyword.isalpha():
            camel = keyword.removesuffix(suffix) + suffix.title()
            cased |= {camel, camel[:1].upper() + camel[1:]}
    cased |= {find_cased(keyword, pattern) for pattern in patterns}
    if keyword in context_rules.KEYWORDS or keyword in HINTS:
        return sorted(cased)
    cased.add(keyword[:2].upper() + keyword[2:])
    return sorted(each for each in cased if any(_may_spell(each, other) for other in patterns))


def _may_spell(spelling: str, pattern: str) -> bool:
    """Return whether a pattern can match a keyword in this case: patterns are case-sensitive."""
    if "(?i)" in pattern:
        return True
    return _list_characters(pattern).issuperset(each for each in spelling if each.isalpha())


@lru_cache(maxsize=4)
def _list_characters(pattern: str) -> frozenset[str]:
    """Return the characters in a pattern; cached for the spellings of one keyword."""
    return frozenset(pattern.replace("a-f", "abcdef"))


def find_cased(keyword: str, pattern: str) -> str:
    """Return a keyword in the case in which a pattern has it."""
    plain = pattern.replace("\\", "")
    at = plain.lower().find(keyword)
    return plain[at : at + len(keyword)] if at >= 0 else keyword


def iter_escaped(spelling: str) -> Iterator[bytes]:
    """Yield a spelling as in raw lines, and percent-encoded."""
    yield spelling.encode()
    if '"' in spelling:
        yield spelling.replace('"', "\\").encode()
    if any(sign in spelling for sign in "=:/$"):
        yield spelling.replace("/", "\\/").encode()
        yield re.sub("[=:/$]", lambda sign: f"%{ord(sign[0]):02X}", spelling).encode()


def iter_cut(spelling: str) -> Iterator[bytes]:
    """Yield a spelling split by the end of a wrapped line.

    Truncated once it is unambiguous: longer ones make the search take longer to build.
    """
    for at in range(1, len(spelling)):
        yield f"{spelling[:at]}\\n{spelling[at : max(at + 2, _MIN_CUT)]}".encode()


def iter_encoded(spelling: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield a spelling in base64, for each position in a group of three bytes."""
    for shift in range(3):
        encoded = base64.b64encode(bytes(shift) + spelling)
        form = encoded[-(-shift * 8 // 6) : (shift + len(spelling)) * 8 // 6]
        if len(form) >= _MIN_ENCODED:
            yield shift, form[:_MAX_ENCODED]
