"""Locations of secrets: by kind, session and turn, in records, subagents and sidecar files."""

import json
from pathlib import Path
from random import Random

import pytest

from recollect.documents.command_reports import SecretFinding
from recollect.health.secret_scan import add_subagents, scan_transcripts
from recollect.locations import Transcript, discover_root
from recollect.redact.findings import OwnPattern, RedactionPolicy
from recollect.sources.growth import FileState
from recollect.store.secret_rows import IndexedSecret, IndexedSecrets
from tests.redact.made_up_secrets import FAMILIES

SESSION = "5f0d8a52-6f0c-4a53-9d4f-0f6a3f3c1a11"
STRIPE = FAMILIES["stripe"].make(Random(31)).text
JWT = FAMILIES["jwt"].make(Random(32)).text


def record(kind: str, uuid: str, parent: str | None, content: object, **fields: object) -> str:
    """One line of a transcript."""
    message = {"role": kind, "content": content}
    second = int(uuid[-2:])
    return json.dumps(
        {
            "type": kind,
            "uuid": uuid,
            "parentUuid": parent,
            "sessionId": SESSION,
            "timestamp": f"2026-11-10T09:00:{second:02}.000Z",
            "message": message,
            **fields,
        }
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A Claude directory with secrets in a prompt, a result, a subagent and spilled output."""
    project = tmp_path / "projects" / "-home-mina-letterpress"
    beside = project / SESSION
    (beside / "subagents").mkdir(parents=True)
    (beside / "tool-results").mkdir()
    result = [{"type": "tool_result", "tool_use_id": "toolu_1", "content": f"key {STRIPE}"}]
    lines = [
        record("user", "u-01", None, f"Use {STRIPE}, I repeat: {STRIPE}."),
        record("assistant", "a-02", "u-01", [{"type": "text", "text": "Done."}]),
        record("user", "u-03", "a-02", "Now log in."),
        record(
            "assistant",
            "a-04",
            "u-03",
            [
                {
                    "type": "tool_use",
                    "id": "toolu_1",
                    "name": "Login",
                    "input": {"user": "mina", "password": "Kept0ut!x"},
                }
            ],
        ),
        record("user", "u-05", "a-04", result, toolUseResult={"stdout": f"key {STRIPE}"}),
        '{"type":"user","torn": "' + JWT,
    ]
    (project / f"{SESSION}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    agent = record("user", "u-06", None, f"curl -H 'Authorization: Bearer {JWT}'", isSidechain=True)
    (beside / "subagents" / "agent-a1b2c3d4e5f60718.jsonl").write_text(
        agent + "\n", encoding="utf-8"
    )
    (beside / "tool-results" / "toolu_2.txt").write_text(f"token {JWT}\n", encoding="utf-8")
    return tmp_path


def find_session(root: Path) -> Transcript:
    """The transcript of the session."""
    return next(each for each in discover_root(root).transcripts if each.agent_id is None)


def test_every_place_is_reported_once(root: Path) -> None:
    """A value counts once per record; turns, times and kinds are those of the records."""
    transcripts = add_subagents([find_session(root)])
    report = scan_transcripts(transcripts, lambda *_: None)
    assert (report.files, report.unread) == (2, ())
    assert [
        (each.kind, each.confidence, each.session, each.turn, each.timestamp, each.count)
        for each in report.findings
    ] == [
        ("stripe-key", "definite", SESSION, 1, "2026-11-10T09:00:01.000Z", 1),
        ("password", "definite", SESSION, 2, "2026-11-10T09:00:04.000Z", 1),
        ("stripe-key", "definite", SESSION, 2, "2026-11-10T09:00:05.000Z", 1),
        ("jwt", "definite", SESSION, 2, None, 1),
        ("jwt", "definite", SESSION, None, None, 1),
        ("jwt", "definite", "agent-a1b2c3d4e5f60718", 1, "2026-11-10T09:00:06.000Z", 1),
    ]


def test_no_value_leaves_the_scan(root: Path) -> None:
    """Findings contain neither the secrets nor parts of them."""
    report = scan_transcripts(add_subagents([find_session(root)]), lambda *_: None)
    shown = repr(report)
    assert [part for part in (STRIPE[8:], JWT[-20:], "Kept0ut") if part in shown] == []
    assert SecretFinding.__struct_fields__ == (
        "kind",
        "confidence",
        "session",
        "turn",
        "timestamp",
        "count",
    )


def test_a_secret_instead_of_a_time_is_not_reported(root: Path) -> None:
    """Only a time is, whatever a record has in that field."""
    path = find_session(root).path
    path.write_text(record("user", "u-01", None, "hello", timestamp=f"key {STRIPE}") + "\n")
    report = scan_transcripts([find_session(root)], lambda *_: None)
    assert [(each.kind, each.timestamp) for each in report.findings if each.turn] == [
        ("stripe-key", None)
    ]


OWN_RULES = RedactionPolicy(
    patterns=(OwnPattern("login", r"Now (log) in"),), allow=("Kept0ut.x", "unused")
)


def test_own_rules_are_applied(root: Path) -> None:
    """The user's patterns give findings, and allowed values do not."""
    transcripts = add_subagents([find_session(root)])
    found = scan_transcripts(transcripts, lambda *_: None, policy=OWN_RULES).findings
    kinds = [(each.kind, each.turn) for each in found if each.kind in {"login", "password"}]
    assert kinds == [("login", 2)]


def test_a_file_with_indexed_secrets_is_not_read_again(root: Path) -> None:
    """They were found by the same rules, including those of the user."""
    transcript = find_session(root)
    secret = IndexedSecret(
        path=transcript.file,
        session_id=transcript.name,
        position=0,
        length=9,
        kind="login",
        is_definite=True,
        hash=b"",
        uuid="a-04",
        timestamp=None,
    )
    inode, size, modified = transcript.stamp
    state = FileState(inode=inode, size=size, mtime_ns=modified, is_racy=False)
    indexed = IndexedSecrets({transcript.file: state}, (secret,))
    report = scan_transcripts([transcript], lambda *_: None, indexed, OWN_RULES)
    assert [each.kind for each in report.findings if each.turn is not None] == ["login"]


def test_a_file_that_vanished_is_reported(root: Path) -> None:
    """The rest is scanned all the same, and progress is reported for every file."""
    transcripts = add_subagents([find_session(root)])
    transcripts[1].path.unlink()
    steps: list[tuple[int, int]] = []
    report = scan_transcripts(transcripts, lambda done, total: steps.append((done, total)))
    assert report.unread == (transcripts[1].file,)
    assert {each.session for each in report.findings} == {SESSION}
    assert steps == [(0, 2), (1, 2)]


def test_the_path_of_an_unread_file_is_masked(tmp_path: Path) -> None:
    """The name of a project may contain a secret."""
    path = tmp_path / "projects" / f"-srv-{STRIPE}" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(record("user", "u-01", None, "hello") + "\n")
    transcript = find_session(tmp_path)
    path.unlink()
    report = scan_transcripts([transcript], lambda *_: None)
    assert [Path(name).parent.name for name in report.unread] == ["-srv-[redacted:stripe-key]"]
