"""How a tool call ended, read from its result.

The newest clients say it in fields; for the others the words of the result are the only witness.
A tool that was stopped while it ran and one that the person refused read the same in headless
runs of 2.1.325: there both are rejections, as the client itself says.
"""

import re
from enum import StrEnum

from msgspec import Struct

from recollect.records.blocks import ToolResult
from recollect.records.conversation import User
from recollect.records.decoding import decode_value
from recollect.session.content import result_text


class ToolStatus(StrEnum):
    """How far a tool call came."""

    PENDING = "pending"
    SUCCESS = "success"
    FAILED = "failed"
    REJECTED = "rejected"
    INTERRUPTED = "interrupted"


class RejectedBy(StrEnum):
    """Who did not let a tool run."""

    PERSON = "person"
    RULE = "rule"
    HOOK = "hook"


class Outcome(Struct, frozen=True):
    """The status of a call, and who refused it if somebody did."""

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
"""Characters at both ends of a result in which its verdict is looked for."""


def read_outcome(record: User, result: ToolResult, *, was_interrupted: bool) -> Outcome:
    """How the call ended that `result` on `record` answers.

    `was_interrupted` tells that a later record names the call's message as the one it cut.
    """
    if not result.is_error:
        return INTERRUPTED if _says_interrupted(record) else SUCCESS
    text = result_text(result)
    if record.tool_denial_kind == "interrupted" or _reads_as_interrupted(text):
        return INTERRUPTED
    refusal = _refusal_by_fields(record, text) or _refusal_by_text(text)
    if refusal is None:
        return FAILED
    if refusal is RejectedBy.PERSON and was_interrupted:
        return INTERRUPTED
    return Outcome(ToolStatus.REJECTED, refusal)


def _says_interrupted(record: User) -> bool:
    # Most results have no such field, and searching for it is far cheaper than decoding them.
    if b'"interrupted"' not in bytes(record.tool_use_result):
        return False
    found = decode_value(record.tool_use_result, _Interrupted)
    return found is not None and found.interrupted


def _reads_as_interrupted(text: str) -> bool:
    """A stopped command ends with the note if it had said something before."""
    return any(mark in text[:_EDGE] or mark in text[-_EDGE:] for mark in _INTERRUPTED_TEXTS)


def _refusal_by_fields(record: User, text: str) -> RejectedBy | None:
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
