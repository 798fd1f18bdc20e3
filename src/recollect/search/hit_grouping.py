"""Group matching texts by session and sort the sessions by a rough score; count facets such as
projects, roles and tools; and handle texts that are hidden or belong to another session.

There may be a hundred thousand texts, so scores are computed for each distinct kind of text, not
for each text: a kind has the part, the length of the record, and the share of the query.

Each facet value has the term to add to the query, so that pages need no knowledge of fields.

A client may join several queued prompts into one record. The index recognises a queue record that
became a separate prompt, but not these, since the prompt contains other text as well.

Clients 1.0.x wrote the titles of other sessions into the files that they opened, and into files
that contain nothing else. Cached listings are used where they are current; of other files in the
project, head and tail are read. Nothing is written.
"""

import operator
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from recollect.documents.kinds import TextKind
from recollect.documents.search_results import Facet, FacetValue, Hit
from recollect.locations import Transcript, TranscriptKind
from recollect.search.matching import Found
from recollect.search.query_plan import ROLES, ProjectName, TextReader, is_model, is_tool
from recollect.search.query_tree import FieldTerm, TextField
from recollect.search.ranking import score_roughly, score_session
from recollect.search.word_lookup import FILES, SHARE_SHIFT, WHOLE_SHARE, SessionKey, TextShares
from recollect.session.queue import find_joined, split_prompts
from recollect.store.text_matches import FoundText, TextCounts, unpack_place
from recollect.store.text_queries import TextQueries
from recollect.sync import find_counted, list_unchanged, load_figures


class _RoughScores(dict[int, float]):
    """The rough score of each kind of text, by its number without the file."""

    def __init__(self, shares: TextShares) -> None:
        self._shares = shares

    def __missing__(self, kind: int) -> float:
        place, share = unpack_place(kind & _OUTSIDE_FILE), self._shares.share_of_kind(kind)
        score = score_roughly(place.part, share / WHOLE_SHARE, place.magnitude)
        return self.setdefault(kind, score)


_OUTSIDE_FILE: Final = (1 << 12) - 1
_KIND: Final = -1 << SHARE_SHIFT | _OUTSIDE_FILE
"""The bits of a kind without the file."""


