"""docs/secrets.md lists exactly the kinds of secrets that have rules."""

import re
from pathlib import Path

from recollect.redact.context_rules import CONTEXT_RULES
from recollect.redact.findings import GENERAL_KINDS
from recollect.redact.token_rules import TOKEN_RULES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "secrets.md"


def test_every_kind_is_documented() -> None:
    """The table has the kinds of all rules, and those of values assigned to a name."""
    text = PAGE.read_text(encoding="utf-8")
    table = text[text.index("| | kinds |") : text.index("Tokens of services")]
    named = set(re.findall(r"`([a-z0-9-]+)`", table))
    rules = {rule.kind for rule in (*TOKEN_RULES, *CONTEXT_RULES)}
    assert named == rules | GENERAL_KINDS
