"""Tests of recollect.redact.record_lines."""

import json

from hypothesis import given
from hypothesis import strategies as st

from recollect.redact.findings import RedactionPolicy
from recollect.redact.record_lines import find_in_record, mask_record
from recollect.redact.redactor import Redactor

KEY = "AKIAIOSFODNN7RTGHJKL"
PASSWORD = "Tr0ub4dor&3xy"

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def mask(value: object) -> object:
    """A value without its definite secrets."""
    redactor = Redactor(RedactionPolicy(likely=False))
    return json.loads(mask_record(json.dumps(value).encode(), redactor))


def test_every_string_is_masked() -> None:
    """Values and names, at any depth; numbers and structure stay."""
    value = {"a": [1, {"b": f"see {KEY}"}], KEY: None, "c": 2.5}
    assert mask(value) == {
        "a": [1, {"b": "see [redacted:aws-key#1]"}],
        "[redacted:aws-key#1]": None,
        "c": 2.5,
    }


def test_the_name_of_a_field_gives_a_secret_away() -> None:
    """The name of its own field, or that in the field before it."""
    value = [{"password": PASSWORD}, {"name": "DB_PASSWORD", "value": PASSWORD}]
    tag = "[redacted:password#1]"
    assert mask(value) == [{"password": tag}, {"name": "DB_PASSWORD", "value": tag}]


def test_an_id_is_left_out_only_if_it_is_one() -> None:
    """Ids of records are not scanned, but any other text in their place is."""
    uuid = "0f8fad5b-d9cb-469f-a165-70867728950e"
    assert find_in_record(json.dumps({"uuid": uuid, "parentUuid": uuid}).encode()) == []
    found = find_in_record(json.dumps({"uuid": f"{uuid} {KEY}", "parentUuid": None}).encode())
    assert [match.value for match in found] == [KEY.encode()]


def test_a_line_that_is_not_json_keeps_its_length() -> None:
    """The positions of what follows in the line stay right."""
    line = f'{{"a": "{KEY}{KEY[4:]}" … '.encode() + f"{KEY} end".encode()
    masked = mask_record(line, Redactor(RedactionPolicy(likely=False)))
    assert (len(masked), KEY.encode() in masked) == (len(line), False)
    assert masked.endswith(b" end")


def test_secrets_come_with_their_values() -> None:
    """Decoded, not as they are written."""
    line = json.dumps({"text": f"export TOKEN_URL=https%3A%2F%2Fx\nkey {KEY}"}).encode()
    assert [(each.kind, each.value) for each in find_in_record(line)] == [("aws-key", KEY.encode())]


@given(values)
def test_what_holds_no_secret_is_left_alone(value: object) -> None:
    """Byte for byte."""
    line = json.dumps(value).encode()
    redactor = Redactor(RedactionPolicy(likely=False))
    assert mask_record(line, redactor) == line or redactor.counts
