"""The lines that fuzzing starts from are whole and cover every type."""

from typing import get_args

import pytest

from fuzz.mutations import SEEDS
from fuzz.seeds import Json, encode, make_seeds
from recollect.records.blocks import ContentBlock
from recollect.records.decoding import AnyRecord, decode_record, find_misfits
from recollect.records.system_records import SYSTEM_SUBTYPES

TOMORROW = {"record-of-tomorrow", "block_of_tomorrow"}


def _tags(union: object) -> set[str]:
    return {member.__struct_config__.tag for member in get_args(union)} - {"<unknown>"}


def _blocks(seed: Json) -> list[Json]:
    content = seed["message"]["content"] if seed["type"] in {"assistant", "user"} else []
    return content if isinstance(content, list) else []


def test_there_is_a_seed_for_every_record_type() -> None:
    """A record type without a seed would never be broken."""
    assert {seed["type"] for seed in make_seeds()} - TOMORROW == _tags(AnyRecord)


def test_there_is_a_seed_for_every_block_type() -> None:
    """A block type without a seed would never be broken."""
    found = {block["type"] for seed in make_seeds() for block in _blocks(seed)}
    assert found - TOMORROW == _tags(ContentBlock)


def test_there_is_a_seed_for_every_system_subtype() -> None:
    """A subtype without a seed would never be broken."""
    found = {seed["subtype"] for seed in make_seeds() if seed["type"] == "system"}
    assert found == set(SYSTEM_SUBTYPES)


@pytest.mark.parametrize("seed", SEEDS, ids=range(len(SEEDS)))
def test_seeds_fit_their_types(seed: bytes) -> None:
    """A seed is whole: each of its fields has the type that its record knows."""
    assert decode_record(seed) is not None
    assert find_misfits(seed) == ()


def test_lone_surrogates_are_escaped() -> None:
    """A seed is written as JavaScript writes it."""
    assert encode({"a": "\ud83d二"}) == b'{"a":"\\ud83d\xe4\xba\x8c"}'
