"""`/usage/explain`: a figure broken down into lines, each with its record; and `/usage/causes`: the
causes of token usage, and the messages of each.

All lines of a session are shown, a page at a time. The uuids of their records are read from the
files, because the ledger identifies lines only by position.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import quote

from markupsafe import Markup
from msgspec import Meta, Struct

from recollect.documents.session_listing import SessionListing
from recollect.documents.usage_report import CauseDocument, CauseRow, ExplainDocument, ExplainLine
from recollect.errors import UnreadableInput
from recollect.reader.usage_reader import read_usage
from recollect.redact.quick_masks import mask_path
from recollect.usage.causes import LONG_CONTEXT, Cause
from recollect.usage.zones import Zone, load_zone
from recollect.web import history_endpoints
from recollect.web.charts import render_share
from recollect.web.pages.session_page import make_session_url
from recollect.web.pages.usage_table import UsageFilters, read_moment
from recollect.web.services import Services
from recollect.web.templating import PageContent, Translator
from recollect.workspace.session_catalog import Snapshot

PAGE_SIZE: Final = 300

LineLocation = tuple[str, int]
"""A file, and the offset of a line in it."""

NOTES: Final = (
    "written by the client itself",
    "from agent_progress",
    "transcript gone: subagent",
    "output tokens are a placeholder",
    "no tokens: cost as recorded by the client",
    "cost recorded by the client:",
    "usage with cache writes by lifetime",
    "time of a copy",
    "usage of copy",
    "time of copy",
    "copy of",
    "usage of",
    "repeats",
)
"""The prefixes of remarks; a prefix of another one comes after it."""


class ExplainPageParameters(history_endpoints.ExplainParameters, frozen=True, kw_only=True):
    """The figure to explain, and the number of the page."""

    page: Annotated[int, Meta(ge=1, le=1_000_000)] = 1
    narrowed: bool = False
    """Whether the linked figure was filtered."""


class LineRow(Struct, frozen=True, kw_only=True):
    """A line with a link to its record."""

    line: ExplainLine
    time: str
    """In the reader's time zone."""
    record: str
    """Empty if the file was deleted."""
    notes: tuple[str, ...]


class FileLines(Struct, frozen=True, kw_only=True):
    """Some lines of a file."""

    file: str
    title: str
    url: str
    """The session of the file; empty if it was deleted."""
    lines: tuple[LineRow, ...]


class ExplainPage(Struct, frozen=True, kw_only=True):
    """A figure, broken down."""

    wanted: ExplainPageParameters
    explanation: ExplainDocument
    title: str
    url: str
    """The session it is about."""
    files: tuple[FileLines, ...]
    page: int
    pages: int


