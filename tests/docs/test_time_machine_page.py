"""docs/time-machine.md: examples print what is shown, and every option and field is described."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import fields

from recollect.documents.file_versions import (
    BlamedLine,
    BlameDocument,
    CheckpointEntry,
    CheckpointFile,
    CheckpointsDocument,
    FileDocument,
    VersionEntry,
)
from tests.process import RunRecollect
from tests.versions.small_project import Project

PAGE = Path(__file__).resolve().parents[2] / "docs" / "time-machine.md"
TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```console\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture
def project(safe_environment: None, tmp_path: Path) -> Project:
    """The example project of the page."""
    made = Project(tmp_path / "shop")
    made.prompt("Write the greeting")
    made.write("app.py", "hello\nworld\n")
    made.snapshot(made.prompt("Greet everybody"), {"app.py": "0123456789abcdef@v2"})
    made.edit("app.py", "world", "everybody")
    made.path("app.py").write_text("hello\neverybody\nby hand\n", "utf-8")
    made.snapshot(made.prompt("Be polite"), {"app.py": "0123456789abcdef@v3"})
    made.edit("app.py", "hello", "good day")
    made.save()
    backups = Path(os.environ["CLAUDE_CONFIG_DIR"]) / "file-history" / made.session
    backups.mkdir(parents=True)
    (backups / "0123456789abcdef@v2").write_text("hello\nworld\n", "utf-8")
    (backups / "0123456789abcdef@v3").write_text("hello\neverybody\nby hand\n", "utf-8")
    return made


def _run(project: Project, call: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *call.split()],
        cwd=project.directory,
        env={**os.environ, "COLUMNS": "80", "TZ": "UTC"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.replace(str(project.directory), "/home/mina/shop")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.splitlines()[0])
def test_examples_print_what_they_show(project: Project, example: str) -> None:
    """Each command prints the output shown on the page."""
    calls = re.split(r"^\$ ", example, flags=re.MULTILINE)[1:]
    assert calls
    for each in calls:
        call, _, output = each.partition("\n")
        assert _run(project, call) == output


@pytest.mark.parametrize("name", ["file", "restore", "blame", "checkpoints", "commits", "why"])
def test_every_option_is_described(run_recollect: RunRecollect, name: str) -> None:
    """Options specific to these commands are on the page."""
    shown = set(re.findall(r"(?<![\w-])--[a-z-]+", run_recollect(name, "--help").stdout))
    common = {"--help", "--color", "--claude-dir", "--pager", "--no-pager", "--output"}
    assert {each for each in shown - common if each not in TEXT} == set()


def test_every_field_is_described() -> None:
    """The names of all fields are on the page."""
    kinds: list[type] = [FileDocument, VersionEntry, BlameDocument, BlamedLine]
    kinds += [CheckpointsDocument, CheckpointEntry, CheckpointFile]
    names = {field.name for kind in kinds for field in fields(kind)} - {"schema"}
    assert {name for name in names if f"`{name}`" not in TEXT} == set()
