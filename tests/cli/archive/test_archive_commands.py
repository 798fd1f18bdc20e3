"""Tests of `recollect archive`: consent, copies, and what each command prints and exits with."""

import json
import os
import pty
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.archive.trees import read_facts
from tests.cli.demo_home import NOW, make_demo_home, run_at
from tests.process import Finished, RunRecollect

SESSION = "94791a87-9d13-410a-a632-25a9b25c1b45"
ARCHIVE = Path(".local", "share", "recollect", "archive")


class Home:
    """A home with the demo sessions, and commands that run in it."""

    def __init__(self, run: RunRecollect) -> None:
        self.path = make_demo_home()
        self.claude = self.path / ".claude"
        self.archive = self.path / ARCHIVE
        self._run = run

    def run(self, *words: str) -> Finished:
        """Run `recollect archive` with these words."""
        return run_at(self._run, 80, "archive", *words)

    def ask(self, *words: str) -> Any:
        """Return the document that a command prints; it has to succeed."""
        done = self.run(*words, "--json")
        assert done.code == 0, done
        return json.loads(done.stdout)

    def list_sessions(self) -> list[tuple[str, bool]]:
        """Return the first digits of all archived ids, and whether the original was deleted."""
        return [(each["id"][:8], each["is_gone"]) for each in self.ask("list")["sessions"]]


@pytest.fixture
def home(run_recollect: RunRecollect) -> Home:
    """Return a home whose archive is not enabled."""
    return Home(run_recollect)


@pytest.fixture
def archived(home: Home) -> Home:
    """Return a home with everything archived."""
    home.ask("enable", "--yes")
    home.ask("sync")
    return home


def test_nothing_happens_without_consent(home: Home) -> None:
    """Scripts have to agree explicitly, and the message says how."""
    before = read_facts(home.path)
    refused = home.run("enable")
    assert (refused.code, refused.stdout) == (2, "")
    assert "Where  ~/.local/share/recollect/archive" in refused.stderr
    assert "18 files" in refused.stderr
    assert refused.stderr.startswith(
        "Claude Code deletes sessions 30 days after their last change "
    )
    assert refused.stderr.endswith("Use --yes to skip it.\n")
    for words in (("sync",), ("list",), ("verify",), ("restore", SESSION), ("forget", SESSION)):
        done = home.run(*words)
        assert (done.code, "recollect archive enable" in done.stderr) in ((2, True), (3, True))
    assert read_facts(home.path) == before


def test_consent_says_what_will_be_deleted_when(home: Home) -> None:
    """According to the settings of the Claude directory, which is named."""
    now = datetime.fromisoformat(NOW).timestamp()
    transcripts = sorted(home.claude.glob("projects/*/*-*-*.jsonl"))
    for age, path in zip((31, 27, 25, 22, *[1] * 9), transcripts, strict=False):
        os.utime(path, (now - age * 86_400,) * 2)
    (home.claude / "settings.json").write_text('{"cleanupPeriodDays": 30}', encoding="utf-8")
    asked = " ".join(home.run("enable").stderr.split())
    assert asked.startswith(
        "Claude Code deletes sessions 30 days after their last change (cleanupPeriodDays in its "
        "settings.json). 3 sessions will be deleted within 7 days, 1 of them the next time it "
        "starts."
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal")
@pytest.mark.parametrize("word", ["enable", "sync"])
@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"n\n", 1)])
def test_consent_is_asked_for_at_a_terminal(
    home: Home, answer: bytes, code: int, word: str
) -> None:
    """The default is no, which creates nothing; the first sync asks too."""
    ours, theirs = pty.openpty()
    os.write(ours, answer)
    done = subprocess.run(
        [sys.executable, "-m", "recollect", "archive", word],
        stdin=theirs,
        capture_output=True,
        timeout=120,
        check=False,
    )
    os.close(ours)
    os.close(theirs)
    assert (done.returncode, home.archive.exists()) == (code, code == 0)
    assert b"Keep copies of your sessions? [y/N]" in done.stderr


