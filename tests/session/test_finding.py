"""Find in session: the locations of words."""

import pytest

from recollect import open_session
from recollect.demo import CLAUDE_DIRECTORY
from recollect.records.decoding import decode_record
from recollect.records.envelope import Record
from recollect.session.finding import find_text
from recollect.session.session import Session

LINES = (
    b'{"type":"user","uuid":"p","message":{"role":"user","content":"Fix the Tide test"}}',
    (
        b'{"type":"assistant","uuid":"t","parentUuid":"p","message":{"id":"m","role":"assistant",'
        b'"content":[{"type":"thinking","thinking":"tidal, I think"}]}}'
    ),
    (
        b'{"type":"assistant","uuid":"c","parentUuid":"t","message":{"id":"m","role":"assistant",'
        b'"content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":'
        b'{"command":"pytest","env":{"k":["caf\\u00e9"]}}}]}}'
    ),
    (
        b'{"type":"user","uuid":"r","parentUuid":"c","message":{"role":"user","content":['
        b'{"type":"tool_result","tool_use_id":"toolu_1","content":"1 passed in TIDE"}]}}'
    ),
    (
        b'{"type":"assistant","uuid":"a","parentUuid":"r","message":{"id":"n","role":"assistant",'
        b'"content":[{"type":"text","text":"Done: the test passes."}]}}'
    ),
)


def _records() -> list[Record]:
    return [record for line in LINES if (record := decode_record(line)) is not None]


@pytest.mark.parametrize(
    ("words", "places"),
    [
        ("tide", ("p", "c")),
        ("TIDAL", ("t",)),
        ("bash", ("c",)),
        ("café", ("c",)),
        ("passe", ("c", "a")),
        ("nowhere", ()),
        ("", ()),
    ],
)
def test_words_are_found_where_a_page_has_an_anchor(words: str, places: tuple[str, ...]) -> None:
    """Prompts, thinking, inputs and replies by their record, results by their call."""
    assert find_text(Session(_records()), words) == places


def test_what_a_subagent_did_is_found_where_it_did_it() -> None:
    """Text of a subagent is located at its own record."""
    sessions = CLAUDE_DIRECTORY.glob("projects/*/*.jsonl")
    families = [family for path in sessions if (family := open_session(path)).subagents]
    assert families
    for family in families:
        for child in family.subagents:
            if child.call is None:
                continue
            last = child.session.messages[-1]
            assert last.records[-1].uuid in find_text(family, last.text)


def test_titles_are_found_at_their_lines() -> None:
    """Text outside the conversation is found too, and located by its line."""
    (path,) = CLAUDE_DIRECTORY.glob("projects/*/94791a87-*.jsonl")
    assert find_text(open_session(path), "Speed up the harbour") == ("line-58878",)
