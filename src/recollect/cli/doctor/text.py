"""A health report → the text that `recollect doctor` prints.

Knows words and layout; the counting was done below. Lists are cut, because a damaged history may
have thousands of entries: `--json` has them all.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from msgspec import Struct

from recollect.cli.doctor.machine import iter_index, iter_orphans, iter_retention, iter_roots
from recollect.cli.doctor.parts import MOST_ROWS, iter_remainder
from recollect.cli.tables import INDENT, Row, human_bytes, iter_table, plural, wrap
from recollect.health.report import Report

KIND_REMARKS = {"stream": "output of headless runs"}

Counts = Mapping[str, int]


class _Listing(Struct, frozen=True):
    """A list under some words, which is not there at all when it is empty."""

    words: str
    noun: str
    alignment: str
    rows: list[Row]


def iter_report(report: Report, title: str, columns: int) -> Iterator[str]:
    """Yield the lines of the report, none longer than `columns`."""
    yield from wrap(f"Recollect doctor: {title}", columns, indent="")
    sections = {
        "What is here": _iter_contents(report, columns),
        "Record types": _iter_counts(report.types, "type", columns),
        "Client versions": _iter_counts(report.versions, "version", columns),
        "Drift": _iter_drift(report, columns),
        "Damage": _iter_damage(report, columns),
        **_describe_machine(report, columns),
    }
    for heading, section in sections.items():
        yield from ("", heading)
        yield from list(section) or [f"{INDENT}None."]
    yield ""
    yield from wrap(describe_verdict(report), columns, indent="")


def _describe_machine(report: Report, columns: int) -> dict[str, Iterator[str]]:
    """The sections about this machine, which a report on other files does not have."""
    if report.index is None:
        return {}
    return {
        "Claude directories": iter_roots(report.roots, columns),
        "Retention": iter_retention(report.roots, columns),
        "Left behind": iter_orphans(report.roots, columns),
        "Index": iter_index(report.index, report.sqlite or "", columns),
    }


def describe_verdict(report: Report) -> str:
    """One sentence: could everything be read, and does this version know all of it?"""
    troubles = (
        (report.damaged_count, "damaged place"),
        (len(report.oversized), "oversized line"),
        (sum(refused.failed for refused in report.refused), "unreadable file"),
    )
    if any(count for count, _ in troubles):
        found = ", ".join(plural(count, noun) for count, noun in troubles if count)
        return f"Not everything could be read: {found}. All the rest was."
    if report.has_drift:
        return "Readable, with news: not all of it is known to this version. Nothing is lost."
    torn = plural(len(report.torn), "unfinished last line")
    exception = f" but for {torn}" if report.torn else ""
    return f"All well: {plural(report.files, 'file')}, every byte read and understood{exception}."


def _iter_contents(report: Report, columns: int) -> Iterator[str]:
    kinds = [
        (f"  {kind.replace('-', ' ')}s", f"{count:,}", KIND_REMARKS.get(kind, ""))
        for kind, count in report.kinds.items()
    ]
    extras = [
        ("Empty files", report.empty_files, "no bytes, or only titles of others"),
        ("Blank lines", report.blank, "harmless"),
    ]
    rows = [
        ("Files", f"{report.files:,}", ""),
        *kinds,
        ("Size", human_bytes(report.byte_count), _describe_accounting(report)),
        ("Records", f"{report.records:,}", _describe_times(report)),
        *((label, f"{count:,}", remark) for label, count, remark in extras if count),
    ]
    yield from iter_table(rows, "<><", columns)


def _describe_accounting(report: Report) -> str:
    missing = report.byte_count - report.accounted_bytes
    return f"{plural(missing, 'byte')} not accounted for" if missing else "every byte accounted for"


def _describe_times(report: Report) -> str:
    if report.oldest is None or report.newest is None:
        return "without a date"
    return f"from {report.oldest[:10]} to {report.newest[:10]}"


def _iter_counts(counts: Counts, noun: str, columns: int) -> Iterator[str]:
    yield from _iter_listing(_Listing("", noun, "><", _rows_of(counts)), columns)


def _iter_drift(report: Report, columns: int) -> Iterator[str]:
    if not report.has_drift:
        yield from wrap("None: every type and every field is known to this version.", columns)
    types, fields, misfits = report.unknown_types, report.unknown_fields, report.misfits
    for listing in (
        _Listing("Types that this version does not know:", "type", "><", _rows_of(types)),
        _Listing("Fields that it does not know:", "field", "><<", _rows_by_type(fields)),
        _Listing("Fields with a value of another shape:", "field", "><<", _rows_by_type(misfits)),
    ):
        yield from _iter_listing(listing, columns)


def _iter_damage(report: Report, columns: int) -> Iterator[str]:
    damaged = [
        (place.file, (f"at {place.offset:,}", plural(place.length, "byte"), place.reason))
        for place in report.damaged
    ]
    oversized, torn = (
        [(place.file, (f"at {place.offset:,}", human_bytes(place.length))) for place in places]
        for places in (report.oversized, report.torn)
    )
    refused = [(found.file, (found.reason,)) for found in report.refused]
    words = f"Bytes that are no whole record, in {plural(report.damaged_count, 'place')}:"
    yield from _iter_by_file(words, "place", damaged, columns)
    if report.salvaged:
        yield from wrap(f"Records salvaged from damaged lines: {report.salvaged:,}", columns)
    yield from _iter_by_file("Lines that are too long to be read:", "line", oversized, columns)
    yield from _iter_by_file("Last lines that are not finished yet:", "line", torn, columns)
    yield from _iter_by_file("Found and not read:", "file", refused, columns)


def _iter_by_file(
    words: str, noun: str, places: Sequence[tuple[str, Row]], columns: int
) -> Iterator[str]:
    """Yield each file once, and below it what there is to say about it."""
    if places:
        yield from wrap(words, columns)
    for file, group in groupby(places[:MOST_ROWS], key=itemgetter(0)):
        yield from iter_table([(file,)], "<", columns, INDENT * 2)
        rows = [row for _, row in group]
        yield from iter_table(rows, ">><"[-len(rows[0]) :], columns, INDENT * 3)
    yield from iter_remainder(len(places), noun)


def _iter_listing(listing: _Listing, columns: int) -> Iterator[str]:
    """Yield the first rows as a table, and how many there are beyond them."""
    if listing.rows:
        indent = INDENT * 2 if listing.words else INDENT
        yield from wrap(listing.words, columns)
        yield from iter_table(listing.rows[:MOST_ROWS], listing.alignment, columns, indent)
        yield from iter_remainder(len(listing.rows), listing.noun, indent)


def _rows_of(counts: Counts) -> list[Row]:
    return [(f"{count:,}", name) for name, count in counts.items()]


def _rows_by_type(tables: Mapping[str, Counts]) -> list[Row]:
    rows = [(-count, kind, name) for kind, names in tables.items() for name, count in names.items()]
    return [(f"{-count:,}", kind, name) for count, kind, name in sorted(rows)]
