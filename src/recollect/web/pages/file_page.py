"""`/files` and `/file`: the files that sessions changed, the versions of one, and the diff of two.

Shows only what sessions recorded, without git. A file on disk is compared with its versions only if
pages may restore it: a path from a transcript must not open any other file. By default, a version
is compared with the one before it.
"""

import shlex
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple
from urllib.parse import urlencode

from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from recollect.documents.file_versions import VersionEntry
from recollect.documents.session_documents import ProjectRow
from recollect.errors import NothingFound, UsageError
from recollect.quantities import format_date
from recollect.redact.quick_masks import mask_in_lines, mask_path
from recollect.render.html.html_text import colour_lines
from recollect.session.times import parse_time
from recollect.versions.file_history import FileHistory
from recollect.versions.file_paths import find_modified, read_tracked
from recollect.versions.file_restore import is_partial
from recollect.versions.file_texts import decode_file, match_lines, split_lines
from recollect.versions.line_authors import Author, find_authors
from recollect.versions.replay import Version, VersionKind
from recollect.web.page_actions import find_place, name_scope
from recollect.web.pages.session_page import make_file_url, make_session_url
from recollect.web.services import Services
from recollect.web.session_endpoints import FilePath, find_within_budget
from recollect.web.template_filters import render_axis
from recollect.web.templating import PageContent
from recollect.workspace.file_queries import KnownFile, describe_version, list_files

MAX_FILES: Final = 500
_CONTEXT: Final = 3


class FilesParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters: the filters of the list of files."""

    project: str = ""
    text: str = ""


class FileParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file, and the two versions to compare."""

    path: FilePath
    a: int | None = None
    b: int | None = None
    whole: bool = False
    """Whether to show unchanged lines too."""


class FileRow(Struct, frozen=True):
    """A file in the list."""

    path: str
    link: str
    """Its page; empty if its name contains a secret."""
    known: KnownFile


class FilesPage(Struct, frozen=True, kw_only=True):
    """The recently changed files of a project."""

    project: str
    directory: str | None
    """The working directory of its sessions."""
    projects: tuple[ProjectRow, ...]
    text: str
    files: tuple[FileRow, ...]
    limit: int
    has_more: bool
    unread: int
    """Sessions that are still being read."""


def render_files_page(services: Services, wanted: FilesParameters) -> PageContent:
    """Render the files that sessions of a project changed."""
    workspace = services.workspace
    projects = {each.id: each for each in workspace.choices.projects}
    project = wanted.project or next(iter(projects), "")
    known = projects.get(project)
    found = list_files(workspace, project, wanted.text)
    if found.unread:
        workspace.outline_ahead(project)
    page = FilesPage(
        project=project,
        directory=known.path if known else None,
        projects=tuple(projects.values()),
        text=wanted.text,
        files=tuple(
            FileRow(mask_path(each.path), make_file_url(each.path), each)
            for each in found.files[:MAX_FILES]
        ),
        limit=MAX_FILES,
        has_more=len(found.files) > MAX_FILES,
        unread=found.unread,
    )
    return PageContent("files.html", page, title="files.title", section="files")


class VersionRow(Struct, frozen=True, kw_only=True):
    """A version in the list."""

    entry: VersionEntry
    mark: str
    """How certain its content is, or `outside`."""
    place: str
    """The link to the change in its session."""
    choose_a: str
    choose_b: str
    is_a: bool
    is_b: bool


class DiffRow(Struct, frozen=True, kw_only=True):
    """A row with a line on each side; a side without a number is empty."""

    kind: str
    """`same`, `changed` or `skipped`."""
    old_number: int | None = None
    old: Markup = Markup()
    new_number: int | None = None
    new: Markup = Markup()
    skipped: int = 0
    author: str = ""
    """Who wrote the line on the right, if different from the line above."""
    author_kind: str = ""
    author_title: str = ""
    author_place: str = ""


class OnDisk(Struct, frozen=True):
    """The current file on disk."""

    state: str
    """`equal` to the newest version, `earlier` if equal to another, `other` or `missing`."""
    number: int
    """The version that it is equal to, or else the newest."""


