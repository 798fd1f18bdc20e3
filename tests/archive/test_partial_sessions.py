"""Sessions deleted before they were archived, reconstructed from what Claude Code leaves."""

import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.archive.archive_source import mount_archive
from recollect.archive.deleted_sessions import is_partial, update_partial_sessions
from recollect.archive.partial_transcripts import (
    EXPLANATION,
    Leftovers,
    Prompt,
    find_leftovers,
    make_transcript,
)
from recollect.library.opening import open_transcript
from recollect.locations import discover_root
from recollect.sources.source import list_mounts, unmount
from tests.archive.trees import LINE, OTHER, PROJECT, SESSION, TRANSCRIPT, ArchivedRoot
from tests.cli.demo_home import make_demo_home, run_at
from tests.process import RunRecollect

POND = "/home/mina/pond"
NOON = 1_794_000_000_000


def line(text: str, time_ms: float, session: str | None = SESSION, **more: Any) -> bytes:
    """Return a line of `history.jsonl`."""
    entry: dict[str, Any] = {
        "display": text,
        "pastedContents": {},
        "timestamp": time_ms,
        "project": POND,
    }
    entry |= {"sessionId": session} if session else {}
    return json.dumps(entry | more).encode() + b"\n"


def read_all(archived: ArchivedRoot, data: Path) -> dict[str, list[tuple[str, str]]]:
    """Return the type and text of the records of each partial session."""
    directory = update_partial_sessions(archived.root, data)
    if directory is None:
        return {}
    return {
        path.stem: [
            (each["type"], each.get("content") or each["message"]["content"])
            for each in map(json.loads, path.read_bytes().splitlines())
        ]
        for path in sorted(directory.glob("projects/*/*.jsonl"))
    }


def test_prompts_make_a_session(archived: ArchivedRoot, tmp_path: Path) -> None:
    """With their texts, times, project and id; what was pasted is put back, repetitions are not."""
    pasted = {"1": {"id": 1, "type": "text", "content": "long text"}}
    archived.write(
        "history.jsonl",
        line("count the frogs", NOON)
        + line("count the frogs", NOON + 4)
        + line(
            "see [Pasted text #1 +20 lines] [Pasted text #2]", NOON + 5000, pastedContents=pasted
        )
        + line("count the frogs", NOON + 9000),
    )
    directory = update_partial_sessions(archived.root, tmp_path / "data")
    assert directory is not None
    (transcript,) = discover_root(directory).transcripts
    assert (transcript.session_id, transcript.project) == (SESSION, "-home-mina-pond")
    assert transcript.mtime_ns == (NOON + 9000) * 10**6
    assert is_partial(transcript.file)
    session = open_transcript(transcript)
    assert [turn.prompt.words for turn in session.turns if turn.prompt] == [
        "count the frogs",
        "see long text [Pasted text #2]",
        "count the frogs",
    ]
    assert (session.metrics.replies, session.metrics.tool_calls) == (0, 0)


def test_leftovers_are_notices(archived: ArchivedRoot, tmp_path: Path) -> None:
    """To-do lists, tasks, saved files, plans and the directory of the session."""
    archived.write("history.jsonl", line("go", NOON) + line("/exit", NOON + 1000))
    todos = [{"content": "dig", "status": "completed"}, {"content": "fill", "status": "pending"}]
    moment = NOON // 1000
    archived.write(
        f"todos/{SESSION}-agent-{SESSION}.json", json.dumps(todos).encode(), mtime=moment
    )
    archived.write(f"tasks/{SESSION}/1.json", b'{"subject":"plant","status":"open"}', mtime=moment)
    archived.write(f"file-history/{SESSION}/0123456789abcdef@v1", b"old", mtime=moment)
    archived.write("plans/green-pond.md", b"# A pond", mtime=moment)
    archived.write(f"{PROJECT}/{SESSION}/tool-results/b1.txt", b"output", mtime=moment)
    assert read_all(archived, tmp_path / "data") == {
        SESSION: [
            (
                "system",
                EXPLANATION.format(parts="2 prompts and other files"),
            ),
            ("user", "go"),
            ("system", "To-do list:\n- [x] dig\n- [ ] fill"),
            ("system", "Plan saved at that time, green-pond.md:\n# A pond"),
            ("user", "/exit"),
            ("system", "Tasks:\n- [ ] plant"),
            ("system", f"1 saved version of a file in {archived.root}/file-history/{SESSION}"),
            ("system", f"Other files in {archived.root}/{PROJECT}/{SESSION}: tool-results"),
        ]
    }


