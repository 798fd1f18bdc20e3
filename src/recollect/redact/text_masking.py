"""Mask short texts, such as titles and prompts, without loading any rule if possible.

The rules take longer to load than a list takes to answer, and most such texts are plain words.
"""

import re
from typing import Final

_NUMBER: Final = re.compile(r"(\[redacted:[a-z0-9\-]+)#[0-9]+\]")
_MAY_HOLD: Final = re.compile(
    # Sixteen characters with a digit, what secrets are assigned to, or a login in an address.
    r"(?=[\w\-+=.]*[0-9])[\w\-+=.]{16,}"
    r"|(?i:passw|passphrase|pwd|secret|token|credential|key|auth|bearer|cookie|pass[=:]|-----BEGIN)"
    r"|://[^\s/]*:[^\s/]*@|[A-Za-z0-9+/]{40,}"
)


def may_hold_secret(text: str) -> bool:
    """Return whether something in a text looks unlike words, or speaks of secrets."""
    return _MAY_HOLD.search(text) is not None


def mask_words(text: str) -> str:
    """Return a text without definite secrets.

    Tags have no numbers: only who reads the whole session can number its secrets.
    """
    if not may_hold_secret(text):
        return text
    from recollect.redact import RedactionPolicy, Redactor  # the rules, needed for few texts

    return _NUMBER.sub(r"\1]", Redactor(RedactionPolicy(likely=False)).redact(text))


def mask_lines(text: str) -> list[str]:
    """Return the lines of a text without definite secrets, as many as it has."""
    return mask_in_lines(text).split("\n")


def mask_in_lines(text: str) -> str:
    """Return the text of a file without definite secrets and with as many lines as before."""
    if not may_hold_secret(text):
        return text
    from recollect.redact import RedactionPolicy, find_secrets

    pieces: list[str] = []
    at = 0
    for found in find_secrets(text, RedactionPolicy(likely=False)):
        line_ends = "\n" * text.count("\n", found.start, found.end)
        pieces += [text[at : found.start], f"[redacted:{found.kind}]{line_ends}"]
        at = found.end
    return "".join([*pieces, text[at:]])
