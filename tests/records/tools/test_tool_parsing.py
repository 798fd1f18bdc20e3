"""Names, text results, misfits and hostile values: how `parse_…` handles any input."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from recollect.records import tools
from recollect.records.blocks import Text
from recollect.records.tools import (
    TOOL_ALIASES,
    ContentResult,
    TextResult,
    ToolInput,
    ToolOutput,
    UnknownInput,
    UnknownResult,
    canonical_name,
    parse_input,
    parse_result,
)
from recollect.records.tools.planning_tools import Todo, TodoWriteInput
from recollect.records.tools.shell_tools import BashInput, ShellResult
from recollect.records.tools.tool_parsing import INPUTS, RESULTS, Variants

DEEP = b"[" * 100_000 + b"]" * 100_000

NAMES = st.one_of(
    st.sampled_from(sorted({*INPUTS, *RESULTS, *TOOL_ALIASES, "StructuredOutput"})),
    st.sampled_from(["mcp__a__b", "mcp__", "", "\ud800"]),
    st.text(max_size=8),
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)


def _list_classes() -> list[type[ToolInput] | type[ToolOutput]]:
    """Return the input and result classes of every tool."""
    classes: list[type[ToolInput] | type[ToolOutput]] = [*INPUTS.values()]
    for entry in RESULTS.values():
        classes.extend(entry.classes.values() if isinstance(entry, Variants) else [entry])
    return classes


def _wire_names() -> list[str]:
    """Return the wire names of all fields of tool classes."""
    names = {name for found in _list_classes() for name in found.__struct_encode_fields__}
    return sorted({*names, "type", "detachedToolCall", "text"})


KEYS = st.sampled_from(_wire_names()) | st.text(max_size=5)
VALUES = st.recursive(
    SCALARS | st.sampled_from(["text", "completed", "image"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def test_every_class_of_a_tool_is_named_by_the_package() -> None:
    """All input and result classes can be imported from one package."""
    assert {found.__name__ for found in _list_classes()} - {*tools.__all__} == set()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Task", "Agent"),
        ("KillBash", "TaskStop"),
        ("KillShell", "TaskStop"),
        ("BashOutput", "TaskOutput"),
        ("AgentOutputTool", "TaskOutput"),
        ("SlashCommand", "Skill"),
        ("NotebookRead", "Read"),
        ("exit_plan_mode", "ExitPlanMode"),
        ("ListMcpResourcesTool", "ListMcpResources"),
        ("ReadMcpResourceTool", "ReadMcpResource"),
        ("ReadMcpResourceDirTool", "ReadMcpResourceDir"),
        ("Bash", "Bash"),
        ("Hammer", "Hammer"),
    ],
)
def test_aliases_lead_to_the_present_name(name: str, expected: str) -> None:
    """A renamed tool has its current name; an unknown name stays."""
    assert canonical_name(name) == expected


@pytest.mark.parametrize("alias", sorted(TOOL_ALIASES))
def test_every_alias_leads_to_a_known_tool(alias: str) -> None:
    """No alias maps to another alias or to a tool without an input class."""
    assert TOOL_ALIASES[alias] in INPUTS.keys() - TOOL_ALIASES.keys()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Error: Exit code 3\nout\nerr", 3),
        ("Error: Exit code 137\n[Request interrupted by user for tool use]", 137),
        ("Exit code 1", 1),
        ("Error: Exit code -1073741510", -1073741510),
        ("Error: Exit code " + "9" * 5000, None),
        ("Error: Exit code \u0663", None),
        ("Error: it said Exit code 3", None),
        ("User rejected tool use", None),
        ("", None),
    ],
)
def test_exit_codes_are_read_from_the_text(text: str, expected: int | None) -> None:
    """The exit code of a failed command is at the start of its text, and only there."""
    assert TextResult(text=text).exit_code == expected


@pytest.mark.parametrize(
    "text",
    [b"", b"null", b"true", b"5", b'"a"', b"[]", b"{", b"nonsense", b'{"hammer":1}', DEEP],
)
def test_an_input_that_fits_nothing_is_unknown(text: bytes) -> None:
    """Input that is not an object, not JSON, or without known fields is kept unchanged."""
    assert parse_input("Bash", Raw(text)) == UnknownInput(raw=Raw(text))


@pytest.mark.parametrize(
    "text",
    [b"", b"null", b"true", b"5", b"{", b'"a', b"[1", b"[1,2]", b'{"hammer":1}', DEEP],
)
def test_a_result_that_fits_nothing_is_unknown(text: bytes) -> None:
    """A result that is neither text, blocks nor an object of the tool is kept unchanged."""
    assert parse_result("Bash", Raw(text)) == UnknownResult(raw=Raw(text))


def test_an_unknown_tool_is_unknown() -> None:
    """A tool of a newer client keeps input and result as JSON text."""
    raw = Raw(b'{"nail":1}')
    assert parse_input("Hammer", raw) == UnknownInput(raw=raw)
    assert parse_result("Hammer", raw) == UnknownResult(raw=raw)


def test_text_and_blocks_need_no_known_tool() -> None:
    """Strings and lists of blocks are read the same for any tool."""
    assert parse_result("Hammer", Raw(b'"Error: bent"')) == TextResult(text="Error: bent")
    assert parse_result("Hammer", Raw(b'[{"type":"text","text":"t"},"u"]')) == ContentResult(
        blocks=(Text(text="t"), "u")
    )


def test_an_empty_input_is_that_of_the_tool() -> None:
    """Empty input gives the tool's class with defaults."""
    assert parse_input("Bash", Raw(b"{}")) == BashInput()


