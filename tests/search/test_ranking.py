"""Tests of recollect.search.matching, hit_grouping and ranking, on real indexes."""

from itertools import chain
from pathlib import Path

import pytest

from recollect.search import engine, matching
from recollect.search.engine import SearchOptions
from tests.library.claude_root import FIRST, SECOND, THIRD, call, prompt, reply, result
from tests.search.made_index import MadeIndex


def make(place: Path, **sessions: str) -> MadeIndex:
    """Index sessions with one prompt each, with the name of the session as uuid."""
    made = MadeIndex(place)
    for number, (name, text) in enumerate(sessions.items()):
        made.write(prompt(text, uuid=name, seconds=number), session=make_name(number))
    assert made.index()
    return made


def make_name(number: int) -> str:
    """Return the id of a session."""
    return f"{number:08}-1111-4111-8111-111111111111"


def order(made: MadeIndex, query: str) -> list[str]:
    """Return the uuids of the hits, best first."""
    return [hit.uuid or "" for hit in made.search(query).hits]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("heron nest", ["both", "nests"]),
        ("nesting herons", ["both", "nests"]),
        ("heron nest quagga", ["both", "nests"]),
        ("hreon nest", ["nests", "both"]),
        ("reeds", ["reeds"]),
        ("tall reed", ["reeds"]),
        ("the reed of a heron", ["reeds"]),
        ("\u7406\u89e3\u9879\u76ee", ["chinese"]),
        ("fmt:check", ["field"]),
    ],
)
def test_what_has_more_of_the_query_comes_first(
    tmp_path: Path, query: str, found: list[str]
) -> None:
    """Words may be missing or in another form, and rare ones weigh more."""
    made = make(
        tmp_path,
        both="where do herons nest",
        nests="nests, a nest here and a nest there",
        reeds="tall reeds of the pond",
        chinese="\u8bf7\u7406\u89e3\u8fd9\u4e2a\u9879\u76ee",
        field="run just fmt:check before the commit",
        other="the pond of the frogs",
    )
    assert order(made, query)[: len(found)] == found


def test_words_may_be_in_different_texts_of_a_session(tmp_path: Path) -> None:
    """A session with all words ranks above one with some, and no words are reported missing."""
    made = MadeIndex(tmp_path)
    made.write(prompt("alpha here", uuid="a"), reply("and omega", uuid="b"), session=FIRST)
    made.write(prompt("alpha alone", uuid="c"), session=SECOND)
    made.write(prompt("neither", uuid="d"), session=THIRD)
    assert made.index()
    found = made.search("alpha omega")
    assert [(hit.uuid, hit.missing) for hit in found.hits] == [
        ("b", ()),
        ("a", ()),
        ("c", ("omega",)),
    ]


def test_what_people_wrote_comes_before_what_tools_printed(tmp_path: Path) -> None:
    """Prompts before replies, calls and results with the same words."""
    made = MadeIndex(tmp_path)
    texts = [
        [call("Bash", {"command": "run"}, uuid="c0"), result("alpha of the pond", uuid="result")],
        [call("Bash", {"command": "alpha of the pond"}, uuid="call")],
        [reply("alpha of the pond", uuid="reply")],
        [prompt("alpha of the pond", uuid="prompt")],
    ]
    for number, lines in enumerate(texts):
        made.write(*lines, session=make_name(number))
    assert made.index()
    assert order(made, "alpha") == ["prompt", "reply", "call", "result"]


def test_the_newer_of_two_equal_texts_comes_first(tmp_path: Path) -> None:
    """Time decides where nothing else does."""
    made = make(tmp_path, older="alpha of the pond", newer="alpha of the pond")
    assert order(made, "alpha") == ["newer", "older"]


def test_phrases_prefixes_and_fields_are_not_loosened(tmp_path: Path) -> None:
    """They have to match as written."""
    made = make(tmp_path, a="alpha beta", b="alpha gamma")
    queries = ('alpha "beta gamma"', "alpha delt*", "alpha -gamma", "alpha is:error", "alpha /x+/")
    assert [order(made, query) for query in queries] == [[], [], ["a"], [], []]


def test_in_one_session_nothing_is_loosened_without_need(tmp_path: Path) -> None:
    """If anything matches every word, nothing else is returned."""
    made = MadeIndex(tmp_path)
    made.write(prompt("alpha omega", uuid="a"), reply("alpha", uuid="b"))
    assert made.index()
    assert made.find(f"session:{FIRST} alpha omega") == ["a"]
    assert made.find(f"session:{FIRST} alpha omegas") == ["a", "b"]


