"""Run a query: look it up in the full-text index, rank the matches and make snippets.

Only the newest `WINDOW` matches are ranked, so that a common word is as fast as a rare one. The
score depends on how much of a text matches, who wrote it and how old it is; the weights were set by
hand. Copies of a text in other files are one hit. If a query has few matches, its words are also
searched for inside longer words; those hits come last.
"""

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from itertools import chain, islice
from pathlib import Path
from typing import Final

from msgspec import Struct

from recollect.documents.search_results import Hit
from recollect.locations import Transcript
from recollect.records.envelope import Record
from recollect.records.state import Summary
from recollect.search.joined_prompts import drop_joined
from recollect.search.query_parser import parse_query
from recollect.search.query_plan import (
    ConditionBuilder,
    TextReader,
    find_candidates,
    make_search_plan,
    to_match,
)
from recollect.search.query_tree import And, Phrase, Query, Word
from recollect.search.regexes import check_regexes, compile_regex, iter_regexes
from recollect.search.snippets import TextSpan, choose_window, find_spans, make_snippet
from recollect.search.terms import TOKENIZER, prepare_for_index
from recollect.search.title_lookup import TitledSession, TitleLookup
from recollect.search.widening import make_prefix_expander, widen
from recollect.session.queue import name_queued
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
from recollect.store.text_rows import LAST_SECOND, IndexedFile, TextKind
from recollect.sync.list_files import with_lists
from recollect.sync.searchable_texts import list_searchable_texts
from recollect.sync.text_indexer import NO_FRESH_TEXTS, Analyzer, read_fresh

_WEIGHTS: Final[dict[int, float]] = {
    TextKind.TITLE: 1.5,
    TextKind.PROMPT: 1.4,
    TextKind.QUEUED: 1.4,
    TextKind.REPLY: 1.2,
    TextKind.SUMMARY: 1.0,
    TextKind.COMMAND: 1.0,
    TextKind.THINKING: 0.9,
    TextKind.TOOL_INPUT: 0.9,
    TextKind.TOOL_RESULT: 0.7,
    TextKind.NOTICE: 0.5,
    TextKind.OTHER: 0.5,
}
_PHRASE_BONUS: Final = 0.5
_RECENCY_BONUS: Final = 0.5
_HALF_LIFE: Final = 30 * 24 * 3600
"""Seconds after which the recency bonus has halved."""


def score(text: FoundText, now: int, phrases: Collection[int]) -> float:
    """Return the score of a match, higher is better; `phrases` are ids of exact phrase matches."""
    age = max(now - text.second, 0)
    recency = _HALF_LIFE / (_HALF_LIFE + age)
    return (
        _WEIGHTS[text.part] * (0.3 + text.density)
        + _RECENCY_BONUS * recency
        + _PHRASE_BONUS * (text.id in phrases)
    )


ANALYZER: Final = Analyzer("3", TOKENIZER, prepare_for_index)
"""How texts are turned into terms; the version must change whenever the terms would."""

WINDOW: Final = 2_000
"""Maximum number of matches that are ranked."""

PER_SESSION: Final = 3
SECONDS: Final = 1.5
"""Time limit of a search; what was found by then is returned."""

_MAX_MATCHES: Final = 50


class SearchResult(Struct, frozen=True, kw_only=True):
    """The hits, grouped by session, the best session first."""

    hits: tuple[Hit, ...]
    total: int
    is_total_exact: bool
    """False if there may be more matches than could be ranked or found in time."""
    index_complete: bool


class SearchOptions(Struct, frozen=True, kw_only=True):
    """How many hits to return, and in which order."""

    limit: int = 20
    """Maximum number of sessions."""
    per_session: int = PER_SESSION
    recent: bool = False
    """Sort by time, newest first, instead of by score."""
    width: int = 160
    """Maximum length of a snippet, in characters."""
    timezone: tzinfo = UTC


