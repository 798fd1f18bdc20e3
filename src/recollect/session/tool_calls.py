"""Tool calls, joined to their results, with status and outcome.

The newest clients record the outcome in fields; for others it has to be read from the text of the
result. A tool that was stopped while it ran and one that the user rejected look the same in
headless runs of 2.1.325: both are reported as rejections there, as the client itself does.

Output that was too large for the transcript is in a separate file. Only what the record says about
that file is used here: its path is valid on the machine that wrote it, and only
`recollect.locations` may resolve it on this machine.

Input and result are parsed on demand: a session has thousands of calls, and most views need few of
them. Calls of the API's own tools are included.
"""

import re
from collections.abc import Iterable, Sequence

from msgspec import Raw, Struct, structs

from recollect.documents.kinds import RejectedBy, ToolStatus
from recollect.records import blocks, conversation_records, decoding, envelope, tools
from recollect.session.record_texts import iter_tool_results, list_blocks, result_text
from recollect.session.times import milliseconds_between


class Outcome(Struct, frozen=True):
    """The status of a call, and who rejected it, if anyone."""

    status: ToolStatus
    rejected_by: RejectedBy | None = None


class _Interrupted(Struct, frozen=True):
    interrupted: bool = False


PENDING = Outcome(ToolStatus.PENDING)
SUCCESS = Outcome(ToolStatus.SUCCESS)
FAILED = Outcome(ToolStatus.FAILED)
INTERRUPTED = Outcome(ToolStatus.INTERRUPTED)

_PERSON_TEXTS = ("The user doesn't want to proceed with this tool use", "User rejected tool use")
_RULE_TEXTS = ("Permission to use ", "Claude requested permissions to ", "Permission for this")
_HOOK_TEXT = re.compile(r"\w{1,40}:\S{1,200} hook error|\S{1,200} operation blocked by hook")
_INTERRUPTED_TEXTS = ("[Request interrupted by user for tool use]", "[Tool call interrupted")
_EDGE = 400
"""Characters at both ends of a result that are searched for its outcome."""


def read_outcome(
    record: conversation_records.User, result: blocks.ToolResult, *, was_interrupted: bool
) -> Outcome:
    """Return how the call whose `result` is in `record` ended. `was_interrupted` tells whether a
    later record marks the call's message as interrupted.
    """
    if not result.is_error:
        return INTERRUPTED if _reports_interruption(record) else SUCCESS
    text = result_text(result)
    if record.tool_denial_kind == "interrupted" or _reads_as_interrupted(text):
        return INTERRUPTED
    refusal = _refusal_by_fields(record, text) or _refusal_by_text(text)
    if refusal is None:
        return FAILED
    if refusal is RejectedBy.PERSON and was_interrupted:
        return INTERRUPTED
    return Outcome(ToolStatus.REJECTED, refusal)


def _reports_interruption(record: conversation_records.User) -> bool:
    # Most results lack this field, and searching for it is far cheaper than decoding them.
    if b'"interrupted"' not in bytes(record.tool_use_result):
        return False
    found = decoding.decode_value(record.tool_use_result, _Interrupted)
    return found is not None and found.interrupted


def _reads_as_interrupted(text: str) -> bool:
    """Return whether the text reports an interruption; that of a stopped command ends with it."""
    return any(mark in text[:_EDGE] or mark in text[-_EDGE:] for mark in _INTERRUPTED_TEXTS)


def _refusal_by_fields(record: conversation_records.User, text: str) -> RejectedBy | None:
    decision = record.permission_decision
    if decision is not None and decision.decision == "reject":
        if decision.source == "hook":
            return RejectedBy.HOOK
        is_person = (decision.source or "").startswith("user")
        return RejectedBy.PERSON if is_person else RejectedBy.RULE
    if record.tool_denial_kind == "user-rejected":
        return RejectedBy.PERSON
    if record.tool_denial_kind is not None:
        return RejectedBy.HOOK if _HOOK_TEXT.match(text) else RejectedBy.RULE
    return None


