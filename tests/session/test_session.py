"""Building a session in steps equals building it at once."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.reader.transcript_reader import read_transcript
from recollect.session.session import Session
from recollect.session.subagents import Child, SubagentMeta, attach_subagents
from tests.session.dump import VIEWS, dump_session
from tests.session.recordings import decode

IDS = ["a", "b", "c", "d", "e", None]
TEXTS = st.sampled_from(
    [
        "fix it",
        "<command-name>/compact</command-name>",
        "This session is being continued from a previous conversation that ran out of context.",
        "<bash-input>ls</bash-input>",
        "[Request interrupted by user]",
        "",
    ]
)
BLOCKS = st.sampled_from(
    [
        {"type": "text", "text": "words"},
        {"type": "thinking", "thinking": "", "signature": "s"},
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}},
        {"type": "tool_use", "id": "t2", "name": "Task", "input": {"prompt": "fix it"}},
        {"type": "tool_result", "tool_use_id": "t1", "content": "out", "is_error": False},
        {"type": "tool_result", "tool_use_id": "t2", "content": "no", "is_error": True},
    ]
)
LINKS = {
    "uuid": st.sampled_from(IDS),
    "parentUuid": st.sampled_from(IDS),
    "isSidechain": st.sampled_from([False, False, False, True]),
    "timestamp": st.sampled_from(["2026-01-01T00:00:01Z", "2026-01-01T00:00:09Z", "bad", None]),
}
LINES = st.one_of(
    st.fixed_dictionaries(
        {
            **LINKS,
            "type": st.just("user"),
            "promptId": st.sampled_from(["p", "q", None]),
            "isMeta": st.sampled_from([False, False, True]),
            "message": st.fixed_dictionaries({"content": TEXTS | st.lists(BLOCKS, max_size=2)}),
        }
    ),
    st.fixed_dictionaries(
        {
            **LINKS,
            "type": st.just("assistant"),
            "message": st.fixed_dictionaries(
                {
                    "id": st.sampled_from(["msg_1", "msg_2", None]),
                    "model": st.sampled_from(["claude-opus-5-5", "<synthetic>"]),
                    "content": st.lists(BLOCKS, max_size=2),
                    "usage": st.fixed_dictionaries({"output_tokens": st.integers(0, 9)}),
                }
            ),
        }
    ),
    st.fixed_dictionaries(
        {
            **LINKS,
            "type": st.just("system"),
            "subtype": st.sampled_from(["compact_boundary", "turn_duration"]),
            "logicalParentUuid": st.sampled_from(IDS),
        }
    ),
    st.sampled_from(
        [
            {"type": "custom-title", "customTitle": "t"},
            {"type": "last-prompt", "leafUuid": "00000000-0000-0000-0000-000000000000"},
            {"type": "brand-new", "uuid": "e", "parentUuid": "a"},
        ]
    ),
)


@given(st.lists(LINES, max_size=12), st.lists(st.integers(0, 12), max_size=4), st.data())
def test_extending_in_steps_equals_building_at_once(
    lines: list[dict[str, object]], cuts: list[int], choice: st.DataObject
) -> None:
    """Any records in any steps, with or without queries in between, give the same session."""
    records = [decode(line) for line in lines]
    edges = sorted({0, len(records), *(cut for cut in cuts if cut < len(records))})
    session = Session()
    for start, end in itertools.pairwise(edges):
        session.extend(records[start:end])
        getattr(session, choice.draw(st.sampled_from(VIEWS)))
    assert dump_session(session) == dump_session(Session(records))


def test_real_sessions_extend_like_they_are_built(shared: Path) -> None:
    """Every sample session, taken in three steps, is the one read in one."""
    paths = [*shared.glob("corpus/**/*.jsonl"), *shared.glob("real_cli/*/config*/**/*.jsonl")]
    paths = [path for path in paths if "_stream" not in path.parts]
    assert len(paths) > 600
    for path in paths:
        records = list(read_transcript(path))
        session = Session()
        third = len(records) // 3
        for part in (records[:third], records[third : 2 * third], records[2 * third :]):
            session.extend(part)
            assert session.turns is session.turns
        assert dump_session(session) == dump_session(Session(records)), path


def test_views_are_kept_until_something_new_comes() -> None:
    """Results are cached, and recomputed after `extend`."""
    session = Session([decode({"type": "user", "uuid": "a", "message": {"content": "one"}})])
    first = session.turns
    assert session.turns is first
    session.extend([decode({"type": "user", "uuid": "b", "message": {"content": "two"}})])
    assert [turn.words for turn in session.turns] == ["one", "two"]


@pytest.mark.parametrize("count", [100_000])
def test_a_very_long_chain_is_no_problem(count: int) -> None:
    """A hundred thousand links cause no recursion error."""
    records = [
        decode({"type": "user", "uuid": f"u{n}", "parentUuid": f"u{n - 1}" if n else None})
        for n in range(count)
    ]
    assert len(Session(records).main_path) == count


def test_subagents_that_claim_each_other_are_not_lost() -> None:
    """Two sidecars that each name the other as parent leave both with the session."""
    session = Session(
        [decode({"type": "user", "uuid": "a", "sessionId": "s", "message": {"content": "go"}})]
    )
    children = [
        Child(agent_id=own, session=Session(), meta=SubagentMeta(parent_agent_id=other))
        for own, other in (("x", "y"), ("y", "x"))
    ]
    attach_subagents(session, children)
    assert [subagent.agent_id for subagent in session.subagents] == ["x", "y"]
