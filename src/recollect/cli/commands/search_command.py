"""`recollect search`: full-text search in all sessions.

Matches are highlighted, or put in «guillemets» without colours. Text from transcripts is made safe
piece by piece, because the marks are offsets in the original text.
"""

import sys
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

import click

from recollect.cli.command_workspace import command_workspace
from recollect.cli.json_output import format_document
from recollect.cli.options import claude_dir_option, json_option
from recollect.cli.terminal_output import (
    INDENT,
    count_columns,
    faint,
    label_id,
    label_project,
    label_title,
    pager_option,
    show_text,
    strong,
    wants_colour,
    wrap,
)
from recollect.documents.search_results import SNIPPET_WIDTH, Hit, Snippet
from recollect.documents.session_listing import SessionListing
from recollect.errors import NothingFound
from recollect.quantities import format_count, format_time
from recollect.render.terminal import clip, measure, safe_line, shorten
from recollect.search.engine import SearchOptions, SearchResult
from recollect.search.query_tree import quote
from recollect.session.times import parse_time

_ID_LENGTH = 8
_MAX_PROJECT_WIDTH = 20
_OPEN, _CLOSE = "«»"
_DOTS = "…"
_PARTS = {"tool_input": "call", "tool_result": "result", "other": "record"}


def iter_result(
    result: SearchResult, listings: Mapping[str, SessionListing], columns: int, *, is_coloured: bool
) -> Iterator[str]:
    """Yield notes on the query, the results by session, and totals.

    `listings` provide the titles of sessions by id.
    """
    for line in list_notes(result):
        yield from wrap(line, columns, "")
        yield ""
    shown = 0
    for _, group in groupby(result.hits, key=lambda hit: hit.session_id or hit.path):
        shown += 1
        hits = list(group)
        yield strong(clip(_head(hits[0], listings.get(hits[0].session_id)), columns))
        yield from _iter_hits(hits, columns, is_coloured=is_coloured)
        yield ""
    yield from wrap(_describe_total(result, shown), columns, "")


def list_notes(result: SearchResult) -> list[str]:
    """Return notes on words that were not found, or that were searched for in another form."""
    return [*_iter_notes(result)]


def _iter_notes(result: SearchResult) -> Iterator[str]:
    missing = ", ".join(map(safe_line, (*result.left_out, *result.corrected)))
    if result.left_out and not result.corrected:
        yield f"Not found anywhere: {missing}"
    if result.split:
        names = ", ".join(map(safe_line, result.split))
        yield f"Not found as a whole, only in parts: {names}"
    if result.corrected:
        yield f"Not found: {missing}. Showing results for: {safe_line(result.did_you_mean or '')}"
    elif result.did_you_mean:
        yield f"Did you mean: {safe_line(result.did_you_mean)}"
    for word in map(safe_line, result.capped):
        yield f"{word!r} occurs in very many words; only the shortest were searched."


def _describe_total(result: SearchResult, shown: int) -> str:
    """Return the number of results, the range shown, and how to get the rest."""
    at_least = "" if result.is_total_exact else "At least "
    sessions = format_count(result.total_sessions, "session")
    total = f"{at_least}{format_count(result.total, 'result')} in {sessions}"
    if shown == result.total_sessions:
        return f"{total}."
    last = result.offset + shown
    more = (
        f" Use --page {last // shown + 1} for more."
        if shown and last < result.total_sessions
        else ""
    )
    return f"{total}, showing {result.offset + 1} to {last}.{more}"


def _head(hit: Hit, listing: SessionListing | None) -> str:
    """Return the heading of a session."""
    name = label_id(hit.session_id) or safe_line(hit.path)
    if listing is None:
        return f"{name}  {label_project(hit.project)}"
    title = label_title(listing.title, listing.first_prompt)
    project = clip(label_project(listing.cwd or listing.project), _MAX_PROJECT_WIDTH)
    return f"{name}  {project}  {title}"


def _iter_hits(hits: list[Hit], columns: int, *, is_coloured: bool) -> Iterator[str]:
    if hits[0].missing:
        missing = ", ".join(map(safe_line, hits[0].missing))
        yield faint(shorten(f"{INDENT}missing: {missing}", columns))
    for hit in hits:
        yield faint(shorten(f"{INDENT}{_describe_hit(hit, columns - len(INDENT))}", columns))
        room = columns - len(INDENT) * 2
        yield f"{INDENT * 2}{_render(hit.snippet, room, is_coloured=is_coloured)}"
    if hits[0].more_in_session:
        yield faint(f"{INDENT}… and {format_count(hits[0].more_in_session, 'more result')}")


def _describe_hit(hit: Hit, columns: int) -> str:
    """Return time, kind and id of a result; the id is shortened if there is no room."""
    what = _PARTS.get(hit.part, hit.part)
    if hit.tool:
        what = f"{safe_line(hit.tool)} {what}"
    labels = [
        *([f"turn {hit.turn}"] if hit.turn else []),
        what,
        *(["failed"] if hit.is_error else []),
        *(["subagent"] if hit.is_subagent else []),
    ]
    moment = parse_time(hit.time)
    when = format_time(moment)
    link, about = safe_line(hit.uuid or ""), f"{when}  {', '.join(labels)}".lstrip()
    has_room = measure(f"{about}  {link}") <= columns
    return f"{about}  {link if has_room else link[:_ID_LENGTH]}".rstrip()