def search(
    directory: Path,
    text: str,
    transcripts: Sequence[Transcript],
    options: SearchOptions = SearchOptions(),
    *,
    index_complete: bool,
) -> SearchResult:
    """Search these transcripts in the index of a data directory, without updating it.

    `index_complete` is the result of `index_texts`, and is passed on if there is an index. If it
    is False, records of the last minute are searched in the files themselves. Raises `QueryError`
    for an invalid query, and `DamagedIndex` if the index is damaged; it has then been deleted, and
    `index_texts` rebuilds it.
    """
    query = parse_query(text, timezone=options.timezone)
    check_regexes(query)
    fresh = NO_FRESH_TEXTS if index_complete else read_fresh(directory, ANALYZER, transcripts)
    with open_text_queries(directory, ANALYZER.version) as found:
        queries = found or open_no_texts(ANALYZER.tokenizer)
        is_complete = index_complete and (found is not None or not transcripts)
        if fresh.batches:
            queries.add(fresh.batches, fresh.files, ANALYZER.tokenizer)
        limit = time.monotonic() + SECONDS
        title_lookup = TitleLookup(directory, transcripts, is_late=lambda: time.monotonic() > limit)
        run = _Search(queries, transcripts, options, title_lookup).run
        return run(query, index_complete=is_complete)


class _Matches(Struct, frozen=True):
    """Texts that match a query, and whether these are all of them."""

    texts: tuple[FoundText, ...]
    is_exact: bool


class _Search:
    """One search on one snapshot of the index."""

    def __init__(
        self,
        queries: TextQueries,
        transcripts: Sequence[Transcript],
        options: SearchOptions,
        title_lookup: TitleLookup,
    ) -> None:
        self._queries = queries
        self._title_lookup = title_lookup
        self._options = options
        self._reader = TextReader(queries.files)
        self._scope = _restrict_to(queries, with_lists(transcripts))
        self._now = int(time.time())
        self._deadline = time.monotonic() + SECONDS

    def run(self, query: Query, *, index_complete: bool) -> SearchResult:
        """Return the result of a query, widened to longer words if it has few matches."""
        matches = self._find(query)
        ordered, last_query = self._order(matches.texts, query), query
        if len(ordered) < self._options.limit and time.monotonic() < self._deadline:
            wider = widen(query, self._queries)
            if wider is not None:
                matches, last_query = self._find(wider), wider
                known = {text.key for text in ordered}
                more = [text for text in matches.texts if text.key not in known]
                ordered += self._order(more, wider)
        if self._options.recent:
            ordered.sort(key=lambda text: -text.id)
        return SearchResult(
            hits=tuple(self._iter_hits(ordered, last_query)),
            total=len(ordered),
            is_total_exact=matches.is_exact,
            index_complete=index_complete,
        )

    def _find(self, query: Query) -> _Matches:
        builder = ConditionBuilder(self._queries, self._reader, query)
        plan = make_search_plan(
            query,
            builder.make_condition,
            lambda regex: find_candidates(regex, self._queries),
            make_prefix_expander(self._queries),
        )
        found = self._queries.select(
            plan.match,
            all_of([plan.condition, self._scope]),
            limit=WINDOW,
            deadline=self._deadline,
            checks=builder.checks,
        )
        is_exact = len(found.texts) < WINDOW and not found.is_cut
        texts = _drop_copies(found.texts, self._queries.files)
        return _Matches(tuple(drop_joined(texts, self._queries, self._reader)), is_exact)

    def _order(self, texts: Sequence[FoundText], query: Query) -> list[FoundText]:
        phrases = self._find_phrases(texts, query)
        return sorted(texts, key=lambda text: (-score(text, self._now, phrases), -text.id))

    def _find_phrases(self, texts: Sequence[FoundText], query: Query) -> Collection[int]:
        """Return the ids of texts that contain the words of the query as an exact phrase."""
        root = query.root
        words = (
            [part.text for part in root.parts if isinstance(part, Word)]
            if isinstance(root, And)
            else []
        )
        match = to_match(Phrase(" ".join(words))) if len(words) > 1 else None
        if match is None or not texts:
            return ()
        first = min(text.id for text in texts)
        return self._queries.select_ids(match, first, WINDOW, deadline=self._deadline)

    def _iter_hits(self, ordered: Sequence[FoundText], query: Query) -> Iterator[Hit]:
        for texts in list(self._group(ordered).values())[: self._options.limit]:
            shown = texts[: self._options.per_session]
            for text in shown:
                hit = self._make_hit(text, query, len(texts) - len(shown))
                if hit is not None:
                    yield hit

    def _group(self, ordered: Sequence[FoundText]) -> dict[str, list[FoundText]]:
        """Group texts by session; a title in another file belongs to the session it names."""
        sessions: dict[str, list[FoundText]] = {}
        for text in ordered:
            file = self._queries.files[text.file_id]
            titled = self._find_titled(text) if text.part == TextKind.TITLE else None
            owner = titled.session_id if titled else file.session_id
            sessions.setdefault(owner or file.path, []).append(text)
        return sessions

    def _find_titled(self, text: FoundText) -> TitledSession | None:
        """Return the session with that title if it may be another one than that of the file."""
        record = self._reader.read_record(text.file_id, text.position, text.length)
        if not isinstance(record, Summary):
            return None
        path = self._queries.files[text.file_id].path
        return self._title_lookup.find(path, list_searchable_texts(record)[text.number].text)

    def _make_hit(self, text: FoundText, query: Query, more: int) -> Hit | None:
        record = self._reader.read_record(text.file_id, text.position, text.length)
        texts = [] if record is None else list_searchable_texts(record)
        if record is None or text.number >= len(texts):
            return None
        file, words = self._queries.files[text.file_id], texts[text.number].text
        session_id, path = file.session_id or _get_string(record, "session_id") or "", file.path
        offset: int | None = text.position
        if isinstance(record, Summary) and (titled := self._title_lookup.find(path, words)):
            session_id, path = titled
            offset = text.position if path == file.path else None
        is_queued = text.part == TextKind.QUEUED
        uuid = name_queued(record.span) if is_queued else _get_string(record, "uuid")
        return Hit(
            session_id=session_id,
            uuid=uuid,
            link=f"{session_id}#{uuid}" if uuid else session_id,
            project=self._queries.names.get(text.cwd or 0, file.project),
            path=os.fsencode(path).decode("utf-8", "replace"),
            offset=offset,
            part=TextKind(text.part).name.lower(),
            tool=self._queries.names.get(text.tool or 0),
            time=_get_string(record, "timestamp") or _format_time(text.second),
            is_error=bool(text.is_error),
            is_subagent=bool(text.is_subagent),
            snippet=make_snippet(words, _find_highlights(words, query), self._options.width),
            more_in_session=more,
        )


