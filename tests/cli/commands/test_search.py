"""Tests of recollect.cli.commands.search_command, through the program."""

import json
import re
from pathlib import Path

from recollect.demo import CLAUDE_DIRECTORY
from tests.library.claude_root import FIRST, call, encode, prompt, result
from tests.process import Finished, RunRecollect, run_python


def make_root(path: Path) -> str:
    """A Claude directory with one session."""
    project = path / "projects" / "-home-mina-pond"
    project.mkdir(parents=True)
    lines = [
        prompt("find the alpha of the pond", uuid="u1"),
        call("Bash", {"command": "alpha --now"}),
        result("alpha \x1b[31mred\x1b[0m", uuid="r1"),
    ]
    (project / f"{FIRST}.jsonl").write_bytes(encode(lines))
    return str(path)


def run(
    run_recollect: RunRecollect, tmp_path: Path, *arguments: str, **environment: str
) -> Finished:
    """Search a small Claude directory."""
    root = tmp_path / "claude"
    place = str(root) if root.exists() else make_root(root)
    env = {"RECOLLECT_DATA_DIR": str(tmp_path / "data"), "COLUMNS": "80", **environment}
    return run_recollect("search", "--claude-dir", place, *arguments, env=env)


def test_hits_are_shown_by_session(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """Each hit has its time, its part and a snippet with highlighted words."""
    assert run(run_recollect, tmp_path, "alpha") == Finished(
        0,
        "11111111  pond  find the alpha of the pond\n"
        "  2026-03-01 06:00  turn 1, prompt  u1\n"
        "    find the «alpha» of the pond\n"
        "  2026-03-01 06:00  turn 1, Bash call  c1\n"
        "    «alpha» --now\n"
        "  2026-03-01 06:00  turn 1, Bash result  r1\n"
        "    «alpha» ␛[31mred␛[0m\n"
        "\n"
        "3 results in 1 session.\n",
        "",
    )


def test_marks_are_coloured_where_colours_are_wanted(
    run_recollect: RunRecollect, tmp_path: Path
) -> None:
    """With colours, there are no guillemets."""
    found = run(run_recollect, tmp_path, "alpha", "role:user", FORCE_COLOR="1")
    assert found.stdout.splitlines()[2] == ("    find the \x1b[33m\x1b[1malpha\x1b[0m of the pond")


def test_json_has_a_documented_shape(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """`--json` prints the canonical query, the hits and the totals."""
    found = run(run_recollect, tmp_path, "alpha", "role:user", "--json")
    document = json.loads(found.stdout)
    (hit,) = document.pop("hits")
    assert document == {
        "schema": "recollect.search/2",
        "query": "alpha role:user",
        "total": 1,
        "total_sessions": 1,
        "offset": 0,
        "is_total_exact": True,
        "index_complete": True,
        "left_out": [],
        "did_you_mean": None,
        "split": [],
        "corrected": {},
        "capped": [],
        "facets": [],
        "sessions": {
            FIRST: {
                "title": "find the alpha of the pond",
                "project": "-home-mina-pond",
                "cwd": "/home/mina/pond",
                "last_active": "2026-03-01T06:00:03.000Z",
            }
        },
    }
    assert hit == {
        "session_id": FIRST,
        "uuid": "u1",
        "link": f"{FIRST}#u1",
        "project": "/home/mina/pond",
        "path": str(tmp_path / "claude" / "projects" / "-home-mina-pond" / f"{FIRST}.jsonl"),
        "offset": 0,
        "part": "prompt",
        "tool": None,
        "time": "2026-03-01T06:00:00.000Z",
        "is_error": False,
        "is_subagent": False,
        "snippet": {"text": "find the alpha of the pond", "marks": [[9, 14]]},
        "more_in_session": 0,
        "missing": [],
        "turn": 1,
    }


def test_all_sessions_are_reached_by_pages(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """Each page shows its range and how to get the next."""
    root = tmp_path / "claude"
    make_root(root)
    for number in range(4):
        name = f"{number}2222222-2222-4222-8222-222222222222"
        path = root / "projects" / "-home-mina-pond" / f"{name}.jsonl"
        path.write_bytes(encode([prompt(f"alpha {number}", uuid=f"p{number}", sessionId=name)]))
    pages = [
        run(run_recollect, tmp_path, "alpha", "-n", "2", "--page", page).stdout.splitlines()
        for page in ("1", "2", "3")
    ]
    heads = [line[:8] for page in pages for line in page if line[:1] in set("01234")]
    assert [page[-1] for page in pages] == [
        "7 results in 5 sessions, showing 1 to 2. Use --page 2 for more.",
        "7 results in 5 sessions, showing 3 to 4. Use --page 3 for more.",
        "7 results in 5 sessions, showing 5 to 5.",
    ]
    assert sorted(heads) == ["02222222", "11111111", "12222222", "22222222", "32222222"]
    beyond = run(run_recollect, tmp_path, "alpha", "--page", "9")
    message = "recollect: Found only 5 sessions. Use a smaller --page.\n"
    assert beyond == Finished(3, "", message)


def test_words_that_are_not_there_are_named(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """A word in no session, a word missing from this session, and a misspelt word."""
    root = tmp_path / "claude"
    make_root(root)
    other = root / "projects" / "-home-mina-pond" / "22222222-2222-4222-8222-222222222222.jsonl"
    other.write_bytes(encode([prompt("a heron", uuid="p1", sessionId=other.stem)]))
    found = run(run_recollect, tmp_path, "alpha", "heron", "qqqqqq", "alpah").stdout
    lines = found.splitlines()
    assert lines[:2] == ["Not found: qqqqqq, alpah. Showing results for: alpha heron alpha", ""]
    assert "  missing: heron" in lines
    found = run(run_recollect, tmp_path, "alpha", "qqqqqq").stdout
    assert found.splitlines()[:2] == ["Not found anywhere: qqqqqq", ""]


def test_nothing_found_has_its_own_exit_code(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """Exits with 3 without matches; with `--json` it is a normal result."""
    message = "recollect: No matches. Try fewer words, a prefix*, or OR.\n"
    assert run(run_recollect, tmp_path, "omega") == Finished(3, "", message)
    found = run(run_recollect, tmp_path, "omega", "--json")
    assert (found.code, json.loads(found.stdout)["hits"]) == (0, [])


def test_a_wrong_query_is_pointed_at(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """An invalid query exits with 2 and a caret below the position."""
    assert run(run_recollect, tmp_path, "(alpha") == Finished(
        2,
        "",
        "recollect: missing closing parenthesis; to search for parentheses put the text in quotes\n"
        "  (alpha\n"
        "  ^\n",
    )


def test_a_wrong_regular_expression_is_pointed_at(
    run_recollect: RunRecollect, tmp_path: Path
) -> None:
    """An expression that RE2 rejects is an error before anything is read."""
    assert run(run_recollect, tmp_path, "alpha", "/(?=x)/") == Finished(
        2,
        "",
        "recollect: invalid regular expression: invalid perl operator: (?=\n"
        "  alpha /(?=x)/\n"
        "        ^\n",
    )


def test_a_project_can_be_named(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """`--project` is the field `project:` with any text."""
    assert run(run_recollect, tmp_path, "alpha", "--project", "mina/pond").code == 0
    assert run(run_recollect, tmp_path, "alpha", "--project", 'a "b" (c').code == 3


def test_the_newest_can_come_first(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """`--recent` orders by time and `--limit` counts sessions."""
    found = run(run_recollect, tmp_path, "alpha", "--recent", "-n", "1", "--json")
    assert [hit["uuid"] for hit in json.loads(found.stdout)["hits"]] == ["r1", "c1", "u1"]


def test_nothing_is_written_below_the_claude_directory(
    run_recollect: RunRecollect, tmp_path: Path
) -> None:
    """Indexing and searching leave its files unchanged."""
    root = Path(make_root(tmp_path / "claude"))
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    run(run_recollect, tmp_path, "alpha")
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


def test_the_demo_data_can_be_searched(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """The sample sessions are found from the command line."""
    env = {"RECOLLECT_DATA_DIR": str(tmp_path)}
    arguments = ("search", "--claude-dir", str(CLAUDE_DIRECTORY), "tidepool", "--json")
    assert json.loads(run_recollect(*arguments, env=env).stdout)["total"] > 5


def test_a_search_loads_no_stream_messages(tmp_path: Path) -> None:
    """Transcripts are read without loading the types of stream messages."""
    command = ("search", "harbour", "--claude-dir", str(CLAUDE_DIRECTORY))
    environment = {"RECOLLECT_DATA_DIR": str(tmp_path / "data")}
    done = run_python("-X", "importtime", "-m", "recollect", *command, env=environment)
    loaded = set(re.findall(r"^import time:.*\| +(\S+)$", done.stderr, flags=re.MULTILINE))
    assert (done.code, "recollect.sync.text_reading" in loaded) == (0, True)
    assert sorted(name for name in loaded if name.startswith("recollect.records.stream")) == []
