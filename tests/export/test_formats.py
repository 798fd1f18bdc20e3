"""Each format of an export: golden files, round trips, and the content of each level."""

import csv
import io
import json
import re
from importlib.resources import files
from pathlib import Path

import comrak
import msgspec
import pytest
from jsonschema import Draft202012Validator

from recollect.demo import CLAUDE_DIRECTORY
from recollect.documents.session_documents import ShowDocument
from recollect.documents.turn_documents import TurnView
from recollect.errors import UsageError
from recollect.export import ExportOptions, Format, Images, Level, Table, Theme
from recollect.export.export_content import SessionPart
from recollect.export.exporter import Exporter
from recollect.export.plain_formats import estimate_tokens
from recollect.library.opening import open_session
from recollect.render.views.turn_views import build_turn_views, complete_turn
from recollect.session.session import Session
from tests.export.sessions import (
    WITH_SUBAGENT,
    answer,
    call,
    export,
    open_demo,
    reply,
    say,
    write_session,
)
from tests.golden import check_golden

GOLDEN = Path(__file__).parent / "golden"
CASES = {
    "session.html": ExportOptions(format=Format.HTML),
    "session.md": ExportOptions(format=Format.MARKDOWN),
    "tools.md": ExportOptions(format=Format.MARKDOWN, level=Level.TOOLS),
    "conversation.md": ExportOptions(format=Format.MARKDOWN, level=Level.CONVERSATION),
    "prompts.md": ExportOptions(format=Format.MARKDOWN, level=Level.PROMPTS),
    "digest.md": ExportOptions(format=Format.MARKDOWN, budget=1_000),
    "session.txt": ExportOptions(format=Format.TEXT),
    "session.json": ExportOptions(format=Format.JSON),
    "messages.csv": ExportOptions(format=Format.CSV, table=Table.MESSAGES),
    "calls.csv": ExportOptions(format=Format.CSV, table=Table.CALLS),
    "usage.csv": ExportOptions(format=Format.CSV, table=Table.USAGE),
}
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
RANDOM_PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNg17kBAAFJAQx4d0bSAAAAAElFTkSuQmCC"
)
"""One that has enough digits for a token."""


def stabilise(text: str) -> str:
    """Return an export without the style sheet and the path of the demo data."""
    text = re.sub(r"<style>.*?</style>", "<style></style>", text, flags=re.DOTALL)
    text = re.sub(r"sha256-[\w+/=]+", "sha256-…", text)
    text = re.sub(r'"modified": [\d.]+', '"modified": 0', text)
    return text.replace(str(CLAUDE_DIRECTORY), "/home/mina/.claude")


@pytest.mark.parametrize("name", CASES)
def test_exports_are_what_they_are_meant_to_be(name: str) -> None:
    """A session with a subagent equals its golden files, in every format at every level."""
    check_golden(GOLDEN / name, stabilise(export(open_demo(), CASES[name])))


def test_json_is_valid_and_holds_the_whole_session() -> None:
    """It is valid against the schema and equals `show --json`."""
    session = open_demo()
    text = export(session, CASES["session.json"])
    schema = json.loads(files("recollect").joinpath("schemas/show-2.json").read_text("utf-8"))
    assert list(Draft202012Validator(schema).iter_errors(json.loads(text))) == []
    turns = tuple(
        complete_turn(view, session, subagents=True) for view in build_turn_views(session)
    )
    decoded = msgspec.json.decode(text, type=ShowDocument)
    assert decoded == ShowDocument(session=session.metadata, turns=turns)


def test_raw_lines_are_byte_identical(tmp_path: Path) -> None:
    """The lines of the session come first, then those of its subagents."""
    root = CLAUDE_DIRECTORY / "projects" / "-home-mina-projects-letterpress"
    (main,) = root.glob(f"{WITH_SUBAGENT}*.jsonl")
    (agent,) = (root / main.stem / "subagents").glob("*.jsonl")
    target = tmp_path / "raw.jsonl"
    options = ExportOptions(format=Format.JSONL, redaction=None)
    Exporter(options).write(SessionPart(open_demo()), target)
    assert target.read_bytes() == main.read_bytes() + agent.read_bytes()


