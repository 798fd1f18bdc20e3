"""`recollect search`: find what was said, run and answered in every session."""

import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import click
import msgspec
from msgspec import Struct

from recollect.cli.colours import wants_colour
from recollect.cli.documents import format_document
from recollect.cli.options import claude_dir_option, json_option
from recollect.cli.paging import pager_option, show_text
from recollect.cli.progress import watch_texts
from recollect.cli.roots import find_roots, require_transcripts
from recollect.cli.search_text import iter_result
from recollect.cli.tables import count_columns
from recollect.errors import NothingFound
from recollect.locations import Transcript, TranscriptKind
from recollect.locations.transcript_files import name_of
from recollect.search import parse_query
from recollect.search.engine import RECIPE, Hit, SearchOptions, SearchResult, search
from recollect.search.regexes import check_regexes
from recollect.search.tree import quote
from recollect.store.database import refuse_newer
from recollect.store.listings import Listing
from recollect.store.place import find_data_directory
from recollect.sync.level import find_transcripts
from recollect.sync.texts import index_texts

SCHEMA = "recollect.search/1"
DEFAULT_LIMIT = 10
PATIENCE_SECONDS = 2.0
"""How long somebody at a terminal waits for new texts to be indexed."""

_NOT_COMPLETE = (
    "recollect: Not all texts are in the index yet, so there may be more. "
    "Search again, or with --wait."
)
_NOTHING = "Nothing fits. Try fewer words, the beginning of a word*, or OR."
_NOTHING_IN_TIME = (
    "Nothing fits among the newest texts, and there was no time to look at all of them. "
    "Add a word or a field to the regular expression."
)


class SearchDocument(Struct, frozen=True, kw_only=True):
    """What `--json` prints; `total` counts hits, of which some sessions show only the best."""

    schema: str = SCHEMA
    query: str
    total: int
    is_total_exact: bool
    index_complete: bool
    hits: tuple[Hit, ...]


@click.command("search")
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@click.option("--recent", is_flag=True, help="Show the newest first instead of the best.")
@click.option(
    "-n", "--limit", default=DEFAULT_LIMIT, show_default=True, type=click.IntRange(1, 1000),
    help="Most sessions to show.",
)  # fmt: skip
@click.option("--project", metavar="TEXT", help="Only in projects whose path contains this.")
@click.option("--wait", is_flag=True, help="Finish the index first, however long it takes.")
@pager_option
@claude_dir_option
@json_option
def command(  # noqa: PLR0913 - one argument for each option
    words: tuple[str, ...],
    *,
    recent: bool,
    limit: int,
    project: str | None,
    wait: bool,
    paged: bool,
    claude_dirs: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Find what was said, run and answered in every session.

    QUERY is words, "phrases", prefix*, -not, OR, /regex/ and fields such as project: tool:
    is:error since:7d. Write -- before a query that begins with a minus.

    \b
      recollect search connection reset
      recollect search 'tool:Bash is:error since:7d'

    Exits with 3 if nothing is found.
    """
    text = " ".join(words if project is None else (*words, f"project:{quote(project)}"))
    timezone = datetime.now().astimezone().tzinfo
    options = SearchOptions(recent=recent, limit=limit, width=count_columns() - 4)
    if timezone is not None:
        options = msgspec.structs.replace(options, timezone=timezone)
    query = parse_query(text, timezone=options.timezone)
    check_regexes(query)
    # The texts would be indexed anew, and the newer program would have to do it once more.
    refuse_newer(find_data_directory())
    roots = find_roots(claude_dirs)
    transcripts = find_transcripts(roots)
    is_level = _bring_level(transcripts, is_hurried=sys.stderr.isatty() and not wait)
    result = search(find_data_directory(), text, transcripts, options, index_complete=is_level)
    if not is_level:
        click.echo(_NOT_COMPLETE, err=True)
    if as_json:
        click.echo(format_document(_describe(result, str(query))))
        return 0
    if not result.hits:
        require_transcripts(roots)
        raise NothingFound(_NOTHING if result.is_total_exact else _NOTHING_IN_TIME)
    lines = iter_result(
        result, _load_listings(result, transcripts), count_columns(), is_coloured=wants_colour()
    )
    show_text("\n".join(lines), is_paged=paged)
    return 0


def _bring_level(transcripts: list[Transcript], *, is_hurried: bool) -> bool:
    seconds = PATIENCE_SECONDS if is_hurried else None
    with watch_texts() as watch:
        return index_texts(find_data_directory(), RECIPE, transcripts, seconds=seconds, watch=watch)


def _describe(result: SearchResult, query: str) -> SearchDocument:
    return SearchDocument(
        query=query,
        total=result.total,
        is_total_exact=result.is_total_exact,
        index_complete=result.index_complete,
        hits=result.hits,
    )


def _load_listings(result: SearchResult, transcripts: Sequence[Transcript]) -> dict[str, Listing]:
    """What lists tell of the sessions that were found."""
    from recollect.sync.listings import list_level  # noqa: PLC0415 - the index, for people only

    ids = {hit.session_id for hit in result.hits}
    found = [
        each for each in transcripts if each.kind is TranscriptKind.SESSION and name_of(each) in ids
    ]
    return {each.id: each for each in list_level(find_data_directory(), found)}
