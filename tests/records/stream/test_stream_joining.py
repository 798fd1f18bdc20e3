"""What the transcript and the stream say of the same thing, as one record."""

from msgspec import Raw

from recollect.records.blocks import Text
from recollect.records.conversation import ApiMessage, Assistant, User
from recollect.records.conversation import UserMessage as Prompt
from recollect.records.span import Span
from recollect.records.state import Mode
from recollect.records.stream.conversation import AssistantMessage, UserMessage
from recollect.records.stream.joining import join, merge
from recollect.records.stream.signals import KeepAlive
from recollect.records.system import LocalCommand
from recollect.records.usage import Usage

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
    """Its envelope, content, stop reason and whole usage stay; only gaps are filled."""
    assert join([WRITTEN], [SAID]) == (JOINED,)


def test_a_flag_that_the_transcript_does_not_raise_stays_down() -> None:
    """A transcript leaves out what is not so, and that is its word too."""
    written = User(uuid="u1", message=Prompt(content="hi"))
    streamed = User(uuid="u1", is_meta=True, is_sidechain=True, origin=None)
    assert merge(written, streamed) == written


def test_a_missing_message_is_filled_whole() -> None:
    """A record without its message gets the stream's."""
    message = Prompt(content="hi")
    assert merge(User(uuid="u1"), User(uuid="u1", message=message)) == User(
        uuid="u1", message=message
    )


def test_null_in_the_transcript_is_a_gap() -> None:
    """An opaque field that is written as null says nothing."""
    streamed = Assistant(error=Raw(b'"unknown"'))
    assert merge(Assistant(error=Raw(b"null")), streamed) == streamed


def test_records_of_two_types_are_not_mixed() -> None:
    """A local command that the stream gave as an answer stays what the transcript says."""
    written = LocalCommand(uuid="u1", content="out")
    assert merge(written, Assistant(uuid="u1", request_id="r1")) is written


def test_what_is_only_in_one_place_is_kept() -> None:
    """Records keep their order, and behind them comes what is not written yet."""
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
    """Copies in other files have the same uuid and get the same filling."""
    assert join([WRITTEN, WRITTEN], [SAID]) == (JOINED, JOINED)


def test_messages_without_uuid_cannot_be_joined() -> None:
    """The oldest streams have no ids: their messages may be in the records, so none is added."""
    nameless = UserMessage(message=Prompt(content="hi"))
    assert join([WRITTEN], [nameless]) == (WRITTEN,)
