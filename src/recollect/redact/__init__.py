"""Text without its secrets: find API keys, tokens, passwords and private keys, and mask them.

Knows text and nothing else: no files, no sessions, no destination. It errs on the side of masking
too much in what leaves the machine, and says for each finding how sure it is. Best effort: a secret
that looks like a word is not found.
"""

from recollect.redact.findings import Confidence, Finding
from recollect.redact.policy import OwnPattern, RedactionPolicy, find_secrets
from recollect.redact.redactor import Redactor

__all__ = [
    "Confidence",
    "Finding",
    "OwnPattern",
    "RedactionPolicy",
    "Redactor",
    "find_secrets",
]
