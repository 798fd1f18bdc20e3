"""Run a query: find all matching texts, rank their sessions and make snippets for a page of them.

All matches are found, grouped by session and ranked roughly by their kind; the texts of the best
sessions are then compared by their words. `matching` decides which texts match, `ranking` how well.
"""

import os
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, tzinfo
from functools import cached_property
from itertools import chain, compress, count, islice
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from recollect.documents.kinds import TextKind
from recollect.documents.search_results import Facet, Hit
from recollect.locations import Transcript
from recollect.locations.place_names import LINE_PREFIX, LISTS, name_place
from recollect.quantities import format_utc
from recollect.reader.line_blocks import preload_masks
from recollect.records.envelope import Record
from recollect.records.state import Summary
from recollect.search import ANALYZER_VERSION, hit_grouping, query_tree
from recollect.search.matching import Found, Matcher
from recollect.search.query_parser import correct_query, parse_query
from recollect.search.query_plan import TextReader, to_match, to_near_match
from recollect.search.ranking import estimate_density, score_session, score_text
from recollect.search.regexes import check_regexes, compile_regex, iter_regexes
from recollect.search.snippets import TextSpan, choose_window, find_spans, make_snippet
from recollect.search.terms import TOKENIZER, prepare_for_index
from recollect.search.word_lookup import SessionKey
from recollect.session.queue import name_queued
from recollect.session.searchable_texts import ListFile, list_searchable_texts
from recollect.store import text_matches, text_queries
from recollect.store.secret_rows import hash_secret
from recollect.store.text_conditions import ALWAYS, Condition, in_files
from recollect.sync import Analyzer, read_fresh, select_indexed

ANALYZER: Final = Analyzer(ANALYZER_VERSION, TOKENIZER, prepare_for_index)
"""Turns texts into terms."""

_RANKED: Final = 60
"""Number of sessions whose texts are compared by their words; the others follow in their rough
order."""

_MIN_COMPARED: Final = 5
"""Minimum number of texts to compare for each of them."""

_MAX_COUNTED: Final = 5_000
"""Maximum number of matches for which words are counted, because that reads the list of matches
again."""

_MAX_COUNTED_TERMS: Final = 256
_MAX_TITLES: Final = 200
"""Maximum number of titles to look up: reading more would take too long."""

PER_SESSION: Final = 3
SECONDS: Final = 1.5
"""Time limit of a search, which then returns the hits so far."""

_MAX_MATCHES: Final = 50
_MIN_SECRET: Final = 6


class SearchResult(Struct, frozen=True, kw_only=True):
    """The hits, grouped by session, the best session first."""

    query: query_tree.Query
    """The query as it was understood."""
    hits: tuple[Hit, ...]
    total: int
    """Number of matching texts in all sessions."""
    total_sessions: int
    """Number of sessions with a match; `hits` has a page of them."""
    offset: int = 0
    """Number of sessions before that page."""
    is_total_exact: bool
    """False if there may be more matches than could be found in time."""
    index_complete: bool
    left_out: tuple[str, ...] = ()
    """Words of the query that occur nowhere."""
    did_you_mean: str | None = None
    """The query with misspelt words and fields corrected, without words that are left out."""
    corrected: Mapping[str, str] = {}
    """Words that occur nowhere, with the words searched for instead."""
    split: tuple[str, ...] = ()
    """Names that occur nowhere as a whole: their parts are searched for instead."""
    capped: tuple[str, ...] = ()
    """Words that are part of more words than were looked up."""
    facets: tuple[Facet, ...] = ()


class SearchOptions(Struct, frozen=True, kw_only=True):
    """How many hits to return, and in which order."""

    limit: int = 20
    """Maximum number of sessions."""
    offset: int = 0
    """How many of the best sessions to skip."""
    per_session: int = PER_SESSION
    recent: bool = False
    """Sort by time, newest first, instead of by score."""
    width: int = 160
    """Maximum length of a snippet, in characters."""
    timezone: tzinfo = UTC
    facets: bool = False
    """Whether to count all matches by project, role, tool, error, model and month."""
    quick: bool = False
    """Whether to skip slow steps, for search as you type: see `matching` and `word_forms`."""
    max_counted_bytes: int = 0
    """Maximum size of files without turn numbers to read for the turns of hits."""


