"""The real client resumes sessions that Recollect has restored from an archive or a bundle."""

import json
import shutil
from pathlib import Path

import pytest

from tests.client.scenes import texts
from tests.client.test_sessions import list_prompts, list_said
from tests.client.theatre import Theatre

pytestmark = pytest.mark.client


def run(theatre: Theatre, *words: str) -> str:
    """Run our program, which has to succeed; return what it prints."""
    done = theatre.recollect(*words)
    assert done.code == 0, done
    return done.stdout


def test_a_restored_session_resumes(theatre: Theatre) -> None:
    """Archived, deleted, restored: the client continues it as if nothing had happened."""
    session = theatre.ask("play:tools first")[-1]["session_id"]
    run(theatre, "archive", "enable", "--yes")
    run(theatre, "archive", "sync")
    (transcript,) = (theatre.root / "projects").glob(f"*/{session}.jsonl")
    before = transcript.read_bytes()
    shutil.rmtree(theatre.root / "projects")
    (theatre.root / "projects").mkdir()
    refused = theatre.recollect("resume", session)
    assert (refused.code, "recollect archive restore" in refused.stderr) == (3, True)
    run(theatre, "archive", "restore", session, "--into-claude-dir", str(theatre.root))
    assert transcript.read_bytes() == before
    answer = theatre.ask("play:again second", "--resume", session)[-1]
    continued = theatre.open(answer["session_id"])
    assert list_prompts(continued) == ["play:tools first", "play:again second"]
    assert list_said(continued) == texts("tools", "again")
    listed = json.loads(run(theatre, "list", "--json"))["sessions"]
    assert not any(each["is_archived"] or each["is_partial"] for each in listed)


def test_an_imported_session_resumes_elsewhere(theatre: Theatre, tmp_path: Path) -> None:
    """Packed on one machine, unpacked for another directory on another: the client continues it."""
    session = theatre.ask("play:hello first")[-1]["session_id"]
    bundle = tmp_path / "one.recollect"
    run(theatre, "bundle", session, "-o", str(bundle))
    old, theatre.work = theatre.work, tmp_path / "elsewhere"
    theatre.work.mkdir()
    shutil.rmtree(theatre.root / "projects")
    (theatre.root / "projects").mkdir()
    moved = ("--map", f"{old}={theatre.work}", "--into-claude-dir", str(theatre.root))
    run(theatre, "import", str(bundle), *moved)
    answer = theatre.ask("play:again second", "--resume", session)[-1]
    continued = theatre.open(answer["session_id"])
    assert list_prompts(continued) == ["play:hello first", "play:again second"]
    assert list_said(continued) == texts("hello", "again")
