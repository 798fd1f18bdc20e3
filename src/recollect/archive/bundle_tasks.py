"""Pack sessions into a bundle, and import the sessions of a bundle.

Packing reads every file twice, because the manifest comes first and contains the hashes. Importing
reads the bundle twice as well: nothing is written before all of it has been checked.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import structs

from recollect.archive import archive_tasks, archived_files, bundles, deleted_sessions, manifests
from recollect.documents.archive_reports import BundleReport, ImportReport
from recollect.errors import UnreadableInput, UsageError
from recollect.library.transcript_ends import find_cwd, find_session_id, find_slug
from recollect.locations import Transcript, TranscriptKind, encode_project_path
from recollect.quantities import format_utc
from recollect.sources.safe_files import open_file

_CHUNK: Final = 1 << 20
_PRIVATE: Final = "600"


class _Packed(NamedTuple):
    file: str
    entry: bundles.BundledFile


def make_bundle(
    transcripts: Sequence[Transcript],
    output: Path,
    lock: bundles.FileLock = bundles.UNLOCKED,
    redaction: bundles.RedactionReport | None = None,
) -> BundleReport:
    """Write sessions with all their files to a new bundle."""
    packed, sessions = list[_Packed](), list[bundles.BundledSession]()
    for transcript in transcripts:
        session = describe_session(transcript)
        if session in sessions:
            continue
        sessions.append(session)
        packed += [_pack(file, session.id) for file in list_session_files(transcript)]
    manifest = bundles.BundleManifest(
        created=format_utc(datetime.now(UTC)),
        sessions=tuple(sessions),
        redaction=redaction,
        files=tuple(each.entry for each in packed),
    )
    data = bundles.iter_bundle(manifest, map(_iter_packed, packed))
    bundles.write_locked(output, data, lock)
    with open_file(output) as written:
        size = written.find_status().st_size
    return BundleReport(
        path=str(output),
        sessions=[each.id for each in sessions],
        files=len(packed),
        bytes=sum(each.entry.size for each in packed),
        stored_bytes=size,
        is_encrypted=lock != bundles.UNLOCKED,
        secrets=redaction.secrets if redaction else {},
    )


def describe_session(transcript: Transcript) -> bundles.BundledSession:
    """Return the entry of a session in a bundle."""
    if transcript.root is None or transcript.kind is not TranscriptKind.SESSION:
        raise UsageError(f"{transcript.file} is not a session in a Claude directory.")
    if deleted_sessions.is_partial(transcript.file):
        raise UsageError(f"{transcript.file} is a partial session, which cannot be bundled.")
    return bundles.BundledSession(
        id=transcript.name, project=transcript.project, cwd=find_cwd(transcript.path)
    )


def list_session_files(transcript: Transcript) -> list[archived_files.ClaudeFile]:
    """Return the transcript and all other files of a session."""
    root, session = transcript.root, transcript.name
    files = archived_files.list_claude_files(root).found if root else []
    slug = find_slug(transcript.path)
    return [each for each in files if _belongs(each, transcript, session, slug)]


def _belongs(
    file: archived_files.ClaudeFile, transcript: Transcript, session: str, slug: str | None
) -> bool:
    tree, *names = file.path.split("/")
    if file.kind is manifests.FileKind.PLAN:
        return slug is not None and names == [f"{slug}.md"]
    # Two projects may contain copies of the same session.
    if tree == "projects" and names[0] != transcript.project:
        return False
    if file.session is None and file.kind is manifests.FileKind.SUBAGENT:
        return find_session_id(Path(file.file)) == session
    return file.session == session


def _pack(file: archived_files.ClaudeFile, session: str) -> _Packed:
    archived_files.parse_foreign(file.path)
    digest, size = sha256(), 0
    with open_file(file.file) as opened:
        status = opened.find_status()
        while chunk := opened.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    entry = bundles.BundledFile(
        path=file.path,
        session=session,
        kind=file.kind,
        size=size,
        mtime_ns=status.st_mtime_ns,
        mode=_PRIVATE,
        sha256=digest.hexdigest(),
    )
    return _Packed(file.file, entry)


def _iter_packed(packed: _Packed) -> Iterator[bytes]:
    """Yield the hashed bytes; more may have been appended since."""
    digest, left = sha256(), packed.entry.size
    with open_file(packed.file) as opened:
        while left and (chunk := opened.read(min(_CHUNK, left))):
            digest.update(chunk)
            left -= len(chunk)
            yield chunk
    if digest.hexdigest() != packed.entry.sha256:
        raise UnreadableInput(f"{packed.file} changed while it was being packed. Try again.")


def import_bundle(
    path: Path,
    base: Path,
    mapping: Mapping[str, str],
    *,
    dry_run: bool,
    keep_times: bool,
    identity: Path | None = None,
) -> ImportReport:
    """Check a bundle, then write its files to `base`, in the projects given by `mapping`."""
    with bundles.open_unlocked(path, identity) as opened:
        bundle = _read(opened)
        projects = map_projects(bundle.manifest.sessions, mapping)
        targets = [_check(base, projects, file, data) for file, data in bundles.iter_files(bundle)]
        archived_files.refuse_conflicts(targets)
        sessions = [session.id for session in bundle.manifest.sessions]
        if not dry_run:
            _place(_read(opened), targets, keep_times=keep_times)
    return ImportReport(
        is_dry_run=dry_run,
        directory=str(base),
        sessions=sessions,
        files=archive_tasks.list_written(targets),
    )


def _place(
    bundle: bundles.OpenBundle, targets: Sequence[archived_files.Target], *, keep_times: bool
) -> None:
    for target, (file, data) in zip(targets, bundles.iter_files(bundle), strict=True):
        if target.outcome is archived_files.Outcome.RESTORED:
            private = structs.replace(file, mode=_PRIVATE)
            archived_files.write_new(target.path, data, private, keep_time=keep_times)
        deque(data, maxlen=0)


def map_projects(
    sessions: Sequence[bundles.BundledSession], mapping: Mapping[str, str]
) -> dict[tuple[str, str], str]:
    """Return the new project directory of each session, by its id and its current one."""
    projects = {(each.id, each.project): each.project for each in sessions}
    for old, new in mapping.items():
        moved = {
            (each.id, each.project): encode_project_path(place)
            for each in sessions
            if each.cwd is not None and (place := _move(each.cwd, old, new)) is not None
        }
        if not moved:
            raise UsageError(f"No session in the bundle ran in {old}. Check --map.")
        projects.update(moved)
    return projects


def _move(cwd: str, old: str, new: str) -> str | None:
    """Return the path of a directory after it, or a parent directory, has moved."""
    old = old.rstrip("/\\")
    if cwd == old or cwd.startswith((f"{old}/", f"{old}\\")):
        return new.rstrip("/\\") + cwd[len(old) :]
    return None


def _check(
    base: Path,
    projects: Mapping[tuple[str, str], str],
    file: bundles.BundledFile,
    content: Iterator[bytes],
) -> archived_files.Target:
    """Plan where to write a file; reads its whole content to verify the hash."""
    tree, *rest = archived_files.parse_foreign(file.path)
    if tree == "projects":
        project = projects[file.session, file.path.split("/")[1]]
        rest[0] = manifests.decode_path(project)[0]
    target = archived_files.find_target(base, (tree, *rest), content)
    deque(content, maxlen=0)
    return target


def _read(file: bundles.ReadableFile) -> bundles.OpenBundle:
    size = bundles.count_bytes(file)
    return bundles.open_bundle(file, size)