def _refusal_by_text(text: str) -> RejectedBy | None:
    if text.startswith(_PERSON_TEXTS):
        return RejectedBy.PERSON
    if _HOOK_TEXT.match(text):
        return RejectedBy.HOOK
    is_rule = text.startswith(_RULE_TEXTS) and any(
        verdict in text[:_EDGE] for verdict in ("denied", "granted")
    )
    return RejectedBy.RULE if is_rule else None


class SpilledOutput(Struct, frozen=True):
    """The path of the output, its size, and the part of it that the client kept."""

    recorded_path: str
    size: int | None
    preview: str


class _Persisted(Struct, frozen=True, rename="camel"):
    persisted_output_path: str | None = None
    persisted_output_size: int | None = None


_MARK = "<persisted-output>"
_PATH = re.compile(r"Full output saved to: (.+?)(?:\n|\Z)")
_PREVIEW = re.compile(r"Preview \(first [^)\n]{1,40}\):\n")
_END = "</persisted-output>"
_ELLIPSIS = "\n..."


def find_spilled(text: str, raw_result: Raw) -> SpilledOutput | None:
    """Return where the full output of a tool result is; None if the result is complete."""
    if not text.lstrip().startswith(_MARK):
        return None
    named = _PATH.search(text)
    found = decoding.decode_value(raw_result, _Persisted) or _Persisted()
    path = found.persisted_output_path or (named[1].strip() if named else None)
    if path is None:
        return None
    preview = _PREVIEW.search(text)
    kept = text[preview.end() :] if preview else ""
    kept = kept.rstrip().removesuffix(_END).removesuffix("\n").removesuffix(_ELLIPSIS)
    return SpilledOutput(path, found.persisted_output_size, kept)


class ToolCall(Struct, frozen=True, kw_only=True):
    """One tool call, with its result if there is one."""

    id: str
    name: str
    """The tool's current name; old names are aliases."""
    recorded_name: str
    raw_input: Raw
    message_id: str
    call_uuid: str | None
    mcp_server: str | None = None
    mcp_tool: str | None = None
    """Its name on that server."""
    result_uuid: str | None = None
    status: ToolStatus = ToolStatus.PENDING
    rejected_by: RejectedBy | None = None
    block: blocks.ToolResult | blocks.ServerToolResult | None = None
    raw_result: Raw = Raw()
    started: str | None = None
    ended: str | None = None
    is_lost: bool = False
    """Whether the conversation has continued without a result, so that there will be none."""

    def parse(self) -> "CallContents":
        """Return its input and result at once."""
        raw_result = None if self.block is None else self.raw_result
        given, result = tools.parse_call(self.recorded_name, self.raw_input, raw_result)
        text = self.text
        return CallContents(given, result, text, find_spilled(text, self.raw_result))

    @property
    def input(self) -> tools.ToolInput:
        """Its input, as the type of its tool."""
        return tools.parse_input(self.recorded_name, self.raw_input)

    @property
    def result(self) -> tools.ToolOutput | None:
        """The result for the client, as the type of its tool; None while it is pending."""
        if self.block is None:
            return None
        return tools.parse_result(self.recorded_name, self.raw_result)

    @property
    def text(self) -> str:
        """The text of the result that the model saw."""
        return result_text(self.block) if isinstance(self.block, blocks.ToolResult) else ""

    @property
    def spilled(self) -> SpilledOutput | None:
        """Where the whole output is, if it was too large for the transcript."""
        return find_spilled(self.text, self.raw_result)

    @property
    def duration_ms(self) -> float | None:
        """Milliseconds from the call to its result, including the wait for permission."""
        return milliseconds_between(self.started, self.ended)


class CallContents(Struct, frozen=True):
    """The input and the result of a call, parsed; `text` is what the model saw."""

    input: tools.ToolInput
    result: tools.ToolOutput | None
    text: str
    spilled: SpilledOutput | None


class _ServerError(Struct, frozen=True):
    error_code: str | None = None


class _Answer(Struct, frozen=True):
    record: conversation_records.User | conversation_records.Assistant
    block: blocks.ToolResult | blocks.ServerToolResult


