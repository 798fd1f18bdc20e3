"""Files that Claude Code deleted are read from the archive as if they still existed."""

import os
import pickle
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.archive.archive_source import ArchiveSource, mount_archive
from recollect.archive.archive_sync import identify_root
from recollect.archive.archive_tasks import forget_session
from recollect.locations import Transcript, discover_root
from recollect.sources.safe_files import open_file
from recollect.sources.source import list_mounts, unmount
from tests.archive.trees import LINE, OTHER, PROJECT, SESSION, SIDECARS, TRANSCRIPT, ArchivedRoot
from tests.cli.demo_home import make_demo_home, run_at
from tests.process import RunRecollect

DEMO = "94791a87-9d13-410a-a632-25a9b25c1b45"
COMMANDS = (
    ("show", DEMO),
    ("show", "7aa5fa93", "--subagents"),
    ("search", "--wait", "tide"),
    ("search", "--wait", "is:subagent"),
    ("usage",),
    ("usage", "session"),
    ("usage", "model"),
    ("tools",),
    ("files", DEMO),
    # Last, since a list shows more once everything has been read for other answers.
    ("list", "-n", "0"),
    ("list", "--tree"),
)


@pytest.fixture
def mounts() -> Iterator[None]:
    """Unmount what a test mounts."""
    yield
    for point in list_mounts():
        unmount(point)


def find_all(archived: ArchivedRoot) -> tuple[Transcript, ...]:
    """Return the transcripts of a Claude directory, without what a deleted file cannot have."""
    return tuple(each._replace(device=0) for each in discover_root(archived.root).transcripts)


def test_deleted_files_are_found_and_read(archived: ArchivedRoot, mounts: None) -> None:
    """Under their names, with their sizes, times and bytes."""
    archived.write_session()
    archived.sync()
    before = find_all(archived)
    mount_archive(archived.archive, [archived.root])
    assert find_all(archived) == before
    shutil.rmtree(archived.root)
    assert find_all(archived) == before
    for path, data in SIDECARS.items():
        with open_file(archived.root / path) as file:
            assert (file.read(), file.find_status().st_size) == (data, len(data))


def test_what_is_on_disk_wins(archived: ArchivedRoot, mounts: None) -> None:
    """Only missing files are read from the archive."""
    archived.write_session()
    archived.sync()
    archived.write(TRANSCRIPT, b"newer\n")
    (archived.root / PROJECT / SESSION / "tool-results" / "b1.txt").unlink()
    mount_archive(archived.archive, [archived.root])
    with open_file(archived.root / TRANSCRIPT) as file:
        assert file.read() == b"newer\n"
    with open_file(archived.root / PROJECT / SESSION / "tool-results" / "b1.txt") as file:
        assert file.read() == b"output\n" * 900


def test_a_moved_session_is_not_listed_twice(archived: ArchivedRoot, mounts: None) -> None:
    """Its previous path is not a deleted session."""
    archived.write_session()
    archived.sync()
    (archived.root / PROJECT).rename(archived.root / "projects" / "-elsewhere")
    archived.sync()
    mount_archive(archived.archive, [archived.root])
    assert {each.project for each in discover_root(archived.root).transcripts} == {"-elsewhere"}


def test_links_stay_links(archived: ArchivedRoot, tmp_path: Path, mounts: None) -> None:
    """A link to outside the Claude directory is refused as without an archive."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.jsonl").write_bytes(LINE)
    archived.write(TRANSCRIPT, LINE)
    (archived.root / "projects" / "linked").symlink_to(outside)
    archived.sync()
    before = discover_root(archived.root)
    mount_archive(archived.archive, [archived.root])
    assert discover_root(archived.root) == before
    assert [each.path.name for each in before.refused] == ["linked"]


def test_it_reaches_other_processes(archived: ArchivedRoot) -> None:
    """A copy of the source reads the same files."""
    archived.write(TRANSCRIPT, LINE)
    archived.sync()
    (archived.root / TRANSCRIPT).unlink()
    source = ArchiveSource(archived.archive, str(archived.root), identify_root(archived.root))
    copy = pickle.loads(pickle.dumps(source))
    with copy.open(str(archived.root / TRANSCRIPT)) as file:
        assert file.read() == LINE
    with pytest.raises(FileNotFoundError):
        copy.open(str(archived.root / "projects" / "never.jsonl"))


@given(
    cuts=st.lists(st.integers(0, 5000), max_size=4),
    reads=st.lists(st.tuples(st.integers(0, 5500), st.integers(0, 3000)), max_size=8),
)
def test_reading_from_any_offset(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], reads: list[tuple[int, int]]
) -> None:
    """However many pieces a file consists of, it reads like the file."""
    archived, data = ArchivedRoot(tmp_path_factory.mktemp("pond")), os.urandom(5000)
    for number, size in enumerate([*sorted(cuts), len(data)]):
        archived.write(TRANSCRIPT, data[:size], mtime=1_700_000_000 + number)
        archived.sync()
    (archived.root / TRANSCRIPT).unlink()
    source = ArchiveSource(archived.archive, str(archived.root), identify_root(archived.root))
    with source.open(str(archived.root / TRANSCRIPT)) as file:
        for offset, count in reads:
            assert file.seek(offset) == offset
            part = b""
            while len(part) < count and (more := file.read(count - len(part))):
                part += more
            assert part == data[offset : offset + count]
        file.seek(0)
        assert file.read() == data


@pytest.mark.slow
def test_every_answer_is_the_same_after_the_sources_vanish(run_recollect: RunRecollect) -> None:
    """Lists, sessions, searches and figures, with the previous index and with a new one."""
    home = make_demo_home()
    run_at(run_recollect, 80, "archive", "enable", "--yes")
    run_at(run_recollect, 80, "archive", "sync")

    def ask_all() -> list[str]:
        answers = [run_at(run_recollect, 80, *words, "--json") for words in COMMANDS]
        assert [each.code for each in answers] == [0] * len(COMMANDS), answers
        return [each.stdout for each in answers]

    before = ask_all()
    shutil.rmtree(home / ".claude" / "projects")
    after = ask_all()
    assert ['"is_archived": true' in each for each in after[-2:]] == [True, True]
    assert list(map(drop_marks, after)) == list(map(drop_marks, before))
    shutil.rmtree(home / ".claude")
    (home / ".claude").mkdir()
    for path in (home / ".local" / "share" / "recollect").glob("*.db*"):
        path.unlink()
    shutil.rmtree(home / ".local" / "share" / "recollect" / "text", ignore_errors=True)
    assert ask_all() == after


def drop_marks(answer: str) -> str:
    """Return a result without the fields of lists about deletion."""
    return re.sub(r'"(is_archived|expires)": [^,\n]*', r'"\1"', answer)


def test_changes_of_the_archive_are_seen(archived: ArchivedRoot, mounts: None) -> None:
    """A server sees the current archive, also if it is created or changed after the start."""
    shutil.rmtree(archived.archive.directory)
    mount_archive(archived.archive.reopen(), [archived.root])
    archived.write(TRANSCRIPT, LINE)
    archived.enable()
    archived.sync()
    (archived.root / TRANSCRIPT).unlink()
    assert [each.path.stem for each in find_all(archived)] == [SESSION]
    other = archived.write(f"{PROJECT}/{OTHER}.jsonl", LINE)
    archived.sync()
    other.unlink()
    assert [each.path.stem for each in find_all(archived)] == [SESSION, OTHER]
    forget_session(archived.archive, SESSION, dry_run=False)
    assert [each.path.stem for each in find_all(archived)] == [OTHER]
