"""Tests of recollect.records.stream.conversion."""

import pytest
from msgspec import Raw

from recollect.records.blocks import Text, ToolResult
from recollect.records.conversation_records import (
    COMPACTION_MARK,
    ApiMessage,
    Assistant,
    McpMeta,
    Origin,
    PermissionDecision,
    User,
)
from recollect.records.conversation_records import UserMessage as Prompt
from recollect.records.decoding import decode_record
from recollect.records.envelope import Record, Span
from recollect.records.state import Mode
from recollect.records.stream.conversion import join, merge, to_record
from recollect.records.stream.message_decoding import MESSAGE_SUBTYPES, STREAM_TYPES, decode_message
from recollect.records.stream.stream_messages import (
    AssistantMessage,
    KeepAlive,
    TranscriptMirror,
    UserMessage,
)
from recollect.records.system_records import (
    CommandRun,
    CompactBoundary,
    CompactMetadata,
    Informational,
    LocalCommand,
    ModelFallback,
    ModelRefusal,
    PreservedMessages,
    PreservedSegment,
)
from recollect.records.token_usage import Usage

SPAN = Span("out.jsonl", 0, 9)
IN_FILES = {
    "compact_boundary",
    "informational",
    "local_command_output",
    "model_fallback",
    "model_refusal_fallback",
    "model_refusal_no_fallback",
}


def _convert(line: bytes) -> Record | None:
    message = decode_message(line, SPAN)
    assert message is not None
    return to_record(message)


def test_an_assistant_message_is_an_assistant_record() -> None:
    """All fields that a transcript has of a reply are converted."""
    line = (
        b'{"type":"assistant","uuid":"u1","session_id":"s1","timestamp":"2026-01-01T00:00:00.000Z",'
        b'"message":{"id":"m1","model":"claude-x","content":[{"type":"text","text":"hi"}]},'
        b'"parent_tool_use_id":null,"request_id":"r1","aborted":true,"thinking_duration_ms":5,'
        b'"thinking_display":"omitted"}'
    )
    assert _convert(line) == Assistant(
        span=SPAN,
        uuid="u1",
        session_id="s1",
        timestamp="2026-01-01T00:00:00.000Z",
        message=ApiMessage(id="m1", model="claude-x", content=(Text(text="hi"),)),
        request_id="r1",
        is_aborted_mid_stream=True,
        thinking_duration_ms=5,
        thinking_display="omitted",
    )


def test_a_subagents_message_is_a_sidechain_record() -> None:
    """A parent call makes a sidechain, and its agent is named as in the transcript."""
    line = (
        b'{"type":"assistant","message":{"model":"claude-x"},"parent_tool_use_id":"t0",'
        b'"agent_id":"a1","subagent_type":"Explore"}'
    )
    assert _convert(line) == Assistant(
        span=SPAN,
        message=ApiMessage(model="claude-x"),
        is_sidechain=True,
        agent_id="a1",
        attribution_agent="Explore",
    )


@pytest.mark.parametrize("field", [b'"parent_tool_use_id":"t0"', b'"agent_id":"a1"'])
def test_either_sign_makes_a_sidechain(field: bytes) -> None:
    """Old clients name only the call; a background agent may only have its id."""
    record = _convert(b'{"type":"user",%b}' % field)
    assert isinstance(record, User)
    assert record.is_sidechain is True


def test_an_error_of_the_api_is_marked_as_one() -> None:
    """Old clients have only the error, newer ones its details too."""
    error = Raw(b'"rate_limit"')
    assert _convert(b'{"type":"assistant","error":"rate_limit"}') == Assistant(
        span=SPAN, error=error, is_api_error_message=True
    )
    line = (
        b'{"type":"assistant","message":{"model":"<synthetic>"},"error":"rate_limit",'
        b'"is_api_error_message":true,"api_error_status":429,"api_error_type":"rate_limit_error",'
        b'"subagent_type":"Explore"}'
    )
    assert _convert(line) == Assistant(
        span=SPAN,
        message=ApiMessage(model="<synthetic>"),
        error=error,
        is_api_error_message=True,
        api_error_status=429,
        api_error_type="rate_limit_error",
    )


