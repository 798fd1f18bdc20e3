"""Tests of recollect.cli.commands.index_command, through the program, and of the page about it."""

import json
import re
from pathlib import Path

import msgspec
import pytest

from recollect.cli.commands.index_command import choose_code, describe, iter_text
from recollect.documents.command_reports import IndexDocument, IndexProblem, TextStatus
from recollect.store.data_directory import INDEX_NAME
from recollect.store.database import IndexStatus
from recollect.workspace.maintenance import IndexUpdate
from tests.process import Finished, RunRecollect
from tests.sync.lines import Line
from tests.sync.world import World

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "index.md").read_text(encoding="utf-8")
JSON_FORM = PAGE[PAGE.index("## The JSON form") :]
ROWS = dict(re.findall(r"^\| (`.+?`) \| [a-z ]+ \| (.+) \|$", JSON_FORM, flags=re.MULTILINE))
LEVEL = "State        up to date"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A Claude directory with two sessions, which commands find by default."""
    world = World(tmp_path, tmp_path / "data")
    for name in ("p/a", "p/b"):
        world.write(name, Line(id=name).encode() + Line().encode())
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(world.root))
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(world.data))
    monkeypatch.setenv("COLUMNS", "100")
    return world


def load(result: Finished) -> IndexDocument:
    """Return the JSON output."""
    return msgspec.json.decode(result.stdout, type=IndexDocument)


def test_what_is_new_is_read(run_recollect: RunRecollect, world: World) -> None:
    """The output describes the updated index."""
    size = sum(found.size for found in world.find())
    first = run_recollect("index")
    assert (first.code, first.stderr) == (0, "")
    path = world.data / INDEX_NAME
    lines = first.stdout.splitlines()
    assert lines[:3] == [f"Read 2 files, {size / 1000:.1f} KB.", f"Index        {path}", LEVEL]
    assert lines[4:] == [
        "Transcripts  2",
        "Messages     3 counted",
        "Copies       1 not counted",
        "Texts        not indexed yet; indexed by the first search or `recollect index --text`",
    ]
    assert run_recollect("index").stdout.splitlines()[0] == "Already up to date."


def test_a_look_changes_nothing(run_recollect: RunRecollect, world: World) -> None:
    """Neither without an index nor with an outdated one."""
    text = "not created yet; created on first use"
    assert run_recollect("index", "--status") == Finished(
        0, f"Index  {world.data / INDEX_NAME}\nState  {text}\n", ""
    )
    assert not world.data.exists()
    world.sync()
    world.append("p/a", Line(id="more").encode())
    result = run_recollect("index", "--status")
    assert result.stdout.splitlines()[1] == (
        "State        out of date; run `recollect index` to update it"
    )
    assert not load(run_recollect("index", "--status", "--json")).is_current


def test_all_can_be_read_again(run_recollect: RunRecollect, world: World) -> None:
    """Data about deleted transcripts is kept."""
    world.sync()
    world.path("p/b").unlink()
    document = load(run_recollect("index", "--rebuild", "--json"))
    assert (document.files_read, document.files, document.files_gone) == (1, 1, 1)
    assert (document.messages, document.copies) == (3, 1)
    again = load(run_recollect("index", "--rebuild", "--json"))
    assert (again.files_read, again.files_gone, again.messages) == (1, 1, 3)


def test_texts_are_read_on_request(run_recollect: RunRecollect, world: World) -> None:
    """The status of texts is shown with and without it, and `--status` reads none of them."""
    world.sync()
    assert load(run_recollect("index", "--status", "--json")).text == TextStatus(files_behind=2)
    done = run_recollect("index", "--text")
    assert (done.code, done.stderr) == (0, "")
    *_, texts = done.stdout.splitlines()
    size, _, state = texts.removeprefix("Texts        ").partition(", ")
    assert (state, texts) == ("up to date", f"Texts        {size}, {state}")
    world.append("p/a", Line(id="more").encode())
    document = load(run_recollect("index", "--json"))
    assert document.text == TextStatus(bytes=document.text.bytes, files_behind=1)
    *_, texts = run_recollect("index").stdout.splitlines()
    assert texts == f"Texts        {size}, 1 file to index; updated by the next search"
    assert load(run_recollect("index", "--text", "--json")).text.is_current


def test_texts_can_be_read_again_too(run_recollect: RunRecollect, world: World) -> None:
    """With `--rebuild --text`, all texts are read again."""
    run_recollect("index", "--text")
    (texts,) = (world.data / "text").glob("*.db")
    texts.write_bytes(b"garbage" * 10_000)
    assert not load(run_recollect("index", "--rebuild", "--json")).text.is_current
    document = load(run_recollect("index", "--rebuild", "--text", "--json"))
    assert (document.files_read, document.text.is_current) == (2, True)
    assert texts.read_bytes()[:6] == b"SQLite"


def test_damage_is_detected_and_repaired(run_recollect: RunRecollect, world: World) -> None:
    """The status reports it with its own exit code."""
    world.sync()
    (world.data / INDEX_NAME).write_bytes(b"garbage" * 1000)
    result = run_recollect("index", "--status")
    assert (result.code, result.stdout.splitlines()[1]) == (
        5,
        "State  damaged or outdated; rebuilt on next use",
    )
    assert load(run_recollect("index", "--json")).is_sound


def test_problems_are_listed(run_recollect: RunRecollect, world: World) -> None:
    """They have their own exit code."""
    (world.root / "projects" / "p" / "link.jsonl").symlink_to(world.path("p/a"))
    assert run_recollect("index").code == 0
    status = IndexStatus(path="/i", bytes=1, is_sound=True, problems={"/a\x1b[2J": "no"})
    document = describe(IndexUpdate(status=status, texts=TextStatus(), is_current=True))
    assert document.problems == (IndexProblem("/a\x1b[2J", "no"),)
    assert choose_code(document) == 4
    assert list(iter_text(document, 80, status_only=True))[-1] == "Could not read /a␛[2J: no"


def test_another_claude_directory_can_be_given(
    run_recollect: RunRecollect, world: World, tmp_path: Path
) -> None:
    """Its transcripts are added to those in the index."""
    world.sync()
    other = World(tmp_path / "other", world.data)
    other.write("p/c", Line(id="c").encode())
    document = load(run_recollect("index", "--claude-dir", str(other.root), "--json"))
    assert (document.files_read, document.files, document.is_current) == (1, 3, True)


@pytest.mark.parametrize("option", ["--rebuild", "--text"])
def test_a_contradiction_is_refused(run_recollect: RunRecollect, world: World, option: str) -> None:
    """With a message about the conflict."""
    assert run_recollect("index", "--status", option) == Finished(
        2, "", "recollect: --status cannot be used with --rebuild or --text.\n"
    )


def test_a_failure_is_reported(run_recollect: RunRecollect, world: World) -> None:
    """With its exit code."""
    world.data.write_text("a file", encoding="utf-8")
    assert run_recollect("index") == Finished(
        5,
        "",
        f"recollect: Cannot create the data directory {world.data}: it is a file. "
        "Set RECOLLECT_DATA_DIR to a directory that you can write to.\n",
    )


def test_without_a_claude_directory_nothing_is_found(
    run_recollect: RunRecollect, tmp_path: Path
) -> None:
    """The searched directories are listed."""
    result = run_recollect("index", env={"CLAUDE_CONFIG_DIR": str(tmp_path / "missing")})
    assert (result.code, result.stderr.splitlines()[1]) == (3, f"  {tmp_path / 'missing'}")


def test_the_index_is_not_put_into_a_claude_directory(
    run_recollect: RunRecollect, world: World
) -> None:
    """Not even on request."""
    result = run_recollect("index", env={"RECOLLECT_DATA_DIR": str(world.root / "index")})
    assert (result.code, result.stderr.split(",")[0]) == (
        2,
        f"recollect: The data directory {world.root / 'index'} is in {world.root}",
    )


def test_the_page_documents_every_field() -> None:
    """All of them, in their order, and those of the lists."""
    names = [name for cell in ROWS for name in re.findall(r"`([^`]+)`", cell)]
    assert names == list(IndexDocument.__struct_fields__)
    assert re.findall(r"`([^`]+)`", ROWS["`problems`"]) == list(IndexProblem.__struct_fields__)
    named = set(re.findall(r"`([^`]+)`", ROWS["`text`"]))
    assert named == {*TextStatus.__struct_fields__}
    assert re.findall(r"`([^`]+)`", ROWS["`schema`"]) == [IndexDocument.__struct_defaults__[0]]


def test_the_page_documents_every_option(run_recollect: RunRecollect) -> None:
    """As the help does."""
    shown = set(re.findall(r"--[a-z-]+", run_recollect("index", "--help").stdout))
    assert shown - set(re.findall(r"--[a-z-]+", PAGE)) == {"--help"}


def test_the_program_prints_the_documented_fields(
    run_recollect: RunRecollect, world: World
) -> None:
    """In ASCII, whatever the names on disk."""
    printed = run_recollect("index", "--json").stdout
    assert list(json.loads(printed)) == list(IndexDocument.__struct_fields__)
    assert printed.isascii()
