"""Tests of recollect.cli.commands.show_command, through the program, on the demo data."""

import json
import re
from pathlib import Path

import pytest

from recollect.render.terminal import measure
from tests.cli.demo_home import GOLDEN, WIDTHS, make_demo_home, run_at
from tests.export.test_formats import write_interjections
from tests.golden import check_golden
from tests.process import Finished, RunRecollect, run_python

IMPORT = "94791a87"
BRANCHED = "8facb961"
TRY = "\nTry `recollect show --help`."
PAGES = {
    "show": (IMPORT,),
    "show-branch": (BRANCHED,),
    "show-full": ("7aa5fa93", "--tools", "full", "--thinking", "--subagents"),
    "show-none": ("c798220b", "--tools", "none"),
    "show-chinese": ("035908b6", "--tools", "full"),
    "show-prompts": (IMPORT, "--prompts"),
    "show-outline": (IMPORT, "--outline"),
    "show-at": (f"--at={BRANCHED}#901ccc89-acc7-45e4-9269-d06f366f617b", "--highlight=HARBOUR"),
    "show-at-subagent": ("7aa5fa93#cd44e2f3-9eb4-4b88-8e45-c8d59934cac3",),
}
"""By the name of their golden files."""


@pytest.fixture
def home(safe_environment: None) -> Path:
    """A home with the demo data."""
    return make_demo_home()


def show(run: RunRecollect, *arguments: str, width: int = 80) -> Finished:
    """Return the output of `recollect show`."""
    return run_at(run, width, "show", *arguments)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_pages_look_as_they_are_meant_to(
    run_recollect: RunRecollect, home: Path, name: str, width: int
) -> None:
    """Each page equals its golden file and fits the width, and stderr is empty."""
    result = show(run_recollect, *PAGES[name], width=width)
    assert (result.code, result.stderr) == (0, "")
    check_golden(GOLDEN / f"{name}-{width}.txt", result.stdout)
    assert [line for line in result.stdout.splitlines() if measure(line) > width] == []


def list_loaded() -> set[str]:
    """Return the modules that a session is shown with."""
    done = run_python("-X", "importtime", "-m", "recollect", "show", IMPORT)
    loaded = set(re.findall(r"^import time:.*\| +(\S+)$", done.stderr, flags=re.MULTILINE))
    assert (done.code, "recollect.workspace.turn_selection" in loaded) == (0, True)
    return loaded


def test_nothing_of_a_server_is_loaded(home: Path) -> None:
    """A session is shown without loading an event loop, the largest modules of the library."""
    unwanted = {"asyncio", "ssl", "starlette", "recollect.workspace.session_catalog"}
    assert list_loaded() & unwanted == set()


def test_nothing_that_counts_files_is_loaded_once_they_are_counted(
    run_recollect: RunRecollect, home: Path
) -> None:
    """Figures come from the index, without the prices and what writes the ledger."""
    assert run_recollect("index").code == 0
    unwanted = {"hashlib", "recollect.pricing", "recollect.sync.sync_engine", "tomllib"}
    assert list_loaded() & unwanted == set()


def test_colours_are_those_of_the_file(run_recollect: RunRecollect, home: Path) -> None:
    """A page in colour equals its golden file, with colours of the terminal."""
    result = show(run_recollect, BRANCHED, "--color", "always")
    check_golden(GOLDEN / "show-colour.txt", result.stdout)


def test_a_document_is_what_it_is_meant_to_be(run_recollect: RunRecollect, home: Path) -> None:
    """`--json` prints the session and its turns, with their schema."""
    result = show(run_recollect, "7aa5fa93", "--subagents", "--json")
    assert (result.code, result.stderr) == (0, "")
    check_golden(GOLDEN / "show.json", result.stdout.replace(str(home), "/home/mina"))


def test_lines_of_json_are_the_session_and_its_turns(
    run_recollect: RunRecollect, home: Path
) -> None:
    """`--json-lines` prints the same as `--json`: the session, then one turn per line."""
    head, *turns = show(run_recollect, BRANCHED, "--json-lines").stdout.splitlines()
    document = json.loads(show(run_recollect, BRANCHED, "--json").stdout)
    assert [*map(json.loads, turns)] == document.pop("turns")
    assert json.loads(head) == document