def test_the_hook_is_only_printed(home: Home) -> None:
    """It is valid JSON for Claude Code's settings, and nothing is installed."""
    before = read_facts(home.claude)
    printed = home.run("enable", "--yes", "--hook").stdout
    start = printed.index("{")
    hook, _ = json.JSONDecoder().raw_decode(printed[start:])
    command = hook["hooks"]["SessionEnd"][0]["hooks"][0]["command"]
    assert command.endswith(" archive sync --quiet")
    assert read_facts(home.claude) == before


def test_status_before_and_after(home: Home) -> None:
    """The status shows what is enabled, archived and missing."""
    empty = home.ask("status")
    assert (empty["is_enabled"], empty["files"], empty["last_sync"]) == (False, 0, None)
    home.ask("enable", "--yes")
    assert home.ask("status")["files_behind"] == 18
    home.ask("sync")
    full = home.ask("status")
    assert {key: full[key] for key in ("is_enabled", "sessions", "files", "files_behind")} == {
        "is_enabled": True,
        "sessions": 8,
        "files": 18,
        "files_behind": 0,
    }


def test_a_quiet_sync_prints_nothing(home: Home) -> None:
    """For hooks and timers."""
    home.ask("enable", "--yes")
    assert home.run("sync", "--quiet") == Finished(0, "", "")


def test_a_deleted_session_can_be_restored(archived: Home, tmp_path: Path) -> None:
    """Its files are identical, and the list shows it as archived only."""
    before = read_facts(archived.claude)
    for path in sorted(archived.claude.rglob(f"*{SESSION}*"), reverse=True):
        if path.is_file():
            path.unlink()
    assert ("94791a87", True) in archived.list_sessions()
    written = archived.ask("restore", f"{SESSION[:8]}:2", "--to", str(tmp_path / "back"))
    assert written["sessions"] == [SESSION]
    restored = read_facts(tmp_path / "back")
    assert restored.items() <= before.items()
    assert sorted(restored) == sorted(each["path"] for each in written["files"])


def test_a_claude_directory_has_to_be_named(archived: Home) -> None:
    """`--to` refuses it, and nothing in it is overwritten."""
    refused = archived.run("restore", SESSION, "--to", str(archived.claude / "projects"))
    assert (refused.code, "--into-claude-dir" in refused.stderr) == (2, True)
    (transcript,) = archived.claude.glob(f"projects/*/{SESSION}.jsonl")
    transcript.write_bytes(b"mine\n")
    refused = archived.run("restore", SESSION, "--into-claude-dir", str(archived.claude))
    assert (refused.code, str(transcript) in refused.stderr) == (2, True)
    assert transcript.read_bytes() == b"mine\n"


def test_a_session_is_restored_to_where_it_was(archived: Home) -> None:
    """With the current time, so that Claude Code does not delete it at once."""
    (transcript,) = archived.claude.glob(f"projects/*/{SESSION}.jsonl")
    data = transcript.read_bytes()
    os.utime(transcript, (1, 1))
    archived.ask("sync")
    transcript.unlink()
    archived.ask("restore", SESSION, "--into-claude-dir", str(archived.claude))
    assert transcript.read_bytes() == data
    assert transcript.stat().st_mtime > 1_000_000_000
    transcript.unlink()
    archived.ask("restore", SESSION, "--into-claude-dir", str(archived.claude), "--keep-times")
    assert transcript.stat().st_mtime == 1


def test_damage_is_named(archived: Home) -> None:
    """The exit code is 4, and the message has the object and the files that need it."""
    path = max((archived.archive / "objects").rglob("*.zst"), key=lambda each: each.stat().st_size)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    done = archived.run("verify")
    assert done.code == 4
    assert f"{path.stem} is damaged: its SHA-256 does not match its name" in " ".join(
        done.stdout.split()
    )
    assert SESSION in done.stdout
    failed = archived.run("restore", SESSION)
    assert (failed.code, path.stem in failed.stderr) == (4, True)


