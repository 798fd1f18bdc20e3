"""Values are masked before a view truncates text: no piece of a long key is exported."""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from recollect.export import ExportOptions, Format, Level, Table
from recollect.export.export_options import SUFFIXES, find_format
from recollect.redact.findings import RedactionPolicy
from recollect.workspace.session_exports import ExportRequest, SessionExport
from recollect.workspace.workspace import open_workspace
from tests.export.sessions import answer, call, reply, say, write_session
from tests.redact.made_up_secrets import FAMILIES, Plant, make_pem
from tests.web.running import run_server

PIECE = 16
"""Characters of a key that must not be readable."""
NAMES = ("a0000000-0000-4000-8000-000000000000", "b0000000-0000-4000-8000-000000000000")
CASES = {
    "html": ExportOptions(format=Format.HTML),
    "html tools": ExportOptions(format=Format.HTML, level=Level.TOOLS),
    "markdown": ExportOptions(format=Format.MARKDOWN),
    "markdown tools": ExportOptions(format=Format.MARKDOWN, level=Level.TOOLS),
    "digest": ExportOptions(format=Format.MARKDOWN, budget=2_000),
    "text": ExportOptions(format=Format.TEXT),
    "text tools": ExportOptions(format=Format.TEXT, level=Level.TOOLS),
    "json": ExportOptions(format=Format.JSON),
    "csv": ExportOptions(format=Format.CSV, table=Table.CALLS),
}


def make_key() -> Plant:
    """A key that is longer than anything that a view shows of one output."""
    return make_pem(Random(11), "RSA " + "PRIVATE KEY", 200)


def plant_key(root: Path, session_id: str = NAMES[0]) -> Plant:
    """Write a session in which a key is printed on one line, on many, and as a title."""
    key = make_key()
    single = key.text.replace("\n", "\\n")
    write_session(
        root,
        [
            say(f"why is this not accepted? {single}"),
            {"type": "ai-title", "aiTitle": f"about {single}"},
            reply(
                call("t1", "Bash", command="cat id_rsa"),
                call("t2", "Bash", command=f"echo '{key.text}' > id_rsa"),
                call("t3", "Grep", pattern="KEY", path="/v"),
            ),
            answer("t1", key.text, {"stdout": key.text, "stderr": "", "interrupted": False}),
            answer("t2", f"made\n{key.text}\n"),
            answer("t3", f"/v/id:1:{single}"),
        ],
        session_id,
    )
    return key


def list_readable(written: str, key: Plant) -> list[str]:
    """Return every piece of the key that can be read in an export, with and without markup."""
    readable = {*iter_pieces(written), *iter_pieces(re.sub(r"<[^<>]+>", "", written))}
    return [piece for line in key.secrets for piece in iter_pieces(line) if piece in readable]


def iter_pieces(text: str) -> Iterator[str]:
    """Every piece of a text."""
    return (text[at : at + PIECE] for at in range(len(text) - PIECE + 1))


def test_a_view_cuts_within_the_key(tmp_path: Path) -> None:
    """Without masking, an export has only part of the key, which no rule would find."""
    key = plant_key(tmp_path / "claude")
    options = ExportOptions(format=Format.TEXT, level=Level.TOOLS, redaction=None)
    with open_workspace(tmp_path / "claude", temporary=True) as workspace:
        workspace.export(NAMES[0], tmp_path / "x", options)
    written = (tmp_path / "x").read_text()
    assert list_readable(written, key)
    assert key.text not in written


@pytest.mark.parametrize("case", CASES)
def test_no_piece_of_a_key_is_exported(tmp_path: Path, case: str) -> None:
    """In any format, at any level, the key is replaced by one tag."""
    key = plant_key(tmp_path / "claude")
    with open_workspace(tmp_path / "claude", temporary=True) as workspace:
        target = tmp_path / f"x{SUFFIXES[CASES[case].format]}"
        report = workspace.export(NAMES[0], target, CASES[case])
    written = target.read_text()
    assert list_readable(written, key) == []
    assert [each.kind for each in report.masked] == ["private-key"]


