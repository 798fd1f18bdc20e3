"""The laws of reading: any chunking, any starting point, any bytes."""

import itertools
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import UnreadableInput
from recollect.reader.transcript_reader import TranscriptDecoder, read_span, read_transcript
from recollect.records.envelope import Oversized, Record, Span, Torn
from recollect.records.state import Mode
from tests.samples import every_transcript, transcript

LINES = [line for path in every_transcript() for line in path.read_bytes().split(b"\n")]
PIECES = st.one_of(
    st.sampled_from([line[:2000] for line in LINES]),
    st.sampled_from([b"\n", b"\r\n", b"\0\0", b"\xef\xbb\xbf", b"{", b"}", b'"', b"\\", b" "]),
    st.binary(max_size=12),
)
FILES = st.lists(PIECES, max_size=12).map(b"".join)


def read_all(data: bytes, *, max_line: int = 1 << 20) -> list[Record]:
    """The records of `data`, given in one piece."""
    decoder = TranscriptDecoder("f", max_line=max_line)
    return [*decoder.feed(data), *decoder.finish()]


@given(FILES, st.lists(st.integers(0, 4000)), st.sampled_from([30, 200, 1 << 20]))
def test_any_chunking_gives_the_same_records(data: bytes, cuts: list[int], max_line: int) -> None:
    """Chunk boundaries make no difference, not even in oversized lines."""
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    decoder = TranscriptDecoder("f", max_line=max_line)
    records = [
        record
        for start, end in itertools.pairwise(edges)
        for record in decoder.feed(data[start:end])
    ]
    assert [*records, *decoder.finish()] == read_all(data, max_line=max_line)


@given(FILES)
def test_spans_tile_any_bytes(data: bytes) -> None:
    """Each byte belongs to exactly one record, whatever the bytes are."""
    position = 0
    for record in read_all(data):
        assert record.span
        assert (record.span.offset, record.span.length > 0) == (position, True)
        position = record.span.end
    assert position == len(data)


@given(FILES, st.data())
def test_reading_from_any_record_continues_identically(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, choice: st.DataObject
) -> None:
    """A read that starts at a record's offset gives that record and all that follow."""
    path = tmp_path_factory.mktemp("transcripts") / "t.jsonl"
    path.write_bytes(data)
    records = list(read_transcript(path))
    if records:
        number = choice.draw(st.integers(0, len(records) - 1))
        span = records[number].span
        assert span
        assert list(read_transcript(path, span.offset)) == records[number:]


@given(FILES)
def test_every_text_can_be_encoded(data: bytes) -> None:
    """No record has a lone surrogate, so that every record can be encoded."""
    for record in read_all(data):
        repr(record).encode()


def test_a_held_back_line_is_read_once_it_is_whole() -> None:
    """A follower gets a torn line when it is complete, with the right offset."""
    decoder = TranscriptDecoder("f")
    assert list(decoder.feed(b'{"type":"mode","mo')) == []
    assert decoder.offset == 0
    assert list(decoder.feed(b'de":"normal"}\n{"ty')) == [
        Mode(mode="normal", span=Span("f", 0, 32))
    ]
    assert decoder.offset == 32
    assert list(decoder.finish()) == [Torn(span=Span("f", 32, 4))]


def test_a_line_over_the_limit_becomes_a_stub() -> None:
    """A line that must not fill memory is a record with its span, and the next line is read."""
    data = b'{"x":"' + b"a" * 100 + b'"}\n{"type":"mode"}\n'
    assert read_all(data, max_line=50) == [
        Oversized(span=Span("f", 0, 109)),
        Mode(span=Span("f", 109, 16)),
    ]


def test_a_line_at_the_limit_is_read() -> None:
    """The limit is the longest line that is still read; its line end does not count."""
    assert read_all(b'{"type":"mode"}\n', max_line=15) == [Mode(span=Span("f", 0, 16))]
    assert read_all(b'{"type":"mode"}\n', max_line=14) == [Oversized(span=Span("f", 0, 16))]


def test_a_span_can_be_read_again() -> None:
    """The raw bytes of a record are one positioned read away."""
    path = transcript("two_records_on_one_line")
    assert b"".join(read_span(r.span) for r in read_transcript(path) if r.span) == path.read_bytes()


def test_a_line_completed_after_it_was_read_is_not_read_twice(tmp_path: Path) -> None:
    """A whole last line without its end is taken; the end that comes later adds nothing."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"type":"mode"}')
    (first,) = read_transcript(path)
    assert first == Mode(span=Span(str(path), 0, 15))
    path.write_bytes(b'{"type":"mode"}\n{"type":"mode","mode":"b"}\n')
    assert list(read_transcript(path, 15)) == [Mode(mode="b", span=Span(str(path), 16, 27))]


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    """Pipes, which would block, and missing files are errors that name the path."""
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path / "missing.jsonl", tmp_path):
        with pytest.raises(UnreadableInput, match=path.name):
            list(read_transcript(path))


def test_real_transcripts_are_accounted_for(shared: Path) -> None:
    """In every sample file the spans give the bytes back."""
    paths = [*shared.glob("corpus/**/*.jsonl"), *shared.glob("real_cli/**/*.jsonl")]
    assert len(paths) > 500
    for path in paths:
        data = path.read_bytes()
        spans = [record.span for record in read_transcript(path)]
        assert b"".join(data[span.offset : span.end] for span in spans if span) == data, path


@given(FILES, st.integers(0, 3000))
def test_reading_up_to_a_byte_is_reading_a_shorter_file(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, stop: int
) -> None:
    """Bytes after `stop` make no difference."""
    folder = tmp_path_factory.mktemp("transcripts")
    path = folder / "t.jsonl"
    path.write_bytes(data)
    whole = list(read_transcript(path, stop=stop))
    path.write_bytes(data[:stop])
    assert whole == list(read_transcript(path))