def test_forgetting(archived: Home) -> None:
    """`forget` asks first, then removes the session for good; `--undo` allows it again."""
    assert archived.run("forget", SESSION).code == 2
    assert archived.ask("forget", SESSION, "--dry-run")["objects"] == 1
    assert len(archived.list_sessions()) == 8
    assert archived.ask("forget", SESSION[:8], "--yes")["sessions"] == [SESSION]
    archived.ask("sync")
    assert len(archived.list_sessions()) == 7
    again = archived.ask("forget", SESSION[:8], "--yes")
    assert (again["sessions"], again["objects"]) == ([SESSION], 0)
    archived.ask("forget", SESSION, "--undo")
    archived.ask("sync")
    assert len(archived.list_sessions()) == 8
    assert archived.ask("verify", "--deep")["unused"] == 0


def test_pruning_keeps_what_is_not_deleted(archived: Home) -> None:
    """Only old sessions that are archived only are removed."""
    assert archived.ask("prune", "--older-than", "today", "--dry-run")["sessions"] == []
    for path in archived.claude.glob(f"projects/*/{SESSION}.jsonl"):
        path.unlink()
    assert archived.run("prune", "--older-than", "today").code == 2
    removed = archived.ask("prune", "--older-than", "today", "-y")
    assert (removed["sessions"], len(removed["kept"])) == ([SESSION], 7)
    assert len(archived.list_sessions()) == 7


def test_disabling_keeps_everything(archived: Home) -> None:
    """Nothing is copied any more, and nothing is removed."""
    assert archived.ask("disable")["sessions"] == 8
    assert archived.run("sync").code == 2
    assert len(archived.list_sessions()) == 8


def test_unknown_names(archived: Home) -> None:
    """The message says that there is no such session, and what to do."""
    for words in (("restore", "nothing"), ("forget", "nothing", "--yes")):
        done = archived.run(*words)
        assert (done.code, "recollect archive list" in done.stderr) == (3, True)
    assert archived.run("restore").code == 2


def test_decrypting_what_is_not_encrypted(archived: Home) -> None:
    """A message says so, and nothing is changed."""
    before = read_facts(archived.archive)
    done = archived.run("decrypt", "--yes")
    assert (done.code, done.stderr) == (0, "The archive is not encrypted.\n")
    assert read_facts(archived.archive) == before


@pytest.mark.slow
def test_an_encrypted_archive_needs_its_key(archived: Home, run_recollect: RunRecollect) -> None:
    """A warning comes first; after that deleted sessions are read only with the key."""
    pytest.importorskip("pyrage", reason="needs the extra `encryption`")
    key = archived.path / "key.txt"
    refused = archived.run("encrypt", "--new-key", str(key))
    assert (refused.code, key.exists()) == (2, False)
    assert "If the key is lost, every session that Claude Code" in refused.stderr
    done = archived.run("encrypt", "--new-key", str(key), "--yes")
    assert (done.code, "Encrypted    for 1 key" in done.stdout) == (0, True), done
    assert f'archive_identity = "{key}"'.replace(str(archived.path), "~") in done.stderr
    assert key.stat().st_mode & 0o777 == 0o600
    for words in (("sync",), ("verify",), ("list",), ("status",), ("restore", SESSION)):
        locked = archived.run(*words)
        assert (locked.code, "Set RECOLLECT_ARCHIVE_IDENTITY" in locked.stderr) == (6, True), words
    before = run_at(run_recollect, 80, "list", "-n", "0")
    assert (before.code, before.stderr.startswith("recollect: Deleted sessions are left out.")) == (
        0,
        True,
    )
    (archived.claude / "projects" / "-home-mina-projects-tidepool" / f"{SESSION}.jsonl").unlink()
    assert "Partial session." in run_at(run_recollect, 80, "show", SESSION).stdout
    config = archived.path / ".config" / "recollect" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f'archive_identity = "{key}"\n', encoding="utf-8")
    assert archived.run("sync").code == 0
    shown = run_at(run_recollect, 80, "show", SESSION)
    assert (shown.code, shown.stderr) == (0, "")
    found = run_at(run_recollect, 80, "search", "--wait", f"session:{SESSION[:8]}", "tide")
    assert (found.code, found.stderr) == (0, "")
    assert archived.run("decrypt", "--yes").code == 0
    config.unlink()
    assert archived.run("verify", "--deep").code == 0


