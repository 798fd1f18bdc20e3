"""Which project directories belong together: worktrees of one repository, and folders that moved.

Only what transcripts say is used, because the folders may be gone and their paths are untrusted: a
worktree that Claude Code made lies below `.claude/worktrees`; a folder was moved if a session is
found in two project directories, or if none of its records names the folder that its directory is
named after.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from recollect.documents.session_listing import SessionListing
from recollect.locations.project_names import encode_project_path, encode_without_limit

WORKTREES: Final = "--claude-worktrees-"
"""`/.claude/worktrees/`, as it is encoded in the name of a project directory."""


class ProjectMembers(Struct, frozen=True, kw_only=True):
    """Project directories that belong together."""

    main: str
    """The directory that the others are worktrees or former places of."""
    path: str | None
    projects: tuple[str, ...]
    """All of them, the main one first."""
    worktrees: int
    listings: tuple[SessionListing, ...]


def group_projects(listings: Iterable[SessionListing]) -> list[ProjectMembers]:
    """Group sessions by project, in the order in which projects occur first."""
    by_project: defaultdict[str, list[SessionListing]] = defaultdict(list)
    for each in listings:
        if not each.is_subagent:
            by_project[each.project].append(each)
    owners = _unite(by_project)
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for project in by_project:
        groups[owners[project]].append(project)
    return [_describe(members, by_project) for members in groups.values()]


def is_named_after(project: str, path: str) -> bool:
    """Return whether a project directory is named after a work directory."""
    return project in (encode_project_path(path), encode_without_limit(path))


def _unite(by_project: Mapping[str, Sequence[SessionListing]]) -> dict[str, str]:
    """Return a representative for each project; the same for those that belong together."""
    owners = {project: project for project in by_project}

    def find(project: str) -> str:
        while owners[project] != project:
            project = owners[project]
        return project

    for one, other in _find_links(by_project):
        if one in owners and other in owners:
            owners[find(one)] = find(other)
    return {project: find(project) for project in owners}


def _find_links(
    by_project: Mapping[str, Sequence[SessionListing]],
) -> Iterable[tuple[str, str]]:
    seen: dict[str, str] = {}
    for project, listings in by_project.items():
        if WORKTREES in project:
            yield project, project.partition(WORKTREES)[0]
        for each in listings:
            if each.id in seen:
                yield project, seen[each.id]
            seen[each.id] = project
            if each.cwd and not is_named_after(project, each.cwd):
                yield project, encode_project_path(each.cwd)


def _describe(
    members: Sequence[str], by_project: Mapping[str, Sequence[SessionListing]]
) -> ProjectMembers:
    folders = [each for each in members if WORKTREES not in each] or list(members)
    main = max(folders, key=lambda each: max(one.activity for one in by_project[each]))
    listings = [each for project in members for each in by_project[project]]
    return ProjectMembers(
        main=main,
        path=_find_path(by_project[main]),
        projects=(main, *(each for each in members if each != main)),
        worktrees=len(members) - len(folders),
        listings=tuple(listings),
    )


def _find_path(listings: Iterable[SessionListing]) -> str | None:
    places = Counter(each.cwd for each in listings if each.cwd)
    return next((place for place, _ in places.most_common(1)), None)
