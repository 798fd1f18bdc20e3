"""Regular expressions that are compiled when they are first used.

For rules and repairs that few texts need: compiling them all would take a tenth of the time of a
warm list.
"""

import re
from typing import AnyStr, Generic, cast


class _LazyPattern(Generic[AnyStr]):
    """A proxy for a compiled pattern, compiled when a method is first used."""

    def __init__(self, pattern: AnyStr, flags: int) -> None:
        self._pattern: AnyStr = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        method: object = getattr(re.compile(self._pattern, self._flags), name)
        setattr(self, name, method)
        return method


def compile_lazily(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern that is used like a compiled one; an invalid one raises on first use."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))
