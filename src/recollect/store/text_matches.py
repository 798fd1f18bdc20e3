"""What a query of the full-text index finds: matches by the column, counts, and texts with all that
is known of them.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from msgspec import Struct

from recollect.store.text_rows import SLOTS


class TextPlace(NamedTuple):
    """What ranking needs to know of every match."""

    file_id: int
    part: int
    magnitude: int
    """The logarithm of the length of its record in bytes, to the base 4."""
    is_copy: bool
    is_subagent: bool


def unpack_place(place: int) -> TextPlace:
    """The place that a number stands for."""
    magnitude, is_copy, is_subagent = (place >> 2) & 63, bool(place & 2), bool(place & 1)
    return TextPlace(place >> 12, (place >> 8) & 15, magnitude, is_copy, is_subagent)


class Matches(Struct, frozen=True, dict=True):
    """All texts that fulfil a condition, one list a column, the oldest first.

    A handle names a text, and a place is a number to be unpacked.
    """

    handles: list[int]
    places: list[int]
    traits: list[int] | None = None
    """The numbers of what facets count; None unless asked for."""
    is_cut: bool = False
    """Whether time ran out before all were found."""

    @cached_property
    def sizes(self) -> Counter[int]:
        """How many texts have each place."""
        return Counter(self.places)

    @cached_property
    def files(self) -> set[int]:
        """The numbers of the files that they are in."""
        # Distinct places are found in half the time that counting them takes.
        distinct = self.sizes if "sizes" in self.__dict__ else set(self.places)
        return {place >> 12 for place in distinct}


def concatenate(found: Sequence[Matches]) -> Matches:
    """The texts of several tables, one table after the other."""
    traits = [each.traits for each in found if each.traits is not None]
    return Matches(
        handles=list(chain.from_iterable(each.handles for each in found)),
        places=list(chain.from_iterable(each.places for each in found)),
        traits=list(chain.from_iterable(traits)) if len(traits) == len(found) else None,
        is_cut=any(each.is_cut for each in found),
    )


class TextCounts(Struct, frozen=True):
    """How many texts have each value, if any; by the number of a name, or 0."""

    projects: Counter[tuple[int, str]]
    """By work directory, or 0, and the directory of the file: either tells the project."""
    tool: Counter[int]
    model: Counter[int]
    errors: int


class FoundText(Struct, frozen=True, gc=False):
    """A text that fulfils a condition: where it is and what it is; `cwd` and `tool` are numbers."""

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
    """From 0 to 1: how much of the text is what was sought; None if that was not counted."""

    @property
    def second(self) -> int:
        """When it was written, in seconds since 1970."""
        return self.id // SLOTS
