"""Tests of recollect.search.engine, on real files with a real index."""

import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.demo import CLAUDE_DIRECTORY
from recollect.locations import discover_root
from recollect.search import QueryError
from recollect.search.engine import ANALYZER, SearchOptions, search
from recollect.sync.session_lists import list_current
from recollect.sync.text_indexer import index_texts
from tests.library.claude_root import (
    FIRST,
    SECOND,
    Line,
    call,
    prompt,
    reply,
    result,
    summary,
    title,
)
from tests.search.made_index import MadeIndex, make_index

TEXTS = {
    "han": "请修改这个函数然后运行测试",
    "kana": "ファイルをひらがなで保存する",
    "hangul": "사용자의 기록을 검색합니다",
    "thai": "ค้นหาไฟล์ที่หายไป",
    "emoji": "tests pass now ✅ ship it 👍🏽",
    "accents": "Das Café in der Straße ist geöffnet: Résumé",
    "cyrillic": "Ошибка в модуле поиска",
    "camel": "call parseHTTPQuery2 before readLine",
    "snake": "def get_file_name(path): from pydantic import BaseModel",
    "prose": "the quick brown fox jumps over the lazy dog",
    "log": "ERROR 2026-03-01 connection reset by peer (errno 104)",
}


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> MadeIndex:
    """Index one prompt for each text, with its name as uuid."""
    lines = [
        prompt(text, uuid=name, seconds=number) for number, (name, text) in enumerate(TEXTS.items())
    ]
    return make_index(tmp_path_factory.mktemp("texts"), lines)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("改", ["han"]),
        ("修改", ["han"]),
        ("函数然后", ["han"]),
        ("改修", []),
        ("ひ", ["kana"]),
        ("ファイル", ["kana"]),
        ("검색", ["hangul"]),
        ("색", ["hangul"]),
        ("ไฟล์", ["thai"]),
        ("✅", ["emoji"]),
        ("👍", ["emoji"]),
        ("cafe", ["accents"]),
        ("STRASSE", ["accents"]),
        ("résumé", ["accents"]),
        ("модуле", ["cyrillic"]),
        ("parsehttpquery2", ["camel"]),
        ("http", ["camel"]),
        ("parse_http_query", ["camel"]),
        ("read", ["camel"]),
        ("get_file_name", ["snake"]),
        ("file", ["snake"]),
        ("ydant", ["snake"]),
        ("rseHTTPQ", ["camel"]),
        ('"brown fox"', ["prose"]),
        ('"fox brown"', []),
        ("conn*", ["log"]),
        ("fox -dog", []),
        ("fox -cat", ["prose"]),
        ("fox OR errno", ["log", "prose"]),
        ("(fox cat) OR (errno peer)", ["log"]),
        (r"/errno \d+/", ["log"]),
        (r"/ERRNO \d+/", []),
        (r"/ERRNO \d+/i", ["log"]),
        ("fox /bro.n/", ["prose"]),
        ("fox -/bro.n/", []),
        ("fox OR /reset by/", ["log", "prose"]),
        ("-(fox OR reset) is:prompt 改", ["han"]),
    ],
)
def test_every_script_and_operator_finds_its_text(
    texts: MadeIndex, query: str, found: list[str]
) -> None:
    """A query finds exactly the matching texts."""
    assert texts.find(query) == found


def test_words_inside_others_come_after_whole_words(tmp_path: Path) -> None:
    """A word finds longer words too, ranked below the word itself."""
    made = make_index(
        tmp_path,
        [prompt("dataclasses", uuid="longer", seconds=9), reply("a data class", uuid="whole")],
    )
    hits = made.search("class").hits
    assert [hit.uuid for hit in hits] == ["whole", "longer"]


