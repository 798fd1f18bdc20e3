"""Find transcripts by working directory, and the one transcript that a session reference means.

A path may have several names below `projects/`, and several paths share one name. Names alone are
not enough (collisions, hashes that differ between builds, renamed directories), and neither are
records (some transcripts have no working directory in them), so the caller's `cwd_of` supplies the
working directory that a transcript records.

References are ids, prefixes of ids, titles and counting back from the newest, over transcripts that
were found; whether facts come from the files or the index is the caller's choice. A name is
compared and never becomes part of a path, so `../x` finds nothing; only `locate_file` takes paths,
and a server must not pass it what a browser sent.
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, islice
from pathlib import Path, PureWindowsPath
from typing import Final, NamedTuple

from recollect.errors import AmbiguousSession, Candidate, NothingFound, UnreadableInput
from recollect.locations import Transcript, claude_directories
from recollect.locations.discovery import discover
from recollect.locations.transcript_files import TranscriptKind
from recollect.quantities import format_count
from recollect.sources.safe_files import is_directory, resolve_links

CwdOf = Callable[[Path], str | None]


class WorkDirectory(NamedTuple):
    """A working directory in every spelling that Claude Code may have recorded."""

    spellings: tuple[str, ...]

    def is_named(self, directory_name: str) -> bool:
        """Return whether a project directory's name is certainly made from this path."""
        return any(
            directory_name in claude_directories.list_project_names(path) for path in self.spellings
        )

    def may_be_named(self, directory_name: str) -> bool:
        """Return whether the name matches except for its hash, which builds compute differently."""
        return any(
            len(name) > claude_directories.PROJECT_NAME_LIMIT
            and directory_name.startswith(f"{name[: claude_directories.PROJECT_NAME_LIMIT]}-")
            for name in map(claude_directories.encode_without_limit, self.spellings)
        )

    def is_at(self, recorded: str) -> bool:
        """Return whether a recorded path is this directory."""
        return any(_is_same_path(path, recorded) for path in self.spellings)

    def collides_with(self, recorded: str) -> bool:
        """Return whether a recorded path is another directory with the same encoded name."""
        return not self.is_at(recorded) and any(
            _short_name(path) == _short_name(recorded) for path in self.spellings
        )


def work_directory(cwd: str) -> WorkDirectory:
    """Return a working directory as given and, if this system can resolve it, without links."""
    trimmed = cwd.rstrip("/\\") or cwd
    # A path of another system is relative here and must not be joined to our own directory.
    real = os.path.realpath(trimmed) if Path(trimmed).is_absolute() else trimmed
    return WorkDirectory(tuple(dict.fromkeys((real, trimmed))))


def select_transcripts(
    transcripts: Iterable[Transcript], cwd: str, cwd_of: CwdOf
) -> tuple[Transcript, ...]:
    """Return the transcripts that belong to a working directory, ordered by directory.

    In a directory of the right name, a transcript is dropped only if it records a different path
    that shares the name: one without a path, or from a subdirectory or a moved directory, stays. In
    any other directory it has to record exactly this path.
    """
    wanted = work_directory(cwd)
    by_directory = groupby(
        sorted(transcripts, key=lambda found: found.project_dir), lambda found: found.project_dir
    )
    return tuple(
        transcript
        for directory, group in by_directory
        for transcript in _select_in(directory.name, tuple(group), wanted, cwd_of)
    )


def _select_in(
    name: str, transcripts: tuple[Transcript, ...], wanted: WorkDirectory, cwd_of: CwdOf
) -> Iterable[Transcript]:
    recorded = [(transcript, cwd_of(transcript.path)) for transcript in transcripts]
    exact = [transcript for transcript, cwd in recorded if cwd is not None and wanted.is_at(cwd)]
    if wanted.is_named(name) or (exact and wanted.may_be_named(name)):
        return [
            transcript
            for transcript, cwd in recorded
            if cwd is None or not wanted.collides_with(cwd)
        ]
    return exact


def _short_name(path: str) -> str:
    # Without the hash: two long paths with the same start may share one name as well.
    return claude_directories.encode_without_limit(path)[: claude_directories.PROJECT_NAME_LIMIT]


def _is_same_path(one: str, other: str) -> bool:
    if one == other:
        return True
    windows = (PureWindowsPath(one), PureWindowsPath(other))
    # Windows ignores case and accepts either slash; editors pass `c:` where a shell has `C:`.
    return all(path.drive for path in windows) and windows[0] == windows[1]


MIN_PREFIX_LENGTH: Final = 4
"""Minimum length of an id prefix."""

LATEST: Final = "latest"

_COUNT_BACK: Final = re.compile(r"-([1-9][0-9]{0,8})")


class SessionFacts(NamedTuple):
    """A transcript with a session, and what the session is known by."""

    transcript: Transcript
    title: str | None
    project: str
    """Its working directory, or else the name of its directory below `projects`."""
    active: float
    """When it was last active, as a Unix timestamp."""


ReadFacts = Callable[[Sequence[Transcript]], Iterable[SessionFacts]]
"""Returns facts about transcripts with a session, most recently active first.

May be called for only a few of them, and is not called if an id is enough.
"""


def looks_like_file(ref: str) -> bool:
    """Return whether `ref` is the path of an existing transcript, not the name of a session."""
    if not ref.endswith(claude_directories.TRANSCRIPT_SUFFIX):
        return False
    try:
        resolve_links(Path(ref))
    except (OSError, ValueError):
        # It does not exist, or cannot be a file name.
        return False
    return True