def test_a_result_of_nothing_but_defaults_is_typed() -> None:
    """A command without output has a shell result, not an unknown one."""
    text = b'{"stdout":"","stderr":"","interrupted":false,"isImage":false}'
    assert parse_result("Bash", Raw(text)) == ShellResult()


def test_one_misfit_costs_one_field() -> None:
    """A field of an unexpected type gets its default, the others are kept."""
    raw = Raw(b'{"command":"ls","timeout":"soon"}')
    assert parse_input("Bash", raw) == BashInput(command="ls")


def test_one_misfit_costs_one_row() -> None:
    """A list item of an unexpected type is dropped, the others are kept."""
    raw = Raw(b'{"todos":["broken",{"content":"Build"}]}')
    assert parse_input("TodoWrite", raw) == TodoWriteInput(todos=(Todo(content="Build"),))


@pytest.mark.parametrize("text", [b'{"todos":"[]"}', b'{"todos":["broken"]}', b'{"todos":5}'])
def test_an_input_of_misfits_only_is_unknown(text: bytes) -> None:
    """If no field is valid, the JSON is kept instead of an empty input."""
    assert parse_input("TodoWrite", Raw(text)) == UnknownInput(raw=Raw(text))


def test_lone_surrogates_and_control_characters_are_repaired() -> None:
    """Text that strict decoders reject is still read."""
    assert parse_input("Bash", Raw(b'{"command":"a\\ud800b\x01"}')) == BashInput(
        command="a\ufffdb\x01"
    )
    assert parse_result("Bash", Raw(b'"Error: \\udfff"')) == TextResult(text="Error: \ufffd")


def test_white_space_around_a_result_means_nothing() -> None:
    """JSON may be indented."""
    assert parse_result("Bash", Raw(b' \n{ "stdout" : "x" } ')) == ShellResult(stdout="x")


@given(NAMES, VALUES)
def test_any_json_parses(name: str, value: object) -> None:
    """No name and no JSON makes parsing fail, and unknown data keeps its text."""
    raw = Raw(json.dumps(value).encode())
    for found in (parse_input(name, raw), parse_result(name, raw)):
        assert isinstance(found, ToolInput | ToolOutput)
        if isinstance(found, UnknownInput | UnknownResult):
            assert found.raw == raw


@given(NAMES, st.binary(max_size=40))
def test_any_bytes_parse(name: str, data: bytes) -> None:
    """Parsing never fails, not even on bytes that are not JSON."""
    assert isinstance(parse_input(name, Raw(data)), ToolInput)
    assert isinstance(parse_result(name, Raw(data)), ToolOutput)
