"""Queries that need git: the commits of a session, the prompts behind a commit or a tree."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from recollect.documents import file_versions
from recollect.errors import NothingFound, UsageError
from recollect.library.opening import open_transcript
from recollect.redact.quick_masks import mask_path, mask_words
from recollect.versions import (
    commit_links,
    file_blame,
    file_paths,
    file_texts,
    git_repository,
    recorded_evidence,
)
from recollect.versions.session_evidence import collect_evidence
from recollect.workspace.file_queries import FileFinder, FileRequest, FoundFile

if TYPE_CHECKING:
    from recollect.workspace.workspace import Workspace

COMMITS_SCHEMA: Final = "recollect.commits/1"
WHY_SCHEMA: Final = "recollect.why/1"
TREE_SCHEMA: Final = "recollect.tree/1"


def open_repository(directory: Path) -> git_repository.Repository:
    """Return the repository around a directory that the user named."""
    root = file_paths.find_project_root(Path(os.path.realpath(directory)) / "any")
    if not file_paths.has_repository(root):
        raise NothingFound(f"{directory} is not in a git repository.")
    return git_repository.Repository(root)


def _open_recorded(directory: str) -> git_repository.Repository:
    """Return the repository around a directory that a transcript names, if it is the user's own."""
    path = Path(directory)
    root = (
        file_paths.find_project_root(path / "any")
        if path.is_absolute() and "\0" not in directory
        else None
    )
    if root is None or not file_paths.has_repository(root):
        raise NothingFound(
            f"There is no git repository in {directory or 'the directory of the session'}. "
            "Specify it with --repo DIR."
        )
    if not file_paths.is_own(root):
        raise UsageError(f"{root} belongs to another user. If you trust it, use --repo {root}.")
    return git_repository.Repository(root)


def find_commits(
    workspace: Workspace, name: str, directory: Path | None
) -> file_versions.CommitsDocument:
    """Return the commits that a session made."""
    transcript = workspace.find(name)
    session = open_transcript(transcript)
    cwd = file_paths.normalize_path(session.facts.cwds[0].value) if session.facts.cwds else ""
    repository = open_repository(directory) if directory else _open_recorded(cwd)
    evidence = collect_evidence(session, recorded_evidence.BackupDirectory(transcript.root))
    recorded = (
        file_paths.normalize_path(str(file_paths.find_project_root(Path(cwd) / "any")))
        if cwd
        else ""
    )
    is_here = not directory or os.path.realpath(recorded) == str(repository.root)
    links = commit_links.link_commits(session, evidence, repository, recorded if is_here else cwd)
    return file_versions.CommitsDocument(
        schema=COMMITS_SCHEMA,
        session=session.id,
        repository=mask_path(str(repository.root)),
        commits=tuple(map(_describe_link, links)),
    )


def _describe_link(link: commit_links.CommitLink) -> file_versions.CommitEntry:
    commit = link.commit
    return file_versions.CommitEntry(
        commit=link.id,
        how=link.kind.value,
        time=commit.time.isoformat() if commit else None,
        subject=mask_words(commit.subject) if commit else None,
        turns=link.turns,
        files=link.files,
    )


class _LineCounter:
    """Counts lines by who wrote them."""

    def __init__(self) -> None:
        self.prompts: dict[tuple[str, int | None, str | None], file_versions.PromptLines] = {}
        self.written: list[git_repository.WrittenLines] = []
        self.counts = {"claude": 0, "other": 0, "unknown": 0}

    def add_other(self, count: int) -> None:
        """Count lines that no session wrote."""
        self.counts["other"] += count

    def add(self, path: str, lines: Iterable[file_blame.AttributedLine]) -> None:
        """Count the lines of a file."""
        by_turn: dict[tuple[str, int | None, str | None], list[file_blame.AttributedLine]] = {}
        for line in lines:
            self.counts[line.author.by] += 1
            version = line.author.version
            if version is not None and line.author.by == "claude":
                origin = version.origin
                key = (origin.session_id, origin.turn, origin.model)
                by_turn.setdefault(key, []).append(line)
        for key, found in by_turn.items():
            self._add_prompt(path, key, found)

    def _add_prompt(
        self,
        path: str,
        key: tuple[str, int | None, str | None],
        lines: list[file_blame.AttributedLine],
    ) -> None:
        session, turn, model = key
        version = lines[0].author.version
        known = self.prompts.get(key)
        self.prompts[key] = file_versions.PromptLines(
            session=session,
            turn=turn,
            prompt=version.origin.prompt if version else "",
            model=model,
            time=version.origin.time if version else None,
            lines=len(lines) + (known.lines if known else 0),
            files=(*(known.files if known else ()), path),
        )
        numbers = tuple(line.number for line in lines)
        self.written.append(git_repository.WrittenLines(path, session, turn, model, numbers))

    def list_prompts(self) -> tuple[file_versions.PromptLines, ...]:
        """Return the prompts, those with the most lines first."""
        return tuple(sorted(self.prompts.values(), key=lambda each: -each.lines))


