"""The texts that are indexed, and the order in which they are."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.documents.kinds import TextKind
from recollect.locations import discover
from recollect.reader.transcript_reader import read_transcript
from recollect.search.engine import ANALYZER, search
from recollect.session.searchable_texts import SearchableText, list_searchable_texts
from recollect.store import text_database
from recollect.sync import text_indexer as texts
from recollect.sync import text_plan, text_reading
from recollect.sync.text_indexer import index_texts
from recollect.sync.text_plan import plan_texts
from tests.library.claude_root import SECOND, Line, call, encode, prompt, reply, result, title
from tests.samples import every_transcript
from tests.search.made_index import MadeIndex, make_index

WORD = re.compile("[A-Za-z]{3,60}")
words = st.sampled_from(["alpha", "beta", "修改", "gamma delta", "parseQuery", "naïve"])


def documents(*lines: Line) -> list[tuple[str, str]]:
    """Part and text of the documents of some lines."""
    path = Path("lines.jsonl")
    path.write_bytes(encode(lines))
    found = [
        document for record in read_transcript(path) for document in list_searchable_texts(record)
    ]
    return [(document.part.name, document.text) for document in found]


@pytest.fixture(autouse=True)
def _in_temporary_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_every_part_of_a_conversation_is_a_document() -> None:
    """Prompts, replies, calls, results and titles are documents of their own."""
    assert documents(
        prompt("please"),
        reply("done"),
        call("Bash", {"command": "ls", "options": ["-l", 3]}),
        result("a.py"),
        title("Listing"),
    ) == [
        ("PROMPT", "please"),
        ("REPLY", "done"),
        ("TOOL_INPUT", "ls\n-l"),
        ("TOOL_RESULT", "a.py"),
        ("TITLE", "Listing"),
    ]


def test_what_the_client_put_beside_a_prompt_is_a_notice() -> None:
    """A reminder in a prompt is not text of the user."""
    text = "fix it\n<system-reminder>be careful</system-reminder>"
    assert documents(prompt(text)) == [("PROMPT", "fix it"), ("NOTICE", "be careful")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (prompt("<command-name>/model</command-name>\n<command-args>opus</command-args>"),
         ("COMMAND", "/model opus")),
        (prompt("told so far", isCompactSummary=True), ("SUMMARY", "told so far")),
        (prompt("ignore this", isMeta=True), ("NOTICE", "ignore this")),
        ({"type": "system", "subtype": "x", "content": "note"}, ("NOTICE", "note")),
        ({"type": "novelty", "inner": {"words": "new"}}, ("OTHER", "novelty\nnew")),
        ({"type": "summary", "summary": "Pond", "leafUuid": "u"}, ("TITLE", "Pond")),
        ({"type": "attachment", "uuid": "q",
          "attachment": {"type": "queued_command", "prompt": "next"}}, ("PROMPT", "next")),
    ],
)  # fmt: skip
def test_kinds_of_input_are_distinguished(line: Line, expected: tuple[str, str]) -> None:
    """Commands, summaries, notices and unknown records are searchable as what they are."""
    assert documents(line) == [expected]


@pytest.mark.parametrize(
    ("attachment", "words"),
    [
        ({"type": "file", "filename": "notes.md",
          "content": {"type": "text", "file": {"filePath": "/pond/notes.md", "content": "tide"}}},
         "notes.md\ntext\n/pond/notes.md\ntide"),
        ({"type": "edited_text_file", "filename": "a.py", "snippet": "1 pass"}, "a.py\n1 pass"),
        ({"type": "selected_lines_in_ide", "filename": "a.py", "content": "def f"}, "a.py\ndef f"),
        ({"type": "opened_file_in_ide", "filename": "a.py"}, "a.py"),
        ({"type": "plan_file_reference", "planFilePath": "p.md", "planContent": "dig"},
         "p.md\ndig"),
        ({"type": "hook_success", "hookName": "Stop", "stdout": "all clean"}, "Stop\nall clean"),
        ({"type": "novelty", "text": "x"}, "novelty\nx"),
    ],
)  # fmt: skip
def test_what_a_person_put_beside_the_conversation_is_a_document(
    attachment: dict[str, object], words: str
) -> None:
    """Files that were named or changed, marked lines, plans, hooks and unknown kinds are found."""
    line: Line = {"type": "attachment", "uuid": "a", "attachment": attachment}
    assert documents(line) == [("NOTICE", words)]


@pytest.mark.parametrize("kind", ["prompt_snapshot", "date"])
def test_context_sent_by_the_client_is_not_indexed(kind: str) -> None:
    """System prompts, dates and the like are left out."""
    line: Line = {"type": "attachment", "uuid": "a", "attachment": {"type": kind, "text": "x"}}
    assert documents(line) == []


def test_a_document_of_a_failed_call_says_so() -> None:
    """The result of a tool knows its call and whether it failed."""
    block = {"type": "tool_result", "tool_use_id": "t", "content": "no", "is_error": True}
    Path("lines.jsonl").write_bytes(encode([prompt([block])]))
    (record,) = read_transcript("lines.jsonl")
    assert list_searchable_texts(record) == [
        SearchableText(TextKind.TOOL_RESULT, "no", None, "t", is_error=True)
    ]


def test_appended_lines_are_found(tmp_path: Path) -> None:
    """Only what was appended is read, and all of it is found."""
    made = make_index(tmp_path / "made", [prompt("alpha", uuid="u1")])
    made.append(reply("alpha", uuid="a1", seconds=5))
    assert (made.index(), made.find("alpha")) == (True, ["a1", "u1"])


def test_a_rewritten_file_is_read_again(tmp_path: Path) -> None:
    """Nothing of what a file held before is found."""
    made = make_index(tmp_path / "made", [prompt("alpha beta gamma", uuid="u1"), reply("alpha")])
    made.write(prompt("delta", uuid="u2"))
    made.index()
    assert (made.find("alpha"), made.find("delta")) == ([], ["u2"])


def test_a_vanished_file_is_forgotten(tmp_path: Path) -> None:
    """The texts of a deleted file are removed."""
    made = make_index(tmp_path / "made", [prompt("alpha", uuid="u1")])
    made.write(prompt("alpha", uuid="u2", seconds=2), session=SECOND)
    made.index()
    made.path().unlink()
    made.index()
    assert made.find("alpha") == ["u2"]


def test_a_last_line_without_an_end_is_found_once(tmp_path: Path) -> None:
    """A whole record at the end of a file is found at once, and not twice later."""
    made = make_index(tmp_path / "made", [prompt("beta", uuid="u1")])
    with made.path().open("ab") as file:
        file.write(encode([prompt("alpha", uuid="u2")]).rstrip(b"\n"))
    made.index()
    before = made.find("alpha")
    with made.path().open("ab") as file:
        file.write(b"\n" + encode([reply("alpha", uuid="a1")]))
    made.index()
    assert (before, made.find("alpha")) == (["u2"], ["a1", "u2"])


def test_a_torn_line_waits_for_its_end(tmp_path: Path) -> None:
    """Half a record is not found; the whole one is found as soon as it exists."""
    made = make_index(tmp_path / "made", [prompt("beta", uuid="u1")])
    line = encode([prompt("alpha", uuid="u2")])
    half = len(line) // 2
    with made.path().open("ab") as file:
        file.write(line[:half])
    made.index()
    before = made.find("alpha")
    with made.path().open("ab") as file:
        file.write(line[half:])
    made.index()
    assert (before, made.find("alpha")) == ([], ["u2"])


def test_results_learn_the_name_of_their_tool_later(tmp_path: Path) -> None:
    """A result that is appended after its call was indexed belongs to the same tool."""
    made = make_index(tmp_path / "made", [call("Grep", {"pattern": "alpha"}, uuid="c1")])
    made.append(result("alpha", uuid="r1"))
    made.index()
    assert made.find("tool:grep") == ["c1", "r1"]


def test_indexing_can_stop_and_go_on(tmp_path: Path) -> None:
    """Without time nothing is indexed, and the result says so; the next run continues."""
    made = MadeIndex(tmp_path / "made")
    made.write(prompt("alpha", uuid="u1"))
    assert (made.index(seconds=0), made.find("alpha")) == (False, [])
    assert (made.index(), made.find("alpha")) == (True, ["u1"])


def test_terms_that_were_not_gathered_are_gathered_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an interrupt the index is out of date until all terms are listed."""

    def interrupt(_connection: object) -> None:
        raise KeyboardInterrupt

    made = MadeIndex(tmp_path / "made")
    made.write(prompt("pydantic" + " pond" * (1 << 18), uuid="u1"))
    with monkeypatch.context() as interrupted:
        interrupted.setattr(text_database, "rebuild_vocabulary", interrupt)
        with pytest.raises(KeyboardInterrupt):
            made.index()
    plans = [plan_texts(made.data, ANALYZER.version, made.transcripts())]
    made.index()
    plans.append(plan_texts(made.data, ANALYZER.version, made.transcripts()))
    assert [(plan.ranges, plan.is_empty) for plan in plans] == [((), False), ((), True)]
    assert made.find("ydant") == ["u1"]