def test_the_answer_of_a_local_command_is_a_system_record() -> None:
    """A message that the stream presents as a reply is a notice in the transcript."""
    line = (
        b'{"type":"assistant","uuid":"u1","session_id":"s1","timestamp":"2026-01-01T00:00:00.000Z",'
        b'"message":{"model":"<synthetic>","content":[{"type":"text","text":"1"}]},'
        b'"local_command_source":"<local-command-stdout>1</local-command-stdout>",'
        b'"local_command_run":{"command":"context","args":""},"context_usage":{"percentage":1},'
        b'"usage_report":{}}'
    )
    assert _convert(line) == LocalCommand(
        span=SPAN,
        uuid="u1",
        session_id="s1",
        timestamp="2026-01-01T00:00:00.000Z",
        subtype="local_command",
        content="<local-command-stdout>1</local-command-stdout>",
        command_run=CommandRun(command="context", args=""),
        context_usage=Raw(b'{"percentage":1}'),
        usage_report=Raw(b"{}"),
    )


@pytest.mark.parametrize("content", ["1", "<local-command-stdout>1</local-command-stdout>"])
def test_the_output_of_a_local_command_has_the_transcripts_tags(content: str) -> None:
    """The output has the tags that the transcript writes, once."""
    line = b'{"type":"system","subtype":"local_command_output","content":"%b","uuid":"u1"}'
    assert _convert(line % content.encode()) == LocalCommand(
        span=SPAN,
        uuid="u1",
        subtype="local_command",
        content="<local-command-stdout>1</local-command-stdout>",
    )


def test_a_tool_result_is_a_user_record() -> None:
    """The structured result, and why the tool ran or did not, are taken over."""
    line = (
        b'{"type":"user","uuid":"u2","session_id":"s1","message":{"role":"user","content":'
        b'[{"type":"tool_result","tool_use_id":"t1","content":"no"}]},"parent_tool_use_id":null,'
        b'"tool_use_result":{"stdout":"no"},"tool_result_meta":[{"id":"t1","permission_decision":'
        b'{"decision":"reject","source":"config","reason_type":"rule"},'
        b'"non_execution_kind":"permission-rule"}],"refused_message_id":"m0"}'
    )
    assert _convert(line) == User(
        span=SPAN,
        uuid="u2",
        session_id="s1",
        message=Prompt(role="user", content=(ToolResult(tool_use_id="t1", content="no"),)),
        tool_use_result=Raw(b'{"stdout":"no"}'),
        tool_denial_kind="permission-rule",
        permission_decision=PermissionDecision(
            decision="reject", source="config", reason_type="rule"
        ),
        refused_message_id="m0",
    )


def test_the_result_of_an_mcp_tool_is_unwrapped() -> None:
    """The transcript keeps structured content apart from the result."""
    line = (
        b'{"type":"user","tool_use_result":{"content":"{}","structuredContent":{"a":1},'
        b'"_meta":{"b":2}}}'
    )
    assert _convert(line) == User(
        span=SPAN,
        tool_use_result=Raw(b'"{}"'),
        mcp_meta=McpMeta(structured_content=Raw(b'{"a":1}'), meta=Raw(b'{"b":2}')),
    )


@pytest.mark.parametrize(
    "result", [b'{"content":"a"}', b'{"content":"a","_meta":{},"path":"/p"}', b'["content"]']
)
def test_other_results_stay_as_they_are(result: bytes) -> None:
    """The result of another tool is kept unchanged, even if it has a `content`."""
    record = _convert(b'{"type":"user","tool_use_result":%b}' % result)
    assert record == User(span=SPAN, tool_use_result=Raw(result))


def test_a_prompt_keeps_its_origin() -> None:
    """The origin of a prompt has the transcript's values."""
    line = (
        b'{"type":"user","message":{"content":"hi"},"isReplay":true,'
        b'"origin":{"kind":"channel","server":"chat","runId":"r"}}'
    )
    assert _convert(line) == User(
        span=SPAN,
        message=Prompt(content="hi"),
        origin=Origin(kind="channel", server="chat", run_id="r"),
    )


@pytest.mark.parametrize("mark", [b"isSynthetic", b"is_meta"])
def test_a_text_of_the_client_is_meta(mark: bytes) -> None:
    """Text that was not typed is hidden, as in the transcript; 2.1.260 has another field for it."""
    line = b'{"type":"user","message":{"content":"Go on."},"%b":true}' % mark
    assert _convert(line) == User(span=SPAN, message=Prompt(content="Go on."), is_meta=True)


def test_a_reply_that_the_client_made_is_meta() -> None:
    """Text of a hook arrives as an assistant message, although no model wrote it."""
    line = b'{"type":"assistant","message":{"content":"Hook says hi."},"is_meta":true}'
    assert _convert(line) == Assistant(
        span=SPAN, message=ApiMessage(content="Hook says hi."), is_meta=True
    )


