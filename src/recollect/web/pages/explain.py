"""`/usage/explain`: a figure taken apart, line by line, each with the record that it stands in.

All lines of a session are shown, a page at a time. The uuids of the records that are shown are read
from the files again, because the ledger knows lines by their place alone.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import quote

from msgspec import Meta, Struct

from recollect.errors import UnreadableInput
from recollect.reader import read_usage
from recollect.store.listings import Listing
from recollect.usage.documents import ExplainDocument, ExplainLine
from recollect.usage.zones import Zone, load_zone
from recollect.web.api.usage import ExplainParameters, explain_usage
from recollect.web.languages import Translator
from recollect.web.pages.drawn import Drawn
from recollect.web.pages.usage_rows import read_moment
from recollect.web.services import Services
from recollect.web.shelf import Known

PAGE_SIZE: Final = 300

Place = tuple[str, int]
"""A file, and the offset of a line in it."""

NOTES: Final = (
    "written by the client itself",
    "usage with cache writes by lifetime",
    "time of a copy",
    "usage of copy",
    "time of copy",
    "copy of",
    "usage of",
    "repeats",
)
"""How the remarks begin that a line can have; those that begin like another come first."""


class ExplainPageParameters(ExplainParameters, frozen=True, kw_only=True):
    """What is to be taken apart, and which part of it is shown."""

    page: Annotated[int, Meta(ge=1, le=1_000_000)] = 1
    narrowed: bool = False
    """Whether the figure that led here leaves something out, by a filter."""


class LineRow(Struct, frozen=True, kw_only=True):
    """A line with the address of its record."""

    line: ExplainLine
    time: str
    """Where the reader is."""
    record: str
    """Empty when the record cannot be shown."""
    notes: tuple[str, ...]


class FileLines(Struct, frozen=True, kw_only=True):
    """Some lines of a file."""

    file: str
    title: str
    address: str
    """The session that the file belongs to; empty for one that is gone."""
    lines: tuple[LineRow, ...]


class ExplainPage(Struct, frozen=True, kw_only=True):
    """A figure taken apart."""

    wanted: ExplainPageParameters
    explanation: ExplainDocument
    title: str
    address: str
    """The session that it is about."""
    files: tuple[FileLines, ...]
    page: int
    pages: int


def draw_explanation(
    services: Services, wanted: ExplainPageParameters, translator: Translator
) -> Drawn:
    """The page that takes a figure apart."""
    explanation = explain_usage(
        services, ExplainParameters(target=wanted.target, timezone=wanted.timezone)
    )
    known = services.shelf.known
    listings = {each.path: each for each in known.sessions}
    start = (wanted.page - 1) * PAGE_SIZE
    lines = explanation.lines[start : start + PAGE_SIZE]
    make = _LineMaker(load_zone(wanted.timezone), find_uuids(lines), translator)
    page = ExplainPage(
        wanted=wanted,
        explanation=explanation,
        title=_find_title(known, explanation),
        address=f"/s/{quote(explanation.name, safe='')}" if _is_session(known, explanation) else "",
        files=tuple(
            make.describe_file(file, listings.get(file), tuple(members))
            for file, members in groupby(lines, key=lambda line: line.file)
        ),
        page=wanted.page,
        pages=max(-(-len(explanation.lines) // PAGE_SIZE), 1),
    )
    return Drawn("explain.html", page, title="explain.title", section="usage")


def find_uuids(lines: Iterable[ExplainLine]) -> dict[Place, str]:
    """The uuids of the records in which some lines stand; those of files that are gone are not."""
    offsets: defaultdict[str, set[int]] = defaultdict(set)
    for line in lines:
        offsets[line.file].add(line.offset)
    found: dict[Place, str] = {}
    for file, wanted in offsets.items():
        try:
            for record in read_usage(Path(file), min(wanted)):
                offset = record.span.offset if record.span else 0
                if offset > max(wanted):
                    break
                if offset in wanted and record.uuid:
                    found[(file, offset)] = record.uuid
        except UnreadableInput:
            continue
    return found


def split_note(note: str) -> list[tuple[str, str]]:
    """The remarks of a note: how each begins, and what it names."""
    remarks = []
    for remark in filter(None, note.split("; ")):
        beginning = next((each for each in NOTES if remark.startswith(each)), "")
        remarks.append((beginning, remark.removeprefix(beginning).strip()))
    return remarks


class _LineMaker:
    """Makes rows out of lines, in one language and one time zone."""

    def __init__(self, zone: Zone, uuids: Mapping[Place, str], translator: Translator) -> None:
        self._zone = zone
        self._uuids = uuids
        self._translator = translator

    def describe_file(
        self, file: str, listing: Listing | None, lines: Sequence[ExplainLine]
    ) -> FileLines:
        """The lines of one file, under the name of its session."""
        address, query = "", ""
        if listing is not None:
            owner = listing.parent_id if listing.is_subagent else listing.id
            address = f"/s/{quote(owner or listing.id, safe='')}"
            query = f"?project={quote(listing.project, safe='')}"
        title = (listing.title or listing.first_prompt or "") if listing else ""
        return FileLines(
            file=file,
            title=title,
            address=address and address + query,
            lines=tuple(self._make_row(line, address, query) for line in lines),
        )

    def _make_row(self, line: ExplainLine, address: str, query: str) -> LineRow:
        uuid = self._uuids.get((line.file, line.offset))
        local = self._zone.find_local(read_moment(line.time)) if line.time else None
        return LineRow(
            line=line,
            time=local.strftime("%Y-%m-%d %H:%M:%S") if local else "—",
            record=f"{address}/raw/{quote(uuid, safe='')}{query}" if uuid and address else "",
            notes=tuple(
                f"{self._translator.translate(beginning)} {rest}".strip()
                for beginning, rest in split_note(line.note)
            ),
        )


def _is_session(known: Known, explanation: ExplainDocument) -> bool:
    return explanation.kind == "session" and bool(known.find_listings(explanation.name))


def _find_title(known: Known, explanation: ExplainDocument) -> str:
    """What is explained, in the words that a list has for it."""
    if explanation.kind == "session":
        for each in known.find_listings(explanation.name):
            return each.title or each.first_prompt or explanation.name
    return explanation.name
