"""What git knows of a file: the contents that were committed, newest first.

Where there is no git or no repository, nothing is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from recollect.session.times import parse_time
from recollect.versions.evidence import Change, Window
from recollect.versions.file_texts import decode_file, fits_window
from recollect.versions.git_repository import run_git
from recollect.versions.replay import predict

_MAX_COMMITS: Final = 300


class Blob(NamedTuple):
    """A committed content of a file, and when it was committed."""

    time: datetime
    commit: str
    id: str


class GitFile:
    """One file of a repository."""

    def __init__(self, root: Path, path: Path) -> None:
        self._root = root
        self._path = path
        self._texts: dict[str, str | None] = {}

    @property
    def blobs(self) -> Sequence[Blob]:
        """The committed contents, newest first; under earlier names too."""
        return _list_blobs(self._root, self._path)

    def read(self, blob: Blob) -> str | None:
        """Return the text of a blob; None if it is not text."""
        if blob.id not in self._texts:
            data = run_git(self._root, "cat-file", "blob", blob.id)
            content = decode_file(data) if data is not None else None
            self._texts[blob.id] = content.text if content else None
        return self._texts[blob.id]

    def read_newest(self) -> bytes | None:
        """Return the bytes that were committed last."""
        return run_git(self._root, "cat-file", "blob", self.blobs[0].id) if self.blobs else None

    def find_base(self, change: Change, windows: Sequence[Window]) -> str | None:
        """Return the newest earlier content to which a change applies and that all windows fit."""
        moment = parse_time(change.origin.time)
        for blob in self.blobs:
            if moment is not None and blob.time > moment:
                continue
            text = self.read(blob)
            if text is None or predict(text, change) is None:
                continue
            if all(fits_window(text, each.start, each.lines, each.total) for each in windows):
                return text
        return None

    def find_text_before(self, time: str | None) -> str | None:
        """Return the content that was committed last before a time."""
        moment = parse_time(time)
        for blob in self.blobs:
            if moment is not None and blob.time <= moment:
                return self.read(blob)
        return None

    def find_commit_time(self, revision: str) -> datetime | None:
        """Return when a revision was committed; None if there is no such revision."""
        found = run_git(self._root, "log", "-1", "--format=%cI", "--end-of-options", revision, "--")
        return parse_time(found.decode().strip()) if found else None

    def read_revision(self, revision: str) -> str | None:
        """Return the text of the file in a revision; None if it has none."""
        name = self._path.relative_to(self._root).as_posix()
        found = run_git(
            self._root, "rev-parse", "--verify", "--end-of-options", f"{revision}:{name}"
        )
        if found is None:
            return None
        data = run_git(self._root, "cat-file", "blob", found.decode().strip())
        content = decode_file(data) if data is not None else None
        return content.text if content else None


@cache
def _list_blobs(root: Path, path: Path) -> Sequence[Blob]:
    output = run_git(
        root,
        "log",
        "--follow",
        "--no-ext-diff",
        "--no-textconv",
        "--raw",
        "--no-abbrev",
        f"--max-count={_MAX_COMMITS}",
        "--format=commit %H %cI",
        "--",
        str(path),
    )
    blobs: list[Blob] = []
    commit, moment = "", None
    for line in (output or b"").decode("utf-8", "replace").splitlines():
        words = line.split()
        if line.startswith("commit "):
            commit, moment = words[1], parse_time(words[2])
        elif line.startswith(":") and moment is not None and words[3].strip("0"):
            blobs.append(Blob(moment, commit, words[3]))
    return blobs