def test_raw_lines_of_a_torn_file_stay_apart(tmp_path: Path) -> None:
    """An incomplete last line is not joined with the first line of a subagent."""
    path = write_session(tmp_path, [say("hello")])
    torn = path.read_bytes() + b'{"type":"user","uu'
    path.write_bytes(torn)
    agent = path.parent / "s1" / "subagents" / "agent-a1.jsonl"
    agent.parent.mkdir(parents=True)
    line = {**say("task"), "uuid": "x", "isSidechain": True, "agentId": "a1", "sessionId": "s1"}
    agent.write_text(json.dumps(line) + "\n")
    options = ExportOptions(format=Format.JSONL, redaction=None)
    assert export(open_session(path), options).encode() == torn + b"\n" + agent.read_bytes()


def test_raw_lines_of_one_turn_are_those_of_its_records() -> None:
    """A selection exports the lines of its records, unchanged."""
    session = open_demo()
    options = ExportOptions(format=Format.JSONL, redaction=None)
    lines = export(session, options, (0,)).splitlines()
    (view,) = build_turn_views(session, start=0, stop=1)
    assert [json.loads(line)["uuid"] for line in lines] == list(view.uuids)
    original = Path(session.metadata.path or "").read_text("utf-8").splitlines()
    assert set(lines) <= set(original)


def test_parquet_holds_the_same_as_csv(tmp_path: Path) -> None:
    """The three tables, with numbers as numbers."""
    parquet = pytest.importorskip("pyarrow.parquet")
    part = SessionPart(open_demo())
    Exporter(ExportOptions(format=Format.CSV)).write(part, tmp_path / "csv")
    Exporter(ExportOptions(format=Format.PARQUET)).write(part, tmp_path / "parquet")
    for table in Table:
        rows = parquet.read_table(tmp_path / "parquet" / f"{table}.parquet").to_pylist()
        text = (tmp_path / "csv" / f"{table}.csv").read_text("utf-8")
        expected = list(csv.DictReader(io.StringIO(text)))
        shown = [
            {name: "" if cell is None else str(cell) for name, cell in row.items()} for row in rows
        ]
        assert [_unguard(row) for row in expected] == shown


def _unguard(row: dict[str, str]) -> dict[str, str]:
    return {name: cell.removeprefix("'") for name, cell in row.items()}


def test_cells_are_no_formulas(tmp_path: Path) -> None:
    """A spreadsheet shows the text and does not evaluate it."""
    path = write_session(tmp_path, [say("=HYPERLINK(0)"), say("-1+1"), say("@SUM(1)")])
    text = export(open_session(path), ExportOptions(format=Format.CSV))
    cells = [row["text"] for row in csv.DictReader(io.StringIO(text))]
    assert cells == ["'=HYPERLINK(0)", "'-1+1", "'@SUM(1)"]


