"""What a rule consists of. Rules are data; `scanner` runs them."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from recollect.redact.findings import Confidence

TOKEN_REACH: Final = 4_000
"""How far after its keyword a token may end. Longer ones are reported up to there."""

Check = Callable[[bytes], Confidence | None]
"""Says how sure a value is; None if it is no secret."""


class Rule(Struct, frozen=True):
    """A kind of secret and how to find it: a keyword, then a pattern around it.

    The pattern is an RE2 expression for bytes. It has to match where the keyword begins, or up to
    `before` bytes earlier. Its first group is the secret, the whole match if there is no group.
    """

    kind: str
    keywords: tuple[str, ...]
    """Lower case; one of them is in every text that the rule matches, in any case. A rule without
    keywords is run over the whole text."""
    pattern: str
    confidence: Confidence = Confidence.DEFINITE
    check: Check | None = None
    before: int = 0
    reach: int = TOKEN_REACH
    standalone: bool = True
    """Whether letters and digits next to a match mean that it is part of something longer."""


def token(kind: str, keywords: str, pattern: str, check: Check | None = None) -> Rule:
    """Return a rule for a token that begins with a keyword."""
    return Rule(kind, tuple(keywords.lower().split()), pattern, check=check)
