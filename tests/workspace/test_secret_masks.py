"""Tests of recollect.workspace.secret_masks; what no command and no page shows is tested beside."""

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.reader.line_blocks import LineBlock
from recollect.store.secret_rows import SecretReader
from recollect.workspace.secret_masks import DisplayMask
from recollect.workspace.workspace import open_workspace
from tests.process import RunRecollect
from tests.web.running import RunningServer, run_server

KEY = "AKIAIOSFODNN7RTGHJKL"
OTHER = "AKIAIOSFODNN7RTGHJKM"
PASSWORD = "Tr0ub4dor&3xy"


def wait_until_searchable(server: RunningServer) -> None:
    """Wait until the text pass has read everything."""
    while not server.get("/api/health").json()["is_searchable"]:
        pass


def write_session(root: Path, *texts: str) -> Path:
    """A session with a prompt for each text."""
    path = root / "projects" / "-srv" / "33333333-3333-4333-8333-333333333333.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        json.dumps(
            {
                "type": "user", "uuid": f"u{number}", "parentUuid": f"u{number - 1}",
                "sessionId": path.stem, "cwd": "/srv",
                "timestamp": f"2026-11-10T10:00:{number:02d}.000Z",
                "message": {"role": "user", "content": text},
            }
        )
        for number, text in enumerate(texts)
    ]  # fmt: skip
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_a_secret_has_one_tag_in_its_session(run_recollect: RunRecollect, home: Path) -> None:
    """Numbers follow the time, and are the same with an index, without one, and for one turn."""
    write_session(home, f"first {KEY}", f"then {OTHER}", f"again {KEY} and {OTHER}")
    expected = "again [redacted:aws-key#1] and [redacted:aws-key#2]"
    shown = [run_recollect("show", "latest", "--turn", "3").stdout]
    run_recollect("index", "--text")
    shown.append(run_recollect("show", "latest", "--turn", "3").stdout)
    assert [expected in each for each in shown] == [True, True]


def test_a_password_is_masked_where_nothing_gives_it_away(
    run_recollect: RunRecollect, home: Path
) -> None:
    """Only one record identifies it as a password, but it is masked in all."""
    write_session(home, f"export DB_PASSWORD={PASSWORD}", f"it said {PASSWORD} twice")
    run_recollect("index", "--text")
    done = run_recollect("show", "latest", "--json")
    words = [turn["words"] for turn in json.loads(done.stdout)["turns"]]
    assert words == [
        "export DB_PASSWORD=[redacted:password#1]",
        "it said [redacted:password#1] twice",
    ]


def test_what_was_appended_is_masked_too(run_recollect: RunRecollect, home: Path) -> None:
    """Even if the index has not read it yet."""
    path = write_session(home, "hello")
    run_recollect("index", "--text")
    written = path.read_bytes()
    write_session(home, "hello", f"use {KEY}")
    assert path.read_bytes().startswith(written)
    assert KEY not in run_recollect("show", "latest").stdout