class Explanation(NamedTuple):
    """The prompts behind a commit, and the note that would record them."""

    document: file_versions.WhyDocument
    note: str
    repository: git_repository.Repository


def explain_commit(workspace: Workspace, revision: str, directory: Path) -> Explanation:
    """Return the prompts behind the lines that a commit added."""
    repository = open_repository(directory)
    commit_id = repository.find_commit(revision)
    commit = repository.read_commit(commit_id) if commit_id else None
    if commit is None:
        raise NothingFound(f"{revision!r} is not a commit in {repository.root}.")
    finder = FileFinder(workspace, FileRequest(repository.root / "any"))
    counter = _LineCounter()
    for path, _ in workspace.track_files(commit.files):
        added = repository.read_added_lines(commit.id, path)
        if added:
            _count_commit_lines(
                counter, finder.find(repository.root / path, only_near=True), commit, path, added
            )
    document = file_versions.WhyDocument(
        schema=WHY_SCHEMA,
        commit=commit.id,
        subject=mask_words(commit.subject),
        added=sum(counter.counts.values()),
        other=counter.counts["other"],
        unknown=counter.counts["unknown"],
        prompts=counter.list_prompts(),
        sessions=tuple(_iter_sessions(finder, repository, commit)),
    )
    return Explanation(document, git_repository.format_note(commit.id, counter.written), repository)


def _count_commit_lines(
    counter: _LineCounter,
    found: FoundFile | None,
    commit: git_repository.Commit,
    path: str,
    added: set[int],
) -> None:
    if found is None:
        counter.add_other(len(added))
        return
    try:
        lines = file_blame.blame_revision(found.history, found.git, commit.id)
    except NothingFound:
        # Not a text file.
        return
    counter.add(path, (line for line in lines if line.number in added))


def _iter_sessions(
    finder: FileFinder, repository: git_repository.Repository, commit: git_repository.Commit
) -> Iterator[file_versions.LinkedSession]:
    for _, outline in finder.index.find(None):
        for mention in outline.commits:
            if commit.id.startswith(mention.sha):
                yield file_versions.LinkedSession(
                    session=outline.session_id,
                    how=commit_links.LinkKind.PRINTED.value,
                    turn=mention.turn,
                )
    text = repository.read_note(commit.id)
    note = git_repository.parse_note(text) if text else None
    for agent in note.sessions if note else ():
        yield file_versions.LinkedSession(session=agent.id, how=commit_links.LinkKind.NOTE.value)
    stated = list(repository.iter_checkpoint_sessions(commit))
    for _, outline in finder.index.find(None) if stated else ():
        if any(f'"{outline.session_id}"' in text for text in stated):
            yield file_versions.LinkedSession(
                session=outline.session_id, how=commit_links.LinkKind.TRAILER.value
            )


def count_tree(workspace: Workspace, directory: Path) -> file_versions.TreeDocument:
    """Return who wrote the lines of the tracked files below a directory, and how many remain."""
    repository = open_repository(directory)
    finder = FileFinder(workspace, FileRequest(repository.root / "any"))
    known = {
        name.casefold() for _, outline in finder.index.find(None) for name in outline.list_names()
    }
    counter = _LineCounter()
    files = written = 0
    for path in workspace.track_files(repository.list_files(directory.absolute())):
        data = file_paths.read_tracked(repository.root / path)
        content = file_texts.decode_file(data) if data is not None else None
        if content is None:
            continue
        files += 1
        is_known = any(each.casefold() in known for each in _list_names(repository.root / path))
        found = finder.find(repository.root / path, only_near=True) if is_known else None
        if found is None:
            counter.add_other(len(file_texts.split_lines(content.text)))
            continue
        modified = file_paths.find_modified(repository.root / path)
        counter.add(path, file_blame.blame_current(found.history, found.git, data, modified))
        written += sum(each.added for each in found.history.own if each.change is not None)
    return file_versions.TreeDocument(
        schema=TREE_SCHEMA,
        path=mask_path(str(directory.absolute())),
        files=files,
        lines=sum(counter.counts.values()),
        other=counter.counts["other"],
        unknown=counter.counts["unknown"],
        written=max(written, counter.counts["claude"]),
        survived=counter.counts["claude"],
        prompts=counter.list_prompts(),
    )


def _list_names(path: Path) -> tuple[str, str]:
    return path.name, f"{path.parent.name}/{path.name}"
