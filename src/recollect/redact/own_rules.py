"""The user's own rules of this process: patterns for more kinds of secrets, and values to allow.

They apply to everything that is shown or stored, so a front end sets once how to load them, for the
whole process; they are loaded when first needed. An index records the `key` of the rules that its
texts were masked by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from recollect.errors import UsageError

if TYPE_CHECKING:
    from recollect.redact.findings import RedactionPolicy

_KEY_BYTES: Final = 4
"""Few, so that many patterns have the same key and it does not reveal one."""

LoadPolicy = Callable[[], "RedactionPolicy | None"]
"""Returns None if there are no rules."""


class OwnRules(NamedTuple):
    """The rules of a user."""

    stated: RedactionPolicy | None = None
    key: str = ""
    """Identifies the rules; empty if there are none."""

    @property
    def policy(self) -> RedactionPolicy:
        """The policy for display, including these rules."""
        from recollect.redact.findings import DEFAULT_POLICY  # a status line needs no policy

        return (self.stated or DEFAULT_POLICY).for_display


class _Process:
    """The policy loader of this process, and the loaded rules."""

    load: LoadPolicy | None = None
    rules: OwnRules | None = None


def use_own_rules(load: LoadPolicy | None) -> None:
    """Set how to load the rules of this process, for all threads."""
    _Process.load, _Process.rules = load, None


def find_own_rules() -> OwnRules:
    """Return the rules of this process."""
    rules = _Process.rules
    if rules is None:
        rules = _Process.rules = _load()
    return rules


def refresh_own_rules() -> bool:
    """Load the rules again; return whether they have changed. Invalid ones change nothing."""
    before = find_own_rules()
    try:
        found = _load()
    except UsageError:
        return False
    if found == before:
        return False
    _Process.rules = found
    return True


def _load() -> OwnRules:
    policy = _Process.load() if _Process.load is not None else None
    if policy is None or not (policy.patterns or policy.allow):
        return OwnRules()
    return OwnRules(policy.for_display, _make_key(policy.for_display))


def _make_key(policy: RedactionPolicy) -> str:
    import msgspec  # most users have no rules

    from recollect.digests import blake2b

    return blake2b(msgspec.json.encode(policy), digest_size=_KEY_BYTES).hexdigest()


def matches_own_pattern(data: bytes) -> bool:
    """Return whether a pattern of the user matches anywhere in UTF-8 bytes."""
    return next(find_own_places(data), None) is not None


def find_own_places(data: bytes) -> Iterator[int]:
    """Yield the positions in UTF-8 bytes at which a pattern of the user matches.

    Also in escaped, coloured and wrapped text.
    """
    rules = find_own_rules()
    if rules.stated is None or not rules.stated.patterns:
        return
    from recollect.redact.plain_view import read_text  # rarely needed
    from recollect.redact.policy import find_own

    for match in find_own(read_text(data), rules.policy):
        yield match.start
