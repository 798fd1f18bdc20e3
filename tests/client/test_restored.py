"""The real client resumes sessions that Recollect has restored from an archive or a bundle."""

import json
import shutil
from pathlib import Path

import pytest

from tests.client.client_sandbox import ClientSandbox
from tests.client.scenes import texts
from tests.client.test_sessions import list_prompts, list_reply_texts

pytestmark = pytest.mark.client


def run(sandbox: ClientSandbox, *words: str) -> str:
    """Run our program and return its output; it has to succeed."""
    done = sandbox.recollect(*words)
    assert done.code == 0, done
    return done.stdout


def test_a_restored_session_resumes(sandbox: ClientSandbox) -> None:
    """Archived, deleted, restored: the client continues it as if nothing had happened."""
    session = sandbox.ask("play:tools first")[-1]["session_id"]
    run(sandbox, "archive", "enable", "--yes")
    run(sandbox, "archive", "sync")
    (transcript,) = (sandbox.root / "projects").glob(f"*/{session}.jsonl")
    before = transcript.read_bytes()
    shutil.rmtree(sandbox.root / "projects")
    (sandbox.root / "projects").mkdir()
    refused = sandbox.recollect("resume", session)
    assert (refused.code, "recollect archive restore" in refused.stderr) == (3, True)
    run(sandbox, "archive", "restore", session, "--into-claude-dir", str(sandbox.root))
    assert transcript.read_bytes() == before
    answer = sandbox.ask("play:again second", "--resume", session)[-1]
    continued = sandbox.open(answer["session_id"])
    assert list_prompts(continued) == ["play:tools first", "play:again second"]
    assert list_reply_texts(continued) == texts("tools", "again")
    listed = json.loads(run(sandbox, "list", "--json"))["sessions"]
    assert not any(each["is_archived"] or each["is_partial"] for each in listed)


def test_an_imported_session_resumes_elsewhere(sandbox: ClientSandbox, tmp_path: Path) -> None:
    """Packed on one machine, unpacked for another directory on another: the client continues it."""
    session = sandbox.ask("play:hello first")[-1]["session_id"]
    bundle = tmp_path / "one.recollect"
    run(sandbox, "bundle", session, "-o", str(bundle))
    old, sandbox.work = sandbox.work, tmp_path / "elsewhere"
    sandbox.work.mkdir()
    shutil.rmtree(sandbox.root / "projects")
    (sandbox.root / "projects").mkdir()
    moved = ("--map", f"{old}={sandbox.work}", "--into-claude-dir", str(sandbox.root))
    run(sandbox, "import", str(bundle), *moved)
    answer = sandbox.ask("play:again second", "--resume", session)[-1]
    continued = sandbox.open(answer["session_id"])
    assert list_prompts(continued) == ["play:hello first", "play:again second"]
    assert list_reply_texts(continued) == texts("hello", "again")
