"""A search result → the text that `recollect search` prints.

Marks what was sought by colour, or by «guillemets» where there are no colours. Everything that
comes from a transcript is made safe piece by piece, because the marks are places in the original.
"""

from collections.abc import Iterator
from itertools import groupby

import click

from recollect.cli.colours import faint, strong
from recollect.cli.tables import INDENT, plural, wrap
from recollect.render.terminal import measure, safe_text, shorten
from recollect.search.engine import Hit, SearchResult
from recollect.search.snippets import Snippet

_ID_LENGTH = 8
_OPEN, _CLOSE = "«»"
_END = f"…{_CLOSE}"
_PARTS = {"tool_input": "call", "tool_result": "result", "other": "record"}


def iter_result(result: SearchResult, columns: int, *, is_coloured: bool) -> Iterator[str]:
    """Yield the lines: each session with its hits, and how many there are in all."""
    sessions = 0
    for _, group in groupby(result.hits, key=lambda hit: hit.session_id or hit.path):
        sessions += 1
        yield from _iter_session(list(group), columns, is_coloured=is_coloured)
        yield ""
    more = "" if result.is_total_exact else " or more"
    yield from wrap(
        f"{plural(result.total, 'hit')}{more}, {plural(sessions, 'session')} shown.", columns, ""
    )


def _iter_session(hits: list[Hit], columns: int, *, is_coloured: bool) -> Iterator[str]:
    first = hits[0]
    name = _safe(first.session_id[:_ID_LENGTH] or first.path)
    yield strong(shorten(f"{name}  {_safe(first.project)}", columns))
    for hit in hits:
        yield faint(shorten(f"{INDENT}{_describe(hit, columns - len(INDENT))}", columns))
        marked = _mark(hit.snippet, is_coloured=is_coloured)
        # Colours take no room, and a snippet was made to fit; signs around words do.
        yield f"{INDENT * 2}{marked if is_coloured else _cut(marked, columns - len(INDENT) * 2)}"
    if first.further:
        yield faint(f"{INDENT}… and {plural(first.further, 'more hit')}")


def _describe(hit: Hit, columns: int) -> str:
    """When, what and where; of the link only the start where there is no room for all of it."""
    what = _PARTS.get(hit.part, hit.part)
    if hit.tool:
        what = f"{_safe(hit.tool)} {what}"
    signs = [
        what,
        *(["failed"] if hit.is_error else []),
        *(["subagent"] if hit.is_subagent else []),
    ]
    when = (hit.time or "")[:16].replace("T", " ")
    link, told = _safe(hit.uuid or ""), f"{_safe(when)}  {', '.join(signs)}"
    has_room = measure(f"{told}  {link}") <= columns
    return f"{told}  {link if has_room else link[:_ID_LENGTH]}".rstrip()


def _mark(snippet: Snippet, *, is_coloured: bool) -> str:
    pieces: list[str] = []
    end = 0
    for start, stop in snippet.marks:
        sought = _safe(snippet.text[start:stop])
        shown = (
            click.style(sought, fg="yellow", bold=True)
            if is_coloured
            else f"{_OPEN}{sought}{_CLOSE}"
        )
        pieces += (_safe(snippet.text[end:start]), shown)
        end = stop
    return "".join((*pieces, _safe(snippet.text[end:])))


def _cut(text: str, columns: int) -> str:
    if measure(text) <= columns:
        return text
    room = columns - len(_END)
    while measure(text) > room:
        text = text[:-1]
    return f"{text}…{_CLOSE if text.count(_OPEN) > text.count(_CLOSE) else ''}"


def _safe(text: str) -> str:
    return safe_text(text, single_line=True)
