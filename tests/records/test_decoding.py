"""Decoding of one line: typed, repaired, filled field by field, or `Unknown`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw, Struct

from recollect.records import state, system_records
from recollect.records.attachment_kinds import HookSuccess, OtherAttachment, QueuedCommand
from recollect.records.attachments import Attachment
from recollect.records.blocks import (
    Image,
    Source,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    UnknownBlock,
)
from recollect.records.conversation_records import ApiMessage, Assistant, Origin, User, UserMessage
from recollect.records.decoding import (
    MAX_DEPTH,
    TypeMismatch,
    decode_record,
    decode_value,
    find_misfits,
    fit,
    repair,
)
from recollect.records.envelope import Record, Span, Unknown
from recollect.records.system_records import (
    SYSTEM_SUBTYPES,
    CompactBoundary,
    CompactMetadata,
    System,
    TurnDuration,
)
from recollect.records.token_usage import CacheCreation, ServerToolUse, Usage

FORMAT_PAGE = Path(__file__).parents[2] / "docs" / "format.md"

PROMPT = b"""{"parentUuid":null,"isSidechain":false,"promptId":"p1","type":"user",
"message":{"role":"user","content":"fix the test"},"uuid":"u1",
"timestamp":"2026-11-15T18:19:31.010Z","permissionMode":"default","promptSource":"typed","origin":{"kind":"human"},"cwd":"/srv/p",
"sessionId":"s1","version":"2.1.325","gitBranch":"main"}"""
ANSWER = b"""{"type":"assistant","uuid":"a1","parentUuid":"u1","requestId":"req_1",
"apiBlockIndex":1,"message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5-5",
"content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}],
"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":81,
"cache_creation_input_tokens":10,"cache_read_input_tokens":20,
"cache_creation":{"ephemeral_5m_input_tokens":4,"ephemeral_1h_input_tokens":6},
"server_tool_use":{"web_search_requests":2},"service_tier":"standard","speed":"fast"}}}"""

CASES: list[tuple[bytes, Record]] = [
    (
        PROMPT,
        User(
            uuid="u1",
            prompt_id="p1",
            message=UserMessage(role="user", content="fix the test"),
            timestamp="2026-11-15T18:19:31.010Z",
            permission_mode="default",
            prompt_source="typed",
            origin=Origin(kind="human"),
            cwd="/srv/p",
            session_id="s1",
            version="2.1.325",
            git_branch="main",
        ),
    ),
    (
        ANSWER,
        Assistant(
            uuid="a1",
            parent_uuid="u1",
            request_id="req_1",
            api_block_index=1,
            message=ApiMessage(
                id="msg_1",
                type="message",
                role="assistant",
                model="claude-opus-5-5",
                content=(ToolUse(id="toolu_1", name="Bash", input=Raw(b'{"command":"ls"}')),),
                stop_reason="tool_use",
                usage=Usage(
                    input_tokens=3,
                    output_tokens=81,
                    cache_creation_input_tokens=10,
                    cache_read_input_tokens=20,
                    cache_creation=CacheCreation(
                        ephemeral_5m_input_tokens=4, ephemeral_1h_input_tokens=6
                    ),
                    server_tool_use=ServerToolUse(web_search_requests=2),
                    service_tier="standard",
                    speed="fast",
                ),
            ),
        ),
    ),
    (
        (
            b'{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t",'
            b'"content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"base64",'
            b'"media_type":"image/png","data":"AA=="}}],"is_error":true}]},'
            b'"toolUseResult":"Error: x"}'
        ),
        User(
            message=UserMessage(
                content=(
                    ToolResult(
                        tool_use_id="t",
                        is_error=True,
                        content=(
                            Text(text="x"),
                            Image(
                                source=Source(type="base64", media_type="image/png", data="AA==")
                            ),
                        ),
                    ),
                )
            ),
            tool_use_result=Raw(b'"Error: x"'),
        ),
    ),
    (
        b'{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"","signature":"s"}]}}',
        Assistant(message=ApiMessage(content=(Thinking(thinking="", signature="s"),))),
    ),
    (
        (
            b'{"type":"system","subtype":"compact_boundary","uuid":"c","logicalParentUuid":"l",'
            b'"compactMetadata":{"trigger":"auto","preTokens":5,"preservedMessages":{"uuids":["a"]}}}'
        ),
        CompactBoundary(
            uuid="c",
            subtype="compact_boundary",
            logical_parent_uuid="l",
            compact_metadata=decode_value(
                b'{"trigger":"auto","preTokens":5,"preservedMessages":{"uuids":["a"]}}',
                CompactMetadata,
            ),
        ),
    ),
    (
        b'{"subtype":"turn_duration","type":"system","durationMs":1200.5}',
        TurnDuration(subtype="turn_duration", duration_ms=1200.5),
    ),
    (
        b'{"type":"system","content":"a notice","toolUseID":"t"}',
        System(content="a notice", tool_use_id="t"),
    ),
    (
        (
            b'{"type":"attachment","attachment":{"type":"queued_command","prompt":"and the docs",'
            b'"commandMode":"prompt","humanTurn":true,"source_uuid":"q"}}'
        ),
        Attachment(
            attachment=QueuedCommand(
                prompt="and the docs", command_mode="prompt", human_turn=True, source_uuid="q"
            )
        ),
    ),
    (
        b'{"type":"attachment","attachment":{"type":"hook_success","hookName":"h","exitCode":0}}',
        Attachment(attachment=HookSuccess(hook_name="h", exit_code=0)),
    ),
    (
        b'{"type":"attachment","attachment":{"type":"goal_status","goal":"g"}}',
        Attachment(
            attachment=OtherAttachment(
                kind="goal_status", raw=Raw(b'{"type":"goal_status","goal":"g"}')
            )
        ),
    ),
    (
        b'{"type":"progress","data":{"type":"agent_progress","agentId":"a","message":{"u":1}}}',
        system_records.Progress(
            data=system_records.AgentProgress(agent_id="a", message=Raw(b'{"u":1}'))
        ),
    ),
    (
        b'{"type":"progress","data":{"type":"novel","x":1}}',
        system_records.Progress(
            data=system_records.OtherProgress(kind="novel", raw=Raw(b'{"type":"novel","x":1}'))
        ),
    ),
    (
        b'{"type":"cost-state","totalCostUSD":0.5,"modelUsage":{"m":{"inputTokens":1,"costUSD":0.5}}}',
        state.CostState(
            total_cost_usd=0.5,
            model_usage={"m": state.ModelUsage(input_tokens=1, cost_usd=0.5)},
        ),
    ),
    (
        b'{"type":"brand-new","uuid":"n","x":[1]}',
        Unknown(
            record_type="brand-new", uuid="n", raw=Raw(b'{"type":"brand-new","uuid":"n","x":[1]}')
        ),
    ),
]


@pytest.mark.parametrize(("line", "record"), CASES, ids=lambda value: type(value).__name__)
def test_a_line_gives_its_record(line: bytes, record: Record) -> None:
    """The record equals the line, field by field."""
    assert decode_record(line.replace(b"\n", b"")) == record


def test_the_span_is_the_readers_and_cannot_be_forged() -> None:
    """A span written in a line is ignored."""
    line = b'{"type":"mode","<span>":{"file":"/etc/passwd","offset":0,"length":1}}'
    assert decode_record(line) == state.Mode()
    assert decode_record(line, Span("f", 0, 9)) == state.Mode(span=Span("f", 0, 9))


def test_unknown_blocks_are_kept_among_known_ones() -> None:
    """A message with one new block keeps the others, and the new one whole."""
    blocks = b'{"type":"novel","x":1},{"type":"text","text":"t"},7'
    line = b'{"type":"user","message":{"content":[' + blocks + b"]}}"
    assert decode_record(line) == User(
        message=UserMessage(
            content=(
                UnknownBlock(block_type="novel", raw=Raw(b'{"type":"novel","x":1}')),
                Text(text="t"),
                UnknownBlock(raw=Raw(b"7")),
            )
        )
    )


def test_a_field_of_another_type_is_named_and_the_rest_is_kept() -> None:
    """A field with an unexpected type is dropped, not the record."""
    line = b'{"type":"user","uuid":7,"message":{"role":["r"],"content":"kept"},"sessionId":"s"}'
    assert decode_record(line) == User(message=UserMessage(content="kept"), session_id="s")
    assert find_misfits(line) == ("uuid", "message.role")


@pytest.mark.parametrize("line", [b"", b"{", b'{"a":1}{', b"nope", b'{"a":1,}', b'{"type":"user"'])
def test_what_is_no_json_is_no_record(line: bytes) -> None:
    """The result is None, which is left to the salvage code."""
    assert decode_record(line) is None


@given(
    st.sampled_from([*SYSTEM_SUBTYPES, "novel", ""]),
    st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.integers())),
)
def test_any_fields_make_a_system_record(subtype: str, fields: dict[str, object]) -> None:
    """A notice has the class of its subtype, whatever its other fields."""
    line = json.dumps({**fields, "type": "system", "subtype": subtype}).encode()
    assert type(decode_record(line)) is SYSTEM_SUBTYPES.get(subtype, System)


def documented_examples() -> list[bytes]:
    """Return every transcript record on the format page."""
    page = FORMAT_PAGE.read_text()
    page = page[: page.index("## 11")]
    blocks = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.strip()]
    return [line.encode() for line in lines if "type" in json.loads(line)]


@pytest.mark.parametrize("line", documented_examples(), ids=lambda line: line[:40].decode())
def test_every_documented_record_is_known(line: bytes) -> None:
    """All records on the format page are decoded completely."""
    assert not isinstance(decode_record(line), Unknown | None)
    assert find_misfits(line) == ()


class Inner(Struct, frozen=True, tag="inner"):
    """A known member of the union below."""

    size: int = 0


class Other(Struct, frozen=True, tag="<other>"):
    """The member for unknown values."""

    kind: str | None = None
    raw: Raw = Raw()


class Outer(Struct, frozen=True):
    """One field of each shape that the record types use."""

    name: str | None = None
    one: Inner | Other | None = None
    many: tuple[Inner | Other | str, ...] = ()
    named: dict[str, int] = {}
    text_or_many: str | tuple[int, ...] | None = None


MISFIT_CASES: list[tuple[bytes, Outer, list[str]]] = [
    (b'{"name":5}', Outer(), ["name"]),
    (b'{"name":"n","one":{"type":"inner","size":"x"}}', Outer(name="n", one=Inner()), ["one.size"]),
    (
        b'{"one":{"type":"new","size":1}}',
        Outer(one=Other(kind="new", raw=Raw(b'{"type":"new","size":1}'))),
        [],
    ),
    (
        b'{"one":{"size":1}}',
        Outer(one=Other(raw=Raw(b'{"size":1}'))),
        [],
    ),
    (
        b'{"many":["a",3,{"type":"inner","size":2},{"type":9}]}',
        Outer(many=("a", Other(raw=Raw(b"3")), Inner(size=2), Other(raw=Raw(b'{"type":9}')))),
        [],
    ),
    (b'{"named":{"a":1,"b":"x"}}', Outer(named={"a": 1}), ["named.*"]),
    (b'{"text_or_many":[1,"x",2]}', Outer(text_or_many=(1, 2)), ["text_or_many[1]"]),
    (b'{"text_or_many":{"a":1},"name":"n"}', Outer(name="n"), ["text_or_many"]),
]


@pytest.mark.parametrize(("text", "value", "misfits"), MISFIT_CASES)
def test_what_fits_is_kept_and_the_rest_is_named(
    text: bytes, value: Outer, misfits: list[str]
) -> None:
    """Valid parts are kept, and invalid ones listed by path."""
    named: list[str] = []
    assert fit(text, Outer, "", named) == value
    assert named == misfits


@pytest.mark.parametrize("text", [b"[]", b'"text"', b"7", b"null"])
def test_a_value_of_another_kind_does_not_fit_at_all(text: bytes) -> None:
    """If the outermost type is wrong, the caller has to handle it."""
    with pytest.raises(TypeMismatch):
        fit(text, Outer, "", [])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("broken", "mended"),
    [
        (rb'"\ud83d"', rb'"\ufffd"'),
        (rb'"\uDE00\uD83D"', rb'"\ufffd\ufffd"'),
        (rb'"\ud83d\ude00"', rb'"\ud83d\ude00"'),
        (rb'"\\ud83d"', rb'"\\ud83d"'),
        (b'"a\x00b\tc"', rb'"a\u0000b\u0009c"'),
        (b'"\xff"', '"\ufffd"'.encode()),
        (b"[NaN,-Infinity,Infinity]", b"[null,null,null]"),
        (b'["NaN"]', b'["NaN"]'),
        (b"[" + b"7" * 4001 + b"]", b'["' + b"7" * 4001 + b'"]'),
        (b'{"a":1.5e3}', b'{"a":1.5e3}'),
    ],
)
def test_each_fault_is_repaired(broken: bytes, mended: bytes) -> None:
    """Each single fault is repaired to the nearest valid JSON."""
    assert repair(broken) == mended


@given(JSON, st.booleans())
def test_sound_text_keeps_its_meaning(value: object, ascii_only: bool) -> None:
    """Valid JSON keeps its meaning."""
    text = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "replace")
    assert json.loads(repair(text)) == json.loads(repair(repair(text)))
    if b"\\ud" not in text:
        assert json.loads(repair(text)) == json.loads(text)


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1, 100_000])
def test_what_is_too_deep_becomes_null(depth: int) -> None:
    """Text of any depth can be decoded, and everything less deep is kept."""
    text = b'{"a":' + b"[" * depth + b"]" * depth + b',"b":1}'
    decoded = msgspec.json.decode(repair(text))
    assert decoded["b"] == 1
    assert json.dumps(decoded["a"]).count("[") == min(depth, MAX_DEPTH - 1)


def test_text_that_never_closes_is_left_for_others_to_judge() -> None:
    """A hundred thousand open brackets are returned unchanged, without recursion."""
    text = b"[" * 100_000
    assert repair(text) == text


@given(st.binary())
def test_any_bytes_can_be_repaired(data: bytes) -> None:
    """The result is always UTF-8."""
    repair(data).decode()
