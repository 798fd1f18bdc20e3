"""An index built with other rules is rebuilt, because it may contain secrets that they missed."""

from hashlib import blake2b

from recollect.redact.context_rules import CONTEXT_RULES, KEYWORDS
from recollect.redact.token_rules import TOKEN_RULES
from recollect.store.data_directory import LISTING_VERSION, TEXT_SCHEMA


def test_versions_change_with_the_rules() -> None:
    """After changing a rule, increment both versions and update the line below."""
    rules = [(each.kind, each.keywords, each.pattern) for each in (*TOKEN_RULES, *CONTEXT_RULES)]
    digest = blake2b(repr((rules, KEYWORDS)).encode(), digest_size=6).hexdigest()
    assert (TEXT_SCHEMA, LISTING_VERSION, digest) == ("13", "8", "9134571a4462")
