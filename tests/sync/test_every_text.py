"""Every text of every known record can be searched for, unless a reason says why not.

The types are walked field by field: each gets a word of its own, which is then looked for.
"""

import json
from typing import get_args

import pytest

from recollect.records.blocks import Block, ContentBlock, NestedBlock
from recollect.records.decoding import decode_record
from recollect.records.envelope import Record
from recollect.session.record_texts import UNREAD
from recollect.session.searchable_texts import list_searchable_texts
from tests.every_field import WORD, Json, is_unread, iter_struct, list_records, name_of

_TOOL = "searches have a field for it: `tool:`"
_BOOKKEEPING = "an id, or bookkeeping of the API"
LEFT_OUT = {
    "UserMessage.role": "one of a few fixed values",
    **dict.fromkeys(("McpToolUse.name", "ServerToolUseBlock.name", "ToolUse.name"), _TOOL),
    "McpToolUse.server_name": _TOOL,
    **{
        f"{kind}.{name}": _BOOKKEEPING
        for kind in ("McpToolUse", "ServerToolUseBlock", "ToolUse")
        for name in ("id", "cache_control")
    },
}
"""Fields that special readers leave out, and why."""


def _is_searched(line: Json) -> bool:
    record = decode_record(json.dumps(line).encode())
    assert record is not None
    return any(WORD in document.text for document in list_searchable_texts(record))


@pytest.mark.parametrize(
    ("kind", "line"),
    [each[1:] for each in list_records()],
    ids=[each[0] for each in list_records()],
)
def test_every_text_of_a_record_is_searched_or_excused(kind: type[Record], line: Json) -> None:
    """Every text of a record can be found, or is listed with a reason."""
    samples = (
        (name_of(way), way, {**value, **line})
        for way, value in iter_struct(kind, [])
        if isinstance(value, dict) and way[0][1] != "span"
    )
    wrong = [
        name
        for name, way, value in samples
        if _is_searched(value) == (is_unread(way) or name in LEFT_OUT)
    ]
    assert wrong == []


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("kind", get_args(ContentBlock))
def test_every_text_of_a_block_is_searched_or_excused(kind: type[Block], role: str) -> None:
    """The same for the blocks of a message, by any role."""
    wrong = [
        name_of(way)
        for way, block in iter_struct(kind, [])
        if _is_searched({"type": role, "message": {"role": role, "content": [block]}})
        == (is_unread(way) or name_of(way) in LEFT_OUT)
    ]
    assert wrong == []


@pytest.mark.parametrize("kind", get_args(NestedBlock))
def test_every_text_in_a_tool_result_is_searched_or_excused(kind: type[Block]) -> None:
    """The same for the blocks that a tool returned."""
    result = {"type": "tool_result", "tool_use_id": "t"}
    wrong = [
        name_of(way)
        for way, block in iter_struct(kind, [])
        if _is_searched({"type": "user", "message": {"content": [{**result, "content": [block]}]}})
        == (is_unread(way) or name_of(way) in LEFT_OUT)
    ]
    assert wrong == []


def test_a_text_document_is_searched() -> None:
    """The data of a document is indexed if its source is text."""
    source = {"type": "text", "media_type": "text/plain", "data": WORD}
    block = {"type": "document", "source": source}
    assert _is_searched({"type": "user", "message": {"content": [block]}})


def test_what_is_left_out_exists() -> None:
    """Every exception names a field of its type, with a reason."""
    unknown = [
        (kind.__name__, name)
        for kind, names in UNREAD.items()
        for name, reason in names.items()
        if name not in kind.__struct_fields__ or not reason
    ]
    assert unknown == []
