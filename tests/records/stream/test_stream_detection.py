"""Telling a stream from a transcript by one line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.records.stream.detection import STREAM_TYPES, looks_like_stream

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
    """Spelling and types that only the stream has are recognised, amid noise too."""
    assert looks_like_stream(line) is True


@pytest.mark.parametrize("kind", sorted(STREAM_TYPES))
def test_some_types_are_of_the_stream_alone(kind: str) -> None:
    """A type that no transcript has needs no further sign."""
    assert looks_like_stream(b'{"type":"%b"}' % kind.encode()) is True


@pytest.mark.parametrize("line", TRANSCRIPT)
def test_a_record_does_not_look_like_a_stream_message(line: bytes) -> None:
    """The transcript's spelling decides, and what lies inside a message does not count."""
    assert looks_like_stream(line) is False


@pytest.mark.parametrize("line", NEITHER)
def test_other_lines_are_no_stream(line: bytes) -> None:
    """What is neither is not taken for a stream."""
    assert looks_like_stream(line) is False


@given(st.binary())
def test_any_bytes_have_an_answer(line: bytes) -> None:
    """No bytes raise."""
    assert looks_like_stream(line) in (True, False)
