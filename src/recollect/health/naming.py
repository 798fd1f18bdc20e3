"""Names for a report: of records, of client versions, of fields.

A name out of a file is content until proven otherwise: anybody can write a secret where a type or
a key belongs. So only what looks like an identifier is repeated; the rest is counted as odd.
"""

import re

from msgspec import Struct

from recollect.records.attachments import Attachment
from recollect.records.attachments.kinds import OtherAttachment
from recollect.records.irregular import Unknown
from recollect.records.progress import OtherProgress, Progress
from recollect.records.stream.envelope import UnknownMessage
from recollect.records.stream.result import Result
from recollect.records.stream.system import SystemMessage
from recollect.records.system import System

ODD_NAME = "(odd name)"
NO_TYPE = "(no type)"

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)
_VERSION = re.compile(r"[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,6}[A-Za-z0-9.+-]{0,24}", re.ASCII)
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z")


def safe_name(name: str) -> str:
    """`name` if it looks like an identifier."""
    return name if _IDENTIFIER.fullmatch(name) else ODD_NAME


def safe_version(version: str) -> str:
    """`version` if it looks like the version of a client."""
    return version if _VERSION.fullmatch(version) else ODD_NAME


def is_time(text: str) -> bool:
    """Whether `text` is a time as clients write it, so that text order is time order."""
    return _TIME.fullmatch(text) is not None


def name_record(record: Struct) -> str:
    """What a transcript's record is counted as: its type, with its subtype or kind."""
    match record:
        case Unknown():
            return NO_TYPE if record.record_type is None else safe_name(record.record_type)
        case System():
            return _join("system", record.subtype)
        case Attachment():
            return _join("attachment", _kind_of(record.attachment))
        case Progress():
            return _join("progress", _kind_of(record.data))
    return str(record.__struct_config__.tag)


def name_message(message: Struct) -> str:
    """What a stream message is counted as."""
    match message:
        case UnknownMessage():
            kind, _, subtype = (message.kind or "").partition("/")
            return _join("stream", kind or NO_TYPE, subtype or None)
        case SystemMessage() | Result():
            return _join("stream", str(message.__struct_config__.tag), message.subtype)
    return _join("stream", str(message.__struct_config__.tag))


def _kind_of(inner: Struct | None) -> str | None:
    if isinstance(inner, OtherAttachment | OtherProgress):
        return inner.kind
    return None if inner is None else str(inner.__struct_config__.tag)


def _join(first: str, *names: str | None) -> str:
    safe = [name if name == NO_TYPE else safe_name(name) for name in names if name is not None]
    return "/".join([first, *safe])