def locate_file(path: Path) -> Transcript:
    """Return the transcript at `path`; raises NothingFound or UnreadableInput if there is none."""
    if is_directory(path):
        raise UnreadableInput(f"{path} is a directory. Specify one of the .jsonl files in it.")
    return discover(path).transcripts[0]


def counts_back(ref: str) -> bool:
    """Return whether `ref` is `-1`, `-2` and so on, which may look like an option."""
    return _COUNT_BACK.fullmatch(ref) is not None


def match_session(
    ref: str, transcripts: Sequence[Transcript], places: Sequence[Path], read_facts: ReadFacts
) -> Transcript:
    """Return the transcript that `ref` names; it is never used as a path.

    Raises NothingFound if there is none and AmbiguousSession if there are several.
    """
    back = 1 if ref == LATEST else _read_count(ref)
    if back is not None:
        return _find_nth(back, transcripts, places, read_facts)
    for match in (_match_id, _match_agent, _match_prefix, _match_title):
        if found := match(ref, transcripts, read_facts):
            return _require_one(ref, found, read_facts)
    raise NothingFound(
        f"No session matches {ref!r}. Looked for an id, the start of one (at least "
        f"{MIN_PREFIX_LENGTH} characters), a subagent and titles in{_name_places(places)}\n"
        f"{_explain_file(ref)}"
    )


def _explain_file(ref: str) -> str:
    if ref.endswith(claude_directories.TRANSCRIPT_SUFFIX):
        return f"There is no such file, either: {ref}"
    return (
        f"To open a file, use a path that ends in {claude_directories.TRANSCRIPT_SUFFIX}; "
        "to search what was said, use `recollect search`."
    )


def _read_count(ref: str) -> int | None:
    counted = _COUNT_BACK.fullmatch(ref)
    return int(counted[1]) if counted else None


def _find_nth(
    back: int, transcripts: Sequence[Transcript], places: Sequence[Path], read_facts: ReadFacts
) -> Transcript:
    newest = list(islice(read_facts(_sessions(transcripts)), back))
    if len(newest) < back:
        count = format_count(len(newest), "session")
        raise NothingFound(f"Found only {count} in{_name_places(places)}")
    return newest[-1].transcript


def _match_id(ref: str, transcripts: Sequence[Transcript], _: ReadFacts) -> list[Transcript]:
    # As listed, or as the file is called.
    wanted = {ref, claude_directories.encode_id(ref)}
    return [each for each in _sessions(transcripts) if each.name in wanted]


def _match_agent(ref: str, transcripts: Sequence[Transcript], _: ReadFacts) -> list[Transcript]:
    agents = (each for each in transcripts if each.kind is not TranscriptKind.SESSION)
    return [each for each in agents if ref in (each.agent_id, each.name)]


def _match_prefix(
    ref: str, transcripts: Sequence[Transcript], read_facts: ReadFacts
) -> list[Transcript]:
    if len(ref) < MIN_PREFIX_LENGTH:
        return []
    found = [each for each in _sessions(transcripts) if each.name.startswith(ref)]
    if not found:
        return [each for each in transcripts if (each.agent_id or "").startswith(ref)]
    # Clients leave empty files behind under ids that nobody has ever seen.
    real = [each.transcript for each in read_facts(found)] if len(found) > 1 else found
    return real or found


def _match_title(
    ref: str, transcripts: Sequence[Transcript], read_facts: ReadFacts
) -> list[Transcript]:
    """Return the sessions with that title, or part of a title, or words of one, the best first."""
    wanted = " ".join(ref.split()).casefold()
    titled = [
        (each.transcript, " ".join(each.title.split()).casefold())
        for each in read_facts(_sessions(transcripts))
        if each.title
    ]
    words = wanted.split()
    tests: tuple[Callable[[str], bool], ...] = (
        lambda title: title == wanted,
        lambda title: wanted in title,
        lambda title: all(word in title for word in words),
    )
    for matches in tests:
        if words and (found := [each for each in titled if matches(each[1])]):
            found.sort(key=lambda each: -_count_whole(words, each[1]))
            return [transcript for transcript, _ in found]
    return []


def _count_whole(words: Sequence[str], title: str) -> int:
    """Return how many of the words are whole words of a title, not parts of longer ones."""
    whole = set(re.findall(r"\w+", title))
    return sum(word in whole for word in words)


def _sessions(transcripts: Iterable[Transcript]) -> list[Transcript]:
    return [each for each in transcripts if each.kind is TranscriptKind.SESSION]


def _require_one(ref: str, found: Sequence[Transcript], read_facts: ReadFacts) -> Transcript:
    if len(found) == 1:
        return found[0]
    facts = {each.transcript.file: each for each in read_facts(found)}
    names = [each.name for each in found]
    # One id in two projects: only the path distinguishes them.
    shown = names if len(set(names)) == len(names) else [each.file for each in found]
    raise AmbiguousSession(
        ref,
        [_describe(name, facts.get(each.file)) for name, each in zip(shown, found, strict=True)],
    )


def _describe(name: str, facts: SessionFacts | None) -> Candidate:
    return Candidate(name, facts.title, facts.project, facts.active) if facts else Candidate(name)


def _name_places(places: Iterable[Path]) -> str:
    return "".join(f"\n  {place / claude_directories.PROJECTS_DIRECTORY}" for place in places)
