"""Writing a version back: nothing is lost when that fails."""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from recollect.errors import RecollectError, UsageError
from recollect.versions.evidence import Origin
from recollect.versions.file_restore import RestorePlan, find_target, plan_restore, write_restored
from recollect.versions.replay import Grade, Version, VersionKind


def _version(text: str | None, known: Grade = Grade.EXACT) -> Version:
    return Version(
        number=1,
        path="/p/a.txt",
        kind=VersionKind.SEEN,
        known=known,
        origin=Origin(session_id="s"),
        text=text,
    )


@contextmanager
def full_disk() -> Iterator[None]:
    """Files cannot grow beyond 100 bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


SMALL, LARGE = "small\n", "large\n" * 100


@pytest.mark.parametrize(("present", "wanted"), [(SMALL, LARGE), (LARGE, SMALL)])
def test_a_full_disk_loses_nothing(tmp_path: Path, present: str, wanted: str) -> None:
    """If the new content or the copy of the current one does not fit, the file is unchanged."""
    target = tmp_path / "a.txt"
    target.write_text(present)
    plan = plan_restore(_version(wanted), target)
    with full_disk(), pytest.raises(RecollectError, match="Nothing was changed"):
        write_restored(plan)
    assert target.read_text() == present
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    """Only the content that was shown is replaced."""
    target = tmp_path / "a.txt"
    target.write_bytes(b"seen")
    plan = plan_restore(_version("old\n"), target)
    target.write_bytes(b"changed")
    with pytest.raises(UsageError, match="in the meantime"):
        write_restored(plan)
    assert target.read_bytes() == b"changed"


def test_copies_never_replace_each_other(tmp_path: Path) -> None:
    """Each restore keeps what it replaces under a name of its own."""
    target = tmp_path / "a.txt"
    names = []
    for number in range(3):
        target.write_bytes(b"present %d" % number)
        copy = write_restored(plan_restore(_version("old\n"), target))
        assert copy is not None
        assert copy.read_bytes() == b"present %d" % number
        names.append(copy.name)
    assert names == [f"a.txt.before-restore{suffix}" for suffix in ("", "-2", "-3")]


@pytest.mark.parametrize(
    "version",
    [_version(None, Grade.PARTIAL), _version("a\ufffdb\n")],
    ids=["partial", "lost characters"],
)
def test_damaged_versions_are_refused(tmp_path: Path, version: Version) -> None:
    """Partial versions, or versions with lost characters, are never written."""
    with pytest.raises(UsageError):
        plan_restore(version, tmp_path / "a.txt")


def test_the_form_comes_from_the_file_or_from_git(tmp_path: Path) -> None:
    """Without a backup, the current file determines the encoding, or else the committed one."""
    target = tmp_path / "a.txt"
    committed = b"\xef\xbb\xbfx\r\n"
    assert plan_restore(_version("a\n"), target, None, committed).data == b"\xef\xbb\xbfa\r\n"
    target.write_bytes(b"x\r\ny\r\n")
    assert plan_restore(_version("a\n"), target, None, b"x\n").data == b"a\r\n"


def test_an_executable_file_stays_one(tmp_path: Path) -> None:
    """Permissions are those of the file that is replaced."""
    target = tmp_path / "run.sh"
    target.write_bytes(b"x")
    target.chmod(0o750)
    write_restored(RestorePlan(target, b"new", b"x", Grade.EXACT))
    assert target.stat().st_mode & 0o777 == 0o750


@pytest.mark.parametrize(
    "recorded",
    ["/p", "/other/a", "/p/../other/a", "/p/.GIT/config", "/p/a\0b", "/p/COM1.txt", "/p/dir"],
)
def test_places_outside_are_refused(tmp_path: Path, recorded: str) -> None:
    """Only regular files inside the project can be restored."""
    (tmp_path / "dir").mkdir()
    assert find_target(recorded, "/p", tmp_path) is None


def test_places_inside_are_found(tmp_path: Path) -> None:
    """A file has the same relative path below another directory."""
    assert find_target("/p/src/a.py", "/p", tmp_path) == tmp_path / "src" / "a.py"


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """On a read-only file system, the message names the file and says that nothing changed."""
    if not Path("/proc/self").is_dir():
        pytest.skip("no file system here is read-only for everybody")
    target = Path("/proc/recollect-restored.txt")
    with pytest.raises(RecollectError, match=r"recollect-restored\.txt.*Nothing was changed"):
        write_restored(plan_restore(_version("text\n"), target))


_KILLED = """
import os, signal, sys
from pathlib import Path
from recollect.versions.evidence import Origin
from recollect.versions.file_restore import plan_restore, write_restored
from recollect.versions.replay import Grade, Version, VersionKind

directory = Path(sys.argv[1])
version = Version(number=1, path="/p/a.txt", kind=VersionKind.SEEN, known=Grade.EXACT,
                  origin=Origin(session_id="s"), text="restored\\n" * 5000)
for step in range(1000):
    place = directory / str(step)
    place.mkdir()
    (place / "a.txt").write_bytes(b"mine")
    pid = os.fork()
    if not pid:
        plan = plan_restore(version, place / "a.txt")
        left = [step]
        def count(event, arguments):
            if event.startswith(("open", "os.", "shutil.", "tempfile.")):
                left[0] -= 1
                if left[0] < 0:
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(count)
        write_restored(plan)
        os._exit(0)
    if os.waitpid(pid, 0)[1] == 0:
        break
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot copy processes")
def test_a_kill_at_any_point_loses_nothing(tmp_path: Path) -> None:
    """The file is unchanged, or restored with a copy of the previous content; never half of it."""
    subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path)], check=True)
    places = sorted(tmp_path.iterdir(), key=lambda each: int(each.name))
    restored = b"restored\n" * 5000
    assert len(places) > 3
    for place in places:
        now = (place / "a.txt").read_bytes()
        copies = [each.read_bytes() for each in place.glob("a.txt.before-restore*")]
        assert now == b"mine" or (now == restored and b"mine" in copies)
    assert (places[-1] / "a.txt").read_bytes() == restored
