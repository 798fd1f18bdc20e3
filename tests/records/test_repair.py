"""Text that strict decoders refuse becomes text that they accept, and nothing else changes."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.records.repair import MAX_DEPTH, repair

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
def test_each_fault_is_mended(broken: bytes, mended: bytes) -> None:
    """One fault at a time becomes the nearest strict text."""
    assert repair(broken) == mended


@given(JSON, st.booleans())
def test_sound_text_keeps_its_meaning(value: object, ascii_only: bool) -> None:
    """JSON that is sound stays what it says."""
    text = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "replace")
    assert json.loads(repair(text)) == json.loads(repair(repair(text)))
    if b"\\ud" not in text:
        assert json.loads(repair(text)) == json.loads(text)


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1, 100_000])
def test_what_lies_too_deep_becomes_null(depth: int) -> None:
    """The text can be decoded whatever its depth, and all that is shallower stays."""
    text = b'{"a":' + b"[" * depth + b"]" * depth + b',"b":1}'
    decoded = msgspec.json.decode(repair(text))
    assert decoded["b"] == 1
    assert json.dumps(decoded["a"]).count("[") == min(depth, MAX_DEPTH - 1)


def test_text_that_never_closes_is_left_for_others_to_judge() -> None:
    """A hundred thousand open brackets are no reason to recurse or to invent closing ones."""
    text = b"[" * 100_000
    assert repair(text) == text


@given(st.binary())
def test_any_bytes_can_be_repaired(data: bytes) -> None:
    """The result is always UTF-8."""
    repair(data).decode()
