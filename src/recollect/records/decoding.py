"""Decode one line into a record, leniently if needed.

Each step handles only what the previous one rejected: the typed decoder; the same decoder on
repaired text; the same types filled field by field. Repairing replaces what JavaScript or broken
writers produce: lone surrogates, control characters, NaN, invalid UTF-8, endless nesting. Filling
field by field gives a value of the wrong type its default and reports it, and an unknown type
becomes the `Unknown…` member of its union. Recursion follows the types, never the data. The
original bytes are available through the span.
"""

from __future__ import annotations

import re
import types
from functools import cache
from typing import Any, NamedTuple, TypeVar, Union, cast, get_args, get_origin

import msgspec

from recollect.records import state, system_records
from recollect.records.attachments import Attachment
from recollect.records.conversation_records import Assistant, User
from recollect.records.envelope import REFUSED, Record, Span, StreamLine, Unknown
from recollect.records.system_records import SYSTEM_SUBTYPES, System

MAX_DEPTH = 512
"""Maximum nesting depth; deeper values become null."""

MAX_DIGITS = 4000
"""Longer integers become strings, because Python refuses to convert them."""

# Few lines need these, and `re` compiles them once, when they are first used.
_TOKEN = (
    r'(?s)"[^"\\]*+(?:\\.[^"\\]*+)*+"?'  # a string; the last one may be unterminated
    r"|[\[\]{}]"
    r"|-?(?:NaN|Infinity)"
    r"|-?\d[\d.eE+-]*+"
)
# Starts with literal characters, so that the rest of a long string is skipped quickly.
_SURROGATE = (
    r"\\u(?:([dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_CONTROL = r"[\x00-\x1f]"


def repair(line: bytes) -> bytes:
    """Return a line as strict JSON in UTF-8; if it is not JSON at all, the result is not either."""
    text = line.decode("utf-8", "replace")
    return _flatten(re.sub(_TOKEN, _repair_token, text)).encode("utf-8", "replace")


def _repair_token(match: re.Match[str]) -> str:
    token = match.group()
    if token[0] == '"':
        return _repair_string(token)
    if token[-1] in "Ny":
        return "null"
    if len(token) > MAX_DIGITS and token.lstrip("-").isdecimal():
        return f'"{token}"'
    return token


def _repair_string(token: str) -> str:
    if "\\u" in token:
        token = re.sub(_SURROGATE, _repair_escape, token)
    return re.sub(_CONTROL, _escape_control, token)


def _repair_escape(match: re.Match[str]) -> str:
    start = before = match.start()
    while before and match.string[before - 1] == "\\":
        before -= 1
    is_text = (start - before) % 2
    return match.group() if match[1] or is_text else "\\ufffd"


def _escape_control(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"


def _flatten(text: str) -> str:
    """Replace values nested deeper than `MAX_DEPTH` with null."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return text
    parts: list[str] = []
    depth = kept_to = 0
    for match in re.finditer(_TOKEN, text):
        token = match.group()
        if token in "[{":
            depth += 1
            if depth == MAX_DEPTH + 1:
                parts.append(text[kept_to : match.start()])
        elif token in "]}":
            depth -= 1
            if depth == MAX_DEPTH:
                parts.append("null")
                kept_to = match.end()
    return "".join(parts) + text[kept_to:] if depth <= MAX_DEPTH else text


_UNKNOWN_TAGS = ("<unknown>", "<other>")
UNKNOWN_FIELDS = {"block_type", "kind", "record_type"}
"""Fields in which the `Unknown…` classes keep the unknown tag."""


class TypeMismatch(Exception):
    """Internal: a value does not have the expected type at all."""


def fit(raw: msgspec.Raw | bytes, wanted: Any, path: str, misfits: list[str]) -> Any:
    """Decode `raw` leniently as `wanted`; adds the names of fields of the wrong type to `misfits`.

    Raises `TypeMismatch` if not even the outermost type is right.
    """
    try:
        return make_decoder(wanted).decode(raw)
    except (msgspec.ValidationError, RecursionError):
        return _fit_parts(raw, wanted, path, misfits)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise TypeMismatch(path) from None


@cache
def make_decoder(wanted: Any) -> msgspec.json.Decoder[Any]:
    """Return the decoder for a type, made once."""
    return msgspec.json.Decoder(wanted)


class _Alternatives(NamedTuple):
    """What a type allows, by how its JSON begins."""

    item: Any
    """The type of the items of an array; None if there must be none."""
    value: Any
    """The type of the values of an object that is a dict."""
    tag_field: str | None
    by_tag: dict[str | int, Any]
    """Structs by their tag."""
    untagged: Any
    unknown: Any
    """The `Unknown…` struct."""

    @property
    def has_structs(self) -> bool:
        return bool(self.by_tag) or self.untagged is not None


def _fit_parts(raw: msgspec.Raw | bytes, wanted: Any, path: str, misfits: list[str]) -> Any:
    first = bytes(raw).lstrip()[:1]
    allowed = _find_alternatives(wanted)
    if first == b"[" and allowed.item is not None:
        return _fit_tuple(raw, allowed.item, path, misfits)
    if first == b"{" and allowed.value is not None:
        return _fit_dict(raw, allowed.value, path, misfits)
    if first == b"{" and allowed.has_structs:
        return _fit_struct(raw, allowed, path, misfits)
    raise TypeMismatch(path)


@cache
def _find_alternatives(wanted: Any) -> _Alternatives:
    is_union = get_origin(wanted) in (Union, types.UnionType)
    members = get_args(wanted) if is_union else (wanted,)
    # Structs of a union all have a tag, in the same field; one outside a union may have none.
    structs = [member for member in members if isinstance(member, type(msgspec.Struct))]
    configs = {struct: struct.__struct_config__ for struct in structs}
    by_tag = {config.tag: struct for struct, config in configs.items() if config.tag is not None}
    return _Alternatives(
        item=next((get_args(each)[0] for each in members if get_origin(each) is tuple), None),
        value=next((get_args(each)[1] for each in members if get_origin(each) is dict), None),
        tag_field=next((config.tag_field for config in configs.values()), None),
        by_tag=by_tag,
        untagged=next((struct for struct in structs if configs[struct].tag is None), None),
        unknown=next((by_tag[tag] for tag in _UNKNOWN_TAGS if tag in by_tag), None),
    )


def _fit_tuple(
    raw: msgspec.Raw | bytes, item: Any, path: str, misfits: list[str]
) -> tuple[Any, ...]:
    values = []
    unknown = _find_alternatives(item).unknown
    for number, part in enumerate(msgspec.json.decode(raw, type=list[msgspec.Raw])):
        try:
            values.append(fit(part, item, f"{path}[]", misfits))
        except TypeMismatch:
            if unknown is None:
                misfits.append(f"{path}[{number}]")
            else:
                values.append(unknown(raw=part))
    return tuple(values)


def _fit_dict(raw: msgspec.Raw | bytes, item: Any, path: str, misfits: list[str]) -> dict[str, Any]:
    values = {}
    for key, part in msgspec.json.decode(raw, type=dict[str, msgspec.Raw]).items():
        try:
            values[key] = fit(part, item, f"{path}.*", misfits)
        except TypeMismatch:
            misfits.append(f"{path}.*")
    return values


def _fit_struct(
    raw: msgspec.Raw | bytes, allowed: _Alternatives, path: str, misfits: list[str]
) -> Any:
    parts = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    tag = _read_tag(parts, allowed.tag_field)
    wanted = allowed.untagged or allowed.by_tag.get(tag or "") or allowed.unknown
    if wanted is None:
        raise TypeMismatch("type")
    values: dict[str, Any] = {}
    for info in _fields(wanted):
        part = parts.get(info.encode_name)
        if part is None:
            continue
        name = f"{path}.{info.encode_name}" if path else info.encode_name
        try:
            values[info.name] = fit(part, info.type, name, misfits)
        except TypeMismatch:
            misfits.append(name)
    if wanted is allowed.unknown:
        values["raw"] = msgspec.Raw(bytes(raw))
        values.update(dict.fromkeys(_list_tag_fields(wanted), tag))
    if any(info.required and info.name not in values for info in _fields(wanted)):
        raise TypeMismatch(path)
    return wanted(**values)


@cache
def _fields(struct: Any) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(struct)


def _read_tag(parts: dict[str, msgspec.Raw], field: str | None) -> str | None:
    tag = parts.get(field or "")
    if tag is None:
        return None
    try:
        return msgspec.json.decode(tag, type=str)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _list_tag_fields(struct: Any) -> list[str]:
    return [name for name in struct.__struct_fields__ if name in UNKNOWN_FIELDS]


AnyRecord = (
    User
    | Assistant
    | System
    | Attachment
    | system_records.Progress
    | system_records.SavedHookContext
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
    | state.JournalLaunched
    | state.JournalStarted
    | state.JournalResult
    | state.JournalFailed
    | Unknown
)
"""All records with a class, except those of damaged, torn, blank and oversized lines."""

T = TypeVar("T")

_decode = msgspec.json.Decoder(AnyRecord).decode
_SHARED_WITH_STREAM = frozenset({System, state.JournalResult})
"""Classes of lines that also occur in a stream."""


class Vocabulary(NamedTuple):
    """The classes of a line: a union, and the classes of `system` subtypes."""

    union: Any
    system: Any
    subtypes: dict[str, Any]
    unknown: Any


_RECORDS = Vocabulary(AnyRecord, System, SYSTEM_SUBTYPES, Unknown)


def decode_record(line: bytes, span: Span | None = None) -> Record | None:
    """Decode a line without its newline; None if it is not JSON."""
    try:
        record: Record = _decode(line)
        if type(record) is System and record.subtype in SYSTEM_SUBTYPES:
            record = make_decoder(SYSTEM_SUBTYPES[record.subtype]).decode(line)
    except REFUSED:
        found: Record | None = decode_slowly(line, _RECORDS, [])
        if found is None:
            return None
        record = found
    if type(record) in _SHARED_WITH_STREAM and _is_stream_message(record):
        record = _make_stream_line(line)
    # The record is not shared yet, so setting a field of a frozen struct is still construction.
    msgspec.structs.force_setattr(record, "span", span)
    return record


def _is_stream_message(record: Record) -> bool:
    """Return whether a record is a stream message; `result` is also a type of workflow journals."""
    if isinstance(record, state.JournalResult):
        return record.key is None and record.agent_id is None
    return isinstance(record, System) and record.subtype == "init"


class _StreamEnvelope(msgspec.Struct, frozen=True):
    """The envelope of a stream message."""

    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    session_id: str | None = None
    timestamp: str | None = None
    cwd: str | None = None


def _make_stream_line(line: bytes) -> StreamLine:
    envelope = decode_value(line, _StreamEnvelope) or _StreamEnvelope()
    return StreamLine(
        uuid=envelope.uuid,
        session_id=envelope.session_id,
        timestamp=envelope.timestamp,
        cwd=envelope.cwd,
        record_type=envelope.type,
        subtype=envelope.subtype,
        raw=msgspec.Raw(repair(line)),
    )


def find_misfits(line: bytes) -> tuple[str, ...]:
    """Return the fields of a line whose values do not have the declared type."""
    misfits: list[str] = []
    decode_slowly(line, _RECORDS, misfits)
    return tuple(misfits)


def decode_value(raw: msgspec.Raw | bytes, wanted: type[T]) -> T | None:
    """Decode a value leniently as `wanted`; None if that is not possible."""
    try:
        return msgspec.json.decode(raw, type=wanted)
    except REFUSED:
        repaired = repair(bytes(raw))
    if not _is_json(repaired):
        return None
    try:
        return cast(T, fit(repaired, wanted, "", []))
    except TypeMismatch:
        return None


def decode_slowly(line: bytes, vocabulary: Vocabulary, misfits: list[str]) -> Any:
    """Repair and decode a line leniently; None if it is not JSON. Adds bad fields to `misfits`."""
    repaired = repair(line)
    if not _is_json(repaired):
        return None
    try:
        value = fit(repaired, vocabulary.union, "", misfits)
        if type(value) is vocabulary.system and value.subtype in vocabulary.subtypes:
            misfits.clear()
            value = fit(repaired, vocabulary.subtypes[value.subtype], "", misfits)
    except TypeMismatch:
        return vocabulary.unknown(raw=msgspec.Raw(repaired))
    return value


def _is_json(text: bytes) -> bool:
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except REFUSED:
        return False
    return True
