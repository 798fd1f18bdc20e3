"""Conditions on texts of the full-text index.

Conditions are only composed from the functions here. Each has its parameters, so that no word of a
query becomes SQL.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal

import msgspec

from recollect.documents.kinds import TextKind
from recollect.store.text_rows import SLOTS

NamedColumn = Literal["tool", "model", "branch", "cwd"]
Check = Callable[[int, int, int, int], bool]
"""Checks the text itself, given its file, position, length and number."""


class Condition(msgspec.Struct, frozen=True):
    """A part of a WHERE clause, with the values of its parameters in order.

    `{id}` is replaced by the column with the number of the text. A query by words has two such
    columns, and SQLite can skip rows out of range only by that of the full-text index.
    """

    sql: str
    values: tuple[str | int, ...] = ()


ANY_OF: Final = "\ue001"
"""Joins alternative terms at one position in a phrase; no term contains it."""

ALWAYS: Final = Condition("1")
NEVER: Final = Condition("0")


def matches_words(match: str) -> Condition:
    """The text matches an FTS5 expression."""
    # The plus makes SQLite look up all of them at once, not once per text.
    return Condition("+{id} IN (SELECT rowid FROM words WHERE words MATCH ?)", (match,))


def has_part(parts: Iterable[TextKind]) -> Condition:
    """The text is of one of these kinds."""
    numbers = ", ".join(str(int(part)) for part in parts)
    return Condition(f"texts.part IN ({numbers})")


def has_name(column: NamedColumn, numbers: Iterable[int]) -> Condition:
    """The text has one of these names."""
    return _is_among(column, numbers)


def in_files(numbers: Iterable[int]) -> Condition:
    """The text is in one of these files."""
    return _is_among("file_id", numbers)


def has_secret_hash(digest: bytes) -> Condition:
    """The text is in a record that contains the secret with this keyed hash."""
    return Condition(
        "(texts.file_id, texts.position) IN "
        "(SELECT file_id, position FROM secrets WHERE hash = unhex(?))",
        (digest.hex(),),
    )


def is_error() -> Condition:
    """The text reports a failure."""
    return Condition("texts.is_error")


def is_of_subagent() -> Condition:
    """The text is from a subagent."""
    return Condition("texts.is_subagent")


def is_since(second: int) -> Condition:
    """The text was written then or later."""
    return Condition("{id} >= ?", (second * SLOTS,))


def is_until(second: int) -> Condition:
    """The text was written before then."""
    return Condition("{id} < ?", (second * SLOTS,))


def passes(check: int) -> Condition:
    """The text passes the check of this number."""
    columns = "texts.file_id, texts.position, texts.length, texts.number"
    return Condition(f"passes(?, {columns})", (check,))


def all_of(conditions: Sequence[Condition]) -> Condition:
    """Every condition holds."""
    parts = [condition for condition in conditions if condition != ALWAYS]
    return _join(" AND ", parts) if parts else ALWAYS


def any_of(conditions: Sequence[Condition]) -> Condition:
    """At least one condition holds."""
    return _join(" OR ", conditions)


def none_of(condition: Condition) -> Condition:
    """The condition does not hold."""
    return Condition(f"NOT ({condition.sql})", condition.values)


def _is_among(column: str, numbers: Iterable[int]) -> Condition:
    values = msgspec.json.encode(list(numbers)).decode()
    # A text without a name is not among them; SQL would return NULL.
    sql = f"ifnull(texts.{column} IN (SELECT value FROM json_each(?)), 0)"
    return Condition(sql, (values,))


def _join(operator: str, conditions: Sequence[Condition]) -> Condition:
    sql = operator.join(f"({condition.sql})" for condition in conditions)
    return Condition(sql, tuple(value for part in conditions for value in part.values))
