"""List sessions from the index, after updating it from changed files.

Only the head and the tail of large files are read. Values that need the whole file are included if
already known, or if requested. A title may be in another file of the project: if those titles
change, the project is listed again. A session is found by its id without opening the index.

The middle of a large file may have a title, and searching for it takes as long as everything else.
For one page of the newest sessions, only their files are searched. The rows of other
files get a negative modification time, so that only the next such page treats them as up to date.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from recollect.documents.session_listing import FileFigures, SessionListing
from recollect.locations import Transcript, discover_root
from recollect.locations.references import MIN_PREFIX_LENGTH, SessionFacts, match_session
from recollect.reader.line_blocks import masked_by
from recollect.sources.source import UNTRUSTED, Stamp, is_present
from recollect.store import session_table
from recollect.store.catalog import load_naming_lines
from recollect.store.session_table import StoredListing
from recollect.sync import cached_values

if TYPE_CHECKING:
    from recollect.library.listings import SessionContext
    from recollect.library.transcript_ends import NamingLines

_TEXTS: Final = ("title", "first_prompt", "tag", "compaction_summary")
_FIRST: Final = 4
"""Number of files to read before all others if only the newest sessions are wanted."""
_NAMES: Final = (
    *("version", "created", "last_active", "first_prompt_time", "parent_id", "forked_from"),
    *("continued_in", "first_reply_id", "agent_id", "git_branch"),
)
_PATHS: Final = ("project", "cwd")


def mask_listing(listing: SessionListing) -> SessionListing:
    """Return a listing without definite secrets."""
    # Not when nothing has changed.
    from recollect.redact.quick_masks import mask_name, mask_path, mask_words

    fields: dict[str, str] = {}
    masked: dict[str, str] = {}
    # A title is often the first prompt.
    mask_text = cache(mask_words)
    for names, mask in ((_TEXTS, mask_text), (_NAMES, mask_name), (_PATHS, mask_path)):
        found = {name: text for name in names if (text := getattr(listing, name))}
        fields |= found
        masked |= {name: mask(text) for name, text in found.items()}
    models = tuple(map(mask_name, listing.models))
    if masked == fields and models == listing.models:
        return listing
    return replace(listing, **masked, models=models)


def list_current(
    directory: Path,
    transcripts: Sequence[Transcript],
    on_read: cached_values.OnFileRead | None = None,
    *,
    is_complete: bool = False,
    find_context: "Callable[[], SessionContext] | None" = None,
) -> list[SessionListing]:
    """Return the sessions of `transcripts`, the most recently active first.

    With `is_complete`, whole files are read if a listing needs it. Lists that share the context
    from `find_context` read the titles of a project once.
    """
    known = cached_values.find_current(directory, session_table.load_listings, transcripts)
    stale = _read_stale(directory, transcripts, known, on_read, find_context=find_context)
    listings = [stored.listing for stored in known.values() if stored.listing is not None]
    if is_complete:
        wanted = {each.path for each in listings if each.turn_count is None}
        uncounted = [each for each in transcripts if each.file in wanted]
        figures = cached_values.load_figures(directory, uncounted, on_read)
    else:
        figures = cached_values.find_figures(directory, stale) if stale else {}
    if figures:
        listings = [_complete(each, figures.get(each.path)) for each in listings]
    return _sort(listings)


class PartlySearched(NamedTuple):
    """Sessions, the most recently active first, and those whose files were not searched."""

    listings: list[SessionListing]
    unsearched: frozenset[str]
    """Paths of the files that may have a title between their ends."""


def list_newest(
    directory: Path,
    transcripts: Sequence[Transcript],
    count: int,
    on_read: cached_values.OnFileRead | None = None,
) -> PartlySearched:
    """Return all sessions, searching for titles only in the `count` files that changed last."""
    by_time = sorted(transcripts, key=lambda each: -each.mtime_ns)
    rest = frozenset(each.file for each in by_time[count:])
    known = cached_values.find_current(
        directory, session_table.load_listings, transcripts, _is_read_at_its_ends
    )
    stale = _read_stale(directory, transcripts, known, on_read, unsearched=rest)
    figures = cached_values.find_figures(directory, stale) if stale else {}
    listings = [stored.listing for stored in known.values() if stored.listing is not None]
    return PartlySearched(
        _sort(_complete(each, figures.get(each.path)) for each in listings),
        frozenset(path for path, stored in known.items() if stored.stamp[2] < UNTRUSTED),
    )


def _is_read_at_its_ends(stored: StoredListing, transcript: Transcript) -> bool:
    return stored.stamp in (transcript.stamp, _mark_unsearched(transcript.stamp))


def _mark_unsearched(stamp: Stamp) -> Stamp:
    """Return the stamp of a row whose file was not searched for titles."""
    inode, size, mtime_ns = stamp
    return inode, size, min(-mtime_ns, UNTRUSTED)


def _read_stale(
    directory: Path,
    transcripts: Sequence[Transcript],
    known: dict[str, StoredListing],
    on_read: cached_values.OnFileRead | None,
    *,
    unsearched: Collection[str] = (),
    find_context: "Callable[[], SessionContext] | None" = None,
) -> list[Transcript]:
    """Complete `known`, and return the transcripts that were read for it."""
    _drop_lost_titles(known)
    stale = [each for each in transcripts if each.file not in known]
    if stale:
        context = find_context() if find_context else None
        describe = _Describe(context, _find_naming_lines(directory, stale), unsearched)
        stale += describe.find_renamed({each.project_dir for each in stale}, transcripts, known)
        save = session_table.save_listings
        known.update(cached_values.read_and_save(directory, stale, describe, save, on_read))
    return stale


def list_retitled(
    directory: Path, transcripts: Sequence[Transcript], context: "SessionContext"
) -> list[SessionListing]:
    """Return the sessions whose titles in other files have changed since they were last listed."""
    known = cached_values.find_current(directory, session_table.load_listings, transcripts)
    describe = _Describe(context)
    renamed = describe.find_renamed({each.project_dir for each in transcripts}, transcripts, known)
    fresh = dict(
        cached_values.read_and_save(directory, renamed, describe, session_table.save_listings)
    )
    figures = cached_values.find_figures(directory, renamed) if renamed else {}
    listings = (stored.listing for stored in fresh.values())
    return [_complete(each, figures.get(each.path)) for each in listings if each is not None]


def list_unsaved(transcripts: Iterable[Transcript]) -> list[SessionListing]:
    """Return the sessions of `transcripts` without using an index."""
    describe = _Describe()
    found = (describe(each, each.stamp) for each in transcripts)
    return _sort(stored.listing for stored in found if stored.listing is not None)


def list_indexed(directory: Path) -> list[SessionListing]:
    """Return the sessions in the index, newest first, without accessing any file."""
    found = cached_values.find_all(directory, session_table.load_listings)
    return _sort(stored.listing for stored in found.values() if stored.listing is not None)


def list_unchanged(
    directory: Path, transcripts: Sequence[Transcript]
) -> tuple[list[SessionListing], list[Transcript]]:
    """Return the sessions of files that are unchanged since they were listed, and the other files.

    The sessions are sorted, newest first; no file is read.
    """
    known = cached_values.find_current(directory, session_table.load_listings, transcripts)
    found = _sort(stored.listing for stored in known.values() if stored.listing is not None)
    return found, [each for each in transcripts if each.file not in known]


def _drop_lost_titles(known: dict[str, StoredListing]) -> None:
    """Drop the listings whose title was in a file that has been deleted."""
    titled = [(path, stored.title_file) for path, stored in known.items() if stored.title_file]
    for path, title_file in titled:
        if not is_present(title_file):
            del known[path]


def _sort(listings: Iterable[SessionListing]) -> list[SessionListing]:
    return sorted(listings, key=lambda each: (-each.activity, each.path))


def _complete(listing: SessionListing, figures: FileFigures | None) -> SessionListing:
    if figures is None:
        return listing
    return replace(
        listing,
        models=figures.models,
        message_count=figures.messages,
        turn_count=figures.turns,
        error_count=figures.errors,
        compaction_count=figures.compactions,
        compaction_summary=figures.summary or None,
        copied_tokens=figures.copied_tokens,
        client_cost_usd=figures.client_cost_usd,
        trace=figures.trace,
    )


def _find_naming_lines(
    directory: Path, transcripts: Sequence[Transcript]
) -> dict[str, "NamingLines"]:
    """Return the lines with titles that the quick pass found in these files, if unchanged."""
    from recollect.library.transcript_ends import NamingLines  # the session model

    found = cached_values.find_current(directory, load_naming_lines, transcripts)
    return {path: NamingLines(stored.stamp[1], stored.spans) for path, stored in found.items()}


class _Describe:
    """Creates listings of transcripts, collecting the titles of each project once."""

    def __init__(
        self,
        context: "SessionContext | None" = None,
        lines: "Mapping[str, NamingLines] | None" = None,
        unsearched: Collection[str] = (),
    ) -> None:
        # Imports the session model, which is not needed when nothing has changed.
        from recollect.library.listings import SessionContext, trace_listing
        from recollect.library.transcript_ends import NamingLines

        self._read = trace_listing
        self._context = context or SessionContext()
        self._lines = lines or {}
        self._unsearched = unsearched
        self._make_lines = NamingLines

    def find_renamed(
        self,
        directories: Collection[Path],
        transcripts: Iterable[Transcript],
        known: Mapping[str, StoredListing],
    ) -> list[Transcript]:
        """Return the transcripts in these projects whose title may have changed."""
        # Unmasked, like the stored hashes.
        with masked_by(None):
            return [
                each
                for each in transcripts
                if each.project_dir in directories
                and (stored := known.get(each.file)) is not None
                and stored.listing is not None
                and stored.titles_hash != self._context.hash_titles(each)
            ]

    def __call__(self, transcript: Transcript, stamp: Stamp) -> StoredListing:
        path = transcript.file
        lines = self._lines.get(path)
        is_searched = lines is not None or not self._may_skip(path, stamp)
        if not is_searched:
            lines = self._make_lines(transcript.size, ())
        # Masking the few values is cheaper than masking the lines that they come from.
        with masked_by(None):
            found = self._read(transcript, self._context, lines)
        if found is None:
            return StoredListing(path, stamp, "", "", None)
        listing = mask_listing(_keep_stored(found.listing))
        # Small files are read whole, and their messages counted.
        if not is_searched and listing.message_count is None:
            stamp = _mark_unsearched(stamp)
        return StoredListing(path, stamp, found.titles_hash, found.title_file, listing)

    def _may_skip(self, path: str, stamp: Stamp) -> bool:
        """Return whether the search of a file can be skipped, and its stamp can record that."""
        return path in self._unsearched and _mark_unsearched(stamp)[2] < UNTRUSTED


def _keep_stored(listing: SessionListing) -> SessionListing:
    """Return a listing as stored, without data that was only true when it was read."""
    return replace(listing, duration_ms=None, live=None, unreadable=None)


def find_deleted_session(ref: str, directory: Path) -> SessionListing | None:
    """Return the deleted session that was listed under an id with this prefix."""
    if len(ref) < MIN_PREFIX_LENGTH:
        return None
    known = (each for each in list_indexed(directory) if each.id.startswith(ref))
    return next((each for each in known if not is_present(each.path)), None)


def locate_indexed(ref: str, directory: Path, roots: Sequence[Path]) -> Transcript:
    """Return the only transcript below `roots` that matches `ref`, from the index in `directory`.

    Raises NothingFound if there is none and AmbiguousSession if there are several.
    """
    transcripts = [each for root in roots for each in discover_root(root).transcripts]

    def describe(some: Sequence[Transcript]) -> Iterator[SessionFacts]:
        by_path = {each.file: each for each in some}
        for each in _iter_by_activity(directory, some):
            project = each.cwd or each.project
            yield SessionFacts(by_path[each.path], each.title, project, each.activity)

    return match_session(ref, transcripts, roots, describe)


def _iter_by_activity(
    directory: Path, transcripts: Sequence[Transcript]
) -> Iterator[SessionListing]:
    """Yield the listings, most recently active first; for the first ones, few files are read."""
    newest = sorted(transcripts, key=lambda each: -each.mtime_ns)
    listings = list_current(directory, newest[:_FIRST])
    if rest := newest[_FIRST:]:
        # No session was active after its file was written.
        certain = sum(each.activity > rest[0].mtime_ns / 1e9 for each in listings)
        yield from listings[:certain]
        listings = _sort([*listings[certain:], *list_current(directory, rest)])
    yield from listings
