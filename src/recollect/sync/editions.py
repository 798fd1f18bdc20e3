"""Which prices a cost in the index was made with, told without loading any.

Light enough for every answer: it reads a few small files and imports nothing of what they hold.
"""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

from recollect.errors import UsageError

_SUFFIXES = (".json", ".toml", ".py")
"""The tables, and the code that applies them."""


def find_edition(user_file: Path | None = None) -> str:
    """A short text that is another one as soon as a price, or what is made of it, changes."""
    own = "" if user_file is None else f"-{_sum_user_file(user_file):08x}"
    return f"{_sum_bundled():08x}{own}"


@cache
def _sum_bundled() -> int:
    spec = find_spec("recollect.pricing")
    places = spec.submodule_search_locations if spec else None
    files = sorted(
        path for place in places or () for path in Path(place).iterdir() if path.suffix in _SUFFIXES
    )
    total = 0
    for path in files:
        total = crc32(path.name.encode() + path.read_bytes(), total)
    return total


def _sum_user_file(path: Path) -> int:
    try:
        return crc32(path.read_bytes())
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"Cannot read the price file {path}: {reason}.") from error
