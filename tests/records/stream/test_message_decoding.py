"""Tests of recollect.records.stream.message_decoding."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from recollect.records.blocks import Text, UnknownBlock
from recollect.records.conversation_records import ApiMessage
from recollect.records.conversation_records import UserMessage as Prompt
from recollect.records.envelope import Span
from recollect.records.stream.message_decoding import (
    STREAM_TYPES,
    StreamMessage,
    decode_message,
    decode_output,
    looks_like_stream,
)
from recollect.records.stream.stream_messages import (
    AssistantMessage,
    KeepAlive,
    Message,
    Result,
    UnknownMessage,
    UserMessage,
)
from recollect.records.stream.system_messages import Init

LINES: dict[bytes, StreamMessage] = {
    b'{"type":"system","subtype":"init","cwd":"/srv/p"}': Init(subtype="init", cwd="/srv/p"),
    b'{"type":"user","message":{"role":"user","content":"hi"}}': UserMessage(
        message=Prompt(role="user", content="hi")
    ),
    b'{"type":"result","subtype":"success","result":"bye"}': Result(
        subtype="success", result="bye"
    ),
}


def _damage(line: bytes) -> st.SearchStrategy[bytes]:
    return st.builds(
        lambda start, end, filler: line[:start] + filler + line[end:],
        st.integers(0, len(line)),
        st.integers(0, len(line)),
        st.binary(max_size=4),
    )


def test_an_unknown_type_keeps_its_text() -> None:
    """An unknown type keeps its name and all of its data."""
    line = b'{"type":"telepathy","strength":3,"uuid":"u1","session_id":"s1"}'
    assert decode_message(line) == UnknownMessage(
        kind="telepathy", raw=Raw(line), uuid="u1", session_id="s1"
    )


def test_an_unknown_subtype_keeps_its_text() -> None:
    """An unknown subtype of a `system` message keeps its name and all of its data."""
    line = b'{"type":"system","subtype":"weather","sun":true,"uuid":"u1","session_id":"s1"}'
    assert decode_message(line) == UnknownMessage(
        kind="system/weather", raw=Raw(line), uuid="u1", session_id="s1"
    )


def test_a_repaired_unknown_subtype_keeps_text_that_can_be_read() -> None:
    """The kept text is valid JSON even if the line was not."""
    line = b'{"type":"system","subtype":"weather","sun":NaN}'
    assert decode_message(line) == UnknownMessage(
        kind="system/weather", raw=Raw(b'{"type":"system","subtype":"weather","sun":null}')
    )


@pytest.mark.parametrize("line", [b"3", b"null", b'"text"', b"[1]", b'{"a":1}', b'{"type":4}'])
def test_json_that_is_no_message_keeps_its_text(line: bytes) -> None:
    """JSON without a type is not damaged, only unknown."""
    assert decode_message(line) == UnknownMessage(raw=Raw(line))


@pytest.mark.parametrize(
    "line", [b"", b"  ", b"Hello there.", b'{"type":"user"', b"\xff\xfe", b"} {", b"a {b} c"]
)
def test_bytes_that_are_no_json_are_no_message(line: bytes) -> None:
    """Bytes that are not JSON give no message, so that the reader can report them."""
    assert decode_message(line) is None


def test_a_field_of_a_new_shape_costs_only_itself() -> None:
    """A field with an unexpected value does not affect the others."""
    line = b'{"type":"result","subtype":"success","num_turns":"many","result":"ok"}'
    assert decode_message(line) == Result(subtype="success", result="ok")


def test_a_block_of_a_new_type_costs_only_itself() -> None:
    """An unknown block keeps its position in the content."""
    line = b'{"type":"user","message":{"content":[{"type":"text","text":"a"},{"type":"holo"}]}}'
    unknown = UnknownBlock(block_type="holo", raw=Raw(b'{"type":"holo"}'))
    assert decode_message(line) == UserMessage(message=Prompt(content=(Text(text="a"), unknown)))


def test_a_lone_surrogate_is_repaired() -> None:
    """Half a character, as JavaScript writes it, does not fail the line."""
    line = b'{"type":"assistant","message":{"content":"a\\ud83d"}}'
    assert decode_message(line) == AssistantMessage(message=ApiMessage(content="a\ufffd"))


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        (b"\x1b[?25h\x1b[2K", b""),
        (b"", b"\x1b[0m"),
        (b"[2026-01-01T00:00:00Z] [INFO] ", b"\r"),
        (b"\xef\xbb\xbf", b""),
        (b"\x00\x00", b"\x00"),
    ],
)
def test_noise_around_a_message_is_skipped(before: bytes, behind: bytes) -> None:
    """Escape sequences, a log prefix or a byte order mark do not hide a message."""
    for line, message in LINES.items():
        assert decode_message(before + line + behind) == message


@pytest.mark.parametrize(
    "line",
    [
        b'ent":[{"type":"text","text":"the end of a torn line"}',
        b'[INFO] {"type":"weather"}',
        b'config: {"a":1}',
    ],
)
def test_noise_around_something_else_stays_noise(line: bytes) -> None:
    """An object within other text is a message only if its type is known."""
    assert decode_message(line) is None


def test_a_message_carries_its_span() -> None:
    """A message has the span given by the reader, even after repairs."""
    span = Span("out.jsonl", 10, 20)
    expected = KeepAlive(span=span)
    assert decode_message(b'{"type":"keep_alive"}', span) == expected
    assert decode_message(b'> {"type":"keep_alive"}', span) == expected
    assert decode_message(b'{"type":"keep_alive","<span>":1}', span) == expected


def test_stream_json_output_has_a_message_a_line() -> None:
    """Lines become messages with their positions; blank and foreign lines are skipped."""
    data = b'starting \xe2\x80\xa6\n{"type":"keep_alive"}\r\n\n{"type":"keep_alive"}'
    assert decode_output(data) == (
        KeepAlive(span=Span("", 13, 23)),
        KeepAlive(span=Span("", 37, 21)),
    )


def test_json_output_is_one_result() -> None:
    """`--output-format json` prints a single object."""
    data = b'{"type":"result","subtype":"success"}\n'
    assert decode_output(data) == (Result(subtype="success", span=Span("", 0, len(data))),)


def test_verbose_json_output_is_an_array() -> None:
    """`--output-format json --verbose` prints all messages as one array."""
    assert decode_output(b"[" + b",".join(LINES) + b"]\n") == tuple(LINES.values())


def test_a_repaired_array_is_still_an_array() -> None:
    """One bad character does not cost the messages around it."""
    data = b'[{"type":"keep_alive"},{"type":"result","result":"a\\ud83d"}]'
    assert decode_output(data) == (KeepAlive(), Result(result="a\ufffd"))


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_indented_output_is_one_value(newline: str) -> None:
    """Reformatted output gives the same messages."""
    result = {"type": "result", "subtype": "success", "errors": ["a", "b"]}
    expected = Result(subtype="success", errors=("a", "b"))
    data = json.dumps(result, indent=2).replace("\n", newline).encode()
    assert decode_output(data) == (
        Result(subtype="success", errors=("a", "b"), span=Span("", 0, len(data))),
    )
    assert decode_output(json.dumps([result], indent=2).encode()) == (expected,)


def test_output_is_split_at_line_feeds_only() -> None:
    """A raw line separator (U+2028) inside a text, as old clients print it, splits nothing."""
    data = '{"type":"result","result":"a\u2028b"}\n'.encode()
    assert decode_output(data) == (Result(result="a\u2028b", span=Span("", 0, len(data))),)


@given(st.lists(st.sampled_from(list(LINES))))
def test_output_is_the_messages_of_its_lines(lines: list[bytes]) -> None:
    """Lines together give the same messages as one by one, and their spans tile the output."""
    data = b"".join(line + b"\n" for line in lines)
    messages = decode_output(data)
    spans = [message.span for message in messages if message.span is not None]
    assert [data[span.offset : span.end] for span in spans] == [line + b"\n" for line in lines]
    assert messages == tuple(
        decode_message(line, span) for line, span in zip(lines, spans, strict=True)
    )


@given(st.binary() | st.sampled_from(list(LINES)).flatmap(_damage))
def test_no_bytes_raise(line: bytes) -> None:
    """Any bytes give a message or None, never an exception."""
    message = decode_message(line)
    assert message is None or message.span is None
    assert all(isinstance(found, Message) for found in decode_output(line))


STREAM = [
    b'{"type":"system","subtype":"init","cwd":"/srv/p","session_id":"s1"}',
    b'{"type":"system","subtype":"init","cwd":"/srv/p"}',
    b'{"type":"system","subtype":"status","session_id":"s1"}',
    b'{"type":"assistant","message":{},"parent_tool_use_id":null,"session_id":"s1","uuid":"u1"}',
    b'{"type":"user","message":{},"parent_tool_use_id":null}',
    b'{"type":"user","message":{"content":[{"text":"\\"sessionId\\":1"}]},"session_id":""}',
    b'{"type":"user","message":{"content":{"sessionId":"s0"}},"session_id":"s1"}',
    b'{"type":"result","subtype":"success","session_id":"s1"}',
    b'{"type":"result","subtype":"success","duration_ms":5}',
    b'{"type":"telepathy","session_id":"s1"}',
    b'[{"type":"system","subtype":"init","session_id":"s1"},{"type":"result"}]',
    b'\x1b[2K{"type":"assistant","session_id":"s1"}\x1b[0m',
    b'[INFO] {"type":"assistant","session_id":"s1"}',
    b'{"type":"user","message":{"content":"\\ud83d"},"session_id":"s1"}',
]
TRANSCRIPT = [
    b'{"type":"user","message":{},"sessionId":"s1","uuid":"u1","parentUuid":null}',
    b'{"type":"user","message":{},"sessionId":"s1","session_id":"s1"}',
    b'{"type":"user","message":{},"parentUuid":null,"uuid":"u1"}',
    b'{"type":"system","subtype":"compact_boundary","sessionId":"s1"}',
    b'{"type":"user","message":{"content":[{"session_id":"s1","parent_tool_use_id":"t"}]}}',
    b'{"type":"summary","summary":"s","leafUuid":"u1"}',
    b'{"type":"result","key":"k","agentId":"a1","result":{"duration_ms":5}}',
    b'{"type":"user","message":{"content":"\\ud83d"},"sessionId":"s1"}',
]
NEITHER = [
    b"",
    b"Hello there.",
    b"[]",
    b"[1]",
    b"null",
    b'{"a":1}',
    b'{"type":5,"session_id":"s1"}',
    b'{"hook_event_name":"Stop","session_id":"s1","transcript_path":"/t"}',
    b'{"type":"assistant","session_id":"s1"',
]


@pytest.mark.parametrize("line", STREAM)
def test_a_stream_message_looks_like_one(line: bytes) -> None:
    """Spelling and types that only the stream has are recognised, even within other text."""
    assert looks_like_stream(line) is True


@pytest.mark.parametrize("kind", sorted(STREAM_TYPES))
def test_some_types_are_of_the_stream_alone(kind: str) -> None:
    """A type that transcripts never have is enough."""
    assert looks_like_stream(b'{"type":"%b"}' % kind.encode()) is True


@pytest.mark.parametrize("line", TRANSCRIPT)
def test_a_record_does_not_look_like_a_stream_message(line: bytes) -> None:
    """The transcript's spelling decides; fields inside the message do not count."""
    assert looks_like_stream(line) is False


@pytest.mark.parametrize("line", NEITHER)
def test_other_lines_are_no_stream(line: bytes) -> None:
    """Other lines are not mistaken for a stream."""
    assert looks_like_stream(line) is False


@given(st.binary())
def test_any_bytes_have_an_answer(line: bytes) -> None:
    """Any bytes give a result, never an exception."""
    assert looks_like_stream(line) in (True, False)
