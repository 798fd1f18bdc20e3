"""The output of a client is read line by line, in any chunks."""

import itertools
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from recollect.reader.stream_reader import StreamDecoder, StreamItem, read_stream
from recollect.records.envelope import Blank, Damaged, Oversized, Span, Torn
from recollect.records.stream.stream_messages import KeepAlive, UnknownMessage

LINES = st.sampled_from(
    [
        b'{"type":"keep_alive"}\n',
        b'{"type":"system","subtype":"init","session_id":"s"}\n',
        b"\n",
        b"warning: not a message\n",
        b'\x1b[0m{"type":"keep_alive"}\n',
        b'{"type":"keep_al',
    ]
)


def read_all(data: bytes, max_line: int = 1 << 20) -> list[StreamItem]:
    """The items of `data`, given in one piece."""
    decoder = StreamDecoder("f", max_line=max_line)
    return [*decoder.feed(data), *decoder.finish()]


def test_each_line_becomes_an_item() -> None:
    """Messages, blank lines, foreign text and the torn end become items with their positions."""
    data = b'{"type":"keep_alive"}\n\nwarning\n{"type":"keep_alive"}\n{"ty'
    assert read_all(data) == [
        KeepAlive(span=Span("f", 0, 22)),
        Blank(span=Span("f", 22, 1)),
        Damaged(reason="no record", span=Span("f", 23, 8)),
        KeepAlive(span=Span("f", 31, 22)),
        Torn(span=Span("f", 53, 4)),
    ]


def test_a_whole_last_line_needs_no_line_end() -> None:
    """A process that was killed may have printed its last message whole."""
    assert read_all(b'{"type":"keep_alive"}') == [KeepAlive(span=Span("f", 0, 21))]


def test_a_line_over_the_limit_becomes_a_stub() -> None:
    """Memory does not depend on what a client prints."""
    assert read_all(b'{"type":"keep_alive"}\n\n', max_line=5) == [
        Oversized(span=Span("f", 0, 22)),
        Blank(span=Span("f", 22, 1)),
    ]


@given(st.lists(LINES, max_size=8).map(b"".join), st.lists(st.integers(0, 400)))
def test_any_chunking_gives_the_same_items(data: bytes, cuts: list[int]) -> None:
    """Chunk boundaries make no difference."""
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    decoder = StreamDecoder("f")
    items = [
        item for start, end in itertools.pairwise(edges) for item in decoder.feed(data[start:end])
    ]
    assert [*items, *decoder.finish()] == read_all(data)


def test_every_real_stream_is_known(shared: Path) -> None:
    """The stream-json output of real clients has no unknown messages and no other text."""
    paths = [*shared.glob("real_cli/*/stream/*.jsonl"), *shared.glob("corpus/_stream/**/*.jsonl")]
    text_output = {"hello_text.jsonl"}
    paths = [path for path in paths if path.name not in text_output]
    assert len(paths) > 400
    odd = [
        (path.name, item)
        for path in paths
        for item in read_stream(path)
        if isinstance(item, UnknownMessage | Damaged | Torn | Oversized)
    ]
    assert [name for name, _ in odd if not name.startswith("hello_json")] == []
