"""Calls of any tool, with any outcome and any content."""

import json
import re
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.structs import replace

from recollect.documents.kinds import RejectedBy, ToolStatus
from recollect.documents.turn_documents import Code, Fields, Output, Picture, Plain
from recollect.records.blocks import Image, Source, ToolResult
from recollect.records.tools import canonical_name, split_mcp_name
from recollect.records.tools.tool_parsing import INPUTS, RESULTS
from recollect.render.views.tools import VIEWS, ToolView, describe_call
from recollect.session.tool_calls import FAILED, INTERRUPTED, PENDING, SUCCESS, Outcome, ToolCall
from tests.session.recordings import make_call

OUR_WORDS = frozenset(
    """
    a active agent allowed and answer answers approved approval as at background back blocked blocks
    branch by bytes byte cell cells changed character code command commits commit committed cut
    denied deleted delete denied description done durable e empty ended error exit failed false file
    files finding findings first for from glob hint hook id if ignore in input insert interrupted is
    isolation it job jobs kb gb mb last lead limit line lines list loaded machine match matches
    message missing mode model ms min h s multiline name new no null number of offset on only option
    other out output owner page pages path pdf pending persistent picture pictures plan pull
    pushed query read recurring rejected replace request resource resources result results resumes
    rule runs sandbox saved script seconds server servers set since size started status stop stopped
    structured subject task team teammate the thrown timed timeout to token tokens tool tools true
    type unchanged unknown waits was watches whole without worktree yes yet document or away type
    NaN Infinity inf nan call calls form bash javascript powershell octet stream application image
    png completed cancelled progress user you
""".lower().split()
)
FIELDS = sorted(
    {
        name
        for table in (INPUTS, RESULTS)
        for entry in table.values()
        for kind in (entry.classes.values() if hasattr(entry, "classes") else (entry,))
        for name in kind.__struct_encode_fields__
    }
)
TOOLS = sorted({*VIEWS, *INPUTS, "mcp__server__tool", "mcp__", "Task", "made up"})
OUTCOMES = [
    PENDING,
    SUCCESS,
    FAILED,
    INTERRUPTED,
    Outcome(ToolStatus.REJECTED, RejectedBy.HOOK),
    Outcome(ToolStatus.REJECTED),
]

texts = st.text(alphabet="αβγδ \n→\t:-", max_size=12)
scalars = texts | st.integers(-3, 9) | st.booleans() | st.none() | st.floats(-9, 9, width=16)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(texts | st.sampled_from(FIELDS), inner, max_size=5)
    ),
    max_leaves=12,
)


@given(
    st.sampled_from(TOOLS),
    values,
    values,
    st.lists(texts, max_size=2) | texts,
    st.sampled_from(OUTCOMES),
)
def test_any_call_has_a_view_of_its_own_words(
    name: str, wanted: object, result: object, content: str | list[str], outcome: Outcome
) -> None:
    """A view of any call contains only strings of the data and our own labels."""
    mcp_name = split_mcp_name(name)
    call = ToolCall(
        id="t1",
        name=canonical_name(name),
        recorded_name=name,
        mcp_server=mcp_name[0] if mcp_name else None,
        raw_input=Raw(_write(wanted).encode()),
        message_id="m1",
        call_uuid="c1",
        status=outcome.status,
        rejected_by=outcome.rejected_by,
        block=ToolResult(
            tool_use_id="t1", content=content if isinstance(content, str) else tuple(content)
        ),
        raw_result=Raw(_write(result).encode()),
    )
    view = describe_call(call)
    assert type(view) is ToolView
    data = _write([wanted, result, content, name])
    known = OUR_WORDS | {word.lower() for word in re.findall(r"[A-Za-z]+", data)}
    for text in _iter_strings(msgspec.to_builtins(view)):
        assert {word.lower() for word in re.findall(r"[A-Za-z]+", text)} <= known
        assert all(run in data for run in re.findall("[αβγδ]+", text))


