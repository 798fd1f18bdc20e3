"""The conversations of a server: start, find and end them, eight at most; and which requests may do
so, with an audit log.

A client of Claude Code takes about 200 MB, so the number is bounded. All of them end with the
server; their sessions remain and can be resumed.

Only pages that we rendered, in a signed-in browser, may start or control Claude Code. In addition
to the checks of every request (Host, origin, key), a request that runs something must come from a
page (`Sec-Fetch-Site: same-origin`, our Origin, the cookie; never the access key) and contain the
nonce that the page was rendered with. A nonce is valid for one scope, such as one conversation, and
for one run of the server. It is signed rather than stored.

The log has one line of JSON per start, answer and stop, without content, in a file that only its
owner may read. It is opened for every line: lines are rare, and no descriptor has to be closed.
"""

import asyncio
import hmac
import os
import secrets
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct, structs
from starlette.requests import Request
from starlette.types import Scope

from recollect.documents.events import ConversationsDocument
from recollect.errors import NothingFound
from recollect.launch.conversation import converse
from recollect.launch.conversation_events import ConversationRequest, RequestAnswer
from recollect.launch.conversation_options import ConversationOptions
from recollect.records.envelope import Record
from recollect.redact.quick_masks import mask_words
from recollect.store.data_directory import make_private_directory
from recollect.web.conversations.hosted_conversation import (
    NO_THINKING,
    HostedConversation,
    name_request,
)
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


MAX_RUNNING: Final = 8
MAX_ENDED: Final = 16
"""Ended conversations that are still shown."""

MODES: Final = ("default", "acceptEdits", "plan")
"""The permission modes that a page may choose, without `bypassPermissions`."""

THINKING: Final = "on"
_CONFLICT: Final = 409


class StartedFrom(Struct, frozen=True, kw_only=True):
    """The continued session: its title and its records so far."""

    title: str = ""
    records: Sequence[Record] = ()


NOTHING: Final = StartedFrom()


class Conversations:
    """Starts conversations, and keeps track of them."""

    def __init__(self, audit: AuditLog) -> None:
        self._audit = audit
        self._hosted: dict[str, HostedConversation] = {}
        self._stacks: dict[str, AsyncExitStack] = {}
        self._starting = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self.changed = asyncio.Event()
        """Set, and replaced by a new event, when `document` changes."""
        self._is_closed = False
        self.document = self._describe()
        """All conversations as lists show them; replaced as a whole, so any thread may read it."""

    def list_all(self) -> tuple[HostedConversation, ...]:
        """Return the conversations, latest first, ended ones last."""
        return tuple(
            sorted(self._hosted.values(), key=lambda each: (not each.is_running, -each.started))
        )

    def find(self, conversation_id: str) -> HostedConversation:
        """Return a conversation; raises NothingFound if there is none."""
        found = self._hosted.get(conversation_id)
        if found is None:
            raise NothingFound("This conversation ended when its server stopped.")
        return found

    def find_by_session(self, session_id: str) -> HostedConversation | None:
        """Return the running conversation that has this session open."""
        running = (each for each in self._hosted.values() if each.is_running)
        return next((each for each in running if each.conversation.session_id == session_id), None)

    def _describe(self) -> ConversationsDocument:
        return ConversationsDocument(
            conversations=tuple(each.describe() for each in self.list_all()),
            max_running=MAX_RUNNING,
        )

    async def start(
        self, options: ConversationOptions, origin: StartedFrom = NOTHING
    ) -> HostedConversation:
        """Start a conversation; raises an error if that is impossible."""
        if self._is_closed:
            raise Refused(_CONFLICT, "closing", "The server is shutting down.")
        running = sum(each.is_running for each in self._hosted.values())
        if running + self._starting >= MAX_RUNNING:
            raise Refused(
                _CONFLICT,
                "too_many",
                f"{MAX_RUNNING} conversations are running already. End one of them first.",
            )
        self._starting += 1
        try:
            return await self._start(options, origin)
        finally:
            self._starting -= 1

    async def _start(self, options: ConversationOptions, origin: StartedFrom) -> HostedConversation:
        stack = AsyncExitStack()
        conversation_id = secrets.token_hex(8)
        if not options.stream_name:
            options = structs.replace(options, stream_name=conversation_id)
        conversation = await stack.enter_async_context(converse(options))
        hosted = HostedConversation(
            conversation_id,
            conversation,
            options.directory,
            title=origin.title,
            history=origin.records,
        )
        self._hosted[hosted.id], self._stacks[hosted.id] = hosted, stack
        self._audit.write(
            "start",
            conversation=hosted.id,
            session=conversation.session_id,
            directory=options.directory,
        )
        self._spawn(hosted.feed(self._wake))
        self._wake()
        self._forget_oldest()
        return hosted

    def find_request(self, hosted: HostedConversation, request_id: str) -> ConversationRequest:
        """Return an open request of the client; 409 if it is settled already."""
        for request in hosted.conversation.pending:
            if request.id == request_id:
                return request
        raise Refused(_CONFLICT, "settled", "This request was already answered or withdrawn.")

    async def answer(
        self, hosted: HostedConversation, request: ConversationRequest, answer: RequestAnswer
    ) -> None:
        """Answer a request of the client."""
        await hosted.conversation.answer(request.id, answer, by="page")
        self._audit.write(
            "answer",
            conversation=hosted.id,
            session=hosted.conversation.session_id,
            tool=name_request(request),
            decision=type(answer).__name__.lower(),
        )

    async def set_effort(self, hosted: HostedConversation, effort: str) -> None:
        """Set the thinking effort of the model."""
        if effort in (NO_THINKING, THINKING):
            await hosted.conversation.set_thinking(0 if effort == NO_THINKING else None)
            if effort == THINKING and hosted.conversation.options.effort is not None:
                await hosted.conversation.set_effort(None)
        else:
            await hosted.conversation.set_effort(effort)
        self._wake()

    async def interrupt(self, hosted: HostedConversation) -> None:
        """Interrupt the current turn; the conversation continues."""
        self._write_stop(hosted, "interrupt")
        await hosted.conversation.interrupt()

    async def stop_task(self, hosted: HostedConversation, task_id: str) -> None:
        """Stop a background task; the conversation continues."""
        self._write_stop(hosted, "task")
        await hosted.conversation.stop_task(task_id)

    async def end(self, hosted: HostedConversation, how: str = "end") -> None:
        """End its client; the session can be resumed."""
        stack = self._stacks.pop(hosted.id, None)
        if stack is not None:
            hosted.is_running = False
            self._write_stop(hosted, how)
            await stack.aclose()
        self._wake()

    def _write_stop(self, hosted: HostedConversation, how: str) -> None:
        session = hosted.conversation.session_id
        self._audit.write("stop", conversation=hosted.id, session=session, decision=how)

    async def close(self) -> None:
        """End all of them, concurrently."""
        self._is_closed = True
        running = [each for each in self._hosted.values() if each.id in self._stacks]
        await asyncio.gather(*(self.end(each, "server ended") for each in running))
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _wake(self) -> None:
        self.document = self._describe()
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _forget_oldest(self) -> None:
        ended = [each for each in self._hosted.values() if not each.is_running]
        for each in ended[:-MAX_ENDED]:
            del self._hosted[each.id]