def check_query(text: str, options: SearchOptions) -> query_tree.Query:
    """Parse and check a query; raises `QueryError` if it is invalid."""
    query = parse_query(text, timezone=options.timezone)
    check_regexes(query)
    return query


def search(
    directory: Path,
    text: str,
    transcripts: Sequence[Transcript],
    options: SearchOptions = SearchOptions(),
    *,
    index_complete: bool,
    cache: text_queries.TextIndexCache | None = None,
) -> SearchResult:
    """Search these transcripts in the index of a data directory, without updating it.

    A server passes its `cache`. `index_complete` is the result of `index_texts`, and is passed on
    if there is an index. If it is False, records of the last minute are searched in the files
    themselves. Raises `QueryError` for an invalid query, and `DamagedIndex` if the index is
    damaged; it has then been deleted, and `index_texts` rebuilds it.
    """
    query = check_query(text, options)
    fresh = None if index_complete else read_fresh(directory, ANALYZER, transcripts)
    version, tokenizer = ANALYZER.version, ANALYZER.tokenizer
    with text_queries.open_text_queries(directory, version, tokenizer, cache, fresh) as queries:
        is_complete = index_complete and (queries.has_index or not transcripts)
        limit = time.monotonic() + SECONDS
        title_lookup = hit_grouping.TitleLookup(
            directory, transcripts, is_late=lambda: time.monotonic() > limit
        )
        # While texts are being indexed, sessions are still being listed too.
        titled = queries.titled if is_complete else {}
        run = _Search(queries, transcripts, options, title_lookup, titled).run
        secret = _find_secret(directory, text, queries)
        result = run(query, index_complete=is_complete, secret=secret)
    hits = hit_grouping.number_turns(result.hits, directory, transcripts, options.max_counted_bytes)
    return replace(result, hits=hits)


class _Secret(NamedTuple):
    """The keyed hash of a secret that is searched for, and a pattern for tags of its kinds."""

    digest: bytes
    tag: re.Pattern[str]


def _find_secret(directory: Path, text: str, queries: text_queries.TextQueries) -> _Secret | None:
    """Return the secret that a query is as a whole, else None."""
    value = text.strip().strip("\"'")
    if len(value) < _MIN_SECRET or " " in value:
        return None
    digest = hash_secret(directory, value.encode("utf-8", "replace"))
    kinds = queries.list_secret_kinds(digest) if digest is not None else ()
    if digest is None or not kinds:
        return None
    return _Secret(digest, re.compile(rf"\[redacted:(?:{'|'.join(map(re.escape, kinds))})#\d+\]"))