def test_prompts_include_queued_ones(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """Prompts sent during a turn count too, in text and in JSON."""
    path = write_interjections(tmp_path)
    page = show(run_recollect, str(path), "--prompts").stdout
    words = ["fix the build", "but not the tests", "and the docs", "a job ended", "Done."]
    assert [each for each in words if each in page] == words[:3]
    (turn,) = json.loads(show(run_recollect, str(path), "--prompts", "--json").stdout)["turns"]
    said = [part["text"] for step in turn["steps"] for part in step["parts"]]
    assert [turn["words"], *said] == words[:3]


def numbers(run: RunRecollect, *arguments: str) -> list[int]:
    """Return the turns that these arguments select."""
    document = json.loads(show(run, *arguments, "--prompts", "--json").stdout)
    return [turn["number"] for turn in document["turns"]]


@pytest.mark.parametrize(
    ("options", "selected"),
    [
        ((), [1, 2, 3, 4]),
        (("--turn", "2"), [2]),
        (("--turn", "-1"), [4]),
        (("--turns", "2-3"), [2, 3]),
        (("--turns", "3-"), [3, 4]),
        (("--turns", "-3..-2"), [2, 3]),
        (("--turns", "..2"), [1, 2]),
        (("--turns", "-9..1"), [1]),
        (("--segment", "0"), [1, 2]),
        (("--segment", "-1"), [3, 4]),
        (("--segment", "1", "--turn", "-1"), [4]),
    ],
)
def test_turns_are_selected(
    run_recollect: RunRecollect, home: Path, options: tuple[str, ...], selected: list[int]
) -> None:
    """By number, range or segment, counted from the start or the end."""
    assert numbers(run_recollect, IMPORT, *options) == selected


@pytest.mark.parametrize(
    ("options", "selected"),
    [
        ((), [1, 3]),
        (("--branch", "1"), [1, 2]),
        (("--branch", "all"), [1, 2, 3]),
        (("--turn", "2"), [2]),
        (("--turns", "1-2"), [1]),
        (("--turn", "-2"), [1]),
    ],
)
def test_what_was_left_behind_is_shown_on_demand(
    run_recollect: RunRecollect, home: Path, options: tuple[str, ...], selected: list[int]
) -> None:
    """By default only the main path is shown; a branch or a turn can be requested."""
    assert numbers(run_recollect, BRANCHED, *options) == selected


@pytest.mark.parametrize(
    ("options", "selected"),
    [
        ((f"{BRANCHED}:2",), [2]),
        ((f"{BRANCHED}:2", "-C", "1"), [1, 2, 3]),
        (("--at", f"{BRANCHED}:-1", "-C", "9"), [1, 3]),
        ((IMPORT, "--at", "2", "-C", "1"), [1, 2, 3]),
        ((IMPORT, "--at", "ee547413"), [1]),
    ],
)
def test_a_place_is_shown_with_turns_around_it(
    run_recollect: RunRecollect, home: Path, options: tuple[str, ...], selected: list[int]
) -> None:
    """A turn or a record, given with the session or separately, with the requested context."""
    assert numbers(run_recollect, *options) == selected


def test_json_says_where_the_place_is(run_recollect: RunRecollect, home: Path) -> None:
    """`at` is the uuid of the step that shows the record; for a result, that of its call."""
    result = show(run_recollect, f"{BRANCHED}#eaca8b64", "--json")
    (turn,) = json.loads(result.stdout)["turns"]
    (call,) = [step for step in turn["steps"] if step["type"] == "tool"]
    assert json.loads(result.stdout)["at"] == call["uuid"]
    assert call["result_uuid"].startswith("eaca8b64")


def test_a_session_can_be_counted_back_to(run_recollect: RunRecollect, home: Path) -> None:
    """`-3` is a session and `--turn -1` a turn, on the same command line."""
    assert numbers(run_recollect, "-3", "--turn", "-1") == [4]


def test_raw_is_the_file(run_recollect: RunRecollect, home: Path) -> None:
    """`--raw` prints the bytes of the transcript, or of the requested turns."""
    (path,) = home.rglob(f"{BRANCHED}*.jsonl")
    text = path.read_text(encoding="utf-8")
    assert show(run_recollect, BRANCHED, "--raw") == Finished(0, text, "")
    some = show(run_recollect, BRANCHED, "--raw", "--turn", "2").stdout
    prompts = [json.loads(line)["message"]["content"] for line in some.splitlines()[:1]]
    assert prompts == ["local times, really? think about people who travel"]
    assert set(some.splitlines()) < set(text.splitlines())


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--turn", "9"), 3, "No such turn: this session has turns 1 to 4."),
        (("--branch", "1"), 3, "No branch 1: this session has no abandoned branches."),
        (("--branch", "x"), 2, "A branch is a number or `all`."),
        (("--segment", "2"), 3, "No segment 2: this session has segments 0 to 1."),
        (
            ("--json", "--raw"),
            2,
            "Use only one of --raw, --json and --json-lines.",
        ),
        (("--turn", "1", "--turns", "1-2"), 2, "Use only one of --turn and --turns."),
        (("--at", "9"), 3, "No turn 9: this session has 4 turns."),
        (("--at", "deadbeef"), 3, "The session has no record 'deadbeef'."),
        (
            ("--at", "2", "--turn", "1"),
            2,
            "A place cannot be used with --turn, --turns, --branch or --segment.",
        ),
        (
            ("--turns", "0-2"),
            2,
            "Invalid value for '--turns': '0-2' is not a valid range (try 2-5, 4- or -3..-1)."
            + TRY,
        ),
        (
            ("--turn", "0"),
            2,
            "Invalid value for '--turn': '0' is not a valid turn (try 3, or -1 for the last)."
            + TRY,
        ),
    ],
)
def test_a_wrong_request_says_what_to_do(
    run_recollect: RunRecollect, home: Path, options: tuple[str, ...], code: int, message: str
) -> None:
    """Exits with 3 if something does not exist, and with 2 for invalid requests."""
    assert show(run_recollect, IMPORT, *options) == Finished(code, "", f"recollect: {message}\n")


