"""What a list can be narrowed to: the projects, branches and models that there are.

Found once for each state of the shelf, since every page of a list shows them.
"""

from collections import Counter, defaultdict

from msgspec import Struct

from recollect.store.listings import Listing
from recollect.web.shelf import Known


class ProjectRow(Struct, frozen=True, kw_only=True):
    """A work directory, and what was done in it."""

    id: str
    """Name of its directory below `projects/`."""
    path: str | None
    """The work directory that most of its sessions name."""
    sessions: int
    bytes: int
    last_active: float
    """In seconds since 1970."""
    branches: list[str]


class Choices(Struct, frozen=True, kw_only=True):
    """All that sessions can be chosen by, subagents left out."""

    sessions: int
    projects: tuple[ProjectRow, ...]
    branches: tuple[str, ...]
    models: tuple[str, ...]


class ChoiceKeeper:
    """The choices of the last state that was asked for."""

    def __init__(self) -> None:
        self._kept: tuple[int, Choices] | None = None

    def find(self, known: Known) -> Choices:
        """The choices of a state."""
        kept = self._kept
        if kept is None or kept[0] != known.version:
            kept = self._kept = (known.version, _find(known))
        return kept[1]


def _find(known: Known) -> Choices:
    own = [each for each in known.sessions if not each.is_subagent]
    return Choices(
        sessions=len(own),
        projects=tuple(_describe_projects(known)),
        branches=tuple(sorted({each.git_branch for each in own if each.git_branch})),
        models=tuple(sorted({model for each in own for model in each.models})),
    )


def _describe_projects(known: Known) -> list[ProjectRow]:
    """The projects of all sessions, the most recently active first."""
    members: defaultdict[str, list[Listing]] = defaultdict(list)
    for each in known.sessions:
        if not each.is_subagent:
            members[each.project].append(each)
    return [_describe(name, listings) for name, listings in members.items()]


def _describe(name: str, listings: list[Listing]) -> ProjectRow:
    places = Counter(each.cwd for each in listings if each.cwd)
    return ProjectRow(
        id=name,
        path=next((place for place, _ in places.most_common(1)), None),
        sessions=len(listings),
        bytes=sum(each.size for each in listings),
        last_active=max(each.activity for each in listings),
        branches=sorted({each.git_branch for each in listings if each.git_branch}),
    )
