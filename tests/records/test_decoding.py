"""One line → one record: typed, mended, or `Unknown` with all that was in it."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from recollect.records import progress, state
from recollect.records.attachments import Attachment
from recollect.records.attachments.files import QueuedCommand
from recollect.records.attachments.hooks import HookSuccess
from recollect.records.attachments.kinds import OtherAttachment
from recollect.records.blocks import (
    Image,
    Source,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    UnknownBlock,
)
from recollect.records.conversation import ApiMessage, Assistant, Origin, User, UserMessage
from recollect.records.decoding import decode_record, decode_value, find_misfits
from recollect.records.envelope import Record
from recollect.records.irregular import Unknown
from recollect.records.span import Span
from recollect.records.system import (
    SYSTEM_SUBTYPES,
    CompactBoundary,
    CompactMetadata,
    System,
    TurnDuration,
)
from recollect.records.usage import CacheCreation, ServerToolUse, Usage

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
        progress.Progress(data=progress.AgentProgress(agent_id="a", message=Raw(b'{"u":1}'))),
    ),
    (
        b'{"type":"progress","data":{"type":"novel","x":1}}',
        progress.Progress(
            data=progress.OtherProgress(kind="novel", raw=Raw(b'{"type":"novel","x":1}'))
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
    """The whole record, field by field, is what the line says."""
    assert decode_record(line.replace(b"\n", b"")) == record


def test_the_span_is_the_readers_and_cannot_be_forged() -> None:
    """A line that names a span of its own does not get it."""
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
    """A field that changed its type costs that field, not the record."""
    line = b'{"type":"user","uuid":7,"message":{"role":["r"],"content":"kept"},"sessionId":"s"}'
    assert decode_record(line) == User(message=UserMessage(content="kept"), session_id="s")
    assert find_misfits(line) == ("uuid", "message.role")


@pytest.mark.parametrize("line", [b"", b"{", b'{"a":1}{', b"nope", b'{"a":1,}', b'{"type":"user"'])
def test_what_is_no_json_is_no_record(line: bytes) -> None:
    """None is for salvage to look at."""
    assert decode_record(line) is None


@given(
    st.sampled_from([*SYSTEM_SUBTYPES, "novel", ""]),
    st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.integers())),
)
def test_any_fields_make_a_system_record(subtype: str, fields: dict[str, object]) -> None:
    """A notice is of its subtype's class whatever else it holds."""
    line = json.dumps({**fields, "type": "system", "subtype": subtype}).encode()
    assert type(decode_record(line)) is SYSTEM_SUBTYPES.get(subtype, System)


def documented_examples() -> list[bytes]:
    """Every transcript record that the format page shows."""
    page = FORMAT_PAGE.read_text()
    page = page[: page.index("## 11")]
    blocks = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.strip()]
    return [line.encode() for line in lines if "type" in json.loads(line)]


@pytest.mark.parametrize("line", documented_examples(), ids=lambda line: line[:40].decode())
def test_every_documented_record_is_known(line: bytes) -> None:
    """The format page shows records that this code reads whole."""
    assert not isinstance(decode_record(line), Unknown | None)
    assert find_misfits(line) == ()
