"""The user's own rules, for this process: patterns for kinds of secrets, and values that are none.

They apply wherever sessions are shown, and to what is stored of them, so a front end sets them once
for the whole process, as a function that is called when a rule is first needed. An index is made
for one set of rules, which its `key` identifies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from recollect.errors import UsageError

if TYPE_CHECKING:
    from recollect.redact.findings import RedactionPolicy

_KEY_BYTES: Final = 4
"""Too few to find out a pattern by trying."""

LoadPolicy = Callable[[], "RedactionPolicy | None"]
"""Returns None if there are no rules."""


class OwnRules(NamedTuple):
    """The rules of a user."""

    stated: RedactionPolicy | None = None
    key: str = ""
    """Empty if there are none."""

    @property
    def policy(self) -> RedactionPolicy:
        """The policy for display that these rules are part of."""
        from recollect.redact.findings import DEFAULT_POLICY  # a status line needs no policy

        return (self.stated or DEFAULT_POLICY).for_display


class _Process:
    """The policy loader of this process, and the loaded rules."""

    load: LoadPolicy | None = None
    rules: OwnRules | None = None


def use_own_rules(load: LoadPolicy | None) -> None:
    """Set where the rules of this process come from, for all threads."""
    _Process.load, _Process.rules = load, None


def find_own_rules() -> OwnRules:
    """Return the rules of this process."""
    if _Process.rules is None:
        _Process.rules = _read()
    return _Process.rules


def refresh_own_rules() -> bool:
    """Load the rules again; return whether they have changed. Invalid ones change nothing."""
    before = find_own_rules()
    try:
        found = _read()
    except UsageError:
        return False
    if found == before:
        return False
    _Process.rules = found
    return True


def _read() -> OwnRules:
    policy = _Process.load() if _Process.load is not None else None
    if policy is None or not (policy.patterns or policy.allow):
        return OwnRules()
    return OwnRules(policy.for_display, _name(policy.for_display))


def _name(policy: RedactionPolicy) -> str:
    from hashlib import blake2b  # most users have no rules

    import msgspec

    return blake2b(msgspec.json.encode(policy), digest_size=_KEY_BYTES).hexdigest()


def matches_own_pattern(data: bytes) -> bool:
    """Return whether a pattern of the user matches anywhere in UTF-8, however it is written."""
    return next(find_own_places(data), None) is not None


def find_own_places(data: bytes) -> Iterator[int]:
    """Yield where a pattern of the user matches in UTF-8, however it is written there."""
    rules = find_own_rules()
    if rules.stated is None:
        return
    from recollect.redact.plain_view import read_text  # rarely needed
    from recollect.redact.policy import find_own

    for match in find_own(read_text(data), rules.policy):
        yield match.start
