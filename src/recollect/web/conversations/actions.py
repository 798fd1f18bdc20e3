"""The requests of a conversation's page: start, send, answer, stop and so on.

Only our own pages may send them, and `RunAccess` checks each one: the nonce of a conversation's
page is only valid for that conversation. GET requests need no nonce.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from recollect.errors import ClientFailure, UsageError
from recollect.launch import context_references
from recollect.launch.control_messages import ClientInfo, ContextUsage
from recollect.reader.line_blocks import mask_value
from recollect.web import http_messages
from recollect.web.conversations import answers, hosted_conversation, page_messages, registry
from recollect.web.event_stream import EventSource
from recollect.web.services import Services

MAX_PROMPT_BYTES: Final = 24 * 1024 * 1024
"""A prompt with its images; the client itself accepts lines of at least 12 MB."""

_LISTING_SECONDS: Final = 5.0
_CONFLICT: Final = 409


class PathsParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters: a conversation, and the start of a path in its project."""

    id: page_messages.Word
    query: page_messages.Word = ""


class IdParameter(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters: a conversation."""

    id: page_messages.Word


Act = Callable[[hosted_conversation.HostedConversation, bytes], Awaitable[str]]
"""Performs an action, and returns the id of the started conversation, sent prompt or answered
request."""


class ConversationActions:
    """Answers the requests of the pages."""

    def __init__(self, services: Services, source: EventSource) -> None:
        self._services = services
        self._conversations = services.conversations
        self._source = source
        self._paths: dict[str, tuple[float, tuple[context_references.ProjectPath, ...]]] = {}

    def make_routes(self) -> list[Route]:
        """Return the routes; actions are POST."""
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
            Route(page_messages.PREFIX, self._start, methods=["POST"]),
            Route(f"{page_messages.PREFIX}/events", self._stream_all),
            *(Route(f"{page_messages.PREFIX}/{{id}}/{name}", read) for name, read in reads.items()),
            *(
                Route(f"{page_messages.PREFIX}/{{id}}/{name}", self._guard(act), methods=["POST"])
                for name, act in acts.items()
            ),
            Route(f"{page_messages.PREFIX}/{{id}}/edit", self._edit, methods=["POST"]),
        ]

    async def _start(self, request: Request) -> Response:
        self._services.run_access.check(request, registry.START)
        body = http_messages.decode_body(await request.body(), page_messages.StartBody)
        if body.session and not body.fork:
            known = self._conversations.find_by_session(body.session)
            if known is not None:
                return http_messages.json_response(page_messages.Done(id=known.id))
        options, origin = await asyncio.to_thread(page_messages.plan_start, self._services, body)
        hosted = await self._conversations.start(options, origin)
        return http_messages.json_response(page_messages.Done(id=hosted.id))

    def _guard(self, act: Act) -> Callable[[Request], Awaitable[Response]]:
        async def handle(request: Request) -> Response:
            hosted = self._find_permitted(request)
            return http_messages.json_response(
                page_messages.Done(id=await act(hosted, await request.body()))
            )

        return handle

    def _find_permitted(self, request: Request) -> hosted_conversation.HostedConversation:
        conversation_id = request.path_params["id"]
        self._services.run_access.check(request, conversation_id)
        return self._conversations.find(conversation_id)

    async def _edit(self, request: Request) -> Response:
        hosted = self._find_permitted(request)
        wanted = http_messages.decode_body(await request.body(), page_messages.NamedBody)
        draft = hosted.find_draft(wanted.name)
        if draft is None or not await hosted.conversation.cancel_prompt(wanted.name):
            raise http_messages.Refused(
                _CONFLICT, "taken", "Claude Code has already received this message."
            )
        return http_messages.json_response(draft)

    async def _send(self, hosted: hosted_conversation.HostedConversation, data: bytes) -> str:
        body = http_messages.decode_body(data, hosted_conversation.PromptBody)
        if not hosted.is_running:
            raise http_messages.Refused(
                _CONFLICT, "ended", "This conversation has ended. Continue its session."
            )
        images = [hosted_conversation.read_image(each) for each in body.images]
        text = await asyncio.to_thread(hosted_conversation.write_prompt, hosted.directory, body)
        uuid = await hosted.conversation.send(text, images)
        hosted.keep_draft(uuid, body)
        return uuid

    async def _answer(self, hosted: hosted_conversation.HostedConversation, data: bytes) -> str:
        body = http_messages.decode_body(data, answers.AnswerBody)
        request = self._conversations.find_request(hosted, body.request)
        reveal = self._services.mask.find_session(hosted.stream_name).reveal
        shown = mask_value(hosted.stream_name, request)
        answer = answers.make_answer(request, answers.restore_secrets(body, request, shown, reveal))
        await self._conversations.answer(hosted, request, answer)
        return body.request

    async def _interrupt(self, hosted: hosted_conversation.HostedConversation, _: bytes) -> str:
        await self._conversations.interrupt(hosted)
        return ""

    async def _change_settings(
        self, hosted: hosted_conversation.HostedConversation, data: bytes
    ) -> str:
        body = http_messages.decode_body(data, page_messages.SettingsBody)
        if body.permission_mode is not None:
            page_messages.check_mode(body.permission_mode)
            await hosted.conversation.set_permission_mode(body.permission_mode or "default")
        if body.model is not None:
            await hosted.conversation.set_model(body.model or None)
        if body.effort:
            await self._conversations.set_effort(hosted, body.effort)
        return ""

    async def _compact(self, hosted: hosted_conversation.HostedConversation, data: bytes) -> str:
        return await hosted.conversation.compact(
            http_messages.decode_body(data, page_messages.NamedBody).name
        )

    async def _withdraw(self, hosted: hosted_conversation.HostedConversation, data: bytes) -> str:
        await hosted.conversation.cancel_prompt(
            http_messages.decode_body(data, page_messages.NamedBody).name
        )
        return ""

    async def _stop_task(self, hosted: hosted_conversation.HostedConversation, data: bytes) -> str:
        await self._conversations.stop_task(
            hosted, http_messages.decode_body(data, page_messages.NamedBody).name
        )
        return ""

    async def _end(self, hosted: hosted_conversation.HostedConversation, _: bytes) -> str:
        await self._conversations.end(hosted)
        return ""

    async def _stream(self, request: Request) -> Response:
        wanted = http_messages.read_parameters(request, page_messages.EventParameters)
        last_id = request.headers.get("last-event-id") or wanted.last_id
        after = int(last_id) if last_id.isascii() and last_id.isdecimal() else 0
        return self._source.respond(
            page_messages.iter_page_events(self._conversations.find(wanted.id), after)
        )

    async def _stream_all(self, _: Request) -> Response:
        return self._source.respond(page_messages.iter_running(self._conversations))

    async def _list_offers(self, request: Request) -> Response:
        hosted = self._find(request)
        # A client that exits or does not respond has no commands; the page shows its status
        # elsewhere.
        try:
            found = await hosted.conversation.client_info() if hosted.is_running else ClientInfo()
        except (ClientFailure, TimeoutError, UsageError):
            found = ClientInfo()
        return http_messages.json_response(found)

    async def _measure_context(self, request: Request) -> Response:
        hosted = self._find(request)
        # A client is not started just for a figure.
        is_awake = hosted.is_running and hosted.conversation.pid is not None
        try:
            found = await hosted.conversation.context_usage() if is_awake else ContextUsage()
        except (ClientFailure, UsageError):
            found = ContextUsage()
        return http_messages.json_response(found)

    async def _find_paths(self, request: Request) -> Response:
        wanted = http_messages.read_parameters(request, PathsParameters)
        directory = self._conversations.find(wanted.id).directory
        paths = await asyncio.to_thread(self._list_paths, directory)
        return http_messages.json_response(context_references.match_paths(paths, wanted.query))

    async def _list_git(self, request: Request) -> Response:
        directory = Path(self._find(request).directory)
        changed = await asyncio.to_thread(context_references.list_changed, directory)
        commits = await asyncio.to_thread(context_references.list_commits, directory)
        return http_messages.json_response({"changed": len(changed), "commits": commits})

    def _find(self, request: Request) -> hosted_conversation.HostedConversation:
        return self._conversations.find(http_messages.read_parameters(request, IdParameter).id)

    def _list_paths(self, directory: str) -> tuple[context_references.ProjectPath, ...]:
        """Return the paths of a project, listed again after a few seconds."""
        moment, paths = self._paths.get(directory, (0.0, ()))
        if time.monotonic() - moment > _LISTING_SECONDS or not moment:
            paths = context_references.list_paths(Path(directory))
            self._paths = {directory: (time.monotonic(), paths)}
        return paths