class SessionGroups:
    """The matching sessions and their texts."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._sizes = found.sizes
        self._scores = _RoughScores(found.shares)
        # Handles ascend, so that the last one of a kind is its newest.
        newest = dict(zip(found.kinds, found.matches.handles, strict=True))
        files = defaultdict[int, list[int]](list)
        for kind in self._sizes:
            files[kind >> 12 & FILES].append(kind)
        self._members: dict[SessionKey, list[int]] = {}
        for file, kinds in files.items():
            self._members.setdefault(found.names[file], []).extend(kinds)
        self._newest = {
            name: max(map(newest.__getitem__, kinds)) for name, kinds in self._members.items()
        }
        self.counts = {
            name: sum(map(self._sizes.__getitem__, kinds)) for name, kinds in self._members.items()
        }

    def order_by_time(self) -> list[SessionKey]:
        """Return the sessions sorted by their newest text."""
        return sorted(self._newest, key=lambda name: -self._newest[name])

    def order_roughly(self) -> list[SessionKey]:
        """Return the sessions sorted by the rough score of their best text."""
        rough = self._scores
        scores = {
            name: score_session([rough[kind & _KIND] for kind in kinds], self.cover(name))
            for name, kinds in self._members.items()
        }
        return sorted(scores, key=lambda name: (-scores[name], -self._newest[name]))

    def count_parts(self) -> Counter[int]:
        """Return the number of texts by kind of part."""
        parts: Counter[int] = Counter()
        for kind, count in self._sizes.items():
            parts[kind >> 8 & 15] += count
        return parts

    def cover(self, name: SessionKey) -> float:
        """Return the share of the query that the texts of a session contain together."""
        return self._found.session_coverages.get(name, 1.0)

    def list_texts(
        self, names: Collection[SessionKey], limit: int, *, recent: bool
    ) -> dict[SessionKey, list[int]]:
        """Return the handles of the `limit` best, or newest, texts of each session."""
        wanted: dict[int, list[tuple[float, int]]] = {}
        texts: dict[SessionKey, list[tuple[float, int]]] = {name: [] for name in names}
        for name in names:
            kinds = self._members[name] if recent else self._choose_kinds(name, limit)
            wanted |= dict.fromkeys(kinds, texts[name])
        for kind, handle in zip(self._found.kinds, self._found.matches.handles, strict=True):
            if kind in wanted:
                wanted[kind].append((self._score(kind), handle))
        order = operator.itemgetter(1) if recent else None
        return {
            name: [handle for _, handle in sorted(scored, key=order, reverse=True)[:limit]]
            for name, scored in texts.items()
        }

    def _choose_kinds(self, name: SessionKey, limit: int) -> list[int]:
        """Return the kinds of the `limit` best texts of a session."""
        chosen: list[int] = []
        for kind in sorted(self._members[name], key=self._score, reverse=True):
            if limit <= 0:
                break
            chosen.append(kind)
            limit -= self._sizes[kind]
        return chosen

    def _score(self, kind: int) -> float:
        return self._scores[kind & _KIND]


MAX_VALUES: Final = 8
MAX_MONTHS: Final = 24
_DAY: Final = 86_400
_LAST_SECOND: Final = 253_402_300_799
"""The end of the year 9999, the last with valid dates."""


def make_facets(
    counts: TextCounts, parts: Counter[int], months: Mapping[str, int], names: Mapping[int, str]
) -> tuple[Facet, ...]:
    """Return the facets that have values, each with as many texts as its query finds; `names` are
    those of the index, by number.
    """
    facets = (
        Facet("project", _list_projects(counts.projects, names)),
        Facet("role", tuple(_list_roles(parts))),
        Facet("tool", _list_named("tool", counts.tool, names, is_tool)),
        Facet("error", tuple(_list_errors(counts.errors))),
        Facet("model", _list_named("model", counts.model, names, is_model)),
        Facet("date", tuple(_list_months(months))),
    )
    return tuple(facet for facet in facets if facet.values)


def _list_projects(
    counts: Counter[tuple[int, str]], names: Mapping[int, str]
) -> tuple[FacetValue, ...]:
    """Return working directories; counts include texts of subdirectories and of their files."""
    by_cwd: Counter[int] = Counter()
    for (cwd, _), count in counts.items():
        by_cwd[cwd] += count
    folded = {cwd: names.get(cwd, "").casefold() for cwd in by_cwd}
    directories = {directory for _, directory in counts}
    found: dict[str, int] = {}
    for name in _choose(by_cwd, names):
        project = ProjectName(name.casefold())
        cwds = {cwd for cwd, each in folded.items() if project.is_in(each)}
        own = {directory for directory in directories if project.is_of_file(directory)}
        found[name] = sum(
            count for (cwd, directory), count in counts.items() if cwd in cwds or directory in own
        )
    return _make_values("project", found)


def _list_named(
    field: TextField,
    counts: Counter[int],
    names: Mapping[int, str],
    matches: Callable[[str, str], bool],
) -> tuple[FacetValue, ...]:
    folded = [(names.get(number, "").casefold(), count) for number, count in counts.items()]
    found = {
        name: sum(count for each, count in folded if matches(each, name.casefold()))
        for name in _choose(counts, names)
    }
    return _make_values(field, found)


def _choose(counts: Counter[int], names: Mapping[int, str]) -> list[str]:
    """Return the most frequent names."""
    named = (names.get(number) for number, _ in counts.most_common())
    # Replies made up by the client have a model in angle brackets, which nobody searches for.
    return [name for name in named if name and not name.startswith("<")][:MAX_VALUES]


def _make_values(field: TextField, counts: Mapping[str, int]) -> tuple[FacetValue, ...]:
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return tuple(_make(field, name, count) for name, count in ordered)


def _make(field: TextField, value: str, count: int) -> FacetValue:
    return FacetValue(value, count, str(FieldTerm(field, value)))


def _list_roles(counts: Counter[int]) -> Iterable[FacetValue]:
    found = {role: sum(counts[part] for part in parts) for role, parts in ROLES.items()}
    ordered = sorted(found.items(), key=lambda item: -item[1])
    return (_make("role", role, count) for role, count in ordered if count)


def _list_errors(count: int) -> Iterable[FacetValue]:
    return [_make("is", "error", count)] if count else []


def _list_months(months: Mapping[str, int]) -> Iterable[FacetValue]:
    return (
        FacetValue(month, count, f"since:{month} until:{month}") for month, count in months.items()
    )


def count_months(handles: Iterable[int], queries: TextQueries, timezone: tzinfo) -> dict[str, int]:
    """Return the number of texts in each of the newest months; undated texts are not counted."""
    ordered, months = sorted(handles), dict[str, int]()
    end = len(ordered)
    while end and len(months) < MAX_MONTHS:
        second = min(queries.find_second(ordered[end - 1]), _LAST_SECOND)
        if second < _DAY:
            break
        month = datetime.fromtimestamp(second, timezone).replace(day=1, hour=0, minute=0, second=0)
        start = bisect_left(ordered, queries.find_handle(int(month.timestamp())), 0, end)
        months[f"{month:%Y-%m}"] = end - start
        end = start
    return months


def drop_joined(
    texts: Sequence[FoundText], queries: TextQueries, reader: TextReader
) -> Sequence[FoundText]:
    """Return `texts` without queued prompts that are part of a later prompt."""
    queued = [text for text in texts if text.part == TextKind.QUEUED]
    if not queued:
        return texts
    files = {text.file_id for text in queued}
    joined = set[int]().union(*(_find_joined(each, queries, reader) for each in files))
    return [text for text in texts if text.id not in joined]


def _find_joined(file_id: int, queries: TextQueries, reader: TextReader) -> Iterable[int]:
    """Return the ids of the queued prompts of a file that were joined."""
    waiting: dict[str, list[int]] = {}
    joined: list[int] = []
    for text in queries.list_in_file(file_id, (TextKind.QUEUED, TextKind.PROMPT)):
        content = (reader.read(file_id, text.position, text.length, text.number) or "").strip()
        if text.part == TextKind.QUEUED:
            waiting.setdefault(content, []).append(text.id)
        elif waiting:
            for each in find_joined(content, waiting, split_prompts(waiting)):
                joined += waiting.pop(each)
    return joined


_TITLE: Final = TextKind.TITLE.name.lower()


def number_turns(
    hits: Sequence[Hit], directory: Path, transcripts: Iterable[Transcript], max_bytes: int
) -> tuple[Hit, ...]:
    """Return the hits, those in the file of a session with the number of their turn.

    Files whose turns have not been counted are read if they have at most `max_bytes` together.
    """
    places = {place for hit in hits if (place := _find_place(hit)) is not None}
    known = find_counted(directory, list({path for path, _ in places})) if places else {}
    turns = {
        (path, offset): stored.figures.find_turn(offset)
        for path, offset in places
        # Records appended since then have not been counted.
        if (stored := known.get(path)) is not None and offset < stored.stamp[1]
    }
    missing = {path for path, offset in places if turns.get((path, offset)) is None}
    uncounted = [each for each in transcripts if each.file in missing]
    if uncounted and sum(each.size for each in uncounted) <= max_bytes:
        figures = load_figures(directory, uncounted)
        turns |= {
            (path, offset): figures[path].find_turn(offset)
            for path, offset in places
            if path in figures
        }
    return tuple(
        replace(hit, turn=turns.get(place)) if (place := _find_place(hit)) is not None else hit
        for hit in hits
    )


def _find_place(hit: Hit) -> tuple[str, int] | None:
    """Return the position of a hit; None outside the turns: in a subagent, or a session title."""
    if hit.offset is None or hit.is_subagent or hit.part == _TITLE:
        return None
    return hit.path, hit.offset


class TitledSession(NamedTuple):
    """The id and the file of a session."""

    session_id: str
    path: str


class TitleLookup:
    """Looks up sessions by title, each project once; stops reading when `is_late` returns True."""

    def __init__(
        self, directory: Path, transcripts: Sequence[Transcript], is_late: Callable[[], bool]
    ) -> None:
        self._directory = directory
        self._transcripts = transcripts
        self._is_late = is_late
        self._projects: dict[Path, dict[str, TitledSession]] = {}

    def find(self, path: str, title: str) -> TitledSession | None:
        """Return the newest session with this title in the directory of `path`, if any."""
        project = Path(path).parent
        if project not in self._projects:
            self._projects[project] = self._list_titles(project)
        return self._projects[project].get(title)

    def _list_titles(self, project: Path) -> dict[str, TitledSession]:
        members = [
            each
            for each in self._transcripts
            if each.kind is TranscriptKind.SESSION and each.project_dir == project
        ]
        listings, unlisted = list_unchanged(self._directory, members)
        if unlisted:
            # Imported here because it loads the session model, which a search rarely needs.
            from recollect.library.listings import SessionContext, read_listing

            context = SessionContext()
            for each in unlisted:
                if self._is_late():
                    break
                if listing := read_listing(each, context):
                    listings.insert(0, listing)
        return {
            each.title: TitledSession(each.id, each.path)
            for each in reversed(listings)
            if each.title
        }
