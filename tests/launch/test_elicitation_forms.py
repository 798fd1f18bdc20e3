"""Tests of recollect.launch.request_details: the fields of a schema, and the values of a form."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from recollect.errors import UsageError
from recollect.launch.request_details import FormField, FormOption, fill_form, read_form

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "description": "Of the harbour"},
        "depth": {"type": "number", "default": 2.5},
        "berths": {"type": "integer"},
        "is_open": {"type": "boolean", "default": True},
        "side": {"type": "string", "enum": ["p", "s"], "enumNames": ["Port", "Starboard"]},
        "colour": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}], "default": "r"},
        "lights": {"type": "array", "items": {"type": "string", "enum": ["red", "green"]}},
        "more": {"type": "object"},
    },
    "required": ["name"],
}
FORM = read_form(Raw(json.dumps(SCHEMA).encode()))


def test_a_schema_becomes_fields() -> None:
    """Every property is a field of its kind, in order, with its default as text."""
    assert read_form(Raw(json.dumps(SCHEMA).encode())) == (
        FormField(
            name="name", kind="text", title="Name", description="Of the harbour", is_required=True
        ),
        FormField(name="depth", kind="number", title="depth", default="2.5"),
        FormField(name="berths", kind="integer", title="berths"),
        FormField(name="is_open", kind="boolean", title="is_open", default="true"),
        FormField(
            name="side",
            kind="choice",
            title="side",
            options=(FormOption("p", "Port"), FormOption("s", "Starboard")),
        ),
        FormField(
            name="colour",
            kind="choice",
            title="colour",
            options=(FormOption("r", "Red"),),
            default="r",
        ),
        FormField(
            name="lights",
            kind="choices",
            title="lights",
            options=(FormOption("red", "red"), FormOption("green", "green")),
        ),
        FormField(name="more", kind="json", title="more"),
    )


def test_texts_become_values() -> None:
    """Values have the types of the schema, and empty ones are left out."""
    texts = {0: "Kiel", 1: "3.5", 2: "12", 3: "true", 7: '{"a": [1]}'}
    assert fill_form(FORM, texts, {4: [1], 6: [0, 1]}) == {
        "name": "Kiel",
        "depth": 3.5,
        "berths": 12,
        "is_open": True,
        "side": "s",
        "lights": ["red", "green"],
        "more": {"a": [1]},
    }
    assert fill_form(FORM, {0: "Kiel"}, {}) == {"name": "Kiel", "is_open": False}


@pytest.mark.parametrize(
    ("texts", "chosen", "words"),
    [
        ({}, {}, "Name is required"),
        ({0: "x", 1: "deep"}, {}, "depth must be a number"),
        ({0: "x", 1: "inf"}, {}, "depth must be a number"),
        ({0: "x", 2: "1.5"}, {}, "berths must be a whole number"),
        ({0: "x", 7: "{"}, {}, "more is not JSON"),
        ({0: "x"}, {4: [2]}, "Not a valid choice for side"),
        ({0: "x"}, {6: [-1]}, "Not a valid choice for lights"),
    ],
)
def test_what_is_not_a_value_is_refused(
    texts: dict[int, str], chosen: dict[int, list[int]], words: str
) -> None:
    """The message names the field."""
    with pytest.raises(UsageError, match=words):
        fill_form(FORM, texts, chosen)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists) | st.binary())
def test_no_schema_raises(value: object) -> None:
    """A server may send any schema, or any property in one."""
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    read_form(Raw(raw))
    for field in read_form(Raw(b'{"properties": {"a": %s, "b": {"enum": %s}}}' % (raw, raw))):
        assert field.name in ("a", "b")
