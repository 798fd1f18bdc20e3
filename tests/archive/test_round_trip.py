"""Archive, delete the source, restore: every byte, permission and time is the same."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.archive.archive_sync import sync_archive
from recollect.demo import CLAUDE_DIRECTORY
from tests.archive.trees import ArchivedRoot, read_facts
from tests.odd_names import write_odd_root

ARCHIVED = ("projects", "todos", "tasks", "plans", "file-history", "history.jsonl")
VERSIONS = ("1.0.35", "1.0.128", "2.0.77", "2.1.112", "2.1.325")


def check_round_trip(archived: ArchivedRoot, target: Path) -> None:
    """Archive everything twice, delete it, restore it, and compare."""
    before = {
        path: facts
        for path, facts in read_facts(archived.root).items()
        if Path(path).parts[0] in ARCHIVED
    }
    report = archived.sync()
    assert (report.files, report.added, report.is_complete) == (len(before), len(before), True)
    again = archived.sync()
    assert (again.added, again.grown, again.rewritten, again.bytes_stored) == (0, 0, 0, 0)
    shutil.rmtree(archived.root)
    assert before
    assert archived.restore_all(target) == before


def test_a_session_with_all_its_files(archived: ArchivedRoot, tmp_path: Path) -> None:
    """Transcript, subagents, results, workflows, lists, plan, saved files and typed prompts."""
    archived.write_session()
    (archived.root / "history.jsonl").chmod(0o644)
    check_round_trip(archived, tmp_path / "restored")


def test_odd_names(archived: ArchivedRoot, tmp_path: Path) -> None:
    """Names that are not UTF-8, contain control characters or have the maximum length."""
    write_odd_root(archived.root)
    check_round_trip(archived, tmp_path / "restored")


def test_the_demo_sessions(archived: ArchivedRoot, tmp_path: Path) -> None:
    """Sessions with everything that Recollect can show."""
    shutil.copytree(CLAUDE_DIRECTORY, archived.root, dirs_exist_ok=True)
    check_round_trip(archived, tmp_path / "restored")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("config", ["config", "config_tui"])
def test_what_real_clients_wrote(shared: Path, tmp_path: Path, version: str, config: str) -> None:
    """Claude directories of five versions are restored exactly."""
    source = shared / "real_cli" / version / config
    if not source.is_dir():
        pytest.skip(f"no {version}/{config} in the sample data")
    archived = ArchivedRoot(tmp_path)
    shutil.copytree(source, archived.root, dirs_exist_ok=True, symlinks=True)
    check_round_trip(archived, tmp_path / "restored")


def test_public_transcripts(shared: Path, archived: ArchivedRoot, tmp_path: Path) -> None:
    """All of the corpus, each repository as a project."""
    for source in sorted((shared / "corpus").rglob("*.jsonl")):
        parts = source.relative_to(shared / "corpus").parts
        name = "--".join(parts[1:]).replace(".jsonl", "")[-200:] + ".jsonl"
        archived.write(f"projects/{parts[0]}/s{name}", source.read_bytes())
    check_round_trip(archived, tmp_path / "restored")


NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1)
FILE_NAMES = NAMES.filter(lambda name: name not in {".", ".."} and len(name.encode()) < 100)
CONTENT = st.one_of(
    st.binary(max_size=200),
    st.lists(st.binary(max_size=50)).map(lambda lines: b"\n".join([*lines, b'{"torn'])),
)


@settings(max_examples=25)
@given(
    trees=st.lists(
        st.dictionaries(FILE_NAMES.map("s{}.jsonl".format), CONTENT, max_size=4),
        min_size=1,
        max_size=4,
    )
)
def test_any_tree_at_any_time(trees: list[dict[str, bytes]]) -> None:
    """Each tree is a state of the directory that can be restored exactly after its sync."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        archived = ArchivedRoot(base)
        for number, tree in enumerate(trees):
            shutil.rmtree(archived.root / "projects", ignore_errors=True)
            for name, data in tree.items():
                archived.write(f"projects/p/{name}", data, mtime=1_700_000_000 + number)
            sync_archive(archived.archive, [archived.root])
            restored = archived.restore_all(base / f"restored{number}")
            assert read_facts(archived.root).items() <= restored.items()