@pytest.mark.parametrize("synthetic", [b"true", b"false"])
@pytest.mark.parametrize("content", [b'"%b"', b'["%b"]', b'[{"type":"text","text":"%b"}]'])
def test_a_summary_is_known_by_its_opening(content: bytes, synthetic: bytes) -> None:
    """A compaction summary is recognised by its first words; the stream hardly marks it."""
    text = COMPACTION_MARK.encode() + b" that ran out."
    line = b'{"type":"user","message":{"content":%b},"isSynthetic":%b}'
    record = _convert(line % (content % text, synthetic))
    assert isinstance(record, User)
    marks = (record.is_compact_summary, record.is_visible_in_transcript_only, record.is_meta)
    assert marks == (True, True, False)


def test_a_prompt_that_quotes_a_summary_is_a_prompt() -> None:
    """Text sent by the user is never a summary, whatever it contains."""
    line = b'{"type":"user","message":{"content":"%b"},"isReplay":true}'
    assert _convert(line % COMPACTION_MARK.encode()) == User(
        span=SPAN, message=Prompt(content=COMPACTION_MARK)
    )


def test_a_compaction_is_a_boundary_record() -> None:
    """All compaction data of the stream is converted to the transcript's fields."""
    line = (
        b'{"type":"system","subtype":"compact_boundary","uuid":"u1","session_id":"s1",'
        b'"compact_metadata":{"trigger":"auto","pre_tokens":9,"post_tokens":2,"duration_ms":3,'
        b'"cumulative_dropped_tokens":7,"preserved_segment":{"head_uuid":"h","anchor_uuid":"a",'
        b'"tail_uuid":"t"},"preserved_messages":{"anchor_uuid":"a","uuids":["h"],'
        b'"all_uuids":["h","t"]}},"logical_parent_uuid":"l"}'
    )
    assert _convert(line) == CompactBoundary(
        span=SPAN,
        uuid="u1",
        session_id="s1",
        subtype="compact_boundary",
        logical_parent_uuid="l",
        compact_metadata=CompactMetadata(
            trigger="auto",
            pre_tokens=9,
            post_tokens=2,
            duration_ms=3,
            cumulative_dropped_tokens=7,
            preserved_segment=PreservedSegment(head_uuid="h", anchor_uuid="a", tail_uuid="t"),
            preserved_messages=PreservedMessages(
                anchor_uuid="a", uuids=("h",), all_uuids=("h", "t")
            ),
        ),
    )


def test_a_compaction_without_details_is_a_boundary_still() -> None:
    """Metadata is optional."""
    line = b'{"type":"system","subtype":"compact_boundary"}'
    assert _convert(line) == CompactBoundary(span=SPAN, subtype="compact_boundary")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            b'"informational","content":"c","level":"notice","tool_use_id":"t1"',
            Informational(
                span=SPAN, subtype="informational", content="c", level="notice", tool_use_id="t1"
            ),
        ),
        (
            b'"model_fallback","trigger":"overloaded","original_model":"a","fallback_model":"b"',
            ModelFallback(
                span=SPAN,
                subtype="model_fallback",
                trigger="overloaded",
                original_model="a",
                fallback_model="b",
            ),
        ),
        (
            (
                b'"model_refusal_fallback","original_model":"a","fallback_model":"b","content":"c",'
                b'"request_id":"r1","api_refusal_category":"k","retracted_message_uuids":["u0"]'
            ),
            ModelRefusal(
                span=SPAN,
                subtype="model_refusal_fallback",
                original_model="a",
                fallback_model="b",
                request_id="r1",
                category="k",
                retracted_message_uuids=("u0",),
                content="c",
            ),
        ),
        (
            b'"model_refusal_no_fallback","original_model":"a","content":"c"',
            ModelRefusal(
                span=SPAN, subtype="model_refusal_no_fallback", original_model="a", content="c"
            ),
        ),
    ],
)
def test_notices_of_the_transcript_are_system_records(fields: bytes, expected: Record) -> None:
    """A notice that transcripts keep converts to the class of its subtype."""
    assert _convert(b'{"type":"system","subtype":%b}' % fields) == expected


