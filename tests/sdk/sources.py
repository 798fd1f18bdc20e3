"""The transcripts that both readers are asked about, as roots that both understand.

Knows three sources: what real clients wrote, samples from elsewhere, and our own small transcripts.
The official reader takes a file for a session only if its name is a UUID, so the others get one.
"""

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import NAMESPACE_OID, UUID, uuid5

from recollect.locations import encode_project_path


def iter_recorded_roots(shared: Path) -> Iterator[Path]:
    """Yield the directories that real clients of five versions wrote to."""
    return iter(sorted(shared.glob("real_cli/*/config*")))


def list_samples(shared: Path) -> list[Path]:
    """Return sessions from elsewhere, without streams and subagents."""
    found = sorted((shared / "corpus").rglob("*.jsonl"))
    return [
        path for path in found if "_stream" not in path.parts and not path.name.startswith("agent-")
    ]


@contextmanager
def lay_out(paths: Iterable[Path], base: Path) -> Iterator[Path]:
    """Return a root with copies of `paths`, one project for each directory below `base`."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for path in paths:
            place = path.relative_to(base)
            project = root / "projects" / encode_project_path(f"/{place.parent.as_posix()}")
            project.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, project / f"{_name_session(place)}.jsonl")
        yield root


def _name_session(place: Path) -> str:
    try:
        return str(UUID(place.stem))
    except ValueError:
        return str(uuid5(NAMESPACE_OID, place.as_posix()))
