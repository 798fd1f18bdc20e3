"""What counts as a secret for one user: kinds, personal data, own patterns, and what is allowed.

The command line and the web app fill a policy from the configuration; this package only obeys it.
Apart from the rules, which take time to load: most sessions hold no secrets.
"""

from typing import Final

from msgspec import Struct


class OwnPattern(Struct, frozen=True):
    """A kind of secret that only the user knows. The first group of the pattern is the secret."""

    kind: str
    pattern: str


class RedactionPolicy(Struct, frozen=True):
    """What to mask. The default is every secret, definite or likely, and no personal data."""

    likely: bool = True
    home: str | None = None
    """The home directory, which becomes `~`."""
    users: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    emails: bool = False
    patterns: tuple[OwnPattern, ...] = ()
    allow: tuple[str, ...] = ()
    """Patterns for whole values that are no secrets."""

    @property
    def for_records(self) -> "RedactionPolicy":
        """The policy for secrets alone, definite and likely, without personal data."""
        return RedactionPolicy(likely=self.likely, patterns=self.patterns, allow=self.allow)

    @property
    def for_display(self) -> "RedactionPolicy":
        """The policy for what only the user sees: definite secrets, and no personal data."""
        return RedactionPolicy(likely=False, patterns=self.patterns, allow=self.allow)


DEFAULT_POLICY: Final = RedactionPolicy()