class FilePage(Struct, frozen=True, kw_only=True):
    """The versions of a file, and two of them side by side."""

    path: str
    directory: str
    name: str
    sessions: int
    versions: tuple[VersionRow, ...]
    axis: Markup
    a: int | None
    b: int
    unknown: int | None
    """A chosen version with unknown content."""
    rows: tuple[DiffRow, ...]
    is_whole: bool
    toggle: str
    """The link to the page with all lines, or with only the changed ones."""
    restore: str
    """Empty while the numbers of versions can still change."""
    unread: int
    """Sessions that are still being read."""
    reload: str
    on_disk: OnDisk | None
    """None if the page must not open the file."""
    nonce: str
    """For the Restore button; empty if pages cannot restore this version."""


class UnreadFilePage(Struct, frozen=True, kw_only=True):
    """A file without versions so far, while some sessions are still being read."""

    path: str
    unread: int
    reload: str


def render_file_page(services: Services, wanted: FileParameters) -> PageContent:
    """Render the history of a file, as far as its sessions have been read."""
    if mask_path(wanted.path) != wanted.path:
        raise NothingFound(
            "The name of this file contains a secret, so it has no page. Use `recollect file`."
        )
    found, unread = find_within_budget(services, wanted.path)
    reload = "/file?" + urlencode({"path": wanted.path})
    if found is None:
        page = UnreadFilePage(path=wanted.path, unread=unread, reload=reload)
        return PageContent("unread_file.html", page, title="file.title", section="files")
    if unread:
        return _render_history(found.history, wanted, _Frame(unread, reload))
    nonce = services.run_access.make_nonce(name_scope(wanted.path))
    frame = _Frame(unread, reload, nonce, _compare_with_disk(services, found.history))
    return _render_history(found.history, wanted, frame)


def _compare_with_disk(services: Services, history: FileHistory) -> OnDisk | None:
    """Compare the file with its versions, newest first."""
    versions = history.own[::-1]
    try:
        target = find_place(services, history.path, history.sessions)
    except UsageError:
        return None
    data = read_tracked(target)
    if not versions or (data is None and find_modified(target)):
        return None
    newest = versions[0].number
    if data is None:
        return OnDisk("missing", newest)
    content = decode_file(data)
    text = content.text if content else None
    same = next((each.number for each in versions if text is not None and each.text == text), None)
    return OnDisk(
        "other" if same is None else "equal" if same == newest else "earlier", same or newest
    )


class _Frame(NamedTuple):
    """The parts of the page around the history."""

    unread: int
    reload: str
    nonce: str = ""
    on_disk: OnDisk | None = None


def _render_history(history: FileHistory, wanted: FileParameters, frame: _Frame) -> PageContent:
    chosen = _choose(history.versions, wanted)
    versions = history.versions
    rows = tuple(_make_version(each, wanted, chosen) for each in reversed(versions))
    directory, _, name = history.path.rpartition("/")
    unknown = next((each.number for each in chosen if each and _read(each) is None), None)
    page = FilePage(
        path=history.path,
        directory=directory,
        name=name,
        sessions=len(history.sessions),
        versions=rows,
        axis=render_axis(versions, [each.number for each in chosen if each]),
        a=chosen.a.number if chosen.a else None,
        b=chosen.b.number,
        unknown=unknown,
        rows=() if unknown else tuple(_compare(chosen, versions, is_whole=wanted.whole)),
        is_whole=wanted.whole,
        toggle=_make_link(replace(wanted, whole=not wanted.whole)),
        restore=""
        if frame.unread or is_partial(chosen.b)
        else _name_command(history.path, chosen.b),
        unread=frame.unread,
        reload=frame.reload,
        on_disk=frame.on_disk,
        nonce="" if unknown else frame.nonce,
    )
    return PageContent("file.html", page, title="file.title", section="files")


def _name_command(path: str, version: Version) -> str:
    return shlex.join(["recollect", "restore", path, "--at", str(version.number)])


class _Chosen(NamedTuple):
    a: Version | None
    b: Version


def _choose(versions: Sequence[Version], wanted: FileParameters) -> _Chosen:
    by_number = {each.number: each for each in versions}
    newer = by_number.get(wanted.b or versions[-1].number)
    older = by_number.get(wanted.a) if wanted.a else None
    if newer is None or (wanted.a and older is None):
        raise NothingFound("The file has no such version.")
    if not wanted.a:
        before = [each for each in versions if each.number < newer.number]
        same = [each for each in before if each.path == newer.path]
        older = same[-1] if same else None
    return _Chosen(older, newer)


def _read(version: Version) -> str | None:
    if not version.exists:
        return ""
    # Lines are compared and have authors, so there must be exactly as many as before.
    return None if version.text is None else mask_in_lines(version.text)