class _Search:
    """One search on one snapshot of the index."""

    def __init__(
        self,
        queries: text_queries.TextQueries,
        transcripts: Sequence[Transcript],
        options: SearchOptions,
        title_lookup: hit_grouping.TitleLookup,
        titled: dict[int, int | None],
    ) -> None:
        self._queries = queries
        self._title_lookup = title_lookup
        self._titled = titled
        self._options = options
        self._reader = TextReader(queries.files)
        self._now = int(time.time())
        self._secret: _Secret | None = None
        self._deadline = time.monotonic() + SECONDS
        scope = _restrict_to(queries, transcripts)
        self._matcher = Matcher(
            queries,
            self._reader,
            scope,
            self._deadline,
            with_traits=options.facets,
            is_quick=options.quick,
        )

    def run(
        self, query: query_tree.Query, *, index_complete: bool, secret: _Secret | None = None
    ) -> SearchResult:
        """Return one page of the sessions that match, and the totals.

        With a `secret`, only those that contain it.
        """
        self._secret = secret
        matcher = self._matcher
        matching = matcher.find_secret(secret.digest, query) if secret else matcher.find(query)
        found = self._give_titles(matching)
        groups = hit_grouping.SessionGroups(found)
        ranked: dict[SessionKey, list[text_matches.FoundText]] = {}
        if self._options.recent:
            order = groups.order_by_time()
        else:
            order = groups.order_roughly()
            ranked = self._rank(order[:_RANKED], groups, found, query)
            order[:_RANKED] = ranked
        start = self._options.offset
        page = order[start : start + self._options.limit]
        if rest := [name for name in page if name not in ranked]:
            ranked |= self._rank(rest, groups, found, query)
        return SearchResult(
            query=query,
            hits=tuple(self._iter_hits({name: ranked[name] for name in page}, groups, found)),
            total=len(found.matches.handles),
            total_sessions=len(order),
            offset=start,
            is_total_exact=found.is_exact,
            index_complete=index_complete,
            left_out=found.unknown,
            did_you_mean=correct_query(query, found.corrected, found.unknown),
            corrected=found.corrected,
            split=found.split,
            capped=found.capped,
            facets=self._count(found, groups) if self._options.facets else (),
        )

    def _count(self, found: Found, groups: hit_grouping.SessionGroups) -> tuple[Facet, ...]:
        matches, queries = found.matches, self._queries
        counts = queries.count_traits(matches)
        months = hit_grouping.count_months(matches.handles, queries, self._options.timezone)
        return hit_grouping.make_facets(counts, groups.count_parts(), months, queries.names)

    def _rank(
        self,
        names: Sequence[SessionKey],
        groups: hit_grouping.SessionGroups,
        found: Found,
        query: query_tree.Query,
    ) -> dict[SessionKey, list[text_matches.FoundText]]:
        """Return the best texts of sessions, best session first, or the newest."""
        recent = self._options.recent
        limit = max(self._options.per_session, _MIN_COMPARED)
        handles = groups.list_texts(names, limit, recent=recent)
        match = _find_countable(found)
        texts = self._queries.describe(chain.from_iterable(handles.values()), match)
        kept = {
            text.id
            for text in hit_grouping.drop_joined(list(texts.values()), self._queries, self._reader)
        }
        near = self._find_near(query)
        scores = {
            handle: score_text(
                text.part,
                found.shares.cover(handle),
                estimate_density(text.length) if text.density is None else text.density,
                self._now - text.second,
                is_near=handle in near,
            )
            for handle, text in texts.items()
            if text.id in kept
        }
        ordered = {
            name: sorted(
                (each for each in handles[name] if each in scores),
                key=lambda handle: (0.0 if recent else -scores[handle], -handle),
            )
            for name in names
        }
        totals = {
            name: score_session([scores[each] for each in members], groups.cover(name))
            for name, members in ordered.items()
            if members
        }
        best = names if recent else sorted(totals, key=lambda name: -totals[name])
        return {name: [texts[each] for each in ordered[name]] for name in best if name in totals}

    def _find_near(self, query: query_tree.Query) -> Collection[int]:
        """Return the handles of texts with all words of the query close together."""
        parts = query.root.parts if isinstance(query.root, query_tree.And) else ()
        match = to_near_match([part for part in parts if isinstance(part, query_tree.Word)])
        if match is None:
            return ()
        return set(self._queries.find_handles(match))

    def _iter_hits(
        self,
        ranked: Mapping[SessionKey, Sequence[text_matches.FoundText]],
        groups: hit_grouping.SessionGroups,
        found: Found,
    ) -> Iterator[Hit]:
        page = {name: texts[: self._options.per_session] for name, texts in ranked.items()}
        files = {text.file_id for shown in page.values() for text in shown}
        preload_masks([self._queries.files[each].path for each in files])
        for name, shown in page.items():
            for text in shown:
                hit = self._make_hit(text, found.marked)
                if hit is not None:
                    more = groups.counts[name] - len(shown)
                    missing = found.missing.get(name, ())
                    yield replace(hit, more_in_session=more, missing=missing)

    def _give_titles(self, found: Found) -> Found:
        """Return the texts, with titles that are in another file moved to their session."""
        matches = found.matches
        titles = {place for place in matches.sizes if place >> 8 & 15 == TextKind.TITLE}
        if not titles:
            return found
        at_titles = list(compress(count(), map(titles.__contains__, matches.places)))[-_MAX_TITLES:]
        handles = [matches.handles[at] for at in at_titles]
        self._find_titled([each for each in handles if each not in self._titled])
        moved = {
            at: file_id
            for at, handle in zip(at_titles, handles, strict=True)
            if (file_id := self._titled[handle]) not in (None, matches.places[at] >> 12)
        }
        return self._matcher.move_texts(found, moved) if moved else found

    def _find_titled(self, handles: Sequence[int]) -> None:
        """Record the files of the sessions that titles belong to; None for the same file."""
        for handle, text in self._queries.describe(handles, None).items():
            record = self._reader.read_record(text.file_id, text.position, text.length)
            self._titled[handle] = None
            if isinstance(record, Summary):
                title = list_searchable_texts(record)[text.number].text
                titled = self._title_lookup.find(self._queries.files[text.file_id].path, title)
                self._titled[handle] = self._file_ids.get(titled.path) if titled else None

    @cached_property
    def _file_ids(self) -> dict[str, int]:
        return {file.path: number for number, file in self._queries.files.items()}

    def _make_hit(self, text: text_matches.FoundText, query: query_tree.Query) -> Hit | None:
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
        place = uuid or _name_line(record, None if text.is_subagent else offset)
        return Hit(
            session_id=session_id,
            uuid=uuid,
            link=name_place(session_id, place),
            project=self._queries.names.get(text.cwd or 0, file.project),
            path=os.fsencode(path).decode("utf-8", "replace"),
            offset=offset,
            part=TextKind(text.part).name.lower(),
            tool=self._queries.names.get(text.tool or 0),
            time=_get_string(record, "timestamp") or _format_time(text.second),
            is_error=bool(text.is_error),
            is_subagent=bool(text.is_subagent),
            snippet=make_snippet(
                words, _find_highlights(words, query, self._secret), self._options.width
            ),
            more_in_session=0,
        )


