"""A query → hits: looked up in the full-text index, ranked, and shown with the words around them.

The newest `WINDOW` texts that fulfil the query are ranked, and none beyond them, which is what
keeps a word that is everywhere as quick as a rare one. Copies of a text in other files are one
hit. Words that find too little are looked for inside longer words too; those hits come last.
"""

import os
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from itertools import chain, islice
from pathlib import Path
from typing import Final

from msgspec import Struct

from recollect.locations import Transcript
from recollect.records.envelope import Record
from recollect.search.candidates import find_candidates
from recollect.search.fields import FieldReader
from recollect.search.match import make_search_plan, to_match
from recollect.search.prefixes import make_spell
from recollect.search.query import parse_query
from recollect.search.ranking import rate
from recollect.search.readback import TextReader
from recollect.search.regexes import check_regexes, compile_regex, iter_regexes
from recollect.search.snippets import Snippet, make_snippet
from recollect.search.spans import Span, choose_window, find_spans
from recollect.search.terms import TOKENIZER, prepare_for_index
from recollect.search.tree import And, Phrase, Query, Word
from recollect.search.widening import widen
from recollect.store.text import Part
from recollect.store.text_queries import (
    ALWAYS,
    Condition,
    FoundText,
    TextQueries,
    all_of,
    in_files,
    open_no_texts,
    open_text_queries,
)
from recollect.sync.documents import list_documents
from recollect.sync.text_tails import NO_FRESH_TEXTS, read_fresh
from recollect.sync.texts import Recipe

RECIPE: Final = Recipe("2", TOKENIZER, prepare_for_index)
"""How this program makes terms; the version changes whenever a text would give other terms."""

WINDOW: Final = 2_000
"""Texts that are ranked."""

PER_SESSION: Final = 3
SECONDS: Final = 2.0
_MOST_MATCHES: Final = 50


class Hit(Struct, frozen=True, kw_only=True):
    """A text that fulfils the query; `further` hits of its session are not among those shown."""

    session_id: str
    uuid: str | None
    link: str
    project: str
    path: str
    part: str
    tool: str | None
    time: str | None
    is_error: bool
    is_subagent: bool
    snippet: Snippet
    further: int


class SearchResult(Struct, frozen=True, kw_only=True):
    """The hits, those of one session together, the best session first."""

    hits: tuple[Hit, ...]
    total: int
    is_total_exact: bool
    """False when there may be more than those that were ranked or looked at in time."""
    index_complete: bool


class SearchOptions(Struct, frozen=True, kw_only=True):
    """How much to show, and in which order."""

    limit: int = 20
    """Sessions at most."""
    per_session: int = PER_SESSION
    recent: bool = False
    """The newest first instead of the best."""
    width: int = 160
    """Characters of a snippet."""
    timezone: tzinfo = UTC


def search(
    directory: Path,
    text: str,
    transcripts: Sequence[Transcript],
    options: SearchOptions = SearchOptions(),  # noqa: B008 - it is immutable
    *,
    index_complete: bool,
) -> SearchResult:
    """What the index in a data directory finds in these transcripts; reads, never indexes.

    `index_complete` is what `index_texts` said, and is passed on with the hits; without it, what
    was said within the last minute is looked for in the files. Raises `QueryError` for a query that
    cannot be read.
    """
    query = parse_query(text, timezone=options.timezone)
    check_regexes(query)
    fresh = NO_FRESH_TEXTS if index_complete else read_fresh(directory, RECIPE, transcripts)
    queries = open_text_queries(directory, RECIPE.version) or open_no_texts(RECIPE.tokenizer)
    try:
        if fresh.batches:
            queries.add(fresh.batches, fresh.files, RECIPE.tokenizer)
        return _Search(queries, transcripts, options).run(query, index_complete=index_complete)
    finally:
        queries.close()


class _Answer(Struct, frozen=True):
    """Texts that fulfil a query, and whether these are all."""

    texts: tuple[FoundText, ...]
    is_exact: bool