def test_an_unknown_session_is_not_found(run_recollect: RunRecollect, home: Path) -> None:
    """An unknown name exits with 3."""
    assert show(run_recollect, "no such session").code == 3


def test_a_session_without_messages(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """An empty session is not a bug, and its file can be shown."""
    path = tmp_path / "11111111-1111-4111-8111-111111111111.jsonl"
    path.write_text('{"type":"summary","summary":"x","leafUuid":"y"}\n')
    assert show(run_recollect, str(path)) == Finished(
        3,
        "",
        "recollect: This session has no messages. Use --raw to show what its file contains.\n",
    )
    assert show(run_recollect, str(path), "--raw").stdout == path.read_text()


@pytest.mark.parametrize("name", ["show", "files"])
def test_every_option_is_on_the_page(run_recollect: RunRecollect, name: str) -> None:
    """docs/show.md lists every option in the help."""
    shared = {"--help", "--claude-dir", "--json", "--pager"}
    options = set(re.findall(r"--[a-z-]+", run_recollect(name, "--help").stdout)) - shared
    page = (Path(__file__).resolve().parents[3] / "docs" / "show.md").read_text(encoding="utf-8")
    assert options - set(re.findall(r"--[a-z-]+", page)) == set()


def test_a_kept_stream_is_for_replay(
    run_recollect: RunRecollect, home: Path, tmp_path: Path
) -> None:
    """The output of a client is not a transcript; the error names the right command."""
    kept = tmp_path / "kept.jsonl"
    kept.write_text('{"type":"system","subtype":"init","session_id":"s","cwd":"/srv/p"}\n')
    result = show(run_recollect, str(kept))
    assert (result.code, result.stdout) == (2, "")
    assert "recollect replay" in result.stderr


def test_a_transcript_with_a_line_of_a_stream_is_shown(
    run_recollect: RunRecollect, home: Path, tmp_path: Path
) -> None:
    """An `init` line does not turn a transcript into a stream."""
    mixed = tmp_path / "mixed.jsonl"
    message = '"message":{"role":"user","content":"hello"}'
    mixed.write_text(
        '{"type":"system","subtype":"init","session_id":"s"}\n'
        f'{{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s",{message}}}\n'
    )
    assert show(run_recollect, str(mixed)).code == 0


def test_an_outline_in_a_pipe_is_not_cut(run_recollect: RunRecollect, home: Path) -> None:
    """As with tables, only a terminal or COLUMNS limits the width."""
    lines = run_recollect("show", IMPORT, "--outline", env={"COLUMNS": ""}).stdout.splitlines()
    assert lines[0].endswith("tell me what is slow before you change anything.")


def test_a_thread_is_read_as_one(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """Sessions of a thread are shown in order, whichever is given."""
    project = tmp_path / "projects" / "-p"
    project.mkdir(parents=True)
    for name, words, following in (("a" * 8, "begin", "b" * 8), ("b" * 8, "go on", "")):
        said = {"role": "user", "content": words}
        lines: list[dict[str, object]] = [
            {"type": "user", "uuid": words, "sessionId": name, "message": said, "cwd": "/p"}
        ]
        if following:
            lines.append({"type": "continued-in", "continuedInSessionId": following})
        (project / f"{name}.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    options = ("--thread", f"--claude-dir={tmp_path}")
    for name in ("aaaaaaaa", "bbbbbbbb"):
        result = show(run_recollect, name, "--outline", *options)
        assert (result.code, result.stderr) == (0, "")
        assert [line.strip("╌ ") for line in result.stdout.splitlines() if line] == [
            "1 of 2 · aaaaaaaa · begin",
            "1  begin",
            "2 of 2 · Continued in a new session · bbbbbbbb · go on",
            "1  go on",
        ]
    lines_of_json = show(run_recollect, "bbbbbbbb", "--json-lines", *options).stdout.splitlines()
    heads_and_turns = [json.loads(line) for line in lines_of_json]
    assert [each.get("words") for each in heads_and_turns] == [None, "begin", None, "go on"]


@pytest.mark.parametrize("option", ["--json", "--raw", "--turn=1", "--at=1", "--branch=1"])
def test_a_thread_is_shown_whole(run_recollect: RunRecollect, home: Path, option: str) -> None:
    """Options for a single session are rejected with a reason."""
    result = show(run_recollect, BRANCHED, "--thread", option)
    assert (result.code, result.stdout) == (2, "")
    assert "--thread cannot be used with" in result.stderr