def _write(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _iter_strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key != "type":
                yield from _iter_strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _iter_strings(inner)


def test_failed_call_says_why() -> None:
    """The first line of an error is in the summary, without its tags."""
    text = "<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>"
    view = describe_call(make_call("Nothing", {"path": "a.py"}, text=text, outcome=FAILED))
    assert view == ToolView(
        title="a.py",
        summary="failed: String to replace not found in file. …",
        input=(Fields((("path", "a.py"),)),),
        output=(Output("String to replace not found in file.\nString: x", is_error=True),),
    )


def test_failed_command_names_its_exit_code() -> None:
    """The exit code of a failed command is in the summary, and its output lacks that line."""
    call = make_call(
        "Bash",
        {"command": "make"},
        "Error: Exit code 2\nno rule",
        text="Exit code 2\nno rule",
        outcome=FAILED,
    )
    assert describe_call(call) == ToolView(
        title="make",
        summary="failed with exit code 2: no rule",
        input=(Code("make", language="bash"),),
        output=(Output("no rule", is_error=True),),
    )


def test_failed_command_without_output() -> None:
    """A command that only failed has no details."""
    call = make_call("Bash", {"command": "false"}, text="Exit code 1", outcome=FAILED)
    view = describe_call(call)
    assert (view.summary, view.output) == ("failed with exit code 1", ())


def test_rejected_call_gives_the_words_of_the_person() -> None:
    """Only the user's own text of a rejection is shown."""
    text = "The user doesn't want to proceed with this tool use. the user said:\nnot on a Friday"
    outcome = Outcome(ToolStatus.REJECTED, RejectedBy.PERSON)
    view = describe_call(make_call("Bash", {"command": "deploy"}, text=text, outcome=outcome))
    assert view.summary == "rejected by you: not on a Friday"
    assert view.output == (Plain(text),)


def test_refusals_name_who_refused() -> None:
    """A rule and a hook are named, each with its first line."""
    by = {
        who: describe_call(
            make_call(
                "Bash", {"command": "x"}, text="no", outcome=Outcome(ToolStatus.REJECTED, who)
            )
        ).summary
        for who in (RejectedBy.RULE, RejectedBy.HOOK)
    }
    assert by == {
        RejectedBy.RULE: "denied by a rule: no",
        RejectedBy.HOOK: "blocked by a hook: no",
    }


def test_unanswered_calls_say_so() -> None:
    """Pending calls and calls without a result are distinguished."""
    waiting = make_call("Bash", {"command": "x"}, outcome=PENDING)
    lost = msgspec.structs.replace(waiting, is_lost=True)
    assert [describe_call(call).summary for call in (waiting, lost)] == [
        "no result yet",
        "the result is missing",
    ]


def test_spilled_output_is_named() -> None:
    """If the transcript has only the beginning of an output, the file with the rest is named."""
    path = "/x/tool-results/b1.txt"
    text = (
        f"<persisted-output>\nOutput too large. Full output saved to: {path}\n\n"
        "Preview (first 2KB):\nhead"
    )
    result = {"stdout": "head", "persistedOutputPath": path, "persistedOutputSize": 108_894}
    view = describe_call(make_call("Bash", {"command": "x"}, result, text=text))
    assert view.output == (
        Output("head"),
        Fields((("full output in", path), ("size", "108.9 KB"))),
    )


PICTURE = Image(source=Source(type="base64", media_type="image/png", data="AAAA"))
CALLS: dict[str, dict[str, object]] = {
    "Agent": {"prompt": "look"},
    "Bash": {"command": "plot"},
    "Edit": {"file_path": "x", "old_string": "a", "new_string": "b"},
    "Glob": {"pattern": "*"},
    "Grep": {"pattern": "x"},
    "Read": {"file_path": "x.png"},
    "Skill": {"skill": "draw"},
    "TodoWrite": {"todos": []},
    "WebFetch": {"url": "https://example.org"},
    "WebSearch": {"query": "ponds"},
    "Write": {"file_path": "x", "content": "a"},
    "mcp__maps__draw": {"place": "Brest"},
    "Nothing": {"a": "b"},
}


@pytest.mark.parametrize("outcome", [SUCCESS, FAILED, INTERRUPTED])
@pytest.mark.parametrize("name", CALLS)
def test_pictures_of_any_answer_are_shown_once(name: str, outcome: Outcome) -> None:
    """Whatever the tool and the outcome, a picture in its result is shown next to the text."""
    call = make_call(name, CALLS[name], outcome=outcome)
    call = replace(call, block=ToolResult(tool_use_id="t1", content=("looked at it", PICTURE)))
    view = describe_call(call)
    assert [part for part in view.output if isinstance(part, Picture)] == [
        Picture("image/png", "AAAA")
    ]
    assert "looked at it" in msgspec.json.encode((view.summary, view.output)).decode()


def test_command_that_gave_nothing_but_a_picture() -> None:
    """An image counts as output."""
    call = make_call("Bash", {"command": "plot"}, {"stdout": "", "stderr": ""})
    view = describe_call(replace(call, block=ToolResult(tool_use_id="t1", content=(PICTURE,))))
    assert (view.summary, view.output) == ("1 picture", (Picture("image/png", "AAAA"),))
