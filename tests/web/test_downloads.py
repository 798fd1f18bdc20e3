"""A session as a file, from the server: what the command exports, byte for byte."""

import csv
import io
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import unquote

import pytest

from recollect.demo import CLAUDE_DIRECTORY
from recollect.export import ExportOptions, Format, Level, Table
from recollect.workspace.workspace import open_workspace
from tests.export.sessions import plant, reply, say, write_session
from tests.process import RunRecollect
from tests.redact.labelled_set import is_readable
from tests.redact.made_up_secrets import FAMILIES
from tests.web.running import RunningServer, run_server

parquet = pytest.importorskip("pyarrow.parquet")

SESSION = "94791a87-9d13-410a-a632-25a9b25c1b45"
TYPES = {
    "html": "text/html; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
    "text": "text/plain; charset=utf-8",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}


def make_branches() -> list[dict[str, Any]]:
    """Records of five prompts and their replies."""
    records = []
    for number in range(1, 6):
        records += [
            say(f"prompt {number}") | {"uuid": f"p{number}"},
            reply({"type": "text", "text": "done"}) | {"uuid": f"r{number}"},
        ]
    records[6]["parentUuid"] = "r2"
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "content": "Conversation compacted",
        "compactMetadata": {"trigger": "manual", "preTokens": 9},
        "uuid": "b1",
    }
    return [*records[:8], boundary, *records[8:]]


def list_options(page: str, name: str) -> list[str]:
    """The values of a choice in a form."""
    found = re.search(rf'<select name="{name}">(.*?)</select>', page, re.DOTALL)
    return re.findall(r'<option value="([^"]*)"', found[1]) if found else []


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
        ("?format=jsonl&confirm=no-redact", 422),
        ("?redact=false", 422),
        ("?level=all", 422),
        ("?project=other", 404),
    ],
)
def test_what_is_not_offered_is_refused(server: RunningServer, query: str, status: int) -> None:
    """Above all raw lines: a page must not be able to get a file with secrets."""
    assert server.get(f"/api/sessions/{SESSION}/export{query}").status == status


PLAIN = "d0000000-0000-4000-8000-000000000000"
FORKED = "c0000000-0000-4000-8000-000000000000"
TURNS = f"{FORKED}/export?format=markdown"


