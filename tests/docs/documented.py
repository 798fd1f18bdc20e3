"""Read the names in documentation pages and structs, for tests that compare them."""

import re

from msgspec import Struct
from msgspec.structs import fields


def names(text: str) -> list[str]:
    """Return the names in code font."""
    return re.findall(r"`([^`]+)`", text)


def fields_of(struct: type[Struct]) -> list[str]:
    """Return the JSON names of a struct's fields."""
    return [info.encode_name for info in fields(struct)]