def test_long_files_are_read_in_stretches_on_all_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stretches, groups and several batches give what one reading gives."""
    monkeypatch.setattr(text_reading, "RANGE_BYTES", 1000)
    monkeypatch.setattr(text_plan, "POOL_BYTES", 0)
    monkeypatch.setattr(texts, "WRITE_BYTES", 200)
    made = MadeIndex(tmp_path / "made")
    lines = [
        prompt(f"alpha {number}", uuid=f"u{number:03}", seconds=number) for number in range(60)
    ]
    made.write(*lines)
    made.write(*(dict(line, uuid=f"b{line['uuid']}") for line in lines[:9]), session=SECOND)
    assert (made.index(), made.search("alpha").total) == (True, 60)


@given(st.lists(st.tuples(words, st.booleans()), min_size=1, max_size=12), st.data())
def test_incremental_equals_rebuilt(entries: list[tuple[str, bool]], data: st.DataObject) -> None:
    """However a file grew, the index finds what one made in a single run finds."""
    lines = [
        (result if is_result else prompt)(f"{text} {number}", uuid=f"u{number}")
        for number, (text, is_result) in enumerate(entries)
    ]
    place = Path(f"run-{len(list(Path().iterdir()))}")
    grown, whole = MadeIndex(place / "grown"), MadeIndex(place / "whole")
    content = encode(lines)
    cuts = data.draw(st.lists(st.integers(0, len(content)), max_size=4).map(sorted))
    grown.write()
    for start, end in zip([0, *cuts], [*cuts, len(content)], strict=True):
        with grown.path().open("ab") as file:
            file.write(content[start:end])
        grown.index()
    whole.write(*lines)
    whole.index()
    queries = ("alpha", "beta", "改", "query", "role:tool", "naive", "role:user")
    assert {q: grown.find(q) for q in queries} == {q: whole.find(q) for q in queries}


@pytest.mark.parametrize("path", every_transcript(), ids=lambda path: path.stem)
def test_damaged_transcripts_are_indexed_and_read_back(path: Path) -> None:
    """Each text of any file is found by a word of its own."""
    transcripts = list(discover(path).transcripts)
    assert index_texts(Path("data"), ANALYZER, transcripts)
    found = [
        document for record in read_transcript(path) for document in list_searchable_texts(record)
    ]
    queries = {f'"{word}"' for document in found for word in WORD.findall(document.text)[:1]}
    hits = {
        query: bool(search(Path("data"), query, transcripts, index_complete=True).hits)
        for query in queries
    }
    assert hits == dict.fromkeys(queries, True)
