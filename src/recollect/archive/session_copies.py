"""Archived sessions: listing them, finding one by name, and giving one back."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from recollect.archive.archive import Archive, Stored
from recollect.archive.manifests import FileKind, FileVersion, decode_path, iter_objects
from recollect.archive.reading import iter_checked
from recollect.archive.restoring import (
    Outcome,
    Target,
    find_target,
    parse_archived,
    refuse_conflicts,
    write_new,
)
from recollect.errors import AmbiguousSession, Candidate, NothingFound
from recollect.locations.project_names import decode_id
from recollect.sources.source import is_only_archived
from recollect.sources.stamps import is_present


class ArchivedSession(Struct, frozen=True, kw_only=True):
    """The newest versions of the files of one session."""

    id: str
    root: str
    project: str | None
    """The name of its project's directory; None if its transcript was never archived."""
    files: tuple[FileVersion, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def mtime_ns(self) -> int:
        """When the transcript, or else any file, was last modified."""
        transcripts = [file for file in self.files if file.kind is FileKind.TRANSCRIPT]
        return max(file.mtime_ns for file in transcripts or self.files)

    @property
    def is_gone(self) -> bool:
        """Whether its transcript is no longer in the Claude directory."""
        places = [locate(file) for file in self.files if file.kind is FileKind.TRANSCRIPT]
        # Where the archive is mounted, it answers for files that are gone.
        return not any(is_present(each) and not is_only_archived(each) for each in places)


def locate(version: FileVersion) -> str:
    """Return where the file was archived from."""
    return str(Path(decode_id(version.root)).joinpath(*decode_path(version.path)))


def list_sessions(stored: Stored) -> list[ArchivedSession]:
    """Return all archived sessions, most recently active first."""
    groups: dict[tuple[str, str], list[FileVersion]] = {}
    for version in stored.newest().values():
        if version.session is not None:
            groups.setdefault((version.root, version.session), []).append(version)
    sessions = [_describe(root, name, files) for (root, name), files in groups.items()]
    return sorted(sessions, key=lambda each: (-each.mtime_ns, each.id))


def find_session(sessions: Iterable[ArchivedSession], ref: str) -> ArchivedSession:
    """Return the session with this id, or whose id starts so."""
    listed = list(sessions)
    matches = [each for each in listed if each.id == ref]
    matches = matches or [each for each in listed if ref and each.id.startswith(ref)]
    if not matches:
        raise NothingFound(
            f"No archived session has the id {ref!r}. `recollect archive list` shows all of them."
        )
    if len(matches) > 1:
        raise AmbiguousSession(
            ref, [Candidate(each.id, None, each.project, each.mtime_ns / 1e9) for each in matches]
        )
    return matches[0]


def count_stored(session: ArchivedSession, sizes: Mapping[str, int]) -> int:
    """Return how many bytes the objects of a session take."""
    return sum(sizes.get(name, 0) for name in set(iter_objects(session.files)))


def restore_files(
    archive: Archive, files: Sequence[FileVersion], base: Path, *, keep_times: bool = True
) -> list[Target]:
    """Write archived files below `base`; raise UsageError if others are in the way."""
    targets = [
        find_target(base, parse_archived(file.path), iter_checked(archive.objects, file))
        for file in files
    ]
    refuse_conflicts(targets)
    for file, target in zip(files, targets, strict=True):
        if target.outcome is Outcome.RESTORED:
            content = iter_checked(archive.objects, file)
            write_new(target.path, content, file, keep_time=keep_times)
    return targets


def _describe(root: str, name: str, files: list[FileVersion]) -> ArchivedSession:
    places = (file.path.split("/") for file in files if file.path.startswith("projects/"))
    project = next((parts[1] for parts in places), None)
    ordered = tuple(sorted(files, key=lambda file: file.path))
    return ArchivedSession(id=name, root=root, project=project, files=ordered)