def _render(snippet: Snippet, columns: int, *, is_coloured: bool) -> str:
    """Render a snippet with its matches, cut at the end if it is too long."""
    frame = 0 if is_coloured else len(_OPEN + _CLOSE)
    pieces = [
        (text, is_match, measure(text) + frame * is_match) for text, is_match in _split(snippet)
    ]
    needed = sum(width for _, _, width in pieces)
    rendered: list[str] = []
    for text, is_match, width in pieces:
        if needed > columns and width >= columns:
            room = columns - frame * is_match
            has_space = room > len(_DOTS)
            rendered.append(
                _mark(clip(f"{text}{_DOTS}", room), is_match, is_coloured) if has_space else _DOTS
            )
            break
        rendered.append(_mark(text, is_match, is_coloured))
        needed, columns = needed - width, columns - width
    return "".join(rendered)


def _split(snippet: Snippet) -> Iterator[tuple[str, bool]]:
    """Yield the safe form of each part of the snippet, and whether it is a match."""
    end = 0
    for start, stop in snippet.marks:
        yield safe_line(snippet.text[end:start]), False
        yield safe_line(snippet.text[start:stop]), True
        end = stop
    yield safe_line(snippet.text[end:]), False


def _mark(text: str, is_match: bool, is_coloured: bool) -> str:
    if not is_match:
        return text
    return click.style(text, fg="yellow", bold=True) if is_coloured else f"{_OPEN}{text}{_CLOSE}"


DEFAULT_LIMIT = 10
INDEXING_SECONDS = 1.5
"""How long a search in a terminal first indexes new texts. Start-up, the last read and the search
itself take the rest of the two seconds that a user should wait at most."""

_NOT_COMPLETE = (
    "recollect: Indexing is not finished, so results may be missing. Search again, or use --wait."
)
_NOTHING = "No matches. Try fewer words, a prefix*, or OR."
_NOTHING_IN_TIME = (
    "No matches in the newest texts; the search timed out before it reached the rest. "
    "Add a word or a field to the regular expression."
)


@click.command("search")
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@click.option("--recent", is_flag=True, help="Sort by date, newest first, instead of by relevance.")
@click.option(
    "-n", "--limit", default=DEFAULT_LIMIT, show_default=True, type=click.IntRange(1, 1000),
    metavar="N",
    help="Maximum number of sessions.",
)  # fmt: skip
@click.option(
    "--page", metavar="N", default=1, show_default=True, type=click.IntRange(1, 100_000),
    help="Show this page of sessions.",
)  # fmt: skip
@click.option("--project", metavar="TEXT", help="Only projects whose path contains TEXT.")
@click.option("--wait", is_flag=True, help="Finish indexing first, however long it takes.")
@pager_option
@claude_dir_option
@json_option
def search_command(  # noqa: PLR0913 - one parameter per option
    words: tuple[str, ...],
    *,
    recent: bool,
    limit: int,
    page: int,
    project: str | None,
    wait: bool,
    paged: bool,
    claude_dirs: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Search prompts, replies, commands and output in all sessions.

    QUERY is words, "phrases", prefix*, *part*, -not, OR, /regex/ and fields such as project: tool:
    is:error since:7d. Put -- before a query that starts with a minus sign.

    \b
      recollect search connection reset
      recollect search 'tool:Bash is:error since:7d'

    Exits with 3 if there are no matches.
    """
    text = " ".join(words if project is None else (*words, f"project:{quote(project)}"))
    width = SNIPPET_WIDTH if as_json else count_columns() - 4
    offset = (page - 1) * limit
    options = SearchOptions(recent=recent, limit=limit, offset=offset, width=width)
    has_deadline = sys.stderr.isatty() and not wait
    seconds = INDEXING_SECONDS if has_deadline else None
    with command_workspace(claude_dirs) as workspace:
        answer = workspace.search(text, options, seconds=seconds)
        if not answer.result.hits and not as_json:
            workspace.require_sessions()
    result = answer.result
    if not result.index_complete:
        click.echo(_NOT_COMPLETE, err=True)
    if as_json:
        from recollect.workspace.searching import describe_search  # only for JSON

        click.echo(format_document(describe_search(answer)))
        return 0
    if not result.hits:
        raise NothingFound(_describe_nothing(result))
    lines = iter_result(result, answer.sessions, count_columns(), is_coloured=wants_colour())
    show_text("\n".join(lines), is_paged=paged)
    return 0


def _describe_nothing(result: SearchResult) -> str:
    if result.total_sessions:
        sessions = format_count(result.total_sessions, "session")
        return f"Found only {sessions}. Use a smaller --page."
    if result.did_you_mean:
        return f"No matches. Did you mean: {safe_line(result.did_you_mean)}"
    return _NOTHING if result.is_total_exact else _NOTHING_IN_TIME