def test_indexed_secrets_are_masked_without_rules(
    run_recollect: RunRecollect, home: Path, tmp_path: Path
) -> None:
    """In every line, even escaped, wrapped or unrecognisable."""
    escaped = json.dumps({"stdout": json.dumps({"key": KEY, "text": f"a\n{KEY}"})})
    path = write_session(
        home, f"use {KEY}", f"export DB_PASSWORD={PASSWORD}", escaped, PASSWORD, f"{KEY} {KEY}"
    )
    block = LineBlock(0, path.read_bytes())
    empty = tmp_path / "empty"
    empty.mkdir()
    by_rules = DisplayMask(lambda: empty)(str(path), block)
    run_recollect("index", "--text")
    by_index = DisplayMask(lambda: tmp_path / "data")(str(path), block)
    assert by_index == by_rules
    assert len(by_index) == 5
    script = (
        "import sys; from pathlib import Path; from recollect.reader.line_blocks import LineBlock;"
        "from recollect.workspace.secret_masks import DisplayMask;"
        f"block = LineBlock(0, Path({str(path)!r}).read_bytes());"
        f"mask = DisplayMask(lambda: Path({str(tmp_path / 'data')!r}));"
        f"print(len(mask({str(path)!r}, block)), 'recollect.redact.scanner' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "5 False\n"


def test_a_last_line_without_its_end_is_masked_without_rules(
    run_recollect: RunRecollect, home: Path, tmp_path: Path
) -> None:
    """The text pass reads it, and again once it is complete."""
    path = write_session(home, "hello", f"use {KEY}")
    path.write_bytes(path.read_bytes().rstrip())
    os.utime(path, (1_700_000_000, 1_700_000_000))
    run_recollect("index", "--text")
    script = (
        "import sys; from pathlib import Path; from recollect.reader.line_blocks import LineBlock;"
        "from recollect.workspace.secret_masks import DisplayMask;"
        f"block = LineBlock(0, Path({str(path)!r}).read_bytes());"
        f"mask = DisplayMask(lambda: Path({str(tmp_path / 'data')!r}));"
        f"found = mask({str(path)!r}, block);"
        "print(len(found), b'redacted:aws-key#1' in b''.join(found.values()),"
        "'recollect.redact.scanner' in sys.modules)"
    )
    command = [sys.executable, "-c", script]
    assert subprocess.check_output(command, text=True) == "1 True False\n"
    with path.open("ab") as file:
        file.write(f"\n{OTHER}\n".encode())
    assert subprocess.check_output(command, text=True) == "2 True True\n"


def test_who_has_a_secret_finds_where_it_is(run_recollect: RunRecollect, home: Path) -> None:
    """Searching for the complete secret finds it, a part does not."""
    write_session(home, f"use {KEY} for the reef", "nothing")
    answers = [run_recollect("search", each, "--json") for each in (KEY, f'"{KEY}"', KEY[:-1])]
    hits = [[hit["snippet"]["text"] for hit in json.loads(done.stdout)["hits"]] for done in answers]
    found = ["use [redacted:aws-key#1] for the reef"]
    assert hits == [found, found, []]


def test_only_tags_of_its_kind_are_marked(run_recollect: RunRecollect, home: Path) -> None:
    """Another secret in the same text is not what was searched for."""
    write_session(home, f"use {OTHER} with https://mara:{PASSWORD}@reef.example/ here")
    found = json.loads(run_recollect("search", PASSWORD, "--json").stdout)
    [snippet] = [hit["snippet"] for hit in found["hits"]]
    marked = [snippet["text"][start:end] for start, end in snippet["marks"]]
    assert marked == ["[redacted:connection-string#1]"]


def test_the_key_of_the_hashes_is_private(
    run_recollect: RunRecollect, home: Path, tmp_path: Path
) -> None:
    """Only its owner can read it, and it is made once."""
    write_session(home, f"use {KEY}")
    path = tmp_path / "data" / "secrets.key"
    keys = []
    for text in ("one", "two"):
        run_recollect("index", "--text")
        keys.append(path.read_bytes())
        write_session(home, f"use {KEY}", text)
    assert keys[0] == keys[1]
    assert (len(keys[0]), stat.S_IMODE(path.stat().st_mode)) == (32, 0o600)


def test_only_a_person_is_shown_a_secret(run_recollect: RunRecollect, home: Path) -> None:
    """`--reveal` is refused if a program reads the output."""
    write_session(home, f"use {KEY}")
    for options in ((), ("--json",), ("--raw",)):
        done = run_recollect("show", "latest", "--reveal", *options)
        assert (done.code, done.stdout) == (2, "")
        assert "--reveal needs a terminal: it shows secrets to you" in done.stderr


def test_own_kinds_and_allowed_values_are_obeyed(
    run_recollect: RunRecollect, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's rules override the built-in ones."""
    config = home.parent / "config.toml"
    monkeypatch.setenv("RECOLLECT_CONFIG", str(config))
    config.write_text(
        f'[redact]\nallow = ["{OTHER}"]\n[redact.patterns]\nreef-key = "reef_[a-z]{{6}}"\n',
        encoding="utf-8",
    )
    write_session(home, f"use {KEY}, {OTHER} and reef_corals")
    run_recollect("index", "--text")
    words = json.loads(run_recollect("show", "latest", "--json").stdout)["turns"][0]["words"]
    assert words == f"use [redacted:aws-key#1], {OTHER} and [redacted:reef-key#1]"


def test_a_hit_in_a_todo_list_is_masked(run_recollect: RunRecollect, home: Path) -> None:
    """The files of lists are read back like transcripts: with what the index knows, and without."""
    session = write_session(home, "plan it").stem
    todos = [{"content": f"rotate\n{KEY}", "status": "pending", "activeForm": "Rotating"}]
    path = home / "todos" / f"{session}-agent-{session}.json"
    path.parent.mkdir()
    path.write_text(json.dumps(todos, indent=2), encoding="utf-8")
    run_recollect("index", "--text")
    found = json.loads(run_recollect("search", "rotate", "--json").stdout)["hits"]
    path.write_text(json.dumps([*todos, *todos], indent=2), encoding="utf-8")
    changed = json.loads(run_recollect("search", "/rotat.*/", "--json").stdout)["hits"]
    assert [hit["snippet"]["text"] for hit in (*found, *changed)] == [
        "rotate [redacted:aws-key#1] Rotating",
        "rotate [redacted:aws-key#1] Rotating rotate [redacted:aws-key#1] Rotating",
    ]


def test_the_library_reads_what_is_there(home: Path, tmp_path: Path) -> None:
    """It does not mask records; lists from the index are masked."""
    write_session(home, f"use {KEY}")
    with open_workspace(home, tmp_path / "data") as workspace:
        assert workspace.open("latest").turns[0].words == f"use {KEY}"
        listing = workspace.sessions().sessions[0]
    assert (listing.title, listing.first_prompt) == ("use [redacted:aws-key]",) * 2


def test_lines_are_masked_as_they_are_read(tmp_path: Path) -> None:
    """Only the changed lines of a block are returned."""
    mask = DisplayMask(lambda: tmp_path)
    lines = b'{"a": "nothing"}\n{"b": "' + KEY.encode() + b'"}\n'
    assert mask("x.jsonl", LineBlock(0, lines)) == {17: b'{"b":"[redacted:aws-key#1]"}'}
    assert mask.find_session("x.jsonl").reveal("aws-key", 1) == KEY
    assert mask.find_session("x/subagents/agent-1.jsonl").reveal("aws-key", 2) is None


def test_sessions_loaded_together_are_masked_as_if_loaded_alone(
    run_recollect: RunRecollect, home: Path, tmp_path: Path
) -> None:
    """One query answers for all files of a search; nothing is looked up again later."""
    first = write_session(home, f"export DB_PASSWORD={PASSWORD}", f"it said {PASSWORD} twice")
    second = first.with_name("44444444-4444-4444-8444-444444444444.jsonl")
    second.write_bytes(
        first.read_bytes().replace(b"33333333-3333", b"44444444-4444").replace(b"4dor", b"5dor")
    )
    subagent = first.with_suffix("") / "subagents" / "agent-1.jsonl"
    subagent.parent.mkdir(parents=True)
    subagent.write_bytes(first.read_bytes().splitlines(keepends=True)[1])
    nameless = first.with_name("notes.jsonl")
    nameless.write_text('{"type": "user", "message": "nothing"}\n')
    run_recollect("index", "--text")
    data = Path(os.environ["RECOLLECT_DATA_DIR"])
    files = [str(each) for each in (first, second, subagent, nameless, tmp_path / "unknown.jsonl")]
    reader = SecretReader(data)
    alone = {each: reader.load_session(each) for each in files}
    assert reader.load_sessions(files) == {each: alone[each] for each in files[:-1]}
    assert [len(each.secrets) for each in alone.values()] == [1, 1, 1, 0, 0]

    mask = DisplayMask(lambda: data)
    mask.load_sessions(files)
    assert mask.find_session(files[0]) is mask.find_session(files[2])
    (data / "text" / "text.db").unlink()
    masked = [mask(each, LineBlock(0, Path(each).read_bytes())) for each in files[:3]]
    assert [len(each) for each in masked] == [2, 2, 1]
    assert b"dor&3xy" not in b"".join(line for each in masked for line in each.values())


@pytest.mark.slow
def test_a_click_shows_one_secret(tmp_path: Path) -> None:
    """A page has a chip with a number, and only our own pages can request its value."""
    write_session(tmp_path / "root", f"use `{KEY}` and\n```python\nkey = '{OTHER}'\n```")
    with run_server(tmp_path, tmp_path / "root") as server:
        wait_until_searchable(server)
        address = "/s/33333333-3333-4333-8333-333333333333"
        page = server.get(address).body.decode()
        assert (KEY in page, OTHER in page) == (False, False)
        chips = re.findall(r'data-kind="([a-z-]+)" data-number="([0-9]+)"', page)
        assert sorted(set(chips)) == [("aws-key", "1"), ("aws-key", "2")]
        token = json.dumps({"token": server.token}).encode()
        signed_in = server.ask("/sign-in", "POST", {"origin": server.origin}, token)
        cookie = {"cookie": signed_in.headers["set-cookie"].partition(";")[0]}
        tag = json.dumps({"kind": "aws-key", "number": 2}).encode()
        shown = server.ask(f"{address}/reveal", "POST", {**cookie, "origin": server.origin}, tag)
        assert (shown.status, shown.json()) == (200, {"value": OTHER})
        refused = {
            "no cookie": {"origin": server.origin},
            "another site": {**cookie, "origin": "http://example.org"},
            "no origin": cookie,
            "a program": {**server.authority, "origin": server.origin},
        }
        statuses = {
            name: server.ask(f"{address}/reveal", "POST", headers, tag).status
            for name, headers in refused.items()
        }
        assert statuses == dict.fromkeys(refused, 403) | {"no cookie": 401}
        unknown = json.dumps({"kind": "aws-key", "number": 9}).encode()
        asked = server.ask(
            f"{address}/reveal", "POST", {**cookie, "origin": server.origin}, unknown
        )
        assert asked.status == 404
        health = server.get("/health").body.decode()
        assert re.findall(r"<td>(aws-key) <small>(\w+)</small></td>", health) == [
            ("aws-key", "definite")
        ]
