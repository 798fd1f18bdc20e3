"""The control protocol between a conversation and its client: encode messages, decode the client's
requests, and wait for its responses.

Converts between our types and the JSON of the protocol. The response for an allowed tool call
contains its input (`updatedInput`), which older clients require. Every prompt has a uuid, which
becomes the uuid of its record. Every request to the client has a timeout. Only fields that are
shown are decoded from its responses; any of them may be missing, because client versions differ.
"""

import asyncio
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from recollect.errors import ClientFailure, UsageError
from recollect.launch import conversation_events
from recollect.records.decoding import decode_value
from recollect.records.envelope import is_absent
from recollect.records.stream import control
from recollect.records.tools.planning_tools import AskUserQuestionInput, ExitPlanModeInput

UNSUPPORTED: Final = "Recollect cannot do this."
DENIED: Final = "The user denied this."
KEEP_PLANNING: Final = "The user wants to keep planning."
BYPASS: Final = "bypassPermissions"
_QUESTION_TOOL: Final = "AskUserQuestion"
_PLAN_TOOL: Final = "ExitPlanMode"
_ACCEPT_EDITS: Final = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
_ACTIONS: Final = frozenset({"accept", "decline", "cancel"})


def encode_request(request_id: str, subtype: str, **fields: object) -> bytes:
    """Encode a request to the client as a line."""
    request = {"subtype": subtype, **fields}
    return _encode({"type": "control_request", "request_id": request_id, "request": request})


def encode_prompt(
    uuid: str, text: str, images: Sequence[conversation_events.PromptImage] = ()
) -> bytes:
    """Encode a prompt as a line."""
    # A terminal may deliver half of a surrogate pair, which JSON cannot contain.
    sound = text.encode(errors="replace").decode()
    message = {"role": "user", "content": make_content(sound, images)}
    fields = {"parent_tool_use_id": None, "session_id": "", "uuid": uuid}
    return _encode({"type": "user", "message": message, **fields})


def make_content(
    text: str, images: Sequence[conversation_events.PromptImage] = ()
) -> str | list[dict[str, Any]]:
    """Return the content of a prompt: plain text, or blocks if there are images."""
    if not images:
        return text
    blocks = [{"type": "image", "source": _make_source(image)} for image in images]
    return [*blocks, {"type": "text", "text": text}] if text else blocks


def encode_success(request_id: str, response: Mapping[str, object]) -> bytes:
    """Encode the response to a request of the client as a line."""
    answer = {"subtype": "success", "request_id": request_id, "response": response}
    return _encode({"type": "control_response", "response": answer})


def encode_error(request_id: str, error: str) -> bytes:
    """Encode the refusal of a request of the client as a line."""
    answer = {"subtype": "error", "request_id": request_id, "error": error}
    return _encode({"type": "control_response", "response": answer})


def encode_refusal(message: control.ControlRequest) -> bytes:
    """Encode the response to a request that is not supported here."""
    request_id = message.request_id or ""
    if isinstance(message.request, control.RequestUserDialog):
        return encode_success(request_id, {"behavior": "cancelled"})
    return encode_error(request_id, UNSUPPORTED)


def describe_refusal(message: control.ControlRequest) -> list[conversation_events.NoticeReceived]:
    """Return a notice for the user if a refused request was for a dialog."""
    if not isinstance(message.request, control.RequestUserDialog):
        return []
    kind = message.request.dialog_kind or "unknown"
    text = f"Claude Code tried to open a dialog ({kind}) that only its own terminal can show."
    return [conversation_events.NoticeReceived(text=f"{text} It was cancelled.")]


def _make_source(image: conversation_events.PromptImage) -> dict[str, str]:
    data = b64encode(image.data).decode("ascii")
    return {"type": "base64", "media_type": image.media_type, "data": data}


def _encode(frame: Mapping[str, object]) -> bytes:
    return msgspec.json.encode(frame) + b"\n"


class _Rule(msgspec.Struct, frozen=True, rename="camel"):
    tool_name: str = ""
    rule_content: str | None = None


class _Update(msgspec.Struct, frozen=True):
    type: str = ""
    rules: tuple[_Rule, ...] = ()
    directories: tuple[str, ...] = ()
    mode: str = ""
    behavior: str = ""
    destination: str = ""


def read_request(message: control.ControlRequest) -> conversation_events.ConversationRequest | None:
    """Return the request to the user; None if it is for a program or of an unknown type."""
    request_id = message.request_id or ""
    match message.request:
        case control.CanUseTool(tool_name=tool, input=given) as asked:
            if tool == _QUESTION_TOOL:
                return _read_question(request_id, asked)
            if tool == _PLAN_TOOL:
                return _read_plan(request_id, asked)
            return conversation_events.ToolRequest(
                id=request_id,
                agent_id=asked.agent_id,
                tool=tool or "",
                input=_copy_input(given),
                call_id=asked.tool_use_id,
                description=asked.description,
                reason=asked.decision_reason,
                blocked_path=asked.blocked_path,
                suggestions=_read_suggestions(asked.permission_suggestions),
            )
        case control.Elicitation() as asked:
            return conversation_events.ElicitationRequest(
                id=request_id,
                server=asked.mcp_server_name or "",
                message=asked.message or "",
                mode=asked.mode or "form",
                url=asked.url,
                form=asked.requested_schema.copy(),
            )
    return None


