"""The resources of all queries: Claude directories, index, prices, clock and progress.

Each is found when it is first needed: a warm command should cost little more than its imports.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from recollect.archive import find_archive_in
from recollect.archive.deleted_sessions import include_deleted
from recollect.errors import NothingFound
from recollect.locations.claude_directories import PROJECTS_DIRECTORY, resolve_roots
from recollect.store.data_directory import INDEX_NAME, find_data_directory
from recollect.sync import find_transcripts

if TYPE_CHECKING:
    from recollect.locations import Transcript
    from recollect.pricing.prices import Prices
    from recollect.reader.line_blocks import LineBlock
    from recollect.redact.findings import RedactionPolicy
    from recollect.usage.ledger_access import UsageLedger
    from recollect.workspace.secret_masks import DisplayMask

T = TypeVar("T")

OnProgress = Callable[[str, int, int], None]
"""Called with the unit (`files`, `megabytes of text`), the number done, and the total.
"""


class NoSessions(NothingFound):
    """There is no Claude directory, or none has any sessions."""


class WorkspaceResources:
    """Claude directories, the index and other resources, each opened when it is first used."""

    def __init__(
        self,
        roots: Sequence[Path] = (),
        data_directory: Path | None = None,
        prices: Path | None = None,
        now: Callable[[], datetime] | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        self.prices = prices
        """A price file that takes precedence over the bundled prices."""
        self.archive_failure: str | None = None
        """Why archived sessions are left out, once that is known."""
        self.load_redaction: Callable[[], RedactionPolicy] | None = None
        """Reads the redaction policy from the settings; the default policy if None."""
        self.unlock_archive: Callable[[], None] | None = None
        """Called before an archive is read, because it may be encrypted."""
        self._given_roots = roots
        self._given_directory = data_directory
        self._now = now or (lambda: datetime.now(UTC))
        self._on_progress = on_progress
        self._is_temporary = False
        self._resources = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release what the workspace holds; a temporary index is deleted."""
        self._resources.close()

    def use_temporary_index(self) -> None:
        """Keep the index in a temporary directory until the workspace is closed."""
        from tempfile import TemporaryDirectory  # rarely needed

        folder = TemporaryDirectory(prefix="recollect-", ignore_cleanup_errors=True)
        self._given_directory = Path(self._resources.enter_context(folder))
        self._is_temporary = True

    @cached_property
    def roots(self) -> tuple[Path, ...]:
        """The Claude directories; raises NothingFound if there are none."""
        try:
            return resolve_roots(self._given_roots)
        except NothingFound as error:
            raise NoSessions(str(error)) from error

    @cached_property
    def searched_roots(self) -> tuple[Path, ...]:
        """The same, and the archive of sessions that Claude Code has deleted."""
        if self._is_temporary:
            return self.roots
        found = include_deleted(
            self.roots, self.data_directory, self._own_directory, self.unlock_archive
        )
        self.archive_failure = found.failure
        return found.roots

    @property
    def archive_directory(self) -> Path:
        """The directory of the archive, which need not exist."""
        return find_archive_in(self._own_directory)

    @property
    def redaction(self) -> RedactionPolicy:
        """The policy for secrets in exports and documents, from the current settings."""
        from recollect.redact.findings import RedactionPolicy  # rarely needed

        return self.load_redaction() if self.load_redaction else RedactionPolicy()

    @cached_property
    def _display_mask(self) -> DisplayMask:
        from recollect.workspace.secret_masks import make_mask  # loads the rules

        return make_mask(self)

    def mask_block(self, file: str, block: LineBlock) -> Mapping[int, bytes]:
        """Return the lines of a block that contain secrets, masked; a `LineMask`."""
        return self._display_mask(file, block)

    def preload_masks(self, files: Collection[str]) -> None:
        """Load what masking lines of these files needs, with one query for all of them."""
        self._display_mask.load_sessions(files)

    @cached_property
    def data_directory(self) -> Path:
        """The directory of the index."""
        return self._given_directory or self._own_directory

    @cached_property
    def _own_directory(self) -> Path:
        """The directory of the user's own data, such as the archive."""
        return find_data_directory()

    def find_transcripts(self, *, include_subagents: bool = True) -> list[Transcript]:
        """Return the current transcripts that are not empty."""
        return find_transcripts(self.searched_roots, include_subagents=include_subagents)

    def require_sessions(self) -> list[Transcript]:
        """Return all transcripts; raises NothingFound if there are none."""
        transcripts = self.find_transcripts()
        if not transcripts:
            searched = "".join(f"\n  {root / PROJECTS_DIRECTORY}" for root in self.roots)
            raise NoSessions(f"No sessions yet. Looked in:{searched}")
        return transcripts

    @cached_property
    def price_list(self) -> Prices:
        """The prices of the price file, if there is one, and the bundled ones."""
        from recollect.pricing.prices import Prices  # takes time to load

        return Prices.load(self.prices)

    @property
    def now(self) -> datetime:
        """The current time."""
        return self._now()

    def count_files(self, done: int, total: int) -> None:
        """Report how many files have been read."""
        self.report_progress("files", done, total)

    def report_progress(self, noun: str, done: int, total: int) -> None:
        """Report how much of something has been read."""
        if self._on_progress is not None:
            self._on_progress(noun, done, total)

    def track_files(self, items: Sequence[T]) -> Iterator[T]:
        """Iterate over `items`, reporting how many are done."""
        for number, item in enumerate(items):
            self.count_files(number, len(items))
            yield item

    def query_ledger(
        self, query: Callable[[UsageLedger], T], about: Collection[str] = ()
    ) -> tuple[T, str | None]:
        """Query the updated ledger; return the result, and an error if the index was not used.

        If the query is only about the sessions with some paths, a ledger that is still empty need
        not be filled with all of them.
        """
        from recollect.usage.ledger_access import query_ledger_of

        transcripts = self.find_transcripts()
        if not transcripts and not (self.data_directory / INDEX_NAME).exists():
            self.require_sessions()
        if about and (ledger := self._count_related(transcripts, about)):
            return query(ledger), None
        return query_ledger_of(
            self.roots,
            self.data_directory,
            transcripts,
            query,
            prices=self.prices,
            on_progress=lambda at: self.count_files(at.files_done, at.files),
        )

    def _count_related(
        self, transcripts: Sequence[Transcript], paths: Collection[str]
    ) -> UsageLedger | None:
        """Return a ledger of the sessions with these paths; None if the index has them."""
        from recollect.sync import has_counted_files

        if has_counted_files(self.data_directory):
            return None
        # Imports what reads files.
        from recollect.store.usage_queries import UsageQueries
        from recollect.sync import count_related
        from recollect.usage.ledger_access import UsageLedger

        connection = count_related(self.data_directory, transcripts, paths, prices=self.prices)
        if connection is None:
            return None
        return UsageLedger(UsageQueries(connection), self.roots, self.prices)