def test_a_key_of_one_session_is_masked_in_another(tmp_path: Path) -> None:
    """The other session has only some lines of the key, and is written first."""
    key = plant_key(tmp_path / "claude", NAMES[1])
    part = "\n".join(key.secrets[40:80])
    write_session(tmp_path / "claude", [say(f"whose is this?\n{part}")], NAMES[0])
    with open_workspace(tmp_path / "claude", temporary=True) as workspace:
        workspace.export(NAMES, tmp_path / "out", ExportOptions(format=Format.JSON))
    written = {path.name: path.read_text() for path in (tmp_path / "out").iterdir()}
    assert len(written) == len(NAMES)
    assert [list_readable(text, key) for text in written.values()] == [[], []]


@pytest.mark.parametrize("suffix", ["json", "md", "html", "txt", "csv"])
def test_a_key_that_is_allowed_stays(tmp_path: Path, suffix: str) -> None:
    """A review decides about each value, however its lines are written."""
    key = make_pem(Random(12), "RSA " + "PRIVATE KEY", 3)
    token = FAMILIES["github"].make(Random(12)).text
    write_session(tmp_path / "claude", [say(f"use\n{key.text}\nor {token}")], NAMES[0])
    options = ExportOptions(format=find_format(Path(f"x.{suffix}")) or Format.JSON)
    with open_workspace(tmp_path / "claude", temporary=True) as workspace:
        export = SessionExport(workspace, ExportRequest(names=NAMES[:1]), options)
        masked = export.list_masked_values()
        assert [each.value for each in masked] == [key.text, token]
        export.allow(masked[:1])
        export.write(tmp_path / f"x.{suffix}")
    written = (tmp_path / f"x.{suffix}").read_text()
    plain = html.unescape(written.replace("\\", ""))
    assert [line in plain for line in (*key.secrets, token)] == [True] * 4 + [False]
    assert [each.kind for each in export.report().masked] == ["github-token"]


def test_what_is_around_a_secret_shows_no_other(tmp_path: Path) -> None:
    """Not even half of one, or one that is recognisable only elsewhere."""
    tokens = [FAMILIES["github"].make(Random(seed)).text for seed in range(2)]
    bare = FAMILIES["aws-secret"].make(Random(5))
    text = f"{'x ' * 20}{tokens[0]} {bare.secrets[0]} then {tokens[1]}"
    last = f"AWS_SECRET_ACCESS_KEY={bare.text}"
    write_session(tmp_path / "claude", [say(f"{text}; {last}")], NAMES[0])
    with open_workspace(tmp_path / "claude", temporary=True) as workspace:
        request = ExportRequest(names=NAMES[:1])
        masked = SessionExport(workspace, request, ExportOptions()).list_masked_values()
    values = [each.value for each in masked]
    assert {*tokens, bare.secrets[0]} <= set(values)
    around = " ".join(each.before + each.after for each in masked)
    assert [piece for value in values for piece in iter_pieces(value) if piece in around] == []
    assert "[redacted:github-token]" in around


def test_files_beside_a_session_are_masked_by_the_same_rules(tmp_path: Path) -> None:
    """A to-do list with a key, and the home directory, which only views mask."""
    key = make_key()
    root = tmp_path / "claude"
    write_session(root, [say(f"look into {tmp_path}/vault")], NAMES[0])
    todos = root / "todos" / f"{NAMES[0]}-agent-{NAMES[0]}.json"
    todos.parent.mkdir()
    todo = {"content": f"rotate {key.text}", "status": "pending", "activeForm": "Rotating"}
    todos.write_text(json.dumps([todo]), encoding="utf-8")
    policy = RedactionPolicy(home=str(tmp_path))
    options = ExportOptions(format=Format.MARKDOWN, redaction=policy)
    with open_workspace(root, temporary=True) as workspace:
        workspace.export(NAMES[0], tmp_path / "x.md", options)
    written = (tmp_path / "x.md").read_text()
    assert "look into ~/vault" in written
    assert re.search(r"rotate \\?\[redacted:private-key#1", written)
    assert (list_readable(written, key), str(tmp_path) in written) == ([], False)


@pytest.mark.slow
def test_no_piece_of_a_key_is_downloaded(tmp_path: Path) -> None:
    """The web app exports in the same way."""
    key = plant_key(tmp_path / "claude")
    readable: set[str] = set()
    with run_server(tmp_path, tmp_path / "claude") as server:
        for query in ("html", "markdown", "text", "json", "csv&table=calls", "text&level=tools"):
            sent = server.get(f"/api/sessions/{NAMES[0]}/export?format={query}")
            assert (sent.status, b"[redacted:private-key#1" in sent.body) == (200, True)
            readable.update(list_readable(sent.body.decode(), key))
    assert readable == set()