def test_misspelt_words_are_corrected_and_named(tmp_path: Path) -> None:
    """The corrected query is suggested, and its results are shown."""
    made = make(tmp_path, a="the goreleaser of homebrew", b="homebrew alone")
    found = made.search("goreleser homebrew qqqqqqq is:prompt")
    assert [hit.uuid for hit in found.hits] == ["a", "b"]
    assert found.did_you_mean == "goreleaser homebrew is:prompt"
    assert (found.left_out, found.corrected) == (("qqqqqqq",), {"goreleser": "goreleaser"})
    assert made.search("projct:pond alpha").did_you_mean == "project:pond alpha"
    assert made.search("homebrew").did_you_mean is None


def test_a_name_that_is_found_in_parts_is_named(tmp_path: Path) -> None:
    """The name is reported as found in parts only; its parts are corrected too."""
    made = make(tmp_path, a="run the formatter and check", b="homebrew formula")
    found = made.search("homebrew:formla")
    assert (found.split, found.did_you_mean, found.left_out) == (
        ("homebrew:formla",),
        "homebrew:formula",
        (),
    )
    assert found.corrected == {"formla": "formula"}
    found = made.search("atter:homebrew")
    assert (found.split, found.did_you_mean, found.left_out) == (("atter:homebrew",), None, ())
    found = made.search("homebrew:qqqq")
    assert (found.split, found.corrected, found.left_out) == (("homebrew:qqqq",), {}, ("qqqq",))
    assert made.search("qqqq:zzzz").left_out == ("qqqq:zzzz",)
    assert made.search("homebrew formula").split == ()


def test_all_sessions_are_reached_by_paging(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each once, for any page size and any number of sessions compared by their words."""
    monkeypatch.setattr(engine, "_RANKED", 4)
    made = make(tmp_path, **{f"p{number}": f"alpha {'x ' * number}" for number in range(9)})
    for limit in (1, 2, 4, 9):
        pages = [
            made.search("alpha", SearchOptions(limit=limit, offset=offset))
            for offset in range(0, 9, limit)
        ]
        uuids = [hit.uuid for hit in chain.from_iterable(page.hits for page in pages)]
        assert sorted(map(str, uuids)) == [f"p{number}" for number in range(9)]
        assert {(page.total, page.total_sessions) for page in pages} == {(9, 9)}
    assert made.search("alpha", SearchOptions(offset=9)).hits == ()


def test_every_match_counts_however_many_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest text is found among many, even if copies are only recognised by marks."""
    monkeypatch.setattr(matching, "_MAX_COMPARED", 10)
    lines = [reply(f"alpha {'and so on ' * 40}", uuid=f"r{n}", seconds=n + 1) for n in range(50)]
    made = MadeIndex(tmp_path)
    made.write(*lines, session=SECOND)
    made.write(prompt("alpha", uuid="oldest"), session=FIRST)
    assert made.index()
    found = made.search("alpha", SearchOptions(per_session=1))
    assert [(hit.uuid, hit.more_in_session) for hit in found.hits] == [("oldest", 0), ("r49", 49)]
    assert found.total == 51


def test_the_name_of_an_mcp_tool_is_found(tmp_path: Path) -> None:
    """It is one of the words of the call; `Read` would match too often."""
    made = MadeIndex(tmp_path)
    made.write(
        call("mcp__pond-server__count_frogs", {"place": "reeds"}, uuid="mcp"),
        call("Read", {"file_path": "/srv/frogs"}, uuid="read"),
    )
    assert made.index()
    assert (made.find("pond-server count_frogs"), made.find('"read"')) == (["mcp"], [])


def test_all_hits_are_counted_by_field(tmp_path: Path) -> None:
    """Each value has its number of hits, and a query for only these."""
    made = MadeIndex(tmp_path)
    made.write(
        prompt("alpha", uuid="a"),
        call("Bash", {"command": "alpha"}, uuid="b", seconds=1),
        result("alpha", uuid="c", seconds=2),
        reply("alpha failed", uuid="d", seconds=3_000_000, isApiErrorMessage=True),
    )
    assert made.index()
    found = made.search("alpha", SearchOptions(limit=1, per_session=1, facets=True))
    facets = {
        facet.name: [(each.value, each.count) for each in facet.values] for facet in found.facets
    }
    assert facets == {
        "project": [("/home/mina/pond", 4)],
        "role": [("assistant", 2), ("user", 1), ("tool", 1)],
        "tool": [("Bash", 2)],
        "error": [("error", 1)],
        "model": [("m", 2)],
        "date": [("2026-04", 1), ("2026-03", 3)],
    }
    for facet in found.facets:
        for each in facet.values:
            assert made.search(f"alpha {each.query}").total == each.count, each.query
    assert made.search("alpha").facets == ()
