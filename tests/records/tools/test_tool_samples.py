"""Tool calls in sample transcripts, of the real client and of public repositories."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Raw, Struct

from recollect.records.blocks import ToolResult, ToolUse
from recollect.records.conversation_records import Assistant, User
from recollect.records.decoding import decode_record, decode_value
from recollect.records.tools import (
    UnknownInput,
    UnknownResult,
    canonical_name,
    parse_input,
    parse_result,
    split_mcp_name,
)
from recollect.records.tools.tool_parsing import INPUTS

Call = tuple[str, Raw]


class StreamLine(Struct):
    """A stream line, which spells the name of the result differently."""

    tool_use_result: Raw = Raw()


def _is_known(name: str) -> bool:
    return (
        canonical_name(name) in INPUTS or name == "StructuredOutput" or bool(split_mcp_name(name))
    )


def _read_calls(path: Path) -> Iterator[tuple[str, Call]]:
    """Return inputs and results in a file, each with its tool's name."""
    names: dict[str, str] = {}
    for line in path.read_bytes().split(b"\n"):
        record = decode_record(line)
        if not isinstance(record, User | Assistant) or record.message is None:
            continue
        for block in record.message.content or ():
            if isinstance(block, ToolUse):
                names[block.id] = block.name
                yield "input", (block.name, block.input)
            elif isinstance(block, ToolResult) and isinstance(record, User):
                streamed = decode_value(line, StreamLine) or StreamLine()
                raw = record.tool_use_result or streamed.tool_use_result
                yield "result", (names.get(block.tool_use_id, ""), raw)


def _collect_calls(folder: Path, kind: str) -> list[Call]:
    return [
        (name, raw)
        for path in sorted(folder.rglob("*.jsonl"))
        for found, (name, raw) in _read_calls(path)
        if found == kind and _is_known(name) and bytes(raw) != b""
    ]


@pytest.mark.parametrize("part", ["real_cli", "corpus"])
def test_every_input_of_a_known_tool_is_typed(shared: Path, part: str) -> None:
    """No input of a known tool is unknown, in any transcript."""
    calls = _collect_calls(shared / part, "input")
    assert len(calls) > 500
    assert [call for call in calls if isinstance(parse_input(*call), UnknownInput)] == []


@pytest.mark.parametrize("part", ["real_cli", "corpus"])
def test_every_result_of_a_known_tool_is_typed(shared: Path, part: str) -> None:
    """No result of a known tool is unknown, in any transcript."""
    calls = _collect_calls(shared / part, "result")
    assert len(calls) > 500
    assert [call for call in calls if isinstance(parse_result(*call), UnknownResult)] == []