def render_explain_page(
    services: Services, wanted: ExplainPageParameters, translator: Translator
) -> PageContent:
    """Render the breakdown of a figure."""
    explanation = history_endpoints.explain_usage(
        services,
        history_endpoints.ExplainParameters(target=wanted.target, timezone=wanted.timezone),
    )
    known = services.workspace.catalog.snapshot
    listings = {mask_path(each.path): each for each in known.sessions}
    start = (wanted.page - 1) * PAGE_SIZE
    lines = explanation.lines[start : start + PAGE_SIZE]
    make = _LineMaker(known, load_zone(wanted.timezone), find_uuids(lines), translator)
    page = ExplainPage(
        wanted=wanted,
        explanation=explanation,
        title=_find_title(known, explanation),
        url=make_session_url(explanation.name) if _is_session(known, explanation) else "",
        files=tuple(
            make.describe_file(file, listings.get(file), tuple(members))
            for file, members in groupby(lines, key=lambda line: line.file)
        ),
        page=wanted.page,
        pages=max(-(-len(explanation.lines) // PAGE_SIZE), 1),
    )
    return PageContent("explain.html", page, title="explain.title", section="usage")


def find_uuids(lines: Iterable[ExplainLine]) -> dict[LineLocation, str]:
    """Return the uuids of the records of some lines, except those in deleted files."""
    offsets: defaultdict[str, set[int]] = defaultdict(set)
    for line in lines:
        offsets[line.file].add(line.offset)
    found: dict[LineLocation, str] = {}
    for file, wanted in offsets.items():
        try:
            for record in read_usage(
                Path(file), min(wanted), completes_last=True, with_relayed=True
            ):
                offset = record.span.offset if record.span else 0
                if offset > max(wanted):
                    break
                if offset in wanted and record.uuid:
                    found[(file, offset)] = record.uuid
        except UnreadableInput:
            continue
    return found


def split_note(note: str) -> list[tuple[str, str]]:
    """Split a note into remarks: a prefix and the rest of each."""
    remarks = []
    for remark in filter(None, note.split("; ")):
        beginning = next((each for each in NOTES if remark.startswith(each)), "")
        remarks.append((beginning, remark.removeprefix(beginning).strip()))
    return remarks


class _LineMaker:
    """Turns lines into rows, in one language and one time zone."""

    def __init__(
        self,
        known: Snapshot,
        zone: Zone,
        uuids: Mapping[LineLocation, str],
        translator: Translator,
    ) -> None:
        self._known = known
        self._zone = zone
        self._uuids = uuids
        self._translator = translator

    def describe_file(
        self, file: str, listing: SessionListing | None, lines: Sequence[ExplainLine]
    ) -> FileLines:
        """Return the lines of one file, under the title of its session."""
        url, title = "", ""
        if listing is not None:
            url = make_session_url(self._find_owner(listing))
            title = listing.title or listing.first_prompt or ""
        return FileLines(
            file=file,
            title=title,
            url=f"{url}?{_name_project(listing)}" if listing else "",
            lines=tuple(self._make_row(line, url, listing) for line in lines),
        )

    def _find_owner(self, listing: SessionListing) -> str:
        """Return the session whose page shows the file: for a subagent its parent, if any."""
        parents = self._known.find_listings(listing.parent_id) if listing.parent_id else []
        has_parent = any(each.project == listing.project for each in parents)
        is_child = listing.is_subagent and has_parent
        return listing.parent_id or listing.id if is_child else listing.id

    def _make_row(self, line: ExplainLine, url: str, listing: SessionListing | None) -> LineRow:
        record = ""
        if listing is not None:
            place = f"{listing.id}:{line.offset}"
            name = quote(self._uuids.get((line.file, line.offset), place), safe="")
            query = f"{_name_project(listing)}&line={quote(place, safe='')}"
            record = f"{url}/raw/{name}?{query}"
        local = self._zone.find_local(read_moment(line.time)) if line.time else None
        return LineRow(
            line=line,
            time=local.strftime("%Y-%m-%d %H:%M:%S") if local else "—",
            record=record,
            notes=tuple(
                f"{self._translator.translate(beginning)} {rest}".strip()
                for beginning, rest in split_note(line.note)
            ),
        )


def _name_project(listing: SessionListing) -> str:
    return f"project={quote(listing.project, safe='')}"


def _is_session(known: Snapshot, explanation: ExplainDocument) -> bool:
    return explanation.kind == "session" and bool(known.find_listings(explanation.name))


def _find_title(known: Snapshot, explanation: ExplainDocument) -> str:
    """Return the title of the explained session or day, as in a list."""
    if explanation.kind == "session":
        for each in known.find_listings(explanation.name):
            return each.title or each.first_prompt or explanation.name
    return explanation.name


class CausesPageParameters(UsageFilters, frozen=True, kw_only=True):
    """The usage to explain, and the cause whose messages are listed."""

    cause: Cause | None = None


class CauseLine(Struct, frozen=True, kw_only=True):
    """A cause as a line of the panel."""

    row: CauseRow
    name: str
    meaning: str
    bar: Markup


class CausesPage(Struct, frozen=True, kw_only=True):
    """The causes, and the messages of one of them."""

    wanted: CausesPageParameters
    report: CauseDocument
    lines: tuple[CauseLine, ...]


def render_causes_page(
    services: Services, wanted: CausesPageParameters, translator: Translator
) -> PageContent:
    """Render the causes."""
    report = history_endpoints.report_causes(
        services,
        history_endpoints.CauseParameters(
            since=wanted.since or None,
            until=wanted.until or None,
            project=wanted.project,
            model=wanted.model,
            timezone=wanted.timezone or None,
            cause=wanted.cause,
        ),
    )
    most = max((row.share or 0 for row in report.rows), default=0)
    lines = (
        CauseLine(
            row=row,
            name=translator(f"cause.{row.cause}"),
            meaning=translator(f"cause.why_{row.cause}", limit=f"{LONG_CONTEXT // 1000}K"),
            bar=render_share(row.share, most),
        )
        for row in report.rows
    )
    page = CausesPage(wanted=wanted, report=report, lines=tuple(lines))
    return PageContent("causes.html", page, title="cause.title", section="usage")
