"""A search result → the text that `recollect search` prints.

Marks what was sought by colour, or by «guillemets» where there are no colours. Everything that
comes from a transcript is made safe piece by piece, because the marks are places in the original.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby

import click

from recollect.cli.colours import faint, strong
from recollect.cli.session_labels import label_id, label_project, label_title
from recollect.cli.tables import INDENT, plural, wrap
from recollect.cli.times import show_moment
from recollect.render.terminal import clip, measure, safe_text, shorten
from recollect.search.engine import Hit, SearchResult
from recollect.search.snippets import Snippet
from recollect.session.times import parse_time
from recollect.store.listings import Listing

_ID_LENGTH = 8
_WIDEST_PROJECT = 20
_OPEN, _CLOSE = "«»"
_DOTS = "…"
_PARTS = {"tool_input": "call", "tool_result": "result", "other": "record"}


def iter_result(
    result: SearchResult, listings: Mapping[str, Listing], columns: int, *, is_coloured: bool
) -> Iterator[str]:
    """Yield the lines: each session with its hits, and how many there are in all.

    `listings` tell, by id, what the sessions are about.
    """
    sessions = 0
    for _, group in groupby(result.hits, key=lambda hit: hit.session_id or hit.path):
        sessions += 1
        hits = list(group)
        yield strong(clip(_head(hits[0], listings.get(hits[0].session_id)), columns))
        yield from _iter_hits(hits, columns, is_coloured=is_coloured)
        yield ""
    more = "" if result.is_total_exact else " or more"
    yield from wrap(
        f"{plural(result.total, 'hit')}{more}, {plural(sessions, 'session')} shown.", columns, ""
    )


def _head(hit: Hit, listing: Listing | None) -> str:
    """The session of a hit, as lists show it."""
    name = label_id(hit.session_id) or _safe(hit.path)
    if listing is None:
        return f"{name}  {label_project(hit.project)}"
    title = label_title(listing.title, listing.first_prompt)
    project = clip(label_project(listing.cwd or listing.project), _WIDEST_PROJECT)
    return f"{name}  {project}  {title}"


def _iter_hits(hits: list[Hit], columns: int, *, is_coloured: bool) -> Iterator[str]:
    for hit in hits:
        yield faint(shorten(f"{INDENT}{_describe(hit, columns - len(INDENT))}", columns))
        room = columns - len(INDENT) * 2
        yield f"{INDENT * 2}{_draw(hit.snippet, room, is_coloured=is_coloured)}"
    if hits[0].further:
        yield faint(f"{INDENT}… and {plural(hits[0].further, 'more hit')}")


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
    moment = parse_time(hit.time)
    when = show_moment(moment.timestamp()) if moment else ""
    link, told = _safe(hit.uuid or ""), f"{when}  {', '.join(signs)}".lstrip()
    has_room = measure(f"{told}  {link}") <= columns
    return f"{told}  {link if has_room else link[:_ID_LENGTH]}".rstrip()


def _draw(snippet: Snippet, columns: int, *, is_coloured: bool) -> str:
    """A snippet with its marks; its end is left out if what is safe to show takes more room."""
    frame = 0 if is_coloured else len(_OPEN + _CLOSE)
    pieces = [
        (text, is_sought, measure(text) + frame * is_sought) for text, is_sought in _cut_up(snippet)
    ]
    needed = sum(width for _, _, width in pieces)
    drawn: list[str] = []
    for text, is_sought, width in pieces:
        if needed > columns and width >= columns:
            room = columns - frame * is_sought
            is_worth_it = room > len(_DOTS)
            drawn.append(
                _mark(clip(f"{text}{_DOTS}", room), is_sought, is_coloured)
                if is_worth_it
                else _DOTS
            )
            break
        drawn.append(_mark(text, is_sought, is_coloured))
        needed, columns = needed - width, columns - width
    return "".join(drawn)


def _cut_up(snippet: Snippet) -> Iterator[tuple[str, bool]]:
    """Yield the safe form of each stretch of the snippet, and whether it was sought."""
    end = 0
    for start, stop in snippet.marks:
        yield _safe(snippet.text[end:start]), False
        yield _safe(snippet.text[start:stop]), True
        end = stop
    yield _safe(snippet.text[end:]), False


def _mark(text: str, is_sought: bool, is_coloured: bool) -> str:
    if not is_sought:
        return text
    return click.style(text, fg="yellow", bold=True) if is_coloured else f"{_OPEN}{text}{_CLOSE}"


def _safe(text: str) -> str:
    return safe_text(text, single_line=True)
