"""Tool uses joined to their results, wherever those lie.

Input and result are parsed when they are asked for: a session holds thousands of calls, and most
views look at few of them. Calls of the API's own tools are calls too.
"""

from collections.abc import Iterable, Sequence

from msgspec import Raw, Struct
from msgspec.structs import replace

from recollect.records.blocks import (
    McpToolResult,
    McpToolUse,
    ServerToolResult,
    ServerToolUseBlock,
    ToolResult,
    ToolUse,
)
from recollect.records.conversation import Assistant, User
from recollect.records.decoding import decode_value
from recollect.records.envelope import Chain
from recollect.records.tools import (
    ToolInput,
    ToolOutput,
    canonical_name,
    parse_input,
    parse_result,
    split_mcp_name,
)
from recollect.session.content import iter_tool_results, list_blocks, result_text
from recollect.session.outcomes import (
    FAILED,
    PENDING,
    SUCCESS,
    Outcome,
    RejectedBy,
    ToolStatus,
    read_outcome,
)
from recollect.session.spilled import SpilledOutput, find_spilled
from recollect.session.times import milliseconds_between


class ToolCall(Struct, frozen=True, kw_only=True):
    """One call of a tool, with its answer if it has one."""

    id: str
    recorded_name: str
    raw_input: Raw
    message_id: str
    call_uuid: str | None
    result_uuid: str | None = None
    outcome: Outcome = PENDING
    block: ToolResult | ServerToolResult | None = None
    raw_result: Raw = Raw()
    started: str | None = None
    ended: str | None = None
    is_lost: bool = False
    """Pending, although the conversation has gone on: the answer will not come."""

    @property
    def name(self) -> str:
        """The tool's present name; old names are aliases."""
        return canonical_name(self.recorded_name)

    @property
    def mcp_server(self) -> str | None:
        """The MCP server that the tool belongs to."""
        parts = split_mcp_name(self.recorded_name)
        return parts[0] if parts else None

    @property
    def status(self) -> ToolStatus:
        """How far the call came."""
        return self.outcome.status

    @property
    def rejected_by(self) -> RejectedBy | None:
        """Who refused it."""
        return self.outcome.rejected_by

    @property
    def input(self) -> ToolInput:
        """What it was called with, as the type of its tool."""
        return parse_input(self.recorded_name, self.raw_input)

    @property
    def result(self) -> ToolOutput:
        """What it gave back to the client, as the type of its tool."""
        return parse_result(self.recorded_name, self.raw_result)

    @property
    def text(self) -> str:
        """What the model saw of the answer, as far as it is text."""
        return result_text(self.block) if isinstance(self.block, ToolResult) else ""

    @property
    def spilled(self) -> SpilledOutput | None:
        """Where the whole output lies, when it was too large for the transcript."""
        return find_spilled(self.text, self.raw_result)

    @property
    def duration_ms(self) -> float | None:
        """Milliseconds from the call to its answer; waiting for a permission included."""
        return milliseconds_between(self.started, self.ended)


class _ServerError(Struct, frozen=True):
    error_code: str | None = None


class _Answer(Struct, frozen=True):
    record: User | Assistant
    block: ToolResult | ServerToolResult


def build_tool_calls(chain: Sequence[Chain]) -> tuple[tuple[ToolCall, ...], tuple[str, ...]]:
    """The calls of `chain` in file order, and the ids of results that answer no call in it."""
    answers, interrupted = _collect_answers(chain)
    last_prompt = _last_prompt_place(chain)
    calls: dict[str, ToolCall] = {}
    for place, link in enumerate(chain):
        if not isinstance(link, Assistant) or link.message is None:
            continue
        for block in list_blocks(link.message.content):
            if isinstance(block, ToolUse | ServerToolUseBlock | McpToolUse):
                is_cut = bool(link.message.id) and link.message.id in interrupted
                call = _make_call(link, block, answers.get(block.id), is_cut=is_cut)
                is_lost = call.status is ToolStatus.PENDING and place < last_prompt
                call = replace(call, is_lost=True) if is_lost else call
                calls.setdefault(block.id or f"#{len(calls)}", call)
    orphans = tuple(answer for answer in answers if answer not in calls)
    return tuple(calls.values()), orphans


def _collect_answers(chain: Iterable[Chain]) -> tuple[dict[str, _Answer], set[str]]:
    """The results by the id of their call, and the messages that an interrupt cut."""
    answers: dict[str, _Answer] = {}
    interrupted: set[str] = set()
    for link in chain:
        if isinstance(link, User) and link.message is not None:
            for result in iter_tool_results(link.message.content):
                answers[result.tool_use_id] = _Answer(link, result)
            if link.interrupted_message_id:
                interrupted.add(link.interrupted_message_id)
        elif isinstance(link, Assistant) and link.message is not None:
            for block in list_blocks(link.message.content):
                if isinstance(block, ServerToolResult):
                    answers[block.tool_use_id] = _Answer(link, block)
    return answers, interrupted


def _last_prompt_place(chain: Sequence[Chain]) -> int:
    """Where the last record stands that is no part of the running turn's tool use."""
    for place in range(len(chain) - 1, -1, -1):
        link = chain[place]
        if isinstance(link, User) and link.message and not link.is_meta:
            if not any(iter_tool_results(link.message.content)):
                return place
        elif (
            isinstance(link, Assistant) and link.message and link.message.stop_reason == "end_turn"
        ):
            return place
    return -1


def _make_call(
    link: Assistant,
    block: ToolUse | ServerToolUseBlock | McpToolUse,
    answer: _Answer | None,
    *,
    is_cut: bool,
) -> ToolCall:
    call = ToolCall(
        id=block.id,
        recorded_name=block.name,
        raw_input=block.input,
        message_id=(link.message.id if link.message else None) or link.uuid or "",
        call_uuid=link.uuid,
        started=link.timestamp,
    )
    if answer is None:
        return call
    record = answer.record
    return replace(
        call,
        result_uuid=record.uuid,
        outcome=_read_answer(answer, is_cut=is_cut),
        block=answer.block,
        raw_result=record.tool_use_result if isinstance(record, User) else Raw(),
        ended=record.timestamp,
    )


def _read_answer(answer: _Answer, *, is_cut: bool) -> Outcome:
    match answer:
        case _Answer(record=User() as record, block=ToolResult() as block):
            return read_outcome(record, block, was_interrupted=is_cut)
        case _Answer(block=McpToolResult(is_error=is_error)):
            return FAILED if is_error else SUCCESS
        case _Answer(block=ServerToolResult(content=content)):
            return FAILED if _names_error(content) else SUCCESS
    return SUCCESS


def _names_error(content: Raw) -> bool:
    """Whether a server tool's body is an error object; a list of hits is none, however long."""
    if bytes(content)[:1] != b"{":
        return False
    found = decode_value(content, _ServerError)
    return found is not None and found.error_code is not None
