"""The ledger → the rows that a report needs, split no further than it asks for."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from recollect.store.catalogue import FileRow
from recollect.store.usage_queries import WEEK, Dimension, Ledger, SumValues
from recollect.usage.agent_types import find_agent_type
from recollect.usage.groups import DIMENSIONS, Group
from recollect.usage.homes import Stay, find_homes
from recollect.usage.reports import Question
from recollect.usage.rows import SourceFile, UsageRow
from recollect.usage.totals import Totals

_NAMED: Final[tuple[Dimension, ...]] = (
    "model",
    "branch",
    "version",
    "entrypoint",
    "cwd",
    "tools",
)
_PLAIN: Final[tuple[Dimension, ...]] = ("moment", "is_sidechain")


class Books(Struct, frozen=True):
    """The ledger of some roots."""

    ledger: Ledger
    roots: tuple[Path, ...]
    files: Mapping[int, FileRow]
    """The transcripts below the roots, by number: those that are gone too, for they still count."""
    problems: Mapping[str, str]
    """Why transcripts below the roots could not be read, by path."""


def open_books(ledger: Ledger, roots: Iterable[Path]) -> Books:
    """What the ledger says of these roots; the index may know of others, asked about before."""
    roots = tuple(roots)
    places = tuple(
        f"{place}{os.sep}"
        for root in roots
        for place in {os.fspath(root.absolute()), os.path.realpath(root)}
    )
    files = {number: row for number, row in ledger.files.values() if row.path.startswith(places)}
    problems = ledger.problems.items()
    unread = {path: reason for path, reason in problems if path.startswith(places)}
    return Books(ledger, roots, files, unread)


def load_rows(books: Books, question: Question) -> list[UsageRow]:
    """What counts, as the report needs it."""
    ledger = books.ledger
    dimensions = _choose_dimensions(question, is_partial=len(books.files) < len(ledger.files))
    sources = _describe_files(books, question) if "file_id" in dimensions else None
    from_messages = _needs_messages(ledger, question, dimensions)
    sums = ledger.iter_sums(dimensions, from_messages=from_messages)
    return list(_make_rows(ledger, sums, dimensions, sources))


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
    wanted: list[Dimension] = [*DIMENSIONS[question.group], "model"]
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
    if question.project or question.group in (Group.PROJECT, Group.SESSION):
        homes = find_file_homes(books)
    is_by_agent = question.group is Group.SUBAGENT
    return {
        number: SourceFile(
            path=row.path,
            project=row.project,
            session_id=row.session_id,
            kind=row.kind,
            home=homes.get(number),
            agent_type=find_agent_type(row.path) if is_by_agent and row.agent_id else None,
        )
        for number, row in books.files.items()
    }


def _make_rows(
    ledger: Ledger,
    sums: Iterable[SumValues],
    dimensions: Sequence[Dimension],
    sources: Mapping[int, SourceFile] | None,
) -> Iterator[UsageRow]:
    text = ledger.names.text
    width = len(dimensions)
    places = {name: place for place, name in enumerate(dimensions)}
    named = [(name, places[name]) for name in _NAMED if name in places]
    others = [(name, places[name]) for name in _PLAIN if name in places]
    for values in sums:
        found: dict[str, Any] = {name: text(values[place]) for name, place in named}
        for name, place in others:
            found[name] = values[place]
        if sources is not None:
            found["file"] = sources.get(values[places["file_id"]])
            if found["file"] is None:
                continue
        yield UsageRow(totals=Totals(*values[width:]), **found)
