"""Tests of recollect.store.catalog."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.store.catalog import decode_path, encode_path
from recollect.store.schema import DamagedIndex


@given(st.binary().filter(lambda data: b"\0" not in data).map(os.fsdecode))
def test_every_path_can_be_stored_and_comes_back(path: str) -> None:
    """Any path is stored as valid text, from which it can be restored."""
    stored = encode_path(path)
    assert stored.encode().decode() == stored
    assert decode_path(stored) == path


def test_ordinary_paths_are_stored_as_they_are() -> None:
    """Text is kept readable."""
    assert [encode_path(each) for each in ("/home/a", "/家/é")] == ["/home/a", "/家/é"]


def test_damage_is_reported() -> None:
    """Numbers without a path are damage."""
    with pytest.raises(DamagedIndex):
        decode_path("\0zz")
