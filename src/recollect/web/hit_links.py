"""The address of a search result: its session, the record in it, and the words to mark there."""

from urllib.parse import quote, unquote, urlencode

from recollect.documents.search_results import Hit, Snippet
from recollect.locations.place_names import make_path

_MAX_WORDS = 12
_MAX_LENGTH = 120
"""Of one word or phrase; an address has its limits too."""


def address_hit(hit: Hit) -> str:
    """Return the address of a hit; its page marks what the snippet marks."""
    record = unquote(hit.link.partition("#")[2])
    parameters: dict[str, str | int] = {}
    if record:
        parameters["at"] = record
    if hit.uuid and hit.offset is not None:
        parameters["offset"] = hit.offset
    if words := list_marks(hit.snippet):
        parameters["mark"] = "\n".join(words)
    query = f"?{urlencode(parameters, quote_via=quote)}" if parameters else ""
    return f"{make_path(hit.session_id)}{query}" + (f"#{quote(record, safe='')}" if record else "")


def list_marks(snippet: Snippet) -> list[str]:
    """Return the different words that a snippet marks, in any case of letters once."""
    words = (snippet.text[start:end][:_MAX_LENGTH] for start, end in snippet.marks)
    return list({word.casefold(): word for word in words}.values())[:_MAX_WORDS]
