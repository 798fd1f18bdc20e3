"""Whether a short text can hold a secret at all, without loading any rule.

The rules take longer to load than a list takes to answer; titles and prompts are mostly words.
"""

import re
from typing import Final

_MAY_HOLD: Final = re.compile(
    # Sixteen characters with a digit, what secrets are assigned to, or a login in an address.
    r"(?=[\w\-+=.]*[0-9])[\w\-+=.]{16,}"
    r"|(?i:passw|passphrase|pwd|secret|token|credential|key|auth|bearer|cookie|pass[=:]|-----BEGIN)"
    r"|://[^\s/]*:[^\s/]*@|[A-Za-z0-9+/]{40,}"
)


def may_hold_secret(text: str) -> bool:
    """Return whether something in a text looks unlike words, or speaks of secrets."""
    return _MAY_HOLD.search(text) is not None