def _read_question(
    request_id: str, asked: control.CanUseTool
) -> conversation_events.QuestionRequest:
    given = decode_value(asked.input, AskUserQuestionInput) or AskUserQuestionInput()
    return conversation_events.QuestionRequest(
        id=request_id,
        agent_id=asked.agent_id,
        questions=given.questions,
        input=_copy_input(asked.input),
        call_id=asked.tool_use_id,
    )


def _read_plan(request_id: str, asked: control.CanUseTool) -> conversation_events.PlanRequest:
    given = decode_value(asked.input, ExitPlanModeInput) or ExitPlanModeInput()
    return conversation_events.PlanRequest(
        id=request_id,
        agent_id=asked.agent_id,
        plan=given.plan or "",
        path=given.plan_file_path,
        input=_copy_input(asked.input),
        call_id=asked.tool_use_id,
    )


def _copy_input(raw: msgspec.Raw) -> msgspec.Raw:
    # It is sent back unchanged, and must be an object even if the client sent none.
    return msgspec.Raw(b"{}") if is_absent(raw) else raw.copy()


def _read_suggestions(raw: msgspec.Raw) -> tuple[conversation_events.Suggestion, ...]:
    found = decode_value(raw, tuple[msgspec.Raw, ...]) if bytes(raw) else None
    return tuple(filter(None, map(_read_suggestion, found or ())))


def _read_suggestion(raw: msgspec.Raw) -> conversation_events.Suggestion | None:
    update = decode_value(raw, _Update)
    if update is None or (update.behavior or "allow") != "allow" or update.mode == BYPASS:
        return None
    text = ", ".join([*map(_describe_rule, update.rules), *update.directories]) or update.mode
    return conversation_events.Suggestion(
        kind=update.type, text=text, destination=update.destination, raw=raw.copy()
    )


def _describe_rule(rule: _Rule) -> str:
    return f"{rule.tool_name}({rule.rule_content})" if rule.rule_content else rule.tool_name


def make_response(
    request: conversation_events.ConversationRequest, answer: conversation_events.RequestAnswer
) -> tuple[str, dict[str, object]]:
    """Return the outcome of `request`, such as `allowed`, and the response to send.

    Raises UsageError if it does not answer this kind of request.
    """
    match request, answer:
        case conversation_events.ToolRequest(), conversation_events.Allow():
            return _allow(request, answer)
        case conversation_events.QuestionRequest(input=given), conversation_events.Answers(
            answers=answers
        ):
            chosen = {name: _join_choices(value) for name, value in answers.items()}
            return "answered", _make_allowed(_extend(given, {"answers": chosen}))
        case conversation_events.PlanRequest(input=given), conversation_events.ApprovePlan(
            plan=plan, accept_edits=accepts
        ):
            changed = given if plan is None else _extend(given, {"plan": plan})
            return "approved", _make_allowed(changed, [_ACCEPT_EDITS] if accepts else [])
        case conversation_events.PlanRequest(), conversation_events.KeepPlanning(message=message):
            return "rejected", _make_denied(message or KEEP_PLANNING, interrupt=False)
        case conversation_events.ElicitationRequest(), conversation_events.AnswerElicitation():
            return _answer_elicitation(answer)
        case (
            (
                conversation_events.ToolRequest()
                | conversation_events.QuestionRequest()
                | conversation_events.PlanRequest()
            ),
            conversation_events.Deny(),
        ):
            return "denied", _make_denied(answer.message or DENIED, answer.interrupt)
    raise UsageError(f"{type(answer).__name__} does not answer a {type(request).__name__}.")


def _allow(
    request: conversation_events.ToolRequest, answer: conversation_events.Allow
) -> tuple[str, dict[str, object]]:
    chosen = answer.remember
    if chosen is not None and chosen not in request.suggestions:
        raise UsageError("Only a permission suggested by the client can be saved.")
    updates = [chosen.raw] if chosen else []
    if answer.updated_input is not None:
        return "edited", _make_allowed(answer.updated_input, updates)
    return "remembered" if chosen else "allowed", _make_allowed(request.input, updates)


def _make_allowed(given: object, updates: Sequence[object] = ()) -> dict[str, object]:
    extra: dict[str, object] = {"updatedPermissions": updates} if updates else {}
    return {"behavior": "allow", "updatedInput": given, **extra}


def _make_denied(message: str, interrupt: bool) -> dict[str, object]:
    return {"behavior": "deny", "message": message, "interrupt": interrupt}


def _answer_elicitation(
    answer: conversation_events.AnswerElicitation,
) -> tuple[str, dict[str, object]]:
    if answer.action not in _ACTIONS:
        raise UsageError(f"{answer.action!r} is not one of accept, decline and cancel.")
    content = {} if answer.content is None else {"content": answer.content}
    how = "answered" if answer.action == "accept" else "denied"
    return how, {"action": answer.action, **content}


def _extend(given: msgspec.Raw, fields: Mapping[str, object]) -> dict[str, object]:
    return {**(decode_value(given, dict[str, msgspec.Raw]) or {}), **fields}


def _join_choices(value: str | tuple[str, ...]) -> str:
    # The client joins the list without spaces.
    return value if isinstance(value, str) else ", ".join(value)


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
        self._waiting: dict[str, asyncio.Future[control.Answer]] = {}

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

    def resolve(self, answer: control.Answer) -> None:
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
