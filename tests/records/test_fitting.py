"""Values of an unexpected shape are filled part by part."""

from __future__ import annotations

import pytest
from msgspec import Raw, Struct

from recollect.records.fitting import Misfit, fit


class Inner(Struct, frozen=True, tag="inner"):
    """A known member of the union below."""

    size: int = 0


class Other(Struct, frozen=True, tag="<other>"):
    """The member for what is not known."""

    kind: str | None = None
    raw: Raw = Raw()


class Outer(Struct, frozen=True):
    """One field of each shape that the record types use."""

    name: str | None = None
    one: Inner | Other | None = None
    many: tuple[Inner | Other | str, ...] = ()
    named: dict[str, int] = {}
    text_or_many: str | tuple[int, ...] | None = None


CASES: list[tuple[bytes, Outer, list[str]]] = [
    (b'{"name":5}', Outer(), ["name"]),
    (b'{"name":"n","one":{"type":"inner","size":"x"}}', Outer(name="n", one=Inner()), ["one.size"]),
    (
        b'{"one":{"type":"new","size":1}}',
        Outer(one=Other(kind="new", raw=Raw(b'{"type":"new","size":1}'))),
        [],
    ),
    (
        b'{"one":{"size":1}}',
        Outer(one=Other(raw=Raw(b'{"size":1}'))),
        [],
    ),
    (
        b'{"many":["a",3,{"type":"inner","size":2},{"type":9}]}',
        Outer(many=("a", Other(raw=Raw(b"3")), Inner(size=2), Other(raw=Raw(b'{"type":9}')))),
        [],
    ),
    (b'{"named":{"a":1,"b":"x"}}', Outer(named={"a": 1}), ["named.*"]),
    (b'{"text_or_many":[1,"x",2]}', Outer(text_or_many=(1, 2)), ["text_or_many[1]"]),
    (b'{"text_or_many":{"a":1},"name":"n"}', Outer(name="n"), ["text_or_many"]),
]


@pytest.mark.parametrize(("text", "value", "misfits"), CASES)
def test_what_fits_is_kept_and_the_rest_is_named(
    text: bytes, value: Outer, misfits: list[str]
) -> None:
    """Each part that fits is there, and each that does not is named by its path."""
    named: list[str] = []
    assert fit(text, Outer, "", named) == value
    assert named == misfits


@pytest.mark.parametrize("text", [b"[]", b'"text"', b"7", b"null"])
def test_a_value_of_another_kind_does_not_fit_at_all(text: bytes) -> None:
    """Not even the outermost shape is right: that is for the caller to deal with."""
    with pytest.raises(Misfit):
        fit(text, Outer, "", [])