def _name_line(record: Record, offset: int | None) -> str | None:
    """Return the name of a record without a uuid; None if it is not in its session's file."""
    if isinstance(record, ListFile):
        return LISTS
    return None if offset is None else f"{LINE_PREFIX}{offset}"


def _restrict_to(queries: text_queries.TextQueries, transcripts: Sequence[Transcript]) -> Condition:
    """Return a condition for texts in `transcripts`, always true if the index has no others."""
    wanted = select_indexed(queries.files, transcripts)
    return ALWAYS if len(wanted) == len(queries.files) else in_files(wanted)


def _find_countable(found: Found) -> str | None:
    """Return the expression for the words to count in each text; None if that is too slow.

    For a prefix, FTS5 would have to collect all words with it again.
    """
    terms = tuple(query_tree.iter_text_terms(found.query.root))
    is_cheap = (
        len(found.matches.handles) <= _MAX_COUNTED
        and len(terms) <= _MAX_COUNTED_TERMS
        and not any(
            isinstance(term, query_tree.Prefix | query_tree.Inside | query_tree.NamePart)
            for term in terms
        )
    )
    return to_match(query_tree.Or(terms)) if is_cheap and terms else None


def _find_highlights(text: str, query: query_tree.Query, secret: _Secret | None) -> list[TextSpan]:
    """Return the spans to highlight: of words, or of regular expression matches if none.

    Of a secret, all tags of its kind: a text does not say which of them replaced it.
    """
    tags = secret.tag.finditer(text) if secret else ()
    if masked := [match.span() for match in islice(tags, _MAX_MATCHES)]:
        return masked
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
        return format_utc(second)
    except OverflowError:
        return None