@pytest.fixture(scope="module")
def branched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server on a session of five turns: the third was rewound, and a compaction follows."""
    folder = tmp_path_factory.mktemp("branched")
    write_session(folder / "claude", make_branches(), FORKED)
    write_session(folder / "claude", [say("hello")], PLAIN)
    with run_server(folder, folder / "claude") as running:
        yield running


@pytest.mark.parametrize(
    ("query", "prompts"),
    [
        ("", "1245"),
        ("&turns=&segment=&branch=", "1245"),
        ("&turns=2-4", "24"),
        ("&turns=4-", "45"),
        ("&turns=-1", "5"),
        ("&turns=3", "3"),
        ("&branch=all", "12345"),
        ("&branch=1", "123"),
        ("&branch=all&turns=2..3", "23"),
        ("&segment=0", "124"),
        ("&segment=-1", "5"),
    ],
)
def test_only_the_chosen_turns_are_downloaded(
    branched: RunningServer, query: str, prompts: str
) -> None:
    """By the API and by the form of the page; an empty field means the whole session."""
    for address in (f"/api/sessions/{TURNS}{query}", f"/s/{TURNS}&download=yes{query}"):
        answer = branched.get(address)
        assert answer.status == 200
        assert re.findall(r"(?m)^> prompt (\d)", answer.body.decode()) == list(prompts)


ERRORS = [
    ("turns=0", 422, "'0' is not a valid range (try 2-5, 4- or -3..-1)."),
    ("turns=a-b", 422, "'a-b' is not a valid range (try 2-5, 4- or -3..-1)."),
    ("turns=9-", 404, "No such turn: this session has turns 1 to 5."),
    ("segment=x", 422, "'x' is not a valid segment (try 0 for the first, or -1 for the last)."),
    ("segment=2", 404, "No segment 2: this session has segments 0 to 1."),
    ("branch=x", 422, "A branch is a number or `all`."),
    ("branch=2", 404, "No branch 2: this session has branches 1 to 1."),
]


@pytest.mark.parametrize(("query", "status", "message"), ERRORS)
def test_turns_that_do_not_exist_are_refused(
    branched: RunningServer, query: str, status: int, message: str
) -> None:
    """With the words of the command; the page shows them above the form that was filled in."""
    answer = branched.get(f"/api/sessions/{TURNS}&{query}")
    assert (answer.status, answer.json()["error"]["message"]) == (status, message)
    page = branched.get(f"/s/{TURNS}&download=yes&{query}")
    shown = re.findall(r'role="alert">([^<]*)<', page.body.decode())
    assert (page.status, [unescape(each) for each in shown]) == (status, [message])
    name, _, value = query.partition("=")
    assert name != "turns" or f'name="turns" value="{value}"' in page.body.decode()


@pytest.mark.parametrize(("query", "status", "message"), ERRORS)
def test_the_command_has_the_same_errors(
    branched: RunningServer, run_recollect: RunRecollect, query: str, status: int, message: str
) -> None:
    """A range that works on the page works there too."""
    path = next(branched.root.rglob(f"{FORKED}.jsonl"))
    result = run_recollect("export", str(path), "--format", "text", f"--{query}")
    assert (result.code, message in result.stderr) == ({422: 2, 404: 3}[status], True)


def test_a_page_offers_the_branches_and_segments_of_its_session(branched: RunningServer) -> None:
    """In the menu and on the page of the review; a session without any has no such choice."""
    for address in (f"/s/{FORKED}", f"/s/{FORKED}/export"):
        page = branched.get(address).body.decode()
        assert list_options(page, "segment") == ["", "0", "1"]
        assert list_options(page, "branch") == ["", "all", "1"]
    plain = branched.get(f"/s/{PLAIN}/export").body.decode()
    assert (list_options(plain, "segment"), list_options(plain, "branch")) == ([], [])


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
            assert not is_readable(read_text(kind, answer.body), made.secrets), kind
            assert made.secrets[0] not in answer.headers["content-disposition"]


def read_text(kind: str, body: bytes) -> str:
    """Return the readable text of a file; Parquet tables are compressed."""
    if kind != "parquet":
        return body.decode()
    return str(parquet.read_table(io.BytesIO(body)).to_pylist())


def test_a_table_is_downloaded_by_its_name(server: RunningServer) -> None:
    """In both formats that have tables, with the same rows."""
    for table in Table:
        address = f"/api/sessions/{SESSION}/export?table={table}"
        rows = csv.DictReader(io.StringIO(server.get(f"{address}&format=csv").body.decode()))
        columns = parquet.read_table(
            io.BytesIO(server.get(f"{address}&format=parquet").body)
        ).to_pydict()
        assert rows.fieldnames == list(columns)
        assert len(list(rows)) == len(columns["session_id"]) > 0


@pytest.mark.slow
def test_without_the_extra_the_menu_says_what_to_install(tmp_path: Path) -> None:
    """It replaces the format, and a request for the format gets the same message."""
    write_session(tmp_path / "claude", [say("hello")], PLAIN)
    with run_server(tmp_path, tmp_path / "claude", module="tests.export.without_parquet") as alone:
        for address in (f"/s/{PLAIN}", f"/s/{PLAIN}/export"):
            page = alone.get(address).body.decode()
            (choice,) = re.findall(r'<option value="parquet"[^>]*>[^<]*', page)
            assert choice == (
                '<option value="parquet" disabled>Parquet table (install recollect[parquet])'
            )
        answer = alone.get(f"/api/sessions/{PLAIN}/export?format=parquet")
        said = "Parquet needs pyarrow, which is not installed. Install recollect[parquet], or "
        message = answer.json()["error"]["message"]
        assert (answer.status, message) == (422, f"{said}export as csv.")
