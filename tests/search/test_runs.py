"""Tests of recollect.search.runs."""

import base64
import hashlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.search import iter_terms, query_terms
from recollect.search.runs import TERM_LIMIT, cut_long_runs
from tests.search.texts import is_found, texts


def _make_data(size: int) -> bytes:
    """Bytes without a pattern, the same every time."""
    return b"".join(hashlib.sha256(bytes([i % 256, i // 256])).digest() for i in range(size // 32))


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_encoded_data_keeps_its_head(encode: Callable[[bytes], bytes]) -> None:
    """A long run of base64 keeps its first 64 characters, and the text around it stays."""
    run = encode(_make_data(9600)).decode()
    assert cut_long_runs(f"image: {run}, done") == f"image: {run[:64]}, done"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a" * 64,
        hashlib.sha256(b"").hexdigest(),
        "/usr/share" * 30,
        "some-long-kebab-case-name-" * 10,
        "=" * 1000,
        "│" * 1000,
        base64.b64encode(_make_data(128)).decode()[:60],
    ],
)
def test_ordinary_text_is_not_cut(text: str) -> None:
    """Words up to the limit, paths, names and rulers of any length stay whole."""
    assert cut_long_runs(text) == text


@pytest.mark.parametrize("letter", ["a", "é", "ж", "7"])
def test_an_endless_word_keeps_its_head(letter: str) -> None:
    """A word beyond the limit keeps its first 64 characters, in every alphabet."""
    assert cut_long_runs(f"({letter * 1000}) end") == f"({letter * 64}) end"


@given(texts, st.integers(65, 400), st.sampled_from("aéжक"), texts)
def test_no_term_is_longer_than_the_limit(before: str, count: int, letter: str, after: str) -> None:
    """No term exceeds 64 characters, whatever the text."""
    terms = iter_terms(before + letter * count + after)
    assert max(map(len, terms), default=0) <= TERM_LIMIT


@pytest.mark.parametrize(
    "run", ["a" * 1000, "й" * 100, base64.b64encode(_make_data(960)).decode(), "中" * 300]
)
def test_a_cut_run_is_found_when_asked_for_whole(run: str) -> None:
    """Text and query are cut in the same way."""
    assert is_found(f"see {run} there", query_terms(run)[:1]) == [True]