def test_usage_of_a_copied_reply_counts_once(tmp_path: Path) -> None:
    """A fork repeats the replies of its original."""
    records = [say("a"), reply({"type": "text", "text": "b"})]
    parts = [
        SessionPart(open_session(write_session(tmp_path, records, name))) for name in ("s1", "s2")
    ]
    options = ExportOptions(format=Format.CSV, table=Table.USAGE)
    Exporter(options).write_tables(parts, tmp_path / "usage.csv")
    text = (tmp_path / "usage.csv").read_text("utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["session_id"], row["message_id"]) for row in rows] == [("s1", "m1")]


def test_markdown_renders_as_it_is_meant_to() -> None:
    """A CommonMark renderer finds our headings only, no HTML, and every prompt as a quote."""
    session = open_demo()
    options = comrak.ExtensionOptions()
    options.front_matter_delimiter = "---"
    options.table = options.tasklist = options.strikethrough = True
    html = comrak.render_markdown(export(session, CASES["session.md"]), options)
    headings = re.findall(r"<h([12])>(.*?)</h\1>", html)
    expected = [("1", session.metadata.title)]
    expected += [
        ("2", f"{turn.number} · You · {(turn.start or '')[:16].replace('T', ' ')}")
        for turn in session.turns
    ]
    assert headings == expected
    assert "raw HTML omitted" not in html
    assert "<img" not in html
    quotes = re.findall(r"<blockquote>\n<p>(.*?)</p>", html, flags=re.DOTALL)
    assert set(quotes) >= {turn.words for turn in session.turns if "`" not in turn.words}


@pytest.mark.parametrize("level", Level)
def test_levels_contain_what_they_promise(tmp_path: Path, level: Level) -> None:
    """Prompts, then replies, then tools, then everything, in each readable format."""
    path = write_session(
        tmp_path,
        [
            say("the prompt"),
            reply(
                {"type": "thinking", "thinking": "the thought", "signature": "x"},
                {"type": "text", "text": "the reply"},
                call("t1", "Bash", command="the-command"),
            ),
            answer("t1", "the output"),
        ],
    )
    found = {
        Level.PROMPTS: ["the prompt"],
        Level.CONVERSATION: ["the prompt", "the reply"],
        Level.TOOLS: ["the prompt", "the reply", "the-command"],
        Level.FULL: ["the prompt", "the thought", "the reply", "the-command", "the output"],
    }
    words = found[Level.FULL]
    for kind in (Format.HTML, Format.MARKDOWN, Format.TEXT):
        text = export(open_session(path), ExportOptions(format=kind, level=level))
        shown = [each for each in words if each in text]
        optional = {"the output"} if level is Level.TOOLS else set()
        assert [each for each in shown if each not in optional] == found[level], kind


def write_interjections(tmp_path: Path) -> Path:
    """Write a session in which the user says more while a turn runs."""
    queued = {"type": "queued_command", "prompt": "and the docs", "commandMode": "prompt"}
    notice = {"type": "queued_command", "prompt": "a job ended", "commandMode": "task-notification"}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    beside = [result, {"type": "text", "text": "but not the tests"}]
    records = [
        say("fix the build"),
        reply(call),
        {"type": "user", "message": {"role": "user", "content": beside}},
        {"type": "attachment", "attachment": queued},
        {"type": "attachment", "attachment": notice},
        reply({"type": "text", "text": "Done. " * 300}, message_id="m2"),
    ]
    return write_session(tmp_path, records)


def test_a_run_of_notices_is_one_line(tmp_path: Path) -> None:
    """Pages and Markdown have one line for retries, with their number and everything they say."""
    tried = [
        {
            "type": "system",
            "subtype": "api_error",
            "retryAttempt": number,
            "error": {"message": "*refused*"},
        }
        for number in (1, 2)
    ]
    path = write_session(tmp_path, [say("fix the build"), *tried])
    page = export(open_session(path), ExportOptions(format=Format.HTML))
    assert [words.split() for words in re.findall(r"<p>(attempt.*?)</p>", page)] == [
        ["attempt", "1"],
        ["attempt", "2"],
    ]
    assert '<summary>The request failed <span class="count">×2</span></summary>' in page
    document = export(open_session(path), ExportOptions(format=Format.MARKDOWN))
    assert document.endswith(
        "*The request failed ×2*\n\n- attempt 1\n- attempt 2\n\n```text\n*refused*\n```\n\n"
    )


@pytest.mark.parametrize("kind", [Format.HTML, Format.MARKDOWN, Format.TEXT])
def test_prompts_in_the_middle_of_a_turn_are_included(tmp_path: Path, kind: Format) -> None:
    """An export of the prompts has all of them, and nothing else."""
    session = open_session(write_interjections(tmp_path))
    text = export(session, ExportOptions(format=kind, level=Level.PROMPTS))
    words = ["fix the build", "but not the tests", "and the docs", "a job ended", "Done."]
    assert [each for each in words if each in text] == words[:3]


def test_a_digest_leaves_out_no_prompt(tmp_path: Path) -> None:
    """Prompts in the middle of a turn are kept as long as any other."""
    session = open_session(write_interjections(tmp_path))
    text = export(session, ExportOptions(format=Format.MARKDOWN, budget=200))
    assert all(each in text for each in ("fix the build", "but not the tests", "and the docs"))


def test_a_digest_stays_within_its_budget_and_says_what_it_left_out() -> None:
    """Prompts and final replies are kept longest."""
    session = open_demo("94791a87")
    whole = export(session, ExportOptions(format=Format.MARKDOWN))
    for budget in (300, 600, 900, 2_000, 20_000):
        text = export(session, ExportOptions(format=Format.MARKDOWN, budget=budget))
        assert estimate_tokens(text) <= budget
        assert all(turn.words in text for turn in session.turns), budget
        assert "> This is a digest" in text
        assert len(text) < len(whole)
    assert "Left out: " in export(session, ExportOptions(format=Format.MARKDOWN, budget=600))


SMALL_BUDGET = 600
SMALL_DIGEST = ExportOptions(format=Format.MARKDOWN, budget=SMALL_BUDGET)


def test_a_digest_uses_its_budget() -> None:
    """It has every final reply if they fit, and is not much shorter than allowed."""
    session = open_demo("94791a87")
    for budget in (600, 900, 2_000):
        text = export(session, ExportOptions(format=Format.MARKDOWN, budget=budget))
        assert "conclusion" not in text
    assert estimate_tokens(export(session, SMALL_DIGEST)) > SMALL_BUDGET * 0.9
    whole = export(session, ExportOptions(format=Format.MARKDOWN, budget=20_000))
    assert "> This is a digest: all prompts, replies and tool calls, without thinking." in whole


def test_a_digest_of_many_turns_stays_within_its_budget(tmp_path: Path) -> None:
    """Consecutive turns that are left out share one note."""
    records = [
        record
        for number in range(29)
        for record in (
            say(f"Prompt {number}. " + "Some words. " * 30),
            reply({"type": "text", "text": "Done."}, message_id=f"m{number}"),
        )
    ]
    session = open_session(write_session(tmp_path, records))
    for budget in (300, 600):
        text = export(session, ExportOptions(format=Format.MARKDOWN, budget=budget))
        assert estimate_tokens(text) <= budget
        assert text.count("left out\\]") == 1


def test_a_digest_of_short_turns_uses_its_budget(tmp_path: Path) -> None:
    """The notes between its turns are not counted twice."""
    records = [
        record
        for number in range(99)
        for record in (
            say(f"Prompt {number}"),
            reply({"type": "text", "text": "Let me see. " * 5}, message_id=f"a{number}"),
            reply({"type": "text", "text": "Done. " * 20}, message_id=f"b{number}"),
        )
    ]
    session = open_session(write_session(tmp_path, records))
    for budget in (300, 1_000, 2_000):
        text = export(session, ExportOptions(format=Format.MARKDOWN, budget=budget))
        assert 0.9 * budget < estimate_tokens(text) <= budget
        assert re.search(r"Left out: .*[0-9] replies\. Long texts", text)


def open_with_picture(tmp_path: Path, data: str = PIXEL) -> Session:
    """Open a session whose prompt has an image."""
    source = {"type": "base64", "media_type": "image/png", "data": data}
    content = [{"type": "text", "text": "look"}, {"type": "image", "source": source}]
    record = {"type": "user", "message": {"role": "user", "content": content}}
    return open_session(write_session(tmp_path, [record]))


def test_a_table_of_calls_has_texts_only(tmp_path: Path) -> None:
    """The command without its language, and images by type, without base64."""
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    images = [{"type": "image", "source": source}]
    result = {"type": "tool_result", "tool_use_id": "t2", "content": images}
    records = [
        say("look"),
        reply(call("t1", "Bash", command="ls"), call("t2", "Read", file_path="/v/x.png")),
        {"type": "user", "message": {"role": "user", "content": [result]}},
    ]
    session = open_session(write_session(tmp_path, records))
    text = export(session, ExportOptions(format=Format.CSV, table=Table.CALLS))
    rows = [(row["tool"], row["input"], row["output"]) for row in csv.DictReader(io.StringIO(text))]
    assert rows == [("Bash", "ls", ""), ("Read", "", "[image/png]")]


@pytest.mark.parametrize("kind", [Format.HTML, Format.MARKDOWN])
def test_images_can_be_beside_the_file(tmp_path: Path, kind: Format) -> None:
    """The file links to them by a relative path."""
    target = tmp_path / "look.out"
    exporter = Exporter(ExportOptions(format=kind, images=Images.BESIDE))
    exporter.write(SessionPart(open_with_picture(tmp_path)), target)
    (picture,) = (tmp_path / "look_images").iterdir()
    assert picture.read_bytes().startswith(b"\x89PNG")
    text = target.read_text("utf-8")
    assert f"look_images/{picture.name}" in text
    assert "base64," not in text


def test_images_can_be_inside_or_left_out(tmp_path: Path) -> None:
    """Embedded by default; otherwise a line describes them."""
    session = open_with_picture(tmp_path)
    inline = export(session, ExportOptions(format=Format.HTML))
    without = export(session, ExportOptions(format=Format.HTML, images=Images.NONE))
    assert (PIXEL in inline, PIXEL in without, "[image/png]" in without) == (True, False, True)


@pytest.mark.parametrize("kind", [Format.HTML, Format.JSON])
def test_a_small_image_is_not_taken_for_a_token(tmp_path: Path, kind: Format) -> None:
    """The base64 of an icon is not masked."""
    session = open_with_picture(tmp_path, RANDOM_PIXEL)
    written = export(session, ExportOptions(format=kind))
    assert (RANDOM_PIXEL in written, "[redacted:" in written) == (True, False)


@pytest.mark.parametrize("kind", [Format.HTML, Format.MARKDOWN])
def test_a_session_can_be_split_into_pages(tmp_path: Path, kind: Format) -> None:
    """Each page links to its neighbours and to an index of all prompts."""
    path = write_session(tmp_path, [say(f"prompt {number}") for number in range(5)])
    exporter = Exporter(ExportOptions(format=kind, split=2))
    exporter.write(SessionPart(open_session(path)), tmp_path / "pages")
    names = sorted(each.stem for each in (tmp_path / "pages").iterdir())
    assert names == ["index", "page-001", "page-002", "page-003"]
    suffix = "html" if kind is Format.HTML else "md"
    second = (tmp_path / "pages" / f"page-002.{suffix}").read_text("utf-8")
    index = (tmp_path / "pages" / f"index.{suffix}").read_text("utf-8")
    linked = [name for name in ("index", "page-001", "page-003") if f"{name}.{suffix}" in second]
    assert linked == ["index", "page-001", "page-003"]
    # Each is named by its turn; the title is the first of them.
    assert re.findall(r"\d prompt (\d)", index) == list("01234")


def test_the_theme_can_be_fixed() -> None:
    """Otherwise it is that of the system."""
    dark = export(open_demo(), ExportOptions(format=Format.HTML, theme=Theme.DARK))
    system = export(open_demo(), ExportOptions(format=Format.HTML))
    assert ('<html lang="en" data-theme="dark">' in dark, "data-theme=" in system[:2000]) == (
        True,
        False,
    )


@pytest.mark.parametrize(
    "options",
    [
        ExportOptions(format=Format.HTML, budget=1_000),
        ExportOptions(format=Format.MARKDOWN, budget=1_000, split=5),
        ExportOptions(format=Format.JSON, split=5),
        ExportOptions(format=Format.JSON, level=Level.PROMPTS),
        ExportOptions(format=Format.TEXT, images=Images.BESIDE),
    ],
)
def test_contradictions_are_refused(options: ExportOptions) -> None:
    """An option without effect is an error."""
    with pytest.raises(UsageError):
        Exporter(options)


def test_a_session_without_prompts_can_be_exported(tmp_path: Path) -> None:
    """The export contains what happened in it."""
    path = write_session(tmp_path, [{"type": "strange-kind", "field": "something"}])
    for kind in (Format.HTML, Format.MARKDOWN, Format.TEXT, Format.JSON):
        assert "something" in export(open_session(path), ExportOptions(format=kind)), kind


def test_every_step_of_a_turn_is_in_the_page() -> None:
    """The page has anchors for all texts and calls, including those of subagents."""
    session = open_demo()
    page = export(session, ExportOptions(format=Format.HTML))
    turns = [complete_turn(view, session, subagents=True) for view in build_turn_views(session)]
    missing = [uuid for turn in turns for uuid in _iter_ids(turn) if f'id="{uuid}"' not in page]
    assert missing == []
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def _iter_ids(turn: TurnView) -> list[str]:
    own = [step.uuid for step in turn.steps if step.uuid]
    children = [child for step in turn.steps for child in getattr(step, "subagents", ())]
    inner = [uuid for child in children for each in child.turns or () for uuid in _iter_ids(each)]
    return [*own, *inner]
