"""The ledger → the rows that a report needs, split no further than it asks for."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from recollect.store.catalogue import FileRow
from recollect.store.usage_queries import WEEK, Dimension, Ledger, SumValues
from recollect.usage.groups import DIMENSIONS, Group
from recollect.usage.homes import Stay, find_homes
from recollect.usage.reports import Question
from recollect.usage.rows import SourceFile, UsageRow
from recollect.usage.totals import make_totals
from recollect.usage.zones import Zone

_NAMED: Final[tuple[Dimension, ...]] = (
    "model",
    "branch",
    "version",
    "entrypoint",
    "cwd",
    "tools",
)
_BY_HOUR: Final = (Group.SESSION, Group.BLOCK)
"""The groups that tell hours apart."""
_PLAIN: Final[tuple[Dimension, ...]] = ("moment", "is_sidechain")


class Books:
    """The ledger of some roots; the index may know of others, asked about before."""

    def __init__(self, ledger: Ledger, roots: Iterable[Path], prices: Path | None = None) -> None:
        self.ledger = ledger
        self.roots = tuple(roots)
        self.prices = prices
        """The user's own price file, if the costs are by one."""
        self._places = tuple(
            f"{place}{os.sep}"
            for root in self.roots
            for place in {os.fspath(root.absolute()), os.path.realpath(root)}
        )

    @cached_property
    def files(self) -> Mapping[int, FileRow]:
        """The transcripts below the roots, by number: those that are gone too still count."""
        rows = self.ledger.files.values()
        return {number: row for number, row in rows if row.path.startswith(self._places)}

    @cached_property
    def problems(self) -> Mapping[str, str]:
        """Why transcripts below the roots could not be read, by path."""
        problems = self.ledger.problems.items()
        return {path: reason for path, reason in problems if path.startswith(self._places)}

    @cached_property
    def is_partial(self) -> bool:
        """Whether the ledger has files of other roots; told without looking at each of them."""
        is_possible = self.ledger.has_files_elsewhere(self._places)
        return is_possible and len(self.files) < len(self.ledger.files)


def open_books(ledger: Ledger, roots: Iterable[Path], prices: Path | None = None) -> Books:
    """What the ledger says of these roots."""
    return Books(ledger, roots, prices)


def load_rows(books: Books, question: Question) -> list[UsageRow]:
    """What counts, as the report needs it."""
    ledger = books.ledger
    dimensions = _choose_dimensions(question, is_partial=books.is_partial)
    sources = _describe_files(books, question) if "file_id" in dimensions else None
    from_messages = _needs_messages(ledger, question, dimensions)
    sums: Iterable[SumValues] = ledger.iter_sums(dimensions, from_messages=from_messages)
    if "moment" in dimensions and not set(_BY_HOUR).intersection(question.groups):
        sums = _unite_days(sums, dimensions, question.zone)
    return list(_make_rows(ledger, sums, dimensions, sources))


def _unite_days(
    sums: Iterable[SumValues], dimensions: Sequence[Dimension], zone: Zone
) -> Iterator[SumValues]:
    """Hours of one day as one, since the making of rows is what takes longest in an answer."""
    width, place = len(dimensions), dimensions.index("moment")
    days: dict[int | None, int | None] = {None: None}
    members: defaultdict[SumValues, list[SumValues]] = defaultdict(list)
    for values in sums:
        moment = values[place]
        if moment not in days:
            days[moment] = zone.number_day(moment)
        members[(*values[:place], days[moment], *values[place + 1 : width])].append(values)
    for same in members.values():
        figures = zip(*(values[width:] for values in same), strict=True)
        yield (*same[0][:width], *map(sum, figures))


def find_file_homes(books: Books) -> dict[int, str]:
    """The work directory of each file's project."""
    text = books.ledger.names.text
    stays = [
        Stay(file_id, text(cwd) or "", messages)
        for file_id, cwd, messages, *_ in books.ledger.iter_sums(("file_id", "cwd"))
        if cwd is not None and file_id in books.files
    ]
    return find_homes({number: row.project for number, row in books.files.items()}, stays)


def _choose_dimensions(question: Question, *, is_partial: bool) -> tuple[Dimension, ...]:
    wanted = [name for group in question.groups for name in DIMENSIONS[group]]
    wanted.append("model")
    if question.has_dates:
        wanted.append("moment")
    if question.project:
        wanted += ["file_id", "cwd"]
    if is_partial:
        wanted.append("file_id")
    return tuple(dict.fromkeys(wanted))


def _needs_messages(ledger: Ledger, question: Question, dimensions: Sequence[Dimension]) -> bool:
    """Whether the hours are too coarse for the zone, or do not tell what is asked."""
    if "is_sidechain" in dimensions:
        return True
    if "moment" not in dimensions or (question.group is Group.BLOCK and not question.has_dates):
        return False
    weeks = ledger.list_weeks()
    return not question.zone.keeps_hours(edge for week in weeks for edge in (week, week + WEEK))


def _describe_files(books: Books, question: Question) -> dict[int, SourceFile]:
    homes: dict[int, str] = {}
    if question.project or {Group.PROJECT, Group.SESSION}.intersection(question.groups):
        homes = find_file_homes(books)
    return {
        number: SourceFile(
            path=row.path,
            project=row.project,
            session_id=row.session_id,
            kind=row.kind,
            home=homes.get(number),
            agent_type=row.agent_type,
        )
        for number, row in books.files.items()
    }


def _make_rows(
    ledger: Ledger,
    sums: Iterable[SumValues],
    dimensions: Sequence[Dimension],
    sources: Mapping[int, SourceFile] | None,
) -> Iterator[UsageRow]:
    find_text = ledger.names.texts.get
    width = len(dimensions)
    places = {name: place for place, name in enumerate(dimensions)}
    named = [(name, places[name]) for name in _NAMED if name in places]
    others = [(name, places[name]) for name in _PLAIN if name in places]
    for values in sums:
        found: dict[str, Any] = {name: find_text(values[place]) for name, place in named}
        for name, place in others:
            found[name] = values[place]
        if sources is not None:
            found["file"] = sources.get(values[places["file_id"]])
            if found["file"] is None:
                continue
        yield UsageRow(totals=make_totals(values[width:]), **found)