def test_all_else_is_in_no_file() -> None:
    """Signals, control messages, results and unknown messages have no record."""
    types = {*STREAM_TYPES, "result", "telepathy"}
    lines = [b'{"type":"%b"}' % kind.encode() for kind in types]
    subtypes = {*MESSAGE_SUBTYPES, "weather"} - IN_FILES
    lines += [b'{"type":"system","subtype":"%b"}' % name.encode() for name in subtypes]
    assert {_convert(line) for line in lines} == {None}


def test_mirrored_lines_are_the_records_themselves() -> None:
    """A mirror carries lines of the transcript, which decode as such."""
    entry = b'{"type":"mode","mode":"normal","sessionId":"s1"}'
    message = decode_message(b'{"type":"transcript_mirror","entries":[%b]}' % entry)
    assert isinstance(message, TranscriptMirror)
    records = [decode_record(bytes(each)) for each in message.entries]
    assert records == [decode_record(entry)] == [Mode(mode="normal", session_id="s1")]


PLACEHOLDER = Usage(input_tokens=4, output_tokens=1, cache_read_input_tokens=9)
FINAL = Usage(output_tokens=81)
WRITTEN = Assistant(
    span=Span("s1.jsonl", 0, 9),
    uuid="u1",
    parent_uuid="u0",
    session_id="s1",
    cwd="/srv/p",
    message=ApiMessage(id="m1", content=(Text(text="hi"),), stop_reason="end_turn", usage=FINAL),
)
SAID = AssistantMessage(
    uuid="u1",
    session_id="s9",
    timestamp="2026-01-01T00:00:00.000Z",
    request_id="r1",
    error=Raw(b'"overloaded"'),
    message=ApiMessage(id="m1", model="claude-x", content=(Text(text="other"),), usage=PLACEHOLDER),
)
JOINED = Assistant(
    span=Span("s1.jsonl", 0, 9),
    uuid="u1",
    parent_uuid="u0",
    session_id="s1",
    cwd="/srv/p",
    timestamp="2026-01-01T00:00:00.000Z",
    request_id="r1",
    error=Raw(b'"overloaded"'),
    message=ApiMessage(
        id="m1",
        model="claude-x",
        content=(Text(text="hi"),),
        stop_reason="end_turn",
        usage=FINAL,
    ),
)


def test_the_transcript_has_the_last_word() -> None:
    """Its envelope, content, stop reason and usage are kept; only gaps are filled."""
    assert join([WRITTEN], [SAID]) == (JOINED,)


def test_a_flag_that_the_transcript_does_not_raise_stays_down() -> None:
    """A flag missing in the transcript counts as false."""
    written = User(uuid="u1", message=Prompt(content="hi"))
    streamed = User(uuid="u1", is_meta=True, is_sidechain=True, origin=None)
    assert merge(written, streamed) == written


def test_a_missing_message_is_filled_whole() -> None:
    """A record without a message gets the one from the stream."""
    message = Prompt(content="hi")
    assert merge(User(uuid="u1"), User(uuid="u1", message=message)) == User(
        uuid="u1", message=message
    )


def test_null_in_the_transcript_is_a_gap() -> None:
    """An opaque field that is null counts as missing."""
    streamed = Assistant(error=Raw(b'"unknown"'))
    assert merge(Assistant(error=Raw(b"null")), streamed) == streamed


def test_records_of_two_types_are_not_mixed() -> None:
    """A local command that the stream presents as a reply keeps the type from the transcript."""
    written = LocalCommand(uuid="u1", content="out")
    assert merge(written, Assistant(uuid="u1", request_id="r1")) is written


def test_what_is_only_in_one_place_is_kept() -> None:
    """Records keep their order, followed by those that are not written yet."""
    mode = Mode(mode="normal")
    alone = User(uuid="u0")
    ahead = UserMessage(uuid="u2", message=Prompt(content="next"))
    assert join([mode, alone, WRITTEN], [KeepAlive(), ahead, SAID]) == (
        mode,
        alone,
        JOINED,
        User(uuid="u2", message=Prompt(content="next")),
    )


def test_a_record_that_is_written_twice_is_merged_twice() -> None:
    """Copies in other files have the same uuid and are completed alike."""
    assert join([WRITTEN, WRITTEN], [SAID]) == (JOINED, JOINED)


def test_messages_without_uuid_cannot_be_joined() -> None:
    """The oldest streams have no ids: their messages may be in the records, so none is added."""
    nameless = UserMessage(message=Prompt(content="hi"))
    assert join([WRITTEN], [nameless]) == (WRITTEN,)
