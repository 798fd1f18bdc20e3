"""Tests of recollect.cli.commands.doctor_command, through the program."""

import json
import sys
from pathlib import Path

import pytest

from tests.process import Finished, RunRecollect

RECORD = '{"type":"user","uuid":"1","message":{"role":"user","content":"somebody\'s words"}}\n'
TIP = "To see a sample report: recollect doctor --demo\n"


def make_root(path: Path, text: str = RECORD) -> Path:
    """Make a Claude directory with one session."""
    project = path / "projects" / "p"
    project.mkdir(parents=True)
    (project / "a.jsonl").write_text(text, encoding="utf-8")
    return path


def files_of(result: Finished) -> int:
    """Return the number of files in the report."""
    return int(json.loads(result.stdout)["files"])


def test_default_roots_are_checked(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """Without arguments the user's own Claude directory is checked."""
    make_root(tmp_path / ".claude")
    result = run_recollect("doctor", env={"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": ""})
    lines = result.stdout.splitlines()
    assert (result.code, result.stderr) == (0, "")
    assert (lines[0], lines[-1]) == (
        "Recollect doctor: ~/.claude",
        "No problems: 1 file, every byte read and understood.",
    )


def test_claude_directories_can_be_given(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """`--claude-dir` may be repeated, and replaces the defaults."""
    roots = [make_root(tmp_path / name) for name in ("one", "two")]
    arguments = [word for root in roots for word in ("--claude-dir", str(root))]
    result = run_recollect("doctor", *arguments, "--json")
    assert (result.code, files_of(result)) == (0, 2)


def test_paths_can_be_given(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """Files and directories may be mixed."""
    root = make_root(tmp_path / "one")
    file = tmp_path / "b.jsonl"
    file.write_text(RECORD, encoding="utf-8")
    result = run_recollect("doctor", str(root), str(file), "--json")
    assert (result.code, files_of(result)) == (0, 2)


def test_damage_has_its_own_exit_code(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """Damage ends with 4, after the whole report."""
    root = make_root(tmp_path, RECORD + "no json\n")
    result = run_recollect("doctor", str(root))
    verdict = result.stdout.splitlines()[-1]
    expected = "Not everything could be read: 1 damaged region. The rest is fine."
    assert (result.code, verdict) == (4, expected)


def test_no_root_is_reported_with_a_tip(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """The message lists the searched directories and suggests what to try."""
    environment = {"CLAUDE_CONFIG_DIR": str(tmp_path / "missing")}
    assert run_recollect("doctor", env=environment) == Finished(
        3,
        "",
        f"recollect: No Claude Code data found. Looked in:\n  {tmp_path / 'missing'}\n"
        "Use --claude-dir to specify the directory that contains `projects`, "
        f"or set CLAUDE_CONFIG_DIR to it.\n{TIP}",
    )


def test_no_transcript_is_reported_with_a_tip(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """A directory without transcripts counts as nothing found, too."""
    message = f"recollect: No transcripts found. Looked in:\n  {tmp_path}\n{TIP}"
    assert run_recollect("doctor", str(tmp_path)) == Finished(3, "", message)


def test_a_missing_path_is_reported(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """A path that is not there ends the run with its name."""
    missing = tmp_path / "missing.jsonl"
    message = f"recollect: No such file or directory: {missing}\n{TIP}"
    assert run_recollect("doctor", str(missing)) == Finished(3, "", message)


@pytest.mark.parametrize("others", [("x",), ("--claude-dir", "x")])
def test_only_one_way_to_say_what_to_check(
    run_recollect: RunRecollect, others: tuple[str, ...]
) -> None:
    """PATH, --claude-dir and --demo exclude each other."""
    message = "recollect: Use only one of PATH, --claude-dir and --demo.\n"
    assert run_recollect("doctor", "--demo", *others) == Finished(2, "", message)


def test_the_width_of_the_terminal_is_respected(
    run_recollect: RunRecollect, tmp_path: Path
) -> None:
    """COLUMNS decides how wide the report may be."""
    name = "a-file-with-a-name-that-is-rather-long-for-a-narrow-terminal.jsonl"
    (tmp_path / name).write_text("no json\n", encoding="utf-8")
    result = run_recollect("doctor", str(tmp_path / name), env={"COLUMNS": "60"})
    shown = [line for line in result.stdout.splitlines() if "…" in line]
    assert shown == ["    a-file-with-a-name-…her-long-for-a-narrow-terminal.jsonl"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
def test_hostile_names_stay_harmless(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """A file name with escape sequences reaches neither terminal nor JSON as such."""
    path = tmp_path / "\x1b]0;owned\x07.jsonl"
    path.write_text("no json\n", encoding="utf-8")
    shown = "␛]0;owned\u2039U+0007\u203a.jsonl"
    text = run_recollect("doctor", str(tmp_path)).stdout
    document = json.loads(run_recollect("doctor", str(tmp_path), "--json").stdout)
    assert "\x1b" not in text
    assert f"    {shown}" in text.splitlines()
    assert document["damaged"] == [{"file": shown, "offset": 0, "length": 8, "reason": "no record"}]


def test_nothing_is_changed(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """Checking a directory leaves its files unchanged, times included."""
    root = make_root(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    run_recollect("doctor", str(root))
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before
