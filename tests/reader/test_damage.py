"""The records and bytes that are read for each kind of damage."""

import pytest

from recollect.reader.transcript_reader import read_transcript
from recollect.records.conversation_records import Assistant, User
from recollect.records.envelope import Blank, Damaged, Record, Torn, Unknown
from recollect.records.state import Mode
from recollect.records.system_records import ApiError, Progress
from tests.samples import transcript

CUT, SHARES = "cut short", "shares its line"

Seen = tuple[type[Record], str, str]
"""Class, words or reason, and damage of a record."""

EXPECTED: dict[str, list[Seen]] = {
    "two_records_on_one_line": [
        (User, "first", SHARES),
        (Assistant, "second", SHARES),
        (Mode, "normal", ""),
    ],
    "three_records_with_spaces_between": [
        (User, "first", SHARES),
        (Assistant, "second", SHARES),
        (Mode, "normal", SHARES),
    ],
    "nul_run_before_record": [
        (Damaged, "NUL bytes", "NUL bytes"),
        (User, "first", SHARES),
        (Assistant, "second", ""),
    ],
    "nul_block_line": [(Damaged, "NUL bytes", "NUL bytes"), (User, "first", "")],
    "byte_order_mark": [(User, "first", "")],
    "carriage_returns_and_blank_lines": [
        (User, "first", ""),
        (Blank, "", ""),
        (Blank, "", ""),
        (Assistant, "second", ""),
    ],
    "raw_line_separators": [(User, "fi\u2028r\u2029s\u0085t", "")],
    "invalid_utf8": [(User, "fi\ufffd\ufffdst", "")],
    "lone_surrogate": [(User, "fi\ufffdrst", "")],
    "paired_surrogates": [(User, "\U0001f600", "")],
    "raw_control_characters": [(User, "fi\x01r\tst", "")],
    "nan_and_infinity": [(Mode, "normal", "")],
    "huge_integer": [(Mode, "normal", "")],
    "deep_nesting": [(Mode, "normal", "")],
    "torn_last_line": [(User, "first", ""), (Torn, "", "")],
    "last_line_without_newline": [(User, "first", ""), (Assistant, "second", "")],
    "empty": [],
    "cut_line_glued_to_next_record": [
        (User, "", CUT),
        (Assistant, "second", SHARES),
        (Mode, "normal", ""),
    ],
    "cut_line": [(User, "fi", CUT), (Assistant, "second", "")],
    "cut_line_type_behind_message": [(Assistant, "to be con", CUT)],
    "value_overwritten_by_redactor": [
        (ApiError, "", CUT),
        (Damaged, "no record", "no record"),
        (User, "first", ""),
    ],
    "text_cut_by_redactor": [(User, "Subject: [REMOVED]", CUT), (Assistant, "second", "")],
    "nested_message_in_broken_line": [
        (Progress, "", CUT),
        (Damaged, "no record", "no record"),
        (User, "first", ""),
    ],
    "cut_within_type": [(Assistant, "whole", CUT), (User, "first", "")],
    "head_missing": [(Damaged, "no record", "no record"), (User, "first", "")],
    "no_json_at_all": [(Damaged, "no record", "no record"), (User, "first", "")],
    "json_but_no_object": [(Unknown, text, "") for text in ("42", "[1]", '"text"', "null")],
    "unknown_record_type": [
        (
            Unknown,
            '{"type":"brand-new","uuid":"n","parentUuid":"a","sessionId":"s","payload":{"x":1}}',
            "",
        )
    ],
    "unknown_block_and_fields": [(Assistant, '{"type":"hologram","beam":7} x bare', "")],
    "field_of_unexpected_type": [(User, "kept", "")],
    "message_of_unexpected_type": [(User, "", "")],
    "forged_span": [(Mode, "normal", "")],
}


def words(record: Record) -> str:
    """The text that identifies a record here."""
    match record:
        case User() | Assistant():
            return content_words(record)
        case Mode():
            return record.mode or ""
        case Damaged():
            return record.reason
        case Unknown():
            return bytes(record.raw).decode()
    return ""


def content_words(record: User | Assistant) -> str:
    """The words of all blocks, with the raw text of those that are not known."""
    content = record.message.content if record.message else None
    if not isinstance(content, tuple):
        return content or ""
    return " ".join(block if isinstance(block, str) else block_words(block) for block in content)


def block_words(block: object) -> str:
    """The words of one block, whatever they are called in it."""
    raw = getattr(block, "raw", None)
    if raw is not None:
        return bytes(raw).decode()
    return str(getattr(block, "text", None) or getattr(block, "content", None) or "")


@pytest.mark.parametrize("name", EXPECTED)
def test_each_phenomenon_is_read_as_expected(name: str) -> None:
    """Each transcript gives its records, in order, with what was wrong about their lines."""
    path = transcript(name)
    records = list(read_transcript(path))
    assert [(type(r), words(r), r.span.damage if r.span else None) for r in records] == EXPECTED[
        name
    ]


@pytest.mark.parametrize("name", EXPECTED)
def test_spans_give_the_file_back(name: str) -> None:
    """The bytes of all spans, one after the other, are the bytes of the file."""
    path = transcript(name)
    data = path.read_bytes()
    spans = [record.span for record in read_transcript(path)]
    assert b"".join(data[span.offset : span.end] for span in spans if span) == data
    assert all(span and span.file == str(path) for span in spans)
