"""The secrets of one run of the server, and how they are compared.

A one-time token leads from the terminal into the browser; it dies when it is exchanged for the
cookie. The access key is for programs of the same person. All of them end with the process.
"""

import hmac
import secrets
import threading
from typing import Final

_BYTES: Final = 32


class Keys:
    """Makes and checks the secrets."""

    def __init__(self, port: int) -> None:
        self.access = secrets.token_urlsafe(_BYTES)
        """What a program shows as `Authorization: Bearer …`."""
        self.cookie_name = f"recollect-{port}"
        """Cookies do not know ports; two servers of one person must not undo each other's."""
        self._cookie = secrets.token_urlsafe(_BYTES)
        self._launches: set[str] = set()
        self._lock = threading.Lock()

    def make_launch(self) -> str:
        """A new one-time token."""
        token = secrets.token_urlsafe(_BYTES)
        with self._lock:
            self._launches.add(token)
        return token

    def exchange(self, token: str) -> str | None:
        """The cookie's value for a one-time token, which is used up by that; None for any other."""
        with self._lock:
            found = next((each for each in self._launches if _is_same(each, token)), None)
            if found is None:
                return None
            self._launches.discard(found)
        return self._cookie

    def opens_with_cookie(self, value: str) -> bool:
        """Whether this is the cookie's value."""
        return _is_same(self._cookie, value)

    def opens_with_access(self, value: str) -> bool:
        """Whether this is the access key."""
        return _is_same(self.access, value)


def _is_same(secret: str, given: str) -> bool:
    """Compared in constant time; whatever was given is compared as bytes."""
    return hmac.compare_digest(secret.encode(), given.encode("utf-8", "surrogatepass"))
