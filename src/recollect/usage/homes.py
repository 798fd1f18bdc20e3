"""Which work directory a project is: a session may wander, its project does not.

The home is the directory whose encoded form is the name of the project's directory below
`projects/`. Several directories may share one encoded form, so a file is asked first, then its
neighbours; a project that no record leads back to goes by the place where most was written.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct

from recollect.locations.names import encode_project_path, encode_without_limit


class Stay(Struct, frozen=True):
    """How many messages of a file were written in a work directory."""

    file_id: int
    cwd: str
    messages: int


def find_homes(projects: Mapping[int, str], stays: Collection[Stay]) -> dict[int, str]:
    """The home of each file; `projects` are the names of their projects' directories."""
    encoded = {cwd: _encode(cwd) for cwd in {stay.cwd for stay in stays}}
    true = [stay for stay in stays if projects[stay.file_id] in encoded[stay.cwd]]
    by_file = _most_used((stay.file_id, stay) for stay in true)
    by_project = _most_used((projects[stay.file_id], stay) for stay in true)
    by_use = _most_used((projects[stay.file_id], stay) for stay in stays)
    return {
        file_id: by_file.get(file_id) or by_project.get(project) or by_use.get(project) or project
        for file_id, project in projects.items()
    }


def _encode(cwd: str) -> tuple[str, str]:
    return encode_project_path(cwd), encode_without_limit(cwd)


def _most_used(keyed: Iterable[tuple[int | str, Stay]]) -> dict[int | str, str]:
    used: Counter[tuple[int | str, str]] = Counter()
    for key, stay in keyed:
        used[key, stay.cwd] += stay.messages
    # Rising by use, and by name among equals, so that the last one wins whatever the order was.
    ranked = sorted(used.items(), key=lambda item: (item[1], item[0][1]))
    return {key: cwd for (key, cwd), _ in ranked}