def test_secrets_are_not_copied(archived: ArchivedRoot, tmp_path: Path) -> None:
    """Prompts, pasted texts, to-do lists and plans are written without their definite secrets."""
    secret = f"AKIA{'QW7RTGHJKL5MNB2P'}"
    pasted = {"1": {"id": 1, "type": "text", "content": f"key: {secret}"}}
    archived.write(
        "history.jsonl",
        line(f"deploy with {secret} now", NOON)
        + line("see [Pasted text #1]", NOON + 5000, pastedContents=pasted),
    )
    todos = [{"content": f"revoke {secret}", "status": "pending"}]
    archived.write(
        f"todos/{SESSION}-agent-{SESSION}.json", json.dumps(todos).encode(), mtime=NOON // 1000
    )
    archived.write("plans/green-pond.md", secret.encode(), mtime=NOON // 1000)
    assert read_all(archived, tmp_path / "data")[SESSION][1:] == [
        ("user", "deploy with [redacted:aws-key] now"),
        ("system", "To-do list:\n- [ ] revoke [redacted:aws-key]"),
        ("system", "Plan saved at that time, green-pond.md:\n[redacted:aws-key]"),
        ("user", "see key: [redacted:aws-key]"),
    ]


def test_existing_and_forgotten_sessions_are_not_rebuilt(
    archived: ArchivedRoot, tmp_path: Path
) -> None:
    """A partial session appears when its transcript is deleted and goes when that is back."""
    archived.write("history.jsonl", line("one", NOON) + line("two", NOON, OTHER))
    kept = archived.write(TRANSCRIPT, LINE)
    data = tmp_path / "data"
    assert list(read_all(archived, data)) == [OTHER]
    kept.unlink()
    assert list(read_all(archived, data)) == [SESSION, OTHER]
    update_partial_sessions(archived.root, data, [OTHER])
    directory = update_partial_sessions(archived.root, data, [OTHER])
    assert directory is not None
    assert [path.stem for path in directory.glob("*/*/*.jsonl")] == [SESSION]
    archived.write(TRANSCRIPT, LINE)
    assert list(read_all(archived, data)) == [OTHER]


def test_prompts_without_an_id_are_grouped_by_time(archived: ArchivedRoot) -> None:
    """Prompts of old clients have no id; those that a transcript may have are left out."""
    hour = 3_600_000
    archived.write(
        "history.jsonl",
        b"".join(line(f"prompt {n}", NOON + n * hour, None) for n in (0, 1, 9, 30, 31)),
    )
    started = '{"type":"user","timestamp":"%s"}\n'
    moment = datetime.fromtimestamp(NOON / 1000 + 20 * 3600, UTC)
    archived.write(
        TRANSCRIPT,
        (started % f"{moment:%Y-%m-%dT%H:%M:%S}.000Z").encode(),
        mtime=NOON // 1000 + 200_000,
    )
    found = find_leftovers(archived.root)
    assert [[prompt.text for prompt in each.prompts] for each in found] == [
        ["prompt 0", "prompt 1"],
        ["prompt 9"],
    ]
    assert len({each.id for each in found}) == 2
    assert find_leftovers(archived.root) == found


@pytest.mark.parametrize(
    "hostile",
    [
        line("x", NOON, "../../../escape"),
        line("x", NOON, "a/b"),
        line("x", NOON, ".."),
        line("x", NOON, ""),
        line("x", 1e300),
        line("x", -5),
        b'{"display":1}\n',
        b"\xff\xfe\n",
        b"[" * 5000 + b"\n",
    ],
)
def test_hostile_lines_write_nothing(
    archived: ArchivedRoot, tmp_path: Path, hostile: bytes
) -> None:
    """Ids that are not names, invalid times, and lines that are not JSON are ignored."""
    archived.write("history.jsonl", hostile)
    found = read_all(archived, tmp_path / "data")
    assert all(name.count("-") == 4 for name in found)
    assert not list(tmp_path.rglob("escape*"))


def test_nothing_is_written_twice(archived: ArchivedRoot, tmp_path: Path) -> None:
    """As long as the Claude directory looks the same, not even the history is opened."""
    history = archived.write("history.jsonl", line("one", NOON))
    directory = update_partial_sessions(archived.root, tmp_path / "data")
    assert directory is not None
    (written,) = directory.glob("projects/*/*.jsonl")
    before = written.stat()
    status = history.stat()
    history.write_bytes(line("two", NOON))
    os.utime(history, ns=(status.st_mtime_ns,) * 2)
    assert update_partial_sessions(archived.root, tmp_path / "data") == directory
    assert written.stat() == before
    assert written.stat().st_mode & 0o777 == 0o600


@given(
    texts=st.lists(st.text(), min_size=1, max_size=5),
    times=st.lists(st.integers(1, 4_000_000_000_000), min_size=5, max_size=5),
)
def test_any_prompts_make_lines_of_json(texts: list[str], times: list[int]) -> None:
    """One record per prompt and the notice before them, each on a line of its own."""
    prompts = [Prompt(time, text) for time, text in zip(sorted(times), texts, strict=False)]
    data = make_transcript(Leftovers(id=SESSION, project=POND, prompts=prompts))
    records = [json.loads(each) for each in data.split(b"\n")[:-1]]
    assert [each["message"]["content"] for each in records[1:]] == texts
    assert [each["parentUuid"] for each in records[1:]] == [each["uuid"] for each in records[:-1]]


@pytest.mark.slow
def test_deleted_sessions_are_listed_shown_and_found(run_recollect: RunRecollect) -> None:
    """They are marked as partial, and totals do not change."""
    home = make_demo_home()
    before = run_at(run_recollect, 80, "usage", "model", "--json")
    transcripts = sorted(
        path for path in (home / ".claude" / "projects").glob("*/*.jsonl") if path.stat().st_size
    )
    listed = json.loads(run_at(run_recollect, 80, "list", "-n", "0", "--json").stdout)["sessions"]
    assert not any(each["is_partial"] for each in listed)
    history = home / ".claude" / "history.jsonl"
    known = {json.loads(each).get("sessionId") for each in history.read_bytes().splitlines()}
    gone = next(path for path in transcripts if path.stem in known)
    gone.unlink()
    listed = json.loads(run_at(run_recollect, 80, "list", "-n", "0", "--json").stdout)["sessions"]
    (partial,) = (each for each in listed if each["is_partial"])
    assert (partial["id"], partial["expires"], partial["is_archived"]) == (gone.stem, None, False)
    assert "◌" in run_at(run_recollect, 80, "list", "-n", "0").stdout
    shown = run_at(run_recollect, 80, "show", gone.stem)
    assert (shown.code, "Partial session." in shown.stdout) == (0, True)
    found = run_at(
        run_recollect, 80, "search", "--wait", f"session:{gone.stem[:8]} partial session"
    )
    assert found.code == 0
    after = run_at(run_recollect, 80, "usage", "model", "--json")
    assert after.stdout == before.stdout
    refused = run_at(run_recollect, 80, "resume", gone.stem)
    assert (refused.code, "only your prompts are left" in refused.stderr) == (3, True)
    refused = run_at(run_recollect, 80, "bundle", gone.stem, "-o", "x.recollect")
    assert (refused.code, "is a partial session, which cannot be bundled" in refused.stderr) == (
        2,
        True,
    )


def test_archived_sessions_are_not_partial(archived: ArchivedRoot, tmp_path: Path) -> None:
    """Archived sessions count as existing, even if the whole Claude directory was deleted."""
    archived.write_session()
    archived.write("history.jsonl", line("one", NOON) + line("two", NOON, OTHER))
    archived.sync()
    mount_archive(archived.archive, [archived.root])
    try:
        shutil.rmtree(archived.root)
        assert list(read_all(archived, tmp_path / "data")) == [OTHER]
    finally:
        for point in list_mounts():
            unmount(point)