def make_conversation() -> list[dict[str, object]]:
    """Return one record of each kind that fields distinguish."""
    return [
        {**prompt("alpha please", uuid="asked", gitBranch="feature/pond")},
        {**reply("alpha done", uuid="said")},
        {**call("Bash", {"command": "cat src/main.py alpha"}, uuid="called")},
        {**result("alpha output", uuid="answered")},
        {**call("mcp__db__query", {"sql": "alpha"}, call_id="toolu_2", uuid="queried")},
        {**prompt("<command-name>/compact</command-name>alpha", uuid="command", seconds=100_000)},
        {**reply("alpha aside", uuid="aside", isSidechain=True, seconds=5)},
        {**prompt("alpha summed up", uuid="summed", seconds=6, isCompactSummary=True)},
        {**reply("alpha: API Error", uuid="failed", seconds=7, isApiErrorMessage=True)},
        {**title("alpha title")},
    ]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("alpha role:user", ["asked", "command"]),
        ("alpha role:tool", ["answered"]),
        ("alpha role:system", ["summed", "title"]),
        ("tool:bash", ["answered", "called"]),
        ("tool:db", ["queried"]),
        ("file:src/main.py", ["called"]),
        ("file:main.py -tool:bash", []),
        ("branch:POND", ["asked"]),
        ("model:m role:assistant tool:bash", ["called"]),
        ("is:command", ["command"]),
        ("is:prompt alpha", ["asked", "command"]),
        ("is:subagent", ["aside"]),
        ("is:summary", ["summed"]),
        ("is:error", ["failed"]),
        ("is:thinking", []),
        ("project:pond is:error", ["failed"]),
        ("project:/home/mina is:error", ["failed"]),
        ("project:elsewhere is:error", []),
        (f"session:{FIRST[:6]} is:error", ["failed"]),
        (f"session:{SECOND[:6]} is:error", []),
        ("since:2026-03-02 role:user", ["command"]),
        ("until:2026-03-01 role:user", ["asked"]),
        ("(alpha is:error) OR (alpha is:summary)", ["failed", "summed"]),
        ("alpha role:assistant -is:error -is:subagent", ["called", "queried", "said"]),
    ],
)
def test_fields_say_what_a_text_must_be(tmp_path: Path, query: str, found: list[str]) -> None:
    """Each field matches what it names, and its negation everything else."""
    assert make_index(tmp_path, make_conversation()).find(query) == found


def test_copies_are_one_hit(tmp_path: Path) -> None:
    """A record that is copied by a resume is found once."""
    made = make_index(tmp_path, [prompt("alpha", uuid="u1"), reply("alpha", uuid="a1", seconds=1)])
    lines = [prompt("alpha", uuid="u1"), reply("alpha", uuid="a1"), reply("alpha", uuid="a2")]
    made.write(*lines, session=SECOND)
    made.index()
    found = made.search("alpha")
    assert (found.total, made.find("alpha")) == (3, ["a1", "a2", "u1"])


def test_a_hit_says_where_it_is(tmp_path: Path) -> None:
    """A hit has session, record, project, part, time and a snippet."""
    made = make_index(tmp_path, [prompt("find the alpha here", uuid="u1")])
    (hit,) = made.search("alpha").hits
    snippet = hit.snippet
    assert (hit.link, hit.project, hit.part, hit.time) == (
        f"{FIRST}#u1",
        "/home/mina/pond",
        "prompt",
        "2026-03-01T06:00:00.000Z",
    )
    assert [snippet.text[start:end] for start, end in snippet.marks] == ["alpha"]
    assert (hit.path, hit.more_in_session) == (str(made.path()), 0)


def test_hits_are_grouped_by_session(tmp_path: Path) -> None:
    """Hits of a session are grouped, and those not shown are counted."""
    made = make_index(
        tmp_path, [prompt(f"alpha {word}", uuid=word, seconds=len(word)) for word in "abcde"]
    )
    made.write(prompt("alpha and many other words", uuid="other"), session=SECOND)
    made.index()
    found = made.search("alpha", SearchOptions(per_session=2, limit=1))
    assert [(hit.session_id, hit.more_in_session) for hit in found.hits] == [(FIRST, 3)] * 2
    assert found.total == 6


def test_the_newest_can_come_first(tmp_path: Path) -> None:
    """With `recent`, hits are ordered by time."""
    lines = [
        prompt("alpha", uuid="old"),
        reply("beta gamma " * 50 + "alpha", uuid="new", seconds=9),
    ]
    found = make_index(tmp_path, lines).search("alpha", SearchOptions(recent=True))
    assert [hit.uuid for hit in found.hits] == ["new", "old"]


def test_a_text_that_is_gone_is_no_hit(tmp_path: Path) -> None:
    """A file that was deleted or rewritten since indexing yields no wrong text."""
    made = make_index(tmp_path, [prompt("alpha")])
    transcripts = made.transcripts()
    made.path().unlink()
    found = search(made.data, "alpha", transcripts, index_complete=True)
    assert found.hits == ()


def test_other_directories_are_left_out(tmp_path: Path) -> None:
    """Only the requested transcripts are searched, whatever else the index contains."""
    made = make_index(tmp_path, [prompt("alpha", uuid="u1")])
    made.write(prompt("alpha", uuid="u2", seconds=1), session=SECOND)
    made.index()
    first = [each for each in made.transcripts() if each.session_id == FIRST]
    found = search(made.data, "alpha", first, index_complete=True)
    assert [hit.uuid for hit in found.hits] == ["u1"]


@pytest.mark.parametrize("query", ["/(?=a)/", "/(/", r"alpha /\1/", "alpha -/[/"])
def test_what_re2_refuses_is_a_query_error(texts: MadeIndex, query: str) -> None:
    """An invalid regular expression is rejected with its position."""
    with pytest.raises(QueryError):
        texts.search(query)


