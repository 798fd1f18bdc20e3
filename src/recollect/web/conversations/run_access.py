"""Access control for starting and controlling Claude Code: only pages that we rendered, in a
signed-in browser; and an audit log of starts, answers and stops, without content.

In addition to the checks of every request (Host, origin, key), a request that runs something must
come from a page (`Sec-Fetch-Site: same-origin`, our Origin, the cookie; never the access key) and
contain the nonce that the page was rendered with. A nonce is valid for one scope, such as one
conversation, and for one run of the server. It is signed rather than stored.

The log has one line of JSON per event, in a file that only its owner may read. It is opened for
every line: lines are rare, and no descriptor has to be closed.
"""

import hmac
import os
import secrets
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

import msgspec
from starlette.requests import Request
from starlette.types import Scope

from recollect.redact.quick_masks import mask_words
from recollect.store.data_directory import make_private_directory
from recollect.web.http_messages import JSON, Refused
from recollect.web.middleware import Keys, find_value, has_cookie, list_values
from recollect.web.settings import Settings

NONCE_HEADER: Final = "x-recollect-nonce"
START: Final = "start"
"""The scope of pages that may start conversations."""

_BYTES: Final = 16
_FORBIDDEN: Final = 403


class RunAccess:
    """Issues nonces, and checks requests that run something."""

    def __init__(self, settings: Settings, keys: Keys) -> None:
        self.allow_run = settings.allow_run
        self._origins = settings.origins
        self._keys = keys
        self._secret = secrets.token_bytes(32)

    def make_nonce(self, scope: str) -> str:
        """Return a new nonce for a page; empty without --allow-run."""
        if not self.allow_run:
            return ""
        salt = secrets.token_hex(_BYTES)
        return f"{salt}.{self._sign(scope, salt)}"

    def check(self, request: Request, scope: str) -> None:
        """Raise Refused unless the request comes from a page rendered for `scope`."""
        if not self.allow_run:
            raise Refused(
                _FORBIDDEN,
                "run_not_allowed",
                "This server may not run Claude Code. Start it with `recollect serve --allow-run`.",
            )
        if not self._is_from_page(request.scope):
            raise Refused(
                _FORBIDDEN, "wrong_origin", "Only this server's own pages may request this."
            )
        salt, _, signature = (find_value(request.scope, NONCE_HEADER) or "").partition(".")
        if not hmac.compare_digest(self._sign(scope, salt).encode(), signature.encode()):
            raise Refused(_FORBIDDEN, "wrong_nonce", "This page is out of date. Reload it.")

    def _is_from_page(self, scope: Scope) -> bool:
        return (
            list_values(scope, "sec-fetch-site") == ["same-origin"]
            and find_value(scope, "origin") in self._origins
            and not list_values(scope, "authorization")
            and has_cookie(self._keys, scope)
            and (find_value(scope, "content-type") or "").partition(";")[0] == JSON
        )

    def _sign(self, scope: str, salt: str) -> str:
        text = f"{scope}\0{salt}".encode("utf-8", "surrogatepass")
        return hmac.new(self._secret, text, "sha256").hexdigest()


NAME: Final = "conversations.log"
Action = Literal["start", "answer", "stop", "restore"]


class AuditLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An action that a page requested."""

    time: str
    action: Action
    conversation: str = ""
    session: str = ""
    directory: str = ""
    """Where a client was started."""
    tool: str = ""
    """The tool of the answered request."""
    decision: str = ""
    """The answer, or how a conversation was stopped."""
    file: str = ""
    """The file that was restored."""
    version: int = 0
    """Its version after the restore."""


class AuditLog:
    """Appends lines to the log."""

    def __init__(self, directory: Path, now: Callable[[], datetime]) -> None:
        self.path = directory / NAME
        self._now = now

    def write(self, action: Action, *, version: int = 0, **details: str) -> None:
        """Append a line with these fields."""
        line = AuditLine(
            time=self._now().isoformat(timespec="seconds"),
            action=action,
            version=version,
            **{name: mask_words(text) for name, text in details.items()},
        )
        make_private_directory(self.path.parent)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(self.path, flags, 0o600)
        try:
            os.write(descriptor, msgspec.json.encode(line) + b"\n")
        finally:
            os.close(descriptor)