@pytest.mark.slow
def test_a_passphrase_comes_from_the_environment(
    archived: Home, run_recollect: RunRecollect
) -> None:
    """Or from a terminal; never from an argument."""
    pytest.importorskip("pyrage", reason="needs the extra `encryption`")
    assert archived.run("encrypt", "--passphrase", "--yes").code == 2
    right, wrong = ({"RECOLLECT_ARCHIVE_PASSPHRASE": each} for each in ("right", "wrong"))
    encrypted = run_recollect("archive", "encrypt", "--passphrase", "--yes", env=right)
    assert (encrypted.code, "with a passphrase" in encrypted.stdout) == (0, True), encrypted
    assert run_recollect("archive", "verify", env=right).code == 0
    refused = run_recollect("archive", "verify", env=wrong)
    assert (refused.code, refused.stderr) == (6, "recollect: The passphrase is wrong.\n")
    assert archived.run("verify").code == 6


def test_what_cannot_be_written_has_one_code_for_each_place(
    archived: Home, run_recollect: RunRecollect
) -> None:
    """1 for files that the user named, 6 for the archive."""
    blocked = archived.path / "blocked"
    blocked.write_bytes(b"a file where a directory should be")
    for words in (
        ("archive", "restore", SESSION, "--to", str(blocked / "there")),
        ("archive", "export", "--all", "-o", str(blocked / "all.tar")),
        ("bundle", SESSION, "-o", str(blocked / "one.recollect")),
    ):
        done = run_recollect(*words)
        assert (done.code, "Cannot write" in done.stderr) == (1, True), done
    elsewhere = {"RECOLLECT_ARCHIVE_DIR": str(blocked / "archive")}
    done = run_recollect("archive", "enable", "--yes", env=elsewhere)
    assert (done.code, "Cannot write" in done.stderr) == (6, True), done


def test_the_list_shows_when_sessions_were_active(
    archived: Home, run_recollect: RunRecollect
) -> None:
    """Not when their files were written, which a copy of a home changes."""
    before = archived.ask("list")["sessions"]
    for path in archived.claude.glob("projects/*/*.jsonl"):
        os.utime(path)
    archived.ask("sync")
    after = archived.ask("list")["sessions"]
    listed = json.loads(run_at(run_recollect, 80, "list", "-n", "0", "--json").stdout)["sessions"]
    active = {each["id"]: each["activity"] for each in listed}
    assert {each["id"]: each["activity"] for each in after} == {
        each["id"]: active.get(each["id"], each["modified"]) for each in after
    }
    assert len(before) == len(after)
    assert any(each["activity"] < each["modified"] - 60 for each in after)


def test_the_list_names_the_directory_of_a_session(archived: Home) -> None:
    """The real path, not its encoded form in the name of the project directory."""
    [row] = [each for each in archived.ask("list")["sessions"] if each["id"] == SESSION]
    project = "/home/mina/projects/tidepool"
    assert (row["project"], row["cwd"]) == (project.replace("/", "-"), project)
    [line] = [line for line in archived.run("list").stdout.splitlines() if SESSION[:8] in line]
    assert line.split()[-1] == project