@pytest.mark.parametrize("query", ["/(a+)+$/", "/(a|aa)+b/", "/(.*)*x/", "/a{500}/"])
def test_evil_expressions_are_quick(tmp_path: Path, query: str) -> None:
    """Expressions that take exponential time with backtracking are fast."""
    made = make_index(tmp_path, [prompt("a" * 50_000 + "!")])
    before = time.process_time()
    made.search(query)
    assert time.process_time() - before < 10


@given(st.text(max_size=40) | st.text("\"*()^:-+{}, ANDORNEAR'ab/;%", max_size=40))
def test_hostile_queries_raise_nothing_else(texts: MadeIndex, query: str) -> None:
    """Any query has a result or raises QueryError."""
    with suppress(QueryError):
        texts.search(query)


def test_without_an_index_nothing_is_found(tmp_path: Path) -> None:
    """A search before the first indexing is empty and reports an incomplete index."""
    found = search(tmp_path, "alpha", [], index_complete=False)
    assert (found.hits, found.index_complete) == ((), False)


def test_the_demo_data_can_be_searched(tmp_path: Path) -> None:
    """Sample sessions are found, including subagents and Chinese paths."""
    transcripts = list(discover_root(CLAUDE_DIRECTORY).transcripts)
    assert index_texts(tmp_path, ANALYZER, transcripts)
    counts = {
        query: search(tmp_path, query, transcripts, index_complete=True).total > 0
        for query in ("tidepool", "is:error", "is:subagent", "tool:Bash", "project:菜谱", "菜")
    }
    assert counts == dict.fromkeys(counts, True)


def test_prompts_that_only_the_queue_holds_are_found(tmp_path: Path) -> None:
    """With a link to their position; one that became a prompt is found once, as the prompt."""
    queued: Line = {"type": "queue-operation", "operation": "enqueue", "content": "mind the gap"}
    made = make_index(tmp_path, [prompt("begin", uuid="a"), queued])
    (hit,) = made.search("gap role:user").hits
    place = made.path().read_bytes().index(b"\n") + 1
    assert (hit.part, hit.uuid) == ("queued", f"queue-{place}")
    made.append(prompt("mind the gap", uuid="b"))
    assert made.index()
    assert made.find("gap") == ["b"]


def test_queued_prompts_that_were_joined_are_found_once(tmp_path: Path) -> None:
    """Several queued prompts may become one prompt, which is found instead."""
    waiting = ("mind the gap\nand the step", "stand clear\nof the doors", "mind the horses")
    queued: list[Line] = [
        {"type": "queue-operation", "operation": "enqueue", "content": words} for words in waiting
    ]
    made = make_index(tmp_path, [prompt("begin", uuid="a"), *queued])
    assert [hit.part for hit in made.search("mind").hits] == ["queued", "queued"]
    made.append(prompt("\n".join(waiting[:2]), uuid="b"))
    assert made.index()
    parts = {hit.snippet.text: hit.part for hit in made.search("mind OR doors").hits}
    assert set(parts.values()) == {"prompt", "queued"}
    assert parts["mind the horses"] == "queued"
    assert made.find("gap -horses") == ["b"]
    made.append(prompt("mind the horses\nand the carts", uuid="c"))
    assert made.index()
    assert len(made.find("horses")) == 2, "a prompt with a line of its own was typed as it is"


@pytest.mark.parametrize("is_listed", [False, True])
def test_a_title_elsewhere_leads_to_the_session_that_bears_it(
    tmp_path: Path, *, is_listed: bool
) -> None:
    """A leftover file with the title of another session is not a result."""
    made = make_index(tmp_path, [prompt("drain", uuid="u1"), reply("Done.", uuid="a1")])
    made.write(summary("The marvellous pond", "a1"), session=SECOND)
    made.index()
    if is_listed:
        list_current(made.data, made.transcripts())
    (hit,) = made.search("marvellous").hits
    assert (hit.session_id, hit.link, hit.path) == (FIRST, FIRST, str(made.path()))


def test_a_session_is_one_group_by_title_and_text(tmp_path: Path) -> None:
    """A title in another file and a text of the session itself are hits of one session."""
    said = [prompt(f"the marvellous pond {number}", uuid=f"u{number}") for number in range(4)]
    made = make_index(tmp_path, [*said, reply("Done.", uuid="a1")])
    made.write(summary("The marvellous pond", "a1"), session=SECOND)
    made.index()
    found = made.search("marvellous", SearchOptions(limit=1, per_session=2))
    assert [(hit.session_id, hit.more_in_session) for hit in found.hits] == [(FIRST, 3), (FIRST, 3)]
