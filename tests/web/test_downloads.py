"""A session as a file, from the server: what the command exports, byte for byte."""

from pathlib import Path
from random import Random
from urllib.parse import unquote

import pytest

from recollect.demo import CLAUDE_DIRECTORY
from recollect.export import ExportOptions, Format, Level
from recollect.workspace.workspace import open_workspace
from tests.export.sessions import plant, write_session
from tests.redact.labelled_set import is_readable
from tests.redact.made_up_secrets import FAMILIES
from tests.web.running import RunningServer, run_server

SESSION = "94791a87-9d13-410a-a632-25a9b25c1b45"
TYPES = {
    "html": "text/html; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
    "text": "text/plain; charset=utf-8",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
}


@pytest.mark.parametrize("kind", TYPES)
def test_a_download_is_what_the_command_writes(
    server: RunningServer, tmp_path: Path, kind: str
) -> None:
    """With a type, and a name that browsers save it under."""
    answer = server.get(f"/api/sessions/{SESSION}/export?format={kind}")
    assert (answer.status, answer.headers["content-type"]) == (200, TYPES[kind])
    disposition, _, name = answer.headers["content-disposition"].partition("filename*=UTF-8''")
    assert disposition == "attachment; "
    assert unquote(name).startswith("2026-11-09-speed-up-the-harbour-import-94791a87.")
    with open_workspace(CLAUDE_DIRECTORY, temporary=True) as workspace:
        suffix = Path(name).suffix
        workspace.export(SESSION, tmp_path / f"x{suffix}", ExportOptions(format=Format(kind)))
    expected = (tmp_path / f"x{suffix}").read_bytes()
    if kind == "json":
        # The server of the tests reads a copy of the demo data.
        assert len(answer.body) > len(expected) * 0.9
    else:
        assert answer.body == expected


def test_a_level_is_respected(server: RunningServer) -> None:
    """In formats that have levels; others ignore it, because the form always sends one."""
    prompts = server.get(f"/api/sessions/{SESSION}/export?format=markdown&level=prompts").body
    full = server.get(f"/api/sessions/{SESSION}/export?format=markdown").body
    assert len(prompts) < len(full) / 5
    table = f"/api/sessions/{SESSION}/export?format=csv&table=usage"
    assert server.get(f"{table}&level={Level.PROMPTS}").body == server.get(table).body


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("?format=jsonl", 422),
        ("?format=parquet", 422),
        ("?redact=false", 422),
        ("?level=all", 422),
        ("?project=other", 404),
    ],
)
def test_what_is_not_offered_is_refused(server: RunningServer, query: str, status: int) -> None:
    """Above all raw lines: a page must not be able to get a file with secrets."""
    assert server.get(f"/api/sessions/{SESSION}/export{query}").status == status


def test_an_unknown_session_is_not_found(server: RunningServer) -> None:
    """As everywhere."""
    assert server.get("/api/sessions/nosuch/export").status == 404


@pytest.mark.slow
def test_downloads_hold_no_secrets(tmp_path: Path) -> None:
    """In any format."""
    family = FAMILIES["github"]
    made = family.make(Random(7))
    session_id = "a0000000-0000-4000-8000-000000000000"
    write_session(tmp_path / "claude", plant(made.text, f"{family.key}="), session_id)
    with run_server(tmp_path, tmp_path / "claude") as server:
        for kind in TYPES:
            answer = server.get(f"/api/sessions/{session_id}/export?format={kind}")
            assert answer.status == 200
            assert not is_readable(answer.body.decode(), made.secrets), kind
            assert made.secrets[0] not in answer.headers["content-disposition"]
