"""Run the app with uvicorn: one process, a local socket, and a clean shutdown.

The port is bound before the app is created, because the allowed hosts contain it. The parser
rejects requests that are not HTTP or do not have exactly one Host; the response still has our
headers. Requests that are not completed in time are dropped, so that idle connections cannot pile
up.
"""

import asyncio
import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Final

import h11
import uvicorn
from msgspec import Struct, structs
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from recollect.documents.session_documents import ErrorDetail, ErrorDocument
from recollect.errors import UsageError
from recollect.launch.conversation_options import check_platform
from recollect.launch.web_link import LOOPBACK
from recollect.web.app import AppParts, create_app
from recollect.web.http_messages import JSON, encode_json
from recollect.web.middleware import CACHE_CONTROL, NO_STORE, SECURITY_HEADERS
from recollect.web.settings import (
    MAX_PORT,
    ServerState,
    Settings,
    load_last_port,
    remove_state,
    save_last_port,
    write_state,
)

REQUEST_SECONDS: Final = 5.0
"""Time limit for a request to arrive, from its first byte or from the connection."""

_UNFINISHED: Final = (h11.IDLE, h11.SEND_BODY)


class StrictProtocol(H11Protocol):
    """Responds to invalid requests, and drops incomplete ones."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the deadline for a request."""
        super().connection_made(transport)
        self._set_deadline()

    def data_received(self, data: bytes) -> None:
        """Receive part of a request; the start of the next one starts a new deadline."""
        super().data_received(data)
        if self.conn.their_state not in _UNFINISHED:
            self._drop_deadline()
        elif self._deadline is None:
            self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._drop_deadline()
        super().connection_lost(exc)

    def _set_deadline(self) -> None:
        self._deadline = self.loop.call_later(REQUEST_SECONDS, self.transport.close)

    def _drop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def send_400_response(self, msg: str) -> None:
        """Report the error, and close the connection."""
        # Called while the parser's exception is handled, which has the reason.
        is_host = "Host:" in str(sys.exception())
        status, code, message = (
            (421, "wrong_host", "A request needs exactly one Host header.")
            if is_host
            else (400, "bad_request", "This is not an HTTP request.")
        )
        body = encode_json(ErrorDocument(error=ErrorDetail(code=code, message=message)))
        headers = {
            **SECURITY_HEADERS,
            CACHE_CONTROL: NO_STORE,
            "content-type": JSON,
            "content-length": str(len(body)),
            "connection": "close",
        }
        pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
        head = h11.Response(status_code=status, headers=pairs, reason=b"Refused")
        for event in (head, h11.Data(data=body), h11.EndOfMessage()):
            sent = self.conn.send(event)
            if sent:
                self.transport.write(sent)
        self.transport.close()


_LOOPBACK_NAMES: Final = frozenset({LOOPBACK, "localhost", "::1"})
_EVERYWHERE: Final = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - refused below
END_SECONDS: Final = 2
_PORTS_TO_TRY: Final = 20


class Running(Struct, frozen=True):
    """A running server, and how to open it."""

    url: str
    launch_url: str
    """One-time link that signs in a browser."""
    taken: int | None = None
    """The last port used, if another program uses it now."""


Announce = Callable[[Running], None]


def check_host(host: str, *, allow_remote: bool, allow_run: bool = False) -> None:
    """Refuse to listen beyond this machine unless explicitly allowed, and never with --allow-run.

    Anyone who can start Claude Code can run commands as the user, so a key that travels over a
    network in plain text must not be sufficient.
    """
    if allow_run:
        check_platform()
    if host in _LOOPBACK_NAMES:
        return
    if allow_run:
        raise UsageError(
            f"--allow-run cannot be used with --host {host!r}, which other machines can reach. "
            "Leave out --host, and use an SSH tunnel to reach the server from elsewhere."
        )
    if not allow_remote:
        raise UsageError(
            f"{host!r} can be reached from other machines. The key protects your sessions, but "
            "traffic is not encrypted: use an SSH tunnel, or add --allow-remote."
        )
    if host in _EVERYWHERE:
        raise UsageError(
            f"Specify the address that browsers will use, not {host!r}: requests to any other "
            "host are refused."
        )


def serve(settings: Settings, announce: Announce) -> None:
    """Serve until the process is told to stop; `announce` is called when it is ready."""
    check_host(settings.host, allow_remote=True, allow_run=settings.allow_run)
    wanted = load_last_port(settings.data_directory)
    with _bind(settings, wanted) as listener:
        port: int = listener.getsockname()[1]
        bound = structs.replace(settings, port=port)
        taken = wanted if settings.port is None and port != wanted else None
        app = create_app(bound)
        parts: AppParts = app.state.parts
        keys = parts.services.keys
        state = ServerState(
            host=bound.host,
            port=port,
            pid=os.getpid(),
            started=bound.now().isoformat(),
            key=keys.access,
        )
        write_state(bound.data_directory, state)
        if settings.port is None and taken is None:
            save_last_port(bound.data_directory, port)
        try:
            server = _Server(app, lambda: announce(_describe(state, keys.make_launch(), taken)))
            server.run(sockets=[listener])
        finally:
            remove_state(bound.data_directory, state.pid)


def _bind(settings: Settings, wanted: int) -> socket.socket:
    """Return a socket on the given port; without one, on the preferred port or one of the next."""
    if settings.port is not None:
        return _listen(settings.host, settings.port)
    for port in range(wanted, min(wanted + _PORTS_TO_TRY, MAX_PORT + 1)):
        with contextlib.suppress(UsageError):
            return _listen(settings.host, port)
    return _listen(settings.host, 0)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With an explicit protocol, asyncio sets TCP_NODELAY: otherwise the second part of a response
    # waits 40 ms for the first to be acknowledged.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            # On Windows, this would let another program take over the port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise UsageError(
            f"Cannot listen on {host} port {port}: {error}. Leave out --port to use a free one."
        ) from error
    return listener


def _describe(state: ServerState, token: str, taken: int | None) -> Running:
    # In the fragment, which browsers do not send and logs do not contain.
    return Running(state.url, f"{state.url}#t={token}", taken)


class _Server(uvicorn.Server):
    """Ends event streams before shutdown, and treats a signal as a normal request to stop."""

    def __init__(self, app: Starlette, is_ready: Callable[[], None]) -> None:
        self._parts: AppParts = app.state.parts
        self._is_ready = is_ready
        super().__init__(
            uvicorn.Config(
                app,
                http=StrictProtocol,
                ws="none",
                lifespan="on",
                access_log=False,
                log_config=None,
                log_level="critical",
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=END_SECONDS,
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start serving, and announce it."""
        await super().startup(sockets)
        self._is_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop serving."""
        self._parts.events.close()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on Ctrl+C and SIGTERM, without raising them again."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        known = {
            number: signal.signal(number, self.handle_exit)
            for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in known.items():
                signal.signal(number, handler)
