"""Text without its secrets: find API keys, tokens, passwords and private keys, and mask them.

Knows text and nothing else: no files, no sessions, no destination. It errs on the side of masking
too much in what leaves the machine, and says for each finding how sure it is. Best effort: a secret
that looks like a word is not found. Names are imported on first use: rules take time to load.
"""

from typing import TYPE_CHECKING

from recollect.lazy_names import import_on_first_use

if TYPE_CHECKING:
    from recollect.redact.findings import Confidence, Finding
    from recollect.redact.policy import find_secrets
    from recollect.redact.redaction_policy import OwnPattern, RedactionPolicy
    from recollect.redact.redactor import Redactor

__all__ = [
    "Confidence",
    "Finding",
    "OwnPattern",
    "RedactionPolicy",
    "Redactor",
    "find_secrets",
]

__getattr__ = import_on_first_use(
    globals(),
    {
        "Confidence": "findings",
        "Finding": "findings",
        "OwnPattern": "redaction_policy",
        "RedactionPolicy": "redaction_policy",
        "Redactor": "redactor",
        "find_secrets": "policy",
    },
)
