"""One line of bytes → one record, typed at once or mended first.

Three steps, each only for what the one before refused: the typed decoder; the same decoder on
repaired text; the same types filled part by part. Bytes that are no JSON come back as None.
"""

from typing import Any, NamedTuple, TypeVar, cast

import msgspec
from msgspec import Raw
from msgspec.structs import force_setattr

from recollect.records import journal, progress, state
from recollect.records.attachments import Attachment
from recollect.records.conversation import Assistant, User
from recollect.records.envelope import Record
from recollect.records.fitting import Misfit, fit
from recollect.records.irregular import Unknown
from recollect.records.repair import repair
from recollect.records.span import Span
from recollect.records.system import SYSTEM_SUBTYPES, System

AnyRecord = (
    User
    | Assistant
    | System
    | Attachment
    | progress.Progress
    | progress.SavedHookContext
    | state.Summary
    | state.QueueOperation
    | state.FileHistorySnapshot
    | state.FileHistoryDelta
    | state.CustomTitle
    | state.AiTitle
    | state.Tag
    | state.LastPrompt
    | state.AgentName
    | state.AgentColor
    | state.AgentSetting
    | state.Mode
    | state.PermissionMode
    | state.WorktreeState
    | state.PrLink
    | state.Relocated
    | state.ContinuedIn
    | state.ContentReplacement
    | state.ForkContextRef
    | state.BridgeSession
    | state.FrameLink
    | state.CostState
    | state.ToolsUsed
    | state.AtisLatch
    | state.IsolationLatch
    | state.MemoryMode
    | state.HistorySuppression
    | state.EndedByModel
    | state.SpeculationAccept
    | state.ArtifactCommentMonitor
    | state.ArtifactAutoreactLedger
    | state.DevMods
    | state.ObserverRef
    | state.AttributionSnapshot
    | state.MarbleOrigamiCommit
    | state.MarbleOrigamiSnapshot
    | state.MarbleOrigamiReset
    | state.AgentMetadata
    | state.ApiRequestShape
    | state.ApiRequestBlob
    | state.ApiRequest
    | journal.JournalLaunched
    | journal.JournalStarted
    | journal.JournalResult
    | journal.JournalFailed
    | Unknown
)
"""Every record that a line can be; damaged, torn, blank and oversized lines have classes apart."""

T = TypeVar("T")

_decode = msgspec.json.Decoder(AnyRecord).decode
_decode_subtype = {
    name: msgspec.json.Decoder(subtype).decode for name, subtype in SYSTEM_SUBTYPES.items()
}
REFUSED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What the typed decoder raises for a line that needs the slower steps."""


class Vocabulary(NamedTuple):
    """What a line can be: a union, and the classes that stand behind a `subtype` of `system`."""

    union: Any
    system: Any
    subtypes: dict[str, Any]
    unknown: Any


_RECORDS = Vocabulary(AnyRecord, System, SYSTEM_SUBTYPES, Unknown)


def decode_record(line: bytes, span: Span | None = None) -> Record | None:
    """The record on `line`, which is one line without its end; None when it is not JSON."""
    try:
        record: Record = _decode(line)
        if type(record) is System and record.subtype in _decode_subtype:
            record = _decode_subtype[record.subtype](line)
    except REFUSED:
        found: Record | None = decode_slowly(line, _RECORDS, [])
        if found is None:
            return None
        record = found
    # The record is not shared yet, so that setting a field of a frozen value is still building it.
    force_setattr(record, "span", span)
    return record


def find_misfits(line: bytes) -> tuple[str, ...]:
    """Names of the fields on `line` whose value has a shape that their type does not know."""
    misfits: list[str] = []
    decode_slowly(line, _RECORDS, misfits)
    return tuple(misfits)


def decode_value(raw: Raw | bytes, wanted: type[T]) -> T | None:
    """The value in `raw` as `wanted`, part by part where needed; None when it cannot be one."""
    try:
        return msgspec.json.decode(raw, type=wanted)
    except REFUSED:
        repaired = repair(bytes(raw))
    if not _is_json(repaired):
        return None
    try:
        return cast(T, fit(repaired, wanted, "", []))
    except Misfit:
        return None


def decode_slowly(line: bytes, vocabulary: Vocabulary, misfits: list[str]) -> Any:
    """The value on `line` by repair and part by part, or None; fields that do not fit are named."""
    repaired = repair(line)
    if not _is_json(repaired):
        return None
    try:
        value = fit(repaired, vocabulary.union, "", misfits)
        if type(value) is vocabulary.system and value.subtype in vocabulary.subtypes:
            misfits.clear()
            value = fit(repaired, vocabulary.subtypes[value.subtype], "", misfits)
    except Misfit:
        return vocabulary.unknown(raw=Raw(repaired))
    return value


def _is_json(text: bytes) -> bool:
    try:
        msgspec.json.decode(text, type=Raw)
    except REFUSED:
        return False
    return True
