"""Results of queries on the full-text index: matches by column, counts, and texts with their
properties.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from msgspec import Struct

from recollect.store.text_rows import SLOTS


class TextPlace(NamedTuple):
    """The properties of a match that ranking needs."""

    file_id: int
    part: int
    magnitude: int
    """The base-4 logarithm of the length of its record in bytes."""
    is_copy: bool
    is_subagent: bool


def unpack_place(place: int) -> TextPlace:
    """Decode a place from its number."""
    magnitude, is_copy, is_subagent = (place >> 2) & 63, bool(place & 2), bool(place & 1)
    return TextPlace(place >> 12, (place >> 8) & 15, magnitude, is_copy, is_subagent)


class Matches(Struct, frozen=True, dict=True):
    """All texts that match a condition, with a list per column, oldest first.

    A handle identifies a text; a place is a number for `unpack_place`.
    """

    handles: list[int]
    places: list[int]
    traits: list[int] | None = None
    """The numbers of the facet values; None unless requested."""
    is_cut: bool = False
    """Whether time ran out before all matches were found."""

    @cached_property
    def sizes(self) -> Counter[int]:
        """Return the number of texts by place."""
        return Counter(self.places)

    @cached_property
    def files(self) -> set[int]:
        """Return the numbers of their files."""
        # Finding distinct places takes half as long as counting them.
        distinct = self.sizes if "sizes" in self.__dict__ else set(self.places)
        return {place >> 12 for place in distinct}


def concatenate(found: Sequence[Matches]) -> Matches:
    """Concatenate the matches of several tables."""
    traits = [each.traits for each in found if each.traits is not None]
    return Matches(
        handles=list(chain.from_iterable(each.handles for each in found)),
        places=list(chain.from_iterable(each.places for each in found)),
        traits=list(chain.from_iterable(traits)) if len(traits) == len(found) else None,
        is_cut=any(each.is_cut for each in found),
    )


class TextCounts(Struct, frozen=True):
    """The number of texts by value: the number of a name, or 0."""

    projects: Counter[tuple[int, str]]
    """By working directory, or 0, and the directory of the file: either tells the project."""
    tool: Counter[int]
    model: Counter[int]
    errors: int


class FoundText(Struct, frozen=True, gc=False):
    """A matching text, with its position and properties; `cwd` and `tool` are numbers."""

    id: int
    file_id: int
    position: int
    length: int
    number: int
    part: int
    tool: int | None
    is_error: bool
    is_subagent: bool
    is_copy: bool
    cwd: int | None
    key: int
    density: float | None
    """The share of the text that matches, from 0 to 1; None if not computed."""

    @property
    def second(self) -> int:
        """When it was written, in seconds since 1970."""
        return self.id // SLOTS