def _make_link(wanted: FileParameters) -> str:
    """Return the URL of another view of the file."""
    chosen = {"a": wanted.a, "b": wanted.b, "whole": "true" if wanted.whole else None}
    given = {name: value for name, value in chosen.items() if value}
    return "/file?" + urlencode({"path": wanted.path, **given})


def _make_version(version: Version, wanted: FileParameters, chosen: _Chosen) -> VersionRow:
    number = version.number
    origin = version.origin
    is_outside = version.kind in (VersionKind.OUTSIDE, VersionKind.DELETED)
    return VersionRow(
        entry=describe_version(version),
        mark="outside" if is_outside else version.known.value,
        place=make_session_url(origin.session_id, origin.uuid),
        choose_a=_make_link(replace(wanted, a=number, b=chosen.b.number)),
        choose_b=_make_link(replace(wanted, a=None, b=number)),
        is_a=chosen.a is not None and chosen.a.number == number,
        is_b=chosen.b.number == number,
    )


def _compare(chosen: _Chosen, versions: Sequence[Version], *, is_whole: bool) -> Iterator[DiffRow]:
    old, new = (_read(chosen.a) if chosen.a else "") or "", _read(chosen.b) or ""
    earlier = [each for each in versions if each.number <= chosen.b.number]
    own = [each for each in earlier if each.path == chosen.b.path]
    authors = find_authors(own, new) if new else []
    pairs = list(_pair(split_lines(old), split_lines(new)))
    shown = set(range(len(pairs))) if is_whole else _find_shown([each.kind for each in pairs])
    sides = _Sides(chosen.b.path, old, new, authors)
    skipped = 0
    for at, pair in enumerate(pairs):
        if at not in shown:
            skipped += 1
            continue
        if skipped:
            yield DiffRow(kind="skipped", skipped=skipped)
            sides.reset()
        skipped = 0
        yield sides.make_row(pair)
    if skipped and shown:
        yield DiffRow(kind="skipped", skipped=skipped)


class _Pair(NamedTuple):
    kind: str
    old: int | None
    new: int | None


def _pair(old: list[str], new: list[str]) -> Iterator[_Pair]:
    """Pair the lines of two texts."""
    matches = [(each.old, each.new, each.length) for each in match_lines(old, new)]
    for (old_at, new_at, length), (old_next, new_next, _) in pairwise(
        [(0, 0, 0), *matches, (len(old), len(new), 0)]
    ):
        for at in range(length):
            yield _Pair("same", old_at + at, new_at + at)
        left, right = range(old_at + length, old_next), range(new_at + length, new_next)
        for at in range(max(len(left), len(right))):
            yield _Pair(
                "changed",
                left[at] if at < len(left) else None,
                right[at] if at < len(right) else None,
            )


def _find_shown(kinds: Sequence[str]) -> set[int]:
    """Return the changed rows with some context."""
    return {
        near
        for at, kind in enumerate(kinds)
        if kind == "changed"
        for near in range(max(at - _CONTEXT, 0), min(at + _CONTEXT + 1, len(kinds)))
    }


class _Sides:
    """Both texts, highlighted, and the authors of the lines on the right."""

    def __init__(self, path: str, old: str, new: str, authors: Sequence[Author]) -> None:
        # Each line is escaped already.
        self._old = [Markup(line) for line in colour_lines(old, path=path)]  # noqa: S704
        self._new = [Markup(line) for line in colour_lines(new, path=path)]  # noqa: S704
        self._authors = authors
        self._last: Author | None = None

    def reset(self) -> None:
        """Show the next author even if it is the same as the last."""
        self._last = None

    def make_row(self, pair: _Pair) -> DiffRow:
        author = self._authors[pair.new] if pair.new is not None else None
        is_new = author is not None and author != self._last
        self._last = author or self._last
        version = author.version if author and author.by == "claude" else None
        origin = version.origin if version else None
        moment = parse_time(origin.time) if origin else None
        day = format_date(moment) if moment else ""
        return DiffRow(
            kind=pair.kind,
            old_number=None if pair.old is None else pair.old + 1,
            old=Markup() if pair.old is None else self._old[pair.old],
            new_number=None if pair.new is None else pair.new + 1,
            new=Markup() if pair.new is None else self._new[pair.new],
            author_kind=author.by if author and is_new else "",
            author=f"#{origin.turn or '?'} {day}" if origin and is_new else "",
            author_title=origin.prompt if origin and is_new else "",
            author_place=make_session_url(origin.session_id, origin.uuid)
            if origin and is_new
            else "",
        )
