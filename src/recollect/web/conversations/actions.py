"""The requests of a conversation's page: start, send, answer, stop and the like.

They are for our own pages only, and `Permits` checks each: the nonce of a conversation's page is
good for that conversation and for nothing else. Reading is by GET and needs no nonce.
"""

import asyncio
import base64
import binascii
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from recollect.errors import ClientFailure, UsageError
from recollect.launch.client_replies import ClientInfo, ContextUsage
from recollect.launch.context_references import (
    ProjectPath,
    list_changed,
    list_commits,
    list_paths,
    match_paths,
    read_reference,
)
from recollect.launch.conversation_events import PromptImage
from recollect.session.prompt_contexts import attach_contexts
from recollect.web.api.event_stream import EventSource
from recollect.web.conversations.answers import AnswerBody, make_answer
from recollect.web.conversations.bodies import (
    PREFIX,
    Done,
    EventParameters,
    ImageBody,
    NamedBody,
    PromptBody,
    SettingsBody,
)
from recollect.web.conversations.hosting import HostedConversation
from recollect.web.conversations.page_events import iter_page_events, iter_running
from recollect.web.conversations.permits import START
from recollect.web.conversations.starting import StartBody, Word, check_mode, plan_start
from recollect.web.parameters import BadParameter, decode_body, read_parameters
from recollect.web.responses import Refused, json_response
from recollect.web.services import Services

MAX_PROMPT_BYTES: Final = 24 * 1024 * 1024
"""A prompt with its images; the client itself accepts lines of at least 12 MB."""

_LISTING_SECONDS: Final = 5.0
_CONFLICT: Final = 409
_RASTER: Final = {
    "image/png": b"\x89PNG",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}


class PathsParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which paths of the project of which conversation."""

    id: Word
    query: Word = ""


class IdParameter(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which conversation."""

    id: Word


Act = Callable[[HostedConversation, bytes], Awaitable[str]]