def _restrict_to(queries: TextQueries, transcripts: Sequence[Transcript]) -> Condition:
    """Return a condition for texts in `transcripts`, always true if the index has no others."""
    paths = {transcript.file for transcript in transcripts}
    wanted = [number for number, file in queries.files.items() if file.path in paths]
    return ALWAYS if len(wanted) == len(queries.files) else in_files(wanted)


def _drop_copies(texts: Iterable[FoundText], files: Mapping[int, IndexedFile]) -> list[FoundText]:
    """Keep one text for each key: the original, independently of the indexing order."""
    originals: dict[int, FoundText] = {}
    for text in texts:
        known = originals.get(text.key)
        if known is None or _originality(text, files) < _originality(known, files):
            originals[text.key] = text
    return list(originals.values())


def _originality(
    text: FoundText, files: Mapping[int, IndexedFile]
) -> tuple[bool, bool, int, str, int, int]:
    """Sort key that puts the original before its copies, like the usage ledger.

    The original is not marked as a copy, not a subagent's, and in the file that began first. A copy
    with its own timestamp is in a file that began no earlier; text ids are not exact enough.
    """
    file = files[text.file_id]
    began = LAST_SECOND * 1000 if file.began is None else file.began
    is_copy, is_subagent = bool(text.is_copy), bool(text.is_subagent)
    return is_copy, is_subagent, began, file.path, text.position, text.number


def _find_highlights(text: str, query: Query) -> list[TextSpan]:
    """Return the spans to highlight: of words, or of regular expression matches if none."""
    start, end = choose_window(text, query)
    spans = find_spans(text[start:end], query)
    if spans:
        return [(start + first, start + last) for first, last in spans]
    matches = chain.from_iterable(
        compile_regex(regex, str(query)).finditer(text) for regex in iter_regexes(query.root)
    )
    found = sorted(match.span() for match in islice(matches, _MAX_MATCHES))
    return [span for index, span in enumerate(found) if _is_separate(found, index)]


def _is_separate(spans: Sequence[TextSpan], index: int) -> bool:
    """Whether a span is not empty and does not overlap the previous one."""
    start, end = spans[index]
    return start < end and (index == 0 or start >= spans[index - 1][1])


def _get_string(record: Record, name: str) -> str | None:
    value = getattr(record, name, None)
    return value if isinstance(value, str) else None


def _format_time(second: int) -> str | None:
    try:
        return datetime.fromtimestamp(second, UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return None