def build_tool_calls(
    chain: Sequence[envelope.Chain],
) -> tuple[tuple[ToolCall, ...], tuple[str, ...]]:
    """Return the calls of `chain` in file order, and the ids of results without a call in it."""
    answers, interrupted = _collect_answers(chain)
    last_prompt = _last_prompt_place(chain)
    calls: dict[str, ToolCall] = {}
    for place, link in enumerate(chain):
        if not isinstance(link, conversation_records.Assistant) or link.message is None:
            continue
        for block in list_blocks(link.message.content):
            if isinstance(block, blocks.ToolUse | blocks.ServerToolUseBlock | blocks.McpToolUse):
                is_cut = bool(link.message.id) and link.message.id in interrupted
                call = _make_call(link, block, answers.get(block.id), is_cut=is_cut)
                is_lost = call.status is ToolStatus.PENDING and place < last_prompt
                call = structs.replace(call, is_lost=True) if is_lost else call
                calls.setdefault(block.id or f"#{len(calls)}", call)
    orphans = tuple(answer for answer in answers if answer not in calls)
    return tuple(calls.values()), orphans


def _collect_answers(chain: Iterable[envelope.Chain]) -> tuple[dict[str, _Answer], set[str]]:
    """Return the results by the id of their call, and the messages that were interrupted."""
    answers: dict[str, _Answer] = {}
    interrupted: set[str] = set()
    for link in chain:
        if isinstance(link, conversation_records.User) and link.message is not None:
            for result in iter_tool_results(link.message.content):
                answers[result.tool_use_id] = _Answer(link, result)
            if link.interrupted_message_id:
                interrupted.add(link.interrupted_message_id)
        elif isinstance(link, conversation_records.Assistant) and link.message is not None:
            for block in list_blocks(link.message.content):
                if isinstance(block, blocks.ServerToolResult):
                    answers[block.tool_use_id] = _Answer(link, block)
    return answers, interrupted


def _last_prompt_place(chain: Sequence[envelope.Chain]) -> int:
    """Return the position of the last record before the tool use of the running turn."""
    for place in range(len(chain) - 1, -1, -1):
        link = chain[place]
        if isinstance(link, conversation_records.User) and link.message and not link.is_meta:
            if not any(iter_tool_results(link.message.content)):
                return place
        elif (
            isinstance(link, conversation_records.Assistant)
            and link.message
            and link.message.stop_reason == "end_turn"
        ):
            return place
    return -1


def _make_call(
    link: conversation_records.Assistant,
    block: blocks.ToolUse | blocks.ServerToolUseBlock | blocks.McpToolUse,
    answer: _Answer | None,
    *,
    is_cut: bool,
) -> ToolCall:
    name = tools.read_tool_name(block.name)
    call = ToolCall(
        id=block.id,
        name=name.current,
        recorded_name=block.name,
        mcp_server=name.server,
        mcp_tool=name.tool,
        raw_input=block.input,
        message_id=(link.message.id if link.message else None) or link.uuid or "",
        call_uuid=link.uuid,
        started=link.timestamp,
    )
    if answer is None:
        return call
    record, outcome = answer.record, _read_answer(answer, is_cut=is_cut)
    return structs.replace(
        call,
        result_uuid=record.uuid,
        status=outcome.status,
        rejected_by=outcome.rejected_by,
        block=answer.block,
        raw_result=record.tool_use_result
        if isinstance(record, conversation_records.User)
        else Raw(),
        ended=record.timestamp,
    )


def _read_answer(answer: _Answer, *, is_cut: bool) -> Outcome:
    match answer:
        case _Answer(
            record=conversation_records.User() as record, block=blocks.ToolResult() as block
        ):
            return read_outcome(record, block, was_interrupted=is_cut)
        case _Answer(block=blocks.McpToolResult(is_error=is_error)):
            return FAILED if is_error else SUCCESS
        case _Answer(block=blocks.ServerToolResult(content=content)):
            return FAILED if _names_error(content) else SUCCESS
    return SUCCESS


def _names_error(content: Raw) -> bool:
    """Return whether the body of a server tool's result is an error object instead of a list."""
    if bytes(content)[:1] != b"{":
        return False
    found = decoding.decode_value(content, _ServerError)
    return found is not None and found.error_code is not None
