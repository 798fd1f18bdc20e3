"""Listings without secrets: what lists show of a session is kept in the index."""

from typing import Final

from msgspec.structs import replace

from recollect.documents.session_listing import SessionListing
from recollect.redact.text_masking import mask_words

_FIELDS: Final = ("title", "first_prompt", "tag", "git_branch", "cwd", "compaction_summary")


def mask_listing(listing: SessionListing) -> SessionListing:
    """Return a listing without definite secrets."""
    texts = {name: text for name in _FIELDS if (text := getattr(listing, name))}
    masked = {name: mask_words(text) for name, text in texts.items()}
    return listing if masked == texts else replace(listing, **masked)
