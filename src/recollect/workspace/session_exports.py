"""Export sessions by name, project or search: what `Workspace.export` does.

Secrets are collected from all sessions before the first one is written, so that a value that is
recognisable in one of them is masked in the others. Only one session is open at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from recollect.errors import NothingFound, UnreadableInput, UsageError
from recollect.export.export_content import MaskedValue, SessionPart, allow, list_masked_values
from recollect.export.export_options import TABULAR, ExportOptions, Format, find_format
from recollect.export.exporter import Exporter, name_file
from recollect.export.writing import is_directory, make_directory, refuse_existing
from recollect.library.opening import find_subagent_files
from recollect.library.session_filters import SessionQuery
from recollect.locations import Transcript, TranscriptKind
from recollect.locations.claude_directories import is_inside
from recollect.locations.place_names import PlaceName, name_place
from recollect.locations.references import looks_like_file
from recollect.reader.line_blocks import masked_by
from recollect.redact.findings import DEFAULT_POLICY, RedactionPolicy
from recollect.workspace.session_places import locate
from recollect.workspace.session_queries import FoundPlace
from recollect.workspace.turn_selection import TurnSelection, choose_turns

if TYPE_CHECKING:
    from recollect.documents.command_reports import ExportDocument
    from recollect.documents.session_documents import TokenShares
    from recollect.workspace.workspace import Workspace


_MAX_FOUND: Final = 100_000


class ExportRequest(Struct, frozen=True, kw_only=True):
    """The requested sessions, and the turns of each."""

    names: tuple[str, ...] = ()
    query: SessionQuery | None = None
    """Export all sessions that match."""
    search: str | None = None
    """Export all sessions that match this search."""
    selection: TurnSelection = TurnSelection()

    @property
    def is_many(self) -> bool:
        """Whether the export is a directory, even if it has only one session."""
        return len(self.names) != 1 or self.query is not None or self.search is not None


def find_exported(workspace: Workspace, request: ExportRequest) -> list[FoundPlace]:
    """Return the requested sessions, each once; raises NothingFound if there are none."""
    places = [workspace.find_place(name) for name in request.names]
    found: list[Transcript] = []
    if request.query is not None:
        found += workspace.find_matching(request.query)
    if request.search is not None:
        found += _find_by_search(workspace, request.search)
    places += [FoundPlace(each, PlaceName(each.name)) for each in found]
    return list({(each.transcript.file, each.place.anchor): each for each in places}.values())


def pin_name(workspace: Workspace, name: str) -> str:
    """Return a name of the same place that other sessions, which may be added, do not change."""
    found = workspace.find_place(name)
    transcript, place = found.transcript, found.place
    exact = transcript.file
    if not looks_like_file(place.session):
        with suppress(NothingFound):
            # By its id, because the file may move to another project.
            if workspace.find(transcript.name).file == transcript.file:
                exact = transcript.name
    return name_place(exact, place.record, place.turn)


def _find_by_search(workspace: Workspace, text: str) -> list[Transcript]:
    from recollect.search.engine import SearchOptions  # the engine

    answer = workspace.search(text, SearchOptions(limit=_MAX_FOUND, per_session=1))
    ids = {hit.session_id for hit in answer.hits}
    found = [
        each
        for each in workspace.find_transcripts()
        if each.kind is TranscriptKind.SESSION and each.name in ids
    ]
    if not found:
        raise NothingFound(f"No session matches {text!r}.")
    return found


class SessionExport:
    """One export of some sessions of a workspace."""

    def __init__(
        self, workspace: Workspace, request: ExportRequest, options: ExportOptions
    ) -> None:
        """Find the sessions; raises NothingFound if there are none, UsageError for bad options."""
        self.exporter = Exporter(options)
        self._workspace = workspace
        self._request = request
        self._places = find_exported(workspace, request)
        self._unread: list[str] = []

    def list_masked_values(self) -> list[MaskedValue]:
        """Return the values that will be masked, for review."""
        options = self.exporter.options
        if options.redaction is None:
            return []
        parts = self._iter_parts("sessions", is_masked=False)
        return list_masked_values(parts, options.redaction, options.level)

    def allow(self, values: Sequence[MaskedValue]) -> None:
        """Leave these values as they are."""
        policy = self.exporter.options.redaction
        if policy is not None and values:
            self.exporter = self.exporter.with_policy(allow(policy, values))

    def stream(self) -> Iterator[bytes]:
        """Return the pieces of the export of one session."""
        if len(self._places) != 1:
            raise UsageError("Several sessions are exported to a directory. Use -o DIR.")
        with self._open_only() as part:
            return self.exporter.stream(part)

    def write(self, target: Path, *, into: bool = False) -> None:
        """Write a file, or a directory if there are many sessions or pages.

        `into` makes the target a directory, even for one file, which gets a name there.
        """
        _refuse_claude_directory(self._workspace, target)
        if into:
            make_directory(target)
        options = self.exporter.options
        if not (self._request.is_many or options.split or is_directory(target)):
            # Before a long session is read.
            refuse_existing(target, force=options.force)
        if not self._request.is_many:
            is_inside = is_directory(target) and not options.split and options.format not in TABULAR
            with self._open_only() as part:
                name = name_file(part.session.metadata, options) if is_inside else ""
                self.exporter.write(part, target / name)
            return
        if options.redaction is not None:
            self._learn()
        parts = self._iter_parts("sessions to write")
        if options.format in TABULAR:
            self.exporter.write_tables(parts, target)
        else:
            self.exporter.write_many(parts, target)

    def report(self) -> ExportDocument:
        """Return what was written and masked, and what could not be read."""
        return self.exporter.report(self._unread)

    def _learn(self) -> None:
        for number, found in enumerate(self._places):
            self._workspace.report_progress("sessions", number, len(self._places))
            # An unreadable session is reported when its export is written.
            with suppress(UnreadableInput):
                self.exporter.collect_secrets(partial(self._workspace.open_found, found))

    @contextmanager
    def _open_only(self) -> Iterator[SessionPart]:
        """Open the only session; meanwhile, other processes scan a long one for secrets."""
        found = self._places[0]
        if not self.exporter.should_scan_in_background(found.transcript.size):
            yield self._open(found)
            return
        with self.exporter.scan_in_background(_list_files(found.transcript)):
            yield self._open(found, is_scanned=True)

    def _open(
        self, found: FoundPlace, *, is_masked: bool = True, is_scanned: bool = False
    ) -> SessionPart:
        read, selection = partial(self._workspace.open_found, found), self._request.selection
        if is_masked and not is_scanned:
            session = self.exporter.open_masked(read)
        else:
            with masked_by(None):
                session = read()
        location = locate(session, found.place)
        if location is None:
            chosen = choose_turns(session, selection)
        elif selection == TurnSelection():
            chosen = (location.turn,)
        else:
            raise UsageError("A place cannot be used with --turn, --turns, --branch or --segment.")
        shares = self._shares.get(found.transcript.file)
        if is_scanned:
            return SessionPart(session, chosen, reopen=read, shares=shares)
        return SessionPart(session, chosen, is_masked=is_masked, shares=shares)

    @cached_property
    def _shares(self) -> dict[str, TokenShares]:
        # Other formats have no figures.
        has_facts = self.exporter.options.format in (Format.HTML, Format.TEXT)
        transcripts = [each.transcript for each in self._places] if has_facts else []
        return self._workspace.attribute_tokens(transcripts)

    def _iter_parts(self, noun: str, *, is_masked: bool = True) -> Iterator[SessionPart]:
        for number, found in enumerate(self._places):
            self._workspace.report_progress(noun, number, len(self._places))
            try:
                part = self._open(found, is_masked=is_masked)
            except UnreadableInput:
                self._unread.append(found.transcript.file)
                continue
            except NothingFound:
                # A file with facts about a session, but without messages.
                continue
            yield part


def _list_files(transcript: Transcript) -> list[str]:
    """Return the paths of a transcript and of its possible subagents."""
    is_session = transcript.kind is TranscriptKind.SESSION
    agents = find_subagent_files(transcript.project_dir, transcript.name) if is_session else ()
    return [transcript.file, *(each.file for each in agents)]


def export_sessions(
    workspace: Workspace,
    names: str | Sequence[str],
    target: Path,
    options: ExportOptions | None,
) -> ExportDocument:
    """Export sessions and return what was written."""
    chosen = _complete_options(options or ExportOptions(), target, workspace.redaction)
    request = ExportRequest(names=(names,) if isinstance(names, str) else tuple(names))
    export = SessionExport(workspace, request, chosen)
    export.write(target)
    return export.report()


def _complete_options(
    options: ExportOptions, target: Path, rules: RedactionPolicy
) -> ExportOptions:
    """Return options with the format of the target and the user's rules instead of the defaults."""
    if options.format is Format.HTML:
        options = replace(options, format=find_format(target) or Format.HTML)
    return replace(options, redaction=rules) if options.redaction == DEFAULT_POLICY else options


def _refuse_claude_directory(workspace: Workspace, target: Path) -> None:
    try:
        roots: Sequence[Path] = workspace.roots
    except NothingFound:
        # A session can be named by its path.
        roots = ()
    for root in roots:
        if is_inside(target, root):
            raise UsageError(f"{target} belongs to Claude Code. Export to another directory.")