class ConversationActions:
    """Answers the requests of the pages."""

    def __init__(self, services: Services, source: EventSource) -> None:
        self._services = services
        self._conversations = services.conversations
        self._source = source
        self._paths: dict[str, tuple[float, tuple[ProjectPath, ...]]] = {}

    def make_routes(self) -> list[Route]:
        """Return the routes; those that do something are POST."""
        acts: dict[str, Act] = {
            "prompts": self._send,
            "answers": self._answer,
            "interrupt": self._interrupt,
            "settings": self._change_settings,
            "compact": self._compact,
            "withdraw": self._withdraw,
            "tasks": self._stop_task,
            "end": self._end,
        }
        reads = {
            "events": self._stream,
            "offers": self._list_offers,
            "context": self._measure_context,
            "paths": self._find_paths,
            "git": self._list_git,
        }
        return [
            Route(PREFIX, self._start, methods=["POST"]),
            Route(f"{PREFIX}/events", self._stream_all),
            *(Route(f"{PREFIX}/{{id}}/{name}", read) for name, read in reads.items()),
            *(
                Route(f"{PREFIX}/{{id}}/{name}", self._guard(act), methods=["POST"])
                for name, act in acts.items()
            ),
        ]

    async def _start(self, request: Request) -> Response:
        self._services.permits.check(request, START)
        body = decode_body(await request.body(), StartBody)
        if body.session and not body.fork:
            known = self._conversations.find_by_session(body.session)
            if known is not None:
                return json_response(Done(id=known.id))
        options, origin = await asyncio.to_thread(plan_start, self._services, body)
        hosted = await self._conversations.start(options, origin)
        return json_response(Done(id=hosted.id))

    def _guard(self, act: Act) -> Callable[[Request], Awaitable[Response]]:
        async def handle(request: Request) -> Response:
            conversation_id = request.path_params["id"]
            self._services.permits.check(request, conversation_id)
            hosted = self._conversations.find(conversation_id)
            return json_response(Done(id=await act(hosted, await request.body())))

        return handle

    async def _send(self, hosted: HostedConversation, data: bytes) -> str:
        body = decode_body(data, PromptBody)
        if not hosted.is_running:
            raise Refused(_CONFLICT, "ended", "This conversation has ended. Continue its session.")
        images = [_read_image(each) for each in body.images]
        text = await asyncio.to_thread(_write_prompt, hosted.directory, body)
        return await hosted.conversation.send(text, images)

    async def _answer(self, hosted: HostedConversation, data: bytes) -> str:
        body = decode_body(data, AnswerBody)
        request = self._conversations.find_request(hosted, body.request)
        await self._conversations.answer(hosted, request, make_answer(request, body))
        return body.request

    async def _interrupt(self, hosted: HostedConversation, _: bytes) -> str:
        await self._conversations.interrupt(hosted)
        return ""

    async def _change_settings(self, hosted: HostedConversation, data: bytes) -> str:
        body = decode_body(data, SettingsBody)
        if body.permission_mode is not None:
            check_mode(body.permission_mode)
            await hosted.conversation.set_permission_mode(body.permission_mode or "default")
        if body.model is not None:
            await hosted.conversation.set_model(body.model or None)
        if body.effort:
            await self._conversations.set_effort(hosted, body.effort)
        return ""

    async def _compact(self, hosted: HostedConversation, data: bytes) -> str:
        return await hosted.conversation.compact(decode_body(data, NamedBody).name)

    async def _withdraw(self, hosted: HostedConversation, data: bytes) -> str:
        await hosted.conversation.cancel_prompt(decode_body(data, NamedBody).name)
        return ""

    async def _stop_task(self, hosted: HostedConversation, data: bytes) -> str:
        await hosted.conversation.stop_task(decode_body(data, NamedBody).name)
        return ""

    async def _end(self, hosted: HostedConversation, _: bytes) -> str:
        await self._conversations.end(hosted)
        return ""

    async def _stream(self, request: Request) -> Response:
        wanted = read_parameters(request, EventParameters)
        last_id = request.headers.get("last-event-id") or wanted.last_id
        after = int(last_id) if last_id.isascii() and last_id.isdecimal() else 0
        return self._source.respond(iter_page_events(self._conversations.find(wanted.id), after))

    async def _stream_all(self, _: Request) -> Response:
        return self._source.respond(iter_running(self._conversations))

    async def _list_offers(self, request: Request) -> Response:
        hosted = self._find(request)
        # A client that ends or does not answer offers nothing; the page says so elsewhere.
        try:
            found = await hosted.conversation.client_info() if hosted.is_running else ClientInfo()
        except (ClientFailure, TimeoutError, UsageError):
            found = ClientInfo()
        return json_response(found)

    async def _measure_context(self, request: Request) -> Response:
        hosted = self._find(request)
        # Nobody is woken up for a figure.
        is_awake = hosted.is_running and hosted.conversation.pid is not None
        try:
            found = await hosted.conversation.context_usage() if is_awake else ContextUsage()
        except (ClientFailure, UsageError):
            found = ContextUsage()
        return json_response(found)

    async def _find_paths(self, request: Request) -> Response:
        wanted = read_parameters(request, PathsParameters)
        directory = self._conversations.find(wanted.id).directory
        paths = await asyncio.to_thread(self._list_paths, directory)
        return json_response(match_paths(paths, wanted.query))

    async def _list_git(self, request: Request) -> Response:
        directory = Path(self._find(request).directory)
        changed = await asyncio.to_thread(list_changed, directory)
        commits = await asyncio.to_thread(list_commits, directory)
        return json_response({"changed": len(changed), "commits": commits})

    def _find(self, request: Request) -> HostedConversation:
        return self._conversations.find(read_parameters(request, IdParameter).id)

    def _list_paths(self, directory: str) -> tuple[ProjectPath, ...]:
        """Return the paths of a project, listed again after a few seconds."""
        moment, paths = self._paths.get(directory, (0.0, ()))
        if time.monotonic() - moment > _LISTING_SECONDS or not moment:
            paths = list_paths(Path(directory))
            self._paths = {directory: (time.monotonic(), paths)}
        return paths


def _write_prompt(directory: str, body: PromptBody) -> str:
    found = [read_reference(Path(directory), each) for each in body.contexts]
    return attach_contexts(
        body.text, [context for context, _ in found], [content for _, content in found]
    )


def _read_image(image: ImageBody) -> PromptImage:
    try:
        data = base64.b64decode(image.data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadParameter("images", "An image is not base64.") from error
    if not data.startswith(_RASTER[image.media_type]):
        raise BadParameter("images", f"An image is not {image.media_type}.")
    return PromptImage(image.media_type, data)