class _Search:
    """One search on one state of the index."""

    def __init__(
        self, queries: TextQueries, transcripts: Sequence[Transcript], options: SearchOptions
    ) -> None:
        self._queries = queries
        self._options = options
        self._reader = TextReader(queries.files)
        self._scope = _limit_to(queries, transcripts)
        self._now = int(time.time())

    def run(self, query: Query, *, index_complete: bool) -> SearchResult:
        """The result of a query, with longer words if it has room for them."""
        answer = self._find(query)
        ordered, sought = self._order(answer.texts, query), query
        if len(ordered) < self._options.limit:
            wider = widen(query, self._queries.find_terms)
            if wider is not None:
                answer, sought = self._find(wider), wider
                known = {text.key for text in ordered}
                more = [text for text in answer.texts if text.key not in known]
                ordered += self._order(more, wider)
        if self._options.recent:
            ordered.sort(key=lambda text: -text.id)
        return SearchResult(
            hits=tuple(self._iter_hits(ordered, sought)),
            total=len(ordered),
            is_total_exact=answer.is_exact,
            index_complete=index_complete,
        )

    def _find(self, query: Query) -> _Answer:
        fields = FieldReader(self._queries, self._reader, query)
        plan = make_search_plan(
            query,
            fields.ask,
            lambda regex: find_candidates(regex, self._queries),
            make_spell(self._queries),
        )
        found = self._queries.select(
            plan.match,
            all_of([plan.condition, self._scope]),
            limit=WINDOW,
            seconds=SECONDS,
            checks=fields.checks,
        )
        is_exact = len(found.texts) < WINDOW and not found.is_cut
        return _Answer(tuple(_drop_copies(found.texts)), is_exact)

    def _order(self, texts: Sequence[FoundText], query: Query) -> list[FoundText]:
        phrases = self._find_phrases(texts, query)
        return sorted(texts, key=lambda text: (-rate(text, self._now, phrases), -text.id))

    def _find_phrases(self, texts: Sequence[FoundText], query: Query) -> Collection[int]:
        """Which of the texts hold the words of the query as they stand, one after the other."""
        root = query.root
        words = (
            [part.text for part in root.parts if isinstance(part, Word)]
            if isinstance(root, And)
            else []
        )
        match = to_match(Phrase(" ".join(words))) if len(words) > 1 else None
        if match is None or not texts:
            return ()
        return self._queries.select_ids(match, min(text.id for text in texts), WINDOW)

    def _iter_hits(self, ordered: Sequence[FoundText], query: Query) -> Iterator[Hit]:
        sessions: dict[str, list[FoundText]] = {}
        for text in ordered:
            file = self._queries.files[text.file_id]
            sessions.setdefault(file.session_id or file.path, []).append(text)
        for texts in list(sessions.values())[: self._options.limit]:
            shown = texts[: self._options.per_session]
            for text in shown:
                hit = self._make_hit(text, query, len(texts) - len(shown))
                if hit is not None:
                    yield hit

    def _make_hit(self, text: FoundText, query: Query, further: int) -> Hit | None:
        record = self._reader.read_record(text.file_id, text.position, text.length)
        documents = [] if record is None else list_documents(record)
        if record is None or text.number >= len(documents):
            return None
        file, words = self._queries.files[text.file_id], documents[text.number].text
        session_id = file.session_id or _read(record, "session_id") or ""
        uuid = _read(record, "uuid")
        return Hit(
            session_id=session_id,
            uuid=uuid,
            link=f"{session_id}#{uuid}" if uuid else session_id,
            project=self._queries.names.get(text.cwd or 0, file.project),
            path=os.fsencode(file.path).decode("utf-8", "replace"),
            part=Part(text.part).name.lower(),
            tool=self._queries.names.get(text.tool or 0),
            time=_read(record, "timestamp") or _format(text.second),
            is_error=bool(text.is_error),
            is_subagent=bool(text.is_subagent),
            snippet=make_snippet(words, _find_marks(words, query), self._options.width),
            further=further,
        )


def _limit_to(queries: TextQueries, transcripts: Sequence[Transcript]) -> Condition:
    """Only texts in these transcripts, if the index has others too."""
    paths = {transcript.file for transcript in transcripts}
    wanted = [number for number, file in queries.files.items() if file.path in paths]
    return ALWAYS if len(wanted) == len(queries.files) else in_files(wanted)


def _drop_copies(texts: Iterable[FoundText]) -> list[FoundText]:
    """One text for each key, whichever of the copies was indexed first."""
    first: dict[int, FoundText] = {}
    for text in texts:
        first[text.key] = text
    return list(first.values())


def _find_marks(text: str, query: Query) -> list[Span]:
    """The places of what was sought: of words, or else of what fits a regular expression."""
    start, end = choose_window(text, query)
    spans = find_spans(text[start:end], query)
    if spans:
        return [(start + first, start + last) for first, last in spans]
    matches = chain.from_iterable(
        compile_regex(regex, str(query)).finditer(text) for regex in iter_regexes(query.root)
    )
    found = sorted(match.span() for match in islice(matches, _MOST_MATCHES))
    return [span for number, span in enumerate(found) if _is_apart(found, number)]


def _is_apart(spans: Sequence[Span], number: int) -> bool:
    """Whether a span has any length and begins behind the one before it."""
    start, end = spans[number]
    return start < end and (number == 0 or start >= spans[number - 1][1])


def _read(record: Record, name: str) -> str | None:
    value = getattr(record, name, None)
    return value if isinstance(value, str) else None


def _format(second: int) -> str | None:
    try:
        return datetime.fromtimestamp(second, UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return None
