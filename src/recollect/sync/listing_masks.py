"""Listings without secrets: what lists show of a session is kept in the index."""

import re
from typing import Final

from msgspec.structs import replace

from recollect.documents.session_listing import SessionListing
from recollect.redact.first_glance import may_hold_secret

_FIELDS: Final = ("title", "first_prompt", "tag", "git_branch", "cwd", "compaction_summary")

_NUMBER: Final = re.compile(r"(\[redacted:[a-z0-9\-]+)#[0-9]+\]")


def mask_listing(listing: SessionListing) -> SessionListing:
    """Return a listing without definite secrets."""
    texts = {name: getattr(listing, name) for name in _FIELDS}
    suspicious = {name: text for name, text in texts.items() if text and may_hold_secret(text)}
    if not suspicious:
        return listing
    from recollect.redact import Redactor  # the rules, needed for few sessions
    from recollect.sync.secret_notes import DEFINITE

    redactor = Redactor(DEFINITE)
    # Without numbers: only who reads the whole session can number its secrets.
    masked = {name: _NUMBER.sub(r"\1]", redactor.redact(text)) for name, text in suspicious.items()}
    return replace(listing, **masked)
