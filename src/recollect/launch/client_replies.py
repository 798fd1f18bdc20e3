"""Requests of a conversation to its client, and the client's responses.

Every request has a timeout. Only fields that are shown are decoded; any of them may be missing,
because client versions differ.
"""

import asyncio
from collections.abc import Callable, Mapping
from itertools import count

from msgspec import Raw, Struct

from recollect.errors import ClientFailure
from recollect.launch.control_messages import encode_request
from recollect.records.decoding import decode_value
from recollect.records.stream.control import Answer


class SlashCommand(Struct, frozen=True, kw_only=True, rename="camel"):
    """A command that can be typed after `/`."""

    name: str = ""
    description: str = ""
    argument_hint: str = ""
    aliases: tuple[str, ...] = ()


class ModelChoice(Struct, frozen=True, kw_only=True, rename="camel"):
    """A model that the user can choose."""

    value: str = ""
    display_name: str = ""
    description: str = ""
    resolved_model: str | None = None
    supported_effort_levels: tuple[str, ...] = ()


class ClientInfo(Struct, frozen=True, kw_only=True):
    """The commands, models and version of a client."""

    commands: tuple[SlashCommand, ...] = ()
    models: tuple[ModelChoice, ...] = ()
    claude_code_version: str | None = None


class ContextCategory(Struct, frozen=True, kw_only=True, rename="camel"):
    """A category of the context in use; older clients send neither `id` nor `kind`."""

    id: str | None = None
    name: str = ""
    tokens: int = 0
    kind: str | None = None
    is_deferred: bool = False


class ContextUsage(Struct, frozen=True, kw_only=True, rename="camel"):
    """How full the context is."""

    total_tokens: int = 0
    max_tokens: int | None = None
    percentage: float | None = None
    model: str | None = None
    categories: tuple[ContextCategory, ...] = ()


class _Cancellation(Struct, frozen=True):
    cancelled: bool = False


def read_cancelled(reply: Raw) -> bool:
    """Return whether a queued prompt was cancelled."""
    found = decode_value(reply, _Cancellation)
    return found is not None and found.cancelled


class _Applied(Struct, frozen=True):
    effort: str | None = None


class _Settings(Struct, frozen=True):
    applied: _Applied | None = None


def read_effort(reply: Raw) -> str | None:
    """Return the thinking effort, from the settings of the client."""
    found = decode_value(reply, _Settings)
    return found.applied.effort if found and found.applied else None


class PendingRequests:
    """The requests that wait for a response from the client."""

    def __init__(self) -> None:
        self._ids = count(1)
        self._waiting: dict[str, asyncio.Future[Answer]] = {}

    def send(
        self, send: Callable[[bytes], None], subtype: str, fields: Mapping[str, object]
    ) -> "SentRequest":
        """Send a request now; its response is awaited later."""
        request = SentRequest(f"recollect_{next(self._ids)}", subtype)
        self._waiting[request.id] = asyncio.get_running_loop().create_future()
        send(encode_request(request.id, subtype, **fields))
        return request

    async def wait(self, request: "SentRequest", seconds: float) -> Raw:
        """Wait for the response; raises ClientFailure if the client refuses or does not respond."""
        subtype = request.subtype
        try:
            answer = await asyncio.wait_for(self._waiting[request.id], seconds)
        except TimeoutError:
            text = f"claude did not respond to {subtype} within {seconds:g} s."
            raise ClientFailure(text) from None
        finally:
            self._waiting.pop(request.id, None)
        if answer.subtype == "error":
            raise ClientFailure(f"claude rejected {subtype}: {answer.error or 'no reason given'}")
        return answer.response

    def resolve(self, answer: Answer) -> None:
        """Pass a response to its request; the client may also repeat our own responses to it."""
        waiting = self._waiting.get(answer.request_id or "")
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    def fail_all(self) -> None:
        """Fail all open requests, because the client has exited and will not respond."""
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(ClientFailure("claude has exited."))


class SentRequest(Struct, frozen=True):
    """A request that is waiting for its response."""

    id: str
    subtype: str
