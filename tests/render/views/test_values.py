"""Views of arbitrary JSON."""

from recollect.documents.turn_documents import Fields, Json
from recollect.render.views.part_builders import show_fields, show_json, show_value


def test_flat_objects_are_named_values() -> None:
    """Strings are shown unquoted, other values as JSON."""
    raw = b'{"a":"x\\ny","b":1.50,"c":null,"d":true}'
    assert show_value(raw) == (
        Fields((("a", "x\ny"), ("b", "1.50"), ("c", "null"), ("d", "true"))),
    )


def test_other_values_are_json() -> None:
    """Lists and nested objects are indented."""
    assert show_value(b'{"a":[]}') == (Json('{\n  "a": []\n}'),)
    assert show_value(b"[1]") == (Json("[\n  1\n]"),)


def test_nothing_is_shown_as_nothing() -> None:
    """Missing and empty values give no part."""
    assert [show_value(b""), show_value(b"null"), show_value(b"{}")] == [(), (), ()]
    assert show_fields(("a", None), ("b", ()), ("c", "")) == ()


def test_text_that_is_no_json() -> None:
    """Text that is not JSON is shown unchanged."""
    assert show_json(b"{nope") == Json("{nope")


def test_lists_and_truths_in_fields() -> None:
    """Lists and booleans are shown as words."""
    assert show_fields(("a", ("x", "y")), ("b", False), ("c", 2.5), ("d", 0)) == (
        Fields((("a", "x, y"), ("b", "no"), ("c", "2.5"), ("d", "0"))),
    )
