"""Export sessions: one as a stream or a file, or many into a directory, all with one mask.

Sessions are exported one by one and not kept, so memory does not grow with their number.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from recollect.documents.command_reports import ExportDocument, ExportedFile, MaskedKind
from recollect.documents.session_listing import Metadata
from recollect.documents.turn_documents import TurnView
from recollect.export import (
    export_options,
    export_tables,
    html_pages,
    masking,
    plain_formats,
    writing,
)
from recollect.export.export_content import ExportContent, SessionPart, collect, iter_files
from recollect.export.html_pages import PictureFiles
from recollect.export.plain_formats import iter_json, iter_lines
from recollect.reader.line_blocks import masked_by
from recollect.redact.own_rules import find_own_rules
from recollect.redact.quick_masks import mask_path
from recollect.render.html.html_parts import render_picture
from recollect.render.markdown import describe_picture
from recollect.render.views.part_builders import take_line

if TYPE_CHECKING:
    from recollect.redact.findings import RedactionPolicy
    from recollect.session.session import Session

INDEX: Final = "index"
_NOT_NAMES: Final = re.compile(r"[^\w]+")
_MAX_SLUG: Final = 48
_ID_LENGTH: Final = 8
_IMAGES: Final = "_images"


class Exporter:
    """Writes sessions with the same options, and records what it has written and masked."""

    def __init__(self, options: export_options.ExportOptions) -> None:
        """Start an export; raises UsageError for options that contradict each other."""
        export_options.check_options(options)
        self.options = options
        is_wrapped = options.format is export_options.Format.TEXT
        self._mask = masking.Mask(options.redaction, is_wrapped=is_wrapped)
        self._files: list[ExportedFile] = []
        self._sessions = 0
        self._seen: set[str] = set()

    def with_policy(self, policy: RedactionPolicy) -> Exporter:
        """Return a new exporter that masks with another policy."""
        return Exporter(replace(self.options, redaction=policy))

    def should_scan_in_background(self, size: int) -> bool:
        """Return whether to scan a transcript of this size in other processes meanwhile."""
        return (
            self._mask.is_on
            and self.options.format not in export_options.TABULAR
            and writing.should_use_all_cores(size)
        )

    def scan_in_background(self, files: Iterable[str]) -> AbstractContextManager[None]:
        """Scan files on other cores while the block opens and collects a session."""
        record_mask = self._mask.record_mask
        return record_mask.scan_in_background(files) if record_mask else nullcontext()

    def collect_secrets(self, open_session: Callable[[], Session]) -> Session:
        """Open a session and remember its secrets, so that they are masked in all others too."""
        record_mask = self._mask.record_mask
        # Without redaction nothing is masked, not even the values that are masked on display.
        with masked_by(record_mask.collect_secrets if record_mask else None):
            return open_session()

    def open_masked(self, open_session: Callable[[], Session]) -> Session:
        """Open a session for export: its records are masked before any view cuts their text."""
        session = self.collect_secrets(open_session)
        record_mask = self._mask.record_mask
        if record_mask is None or not record_mask.is_needed:
            return session
        with masked_by(record_mask):
            return open_session()

    def stream(self, part: SessionPart) -> Iterator[bytes]:
        """Yield the export of one session; every chunk has passed the second scan."""
        self._sessions += 1
        if self.options.format is export_options.Format.JSONL:
            return iter_lines(part)
        if self.options.format in export_options.TABULAR:
            return self._stream_table(part)
        content = self._collect(part)
        return self._encode(content, None)

    def write(self, part: SessionPart, target: Path) -> None:
        """Write one session as a file, or as a directory of pages if it is split."""
        if self.options.format in export_options.TABULAR:
            self.write_tables([part], target)
        elif self.options.split:
            self._write_pages(part, target)
        elif self.options.format is export_options.Format.JSONL:
            self._write(target, self.stream(part), part.session.id)
        else:
            self._sessions += 1
            self._write_content(self._collect(part), target)

    def write_many(self, parts: Iterable[SessionPart], directory: Path) -> None:
        """Write each session as a file in a directory, with an index if the format has pages."""
        writing.make_directory(directory)
        rows: list[tuple[str, tuple[html_pages.Link, str]]] = []
        suffix = export_options.SUFFIXES[self.options.format]
        taken = {f"{INDEX}{suffix}"}
        for part in parts:
            if self.options.format is export_options.Format.JSONL:
                name = _choose_free(name_file(part.session.metadata, self.options), taken)
                self._write(directory / name, self.stream(part), part.session.id)
                continue
            self._sessions += 1
            content = self._collect(part)
            target = directory / _choose_free(name_file(content.metadata, self.options), taken)
            self._write_content(content, target)
            about = content.metadata
            facts = " · ".join(
                fact for fact in ((about.created or "")[:10], about.cwd or "") if fact
            )
            rows.append((about.created or "", ((target.name, content.title), facts)))
        newest = sorted(rows, key=lambda row: row[0], reverse=True)
        self._write_index(directory, "Sessions", [row for _, row in newest])

    def write_tables(self, parts: Iterable[SessionPart], target: Path) -> None:
        """Write one table of all sessions, or all tables if the target is a directory."""
        suffix = export_options.SUFFIXES[self.options.format]
        is_file = target.suffix == suffix
        if not is_file:
            writing.make_directory(target)
        tables = (self.options.table,) if is_file else tuple(export_options.Table)
        paths = {each: target if is_file else target / f"{each}{suffix}" for each in tables}
        with ExitStack() as stack:
            opened = {
                table: stack.enter_context(
                    export_tables.open_table(
                        path, table, self.options.format, force=self.options.force
                    )
                )
                for table, path in paths.items()
            }
            for part in parts:
                self._sessions += 1
                content = self._collect(part)
                for table, write_rows in opened.items():
                    rows = export_tables.iter_rows(
                        table, part.session, content, self._seen, export_tables.price_at_list
                    )
                    write_rows(list(rows), self._mask)
        self._files += [
            ExportedFile(path=str(path), size=writing.measure_file(path)) for path in paths.values()
        ]

    def report(self, unread: Sequence[str] = ()) -> ExportDocument:
        """Return what was written and masked."""
        counts = sorted(self._mask.counts.items(), key=lambda pair: (-pair[1], pair[0]))
        return ExportDocument(
            format=self.options.format.value,
            sessions=self._sessions,
            files=tuple(self._files),
            is_redacted=self._mask.is_on,
            masked=tuple(MaskedKind(kind=kind, count=count) for kind, count in counts),
            unread=tuple(map(mask_path, unread)),
        )

    def _collect(self, part: SessionPart) -> ExportContent:
        record_mask = self._mask.record_mask
        if part.reopen is None or record_mask is None:
            # Files beside a session are read here, and shortened like its records.
            with masked_by(record_mask):
                return collect(part, self.options, self._mask)
        with masked_by(None):
            content = collect(part, self.options, masking.Mask(None))
        record_mask.finish_scan(iter_files(part.session))
        beside = (content.metadata, *content.notices)
        is_beside = any(self._mask.collect_secrets(document) for document in beside)
        if not (record_mask.is_needed or self._mask.hides_persons or is_beside):
            return content
        with masked_by(record_mask):
            session = part.reopen()
        return self._collect(replace(part, session=session, is_masked=True, reopen=None))

    def _encode(self, content: ExportContent, pictures: PictureFiles | None) -> Iterator[bytes]:
        """Yield the bytes of a whole session; images for separate files are added to `pictures`."""
        pieces = self._iter_pieces(content, pictures)
        if pictures is None and writing.should_use_all_cores(content.metadata.size):
            return writing.encode_on_all_cores(pieces, self._mask)
        return writing.encode(pieces, self._mask)

    def _iter_pieces(
        self, content: ExportContent, pictures: PictureFiles | None
    ) -> Iterator[writing.Piece]:
        match self.options.format:
            case export_options.Format.MARKDOWN if self.options.budget is not None:
                return plain_formats.iter_digest(content, self.options.budget)
            case export_options.Format.TEXT:
                from recollect.export.text_format import iter_text  # loads rich

                return iter_text(content, self.options)
            case export_options.Format.JSON:
                return iter_json(content)
        return self._choose_pages(pictures)(content, self.options)

    def _stream_table(self, part: SessionPart) -> Iterator[bytes]:
        table = self.options.table
        content = self._collect(part)
        rows = export_tables.iter_rows(
            table, part.session, content, self._seen, export_tables.price_at_list
        )
        if self.options.format is export_options.Format.PARQUET:
            file = io.BytesIO()
            with export_tables.write_parquet(file, table) as write_rows:
                write_rows(list(rows), self._mask)
            return iter([file.getvalue()])
        return writing.encode(
            [
                export_tables.write_csv([tuple(export_tables.COLUMNS[table])]),
                export_tables.write_csv(rows),
            ],
            self._mask,
        )

    def _write(self, target: Path, chunks: Iterable[bytes], session_id: str | None = None) -> None:
        size = writing.write_file(target, chunks, force=self.options.force)
        self._files.append(ExportedFile(path=str(target), size=size, session_id=session_id))

    def _write_content(self, content: ExportContent, target: Path) -> None:
        pictures = self._collect_pictures(target.stem)
        chunks = self._encode(content, pictures)
        self._write(target, chunks, content.metadata.id)
        self._write_pictures(pictures, target.parent)

    def _collect_pictures(self, stem: str) -> PictureFiles | None:
        is_beside = self.options.images is export_options.Images.BESIDE
        return PictureFiles(stem + _IMAGES) if is_beside else None

    def _write_pictures(self, pictures: PictureFiles | None, directory: Path) -> None:
        if pictures and pictures.files:
            folder = directory / pictures.folder
            writing.make_directory(folder)
            for name, data in pictures.files.items():
                self._write(folder / name, [data])

    def _write_pages(self, part: SessionPart, directory: Path) -> None:
        """Write the session as several pages, and an index of its prompts."""
        writing.make_directory(directory)
        self._sessions += 1
        content = self._collect(part)
        suffix = export_options.SUFFIXES[self.options.format]
        step = self.options.split or 1
        starts = range(0, len(content.turns), step)
        groups = [content.turns[start : start + step] for start in starts]
        names = [f"page-{number:03}{suffix}" for number in range(1, len(groups) + 1)]
        pictures = self._collect_pictures(INDEX)
        draw = self._choose_pages(pictures)
        rows: list[tuple[html_pages.Link, str]] = []
        for number, (name, turns) in enumerate(zip(names, groups, strict=True)):
            links = _link_pages(names, number, suffix)
            chunks = writing.encode(
                draw(content, self.options, turns=turns, links=links), self._mask
            )
            self._write(directory / name, chunks, content.metadata.id)
            rows += [_make_row(name, turn, self.options.format) for turn in turns]
        self._write_pictures(pictures, directory)
        self._write_index(directory, content.title, rows)

    def _choose_pages(self, pictures: PictureFiles | None) -> partial[Iterator[writing.Piece]]:
        """Return the function that renders pages, with images embedded or in files."""
        if self.options.format is export_options.Format.HTML:
            show = pictures.show_in_page if pictures else render_picture
            return partial(html_pages.iter_page, show_picture=show)
        write = pictures.show_in_document if pictures else describe_picture
        return partial(plain_formats.iter_document, show_picture=write)

    def _write_index(
        self, directory: Path, title: str, rows: Sequence[tuple[html_pages.Link, str]]
    ) -> None:
        if self.options.format not in export_options.PAGED:
            return
        pieces = (
            html_pages.iter_index(title, rows, self.options.theme)
            if self.options.format is export_options.Format.HTML
            else plain_formats.iter_index(title, rows)
        )
        target = directory / f"{INDEX}{export_options.SUFFIXES[self.options.format]}"
        self._write(target, writing.encode(pieces, self._mask))


def name_file(metadata: Metadata, options: export_options.ExportOptions) -> str:
    """Return a file name from date, title and id that has only letters, digits and hyphens.

    Secrets are masked even if they are exported, all of them or after a review: names are listed,
    logged and sent with a file.
    """
    if options.format is export_options.Format.JSONL:
        return f"{_clean(metadata.id) or 'session'}{export_options.SUFFIXES[options.format]}"
    rules = find_own_rules().policy
    policy = replace(options.redaction or replace(rules, likely=True), allow=rules.allow)
    about = masking.Mask(policy).apply(metadata)
    date = _clean((about.created or "")[:10])
    words = take_line(about.title or about.first_prompt or about.id)
    title = _clean(words.lower())[:_MAX_SLUG].strip("-")
    pieces = (date, title, _clean(about.id)[:_ID_LENGTH])
    return "-".join(piece for piece in pieces if piece) + export_options.SUFFIXES[options.format]


def _choose_free(name: str, taken: set[str]) -> str:
    """Return a name that no other file of the export has, and add it to `taken`.

    Copies of a session have the same name, and some file systems ignore case.
    """
    stem, dot, suffix = name.rpartition(".")
    numbered = (f"{stem}-{number}{dot}{suffix}" for number in count(2))
    free = next(each for each in chain([name], numbered) if each.casefold() not in taken)
    taken.add(free.casefold())
    return free


def _clean(text: str) -> str:
    return _NOT_NAMES.sub("-", text).strip("-")


def _link_pages(names: Sequence[str], number: int, suffix: str) -> list[html_pages.Link]:
    links = [(f"{INDEX}{suffix}", "Index")]
    if number:
        links.append((names[number - 1], "Previous page"))
    if number + 1 < len(names):
        links.append((names[number + 1], "Next page"))
    return links


def _make_row(
    name: str, turn: TurnView, kind: export_options.Format
) -> tuple[html_pages.Link, str]:
    address = f"{name}#turn-{turn.number}" if kind is export_options.Format.HTML else name
    label = f"{turn.number} {html_pages.name_turn(turn)}"
    return (address, label), (turn.start or "")[:16].replace("T", " ")
