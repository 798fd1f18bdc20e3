"""The one stage that every export passes through: texts are masked, and what is written is scanned.

Records are masked when a session is opened for an export: `Exporter.open_masked`. The views of a
session are masked too, with personal data, which records keep, and with files beside the session.

Secrets are looked for in all turns before the first one is written, because a value may be
recognisable only in a later one, or in one that is not exported at all. The finished bytes are
scanned once more. What is found only there, in an id or where markup has brought two texts
together, is masked in the bytes.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Any, Final, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from recollect.documents.turns import Fields, Picture
from recollect.errors import RecollectError
from recollect.export.record_masks import RecordMask
from recollect.redact import RedactionPolicy, Redactor

T = TypeVar("T", bound=Struct)

_SEPARATOR: Final = "\n\n"
_TAG: Final = re.compile(r"\[redacted:([a-z0-9-]+)#\d+\\?\]")
_SPAN: Final = re.compile(r"</?span[^>]*>")
_IDS: Final = frozenset(
    "uuid uuids message_id call_id result_uuid timestamp start end agent_id media_type".split()
)
"""Fields that are not scanned as texts; the second scan covers them."""


class Mask:
    """Masks the secrets of one export; without a policy nothing is masked."""

    def __init__(self, policy: RedactionPolicy | None) -> None:
        """Start with nothing masked."""
        self._redactor = Redactor(policy) if policy is not None else None
        self.records = RecordMask(self._redactor) if self._redactor is not None else None
        """What masks records while they are decoded."""
        self._written: Counter[str] = Counter()

    @property
    def is_on(self) -> bool:
        """Whether anything is masked at all."""
        return self._redactor is not None

    @property
    def counts(self) -> Mapping[str, int]:
        """How many places are masked in what was checked, by kind."""
        return self._written

    def learn(self, document: Struct) -> bool:
        """Remember the secrets of a document; return whether it has any."""
        if self._redactor is None:
            return False
        return bool(self._redactor.learn(join_texts(document)))

    def apply(self, document: T, *, is_clean: bool = False) -> T:
        """Return a document with its texts masked; a clean one holds no secrets of its own."""
        redactor = self._redactor
        if redactor is None:
            return document
        if is_clean and not (redactor.is_aware and redactor.has_known(join_texts(document))):
            return document
        return _mask_struct(document, redactor)

    def text(self, text: str) -> str:
        """Return a text masked."""
        return text if self._redactor is None else self._redactor.redact(text)

    def check(self, written: str) -> str:
        """Return what is about to be written, after the second scan."""
        redactor = self._redactor
        if redactor is None:
            return written
        masked = written
        if redactor.verify(written):
            masked = redactor.redact(written)
            if redactor.verify(masked):
                raise RecollectError("A secret could not be masked. Nothing was written.")
        if redactor.counts:
            # Highlighting may put markup between the characters of a tag.
            self._written.update(_TAG.findall(_SPAN.sub("", masked)))
        return masked


def join_texts(document: Struct) -> str:
    """Return all texts of a document as one, to be scanned at once."""
    return _SEPARATOR.join(list_texts(document))


def list_texts(value: object) -> list[str]:
    """Return the texts of a document, each name together with its value."""
    found: list[str] = []
    _collect(value, found)
    return found


def _collect(value: object, found: list[str]) -> None:
    # By exact type, and into one list: a long session has a million values.
    kind = type(value)
    if kind is str:
        if value:
            found.append(cast(str, value))
    elif kind is tuple:
        for each in cast(tuple[object, ...], value):
            _collect(each, found)
    elif kind is Fields:
        found += [_join_field(name, text) for name, text in cast(Fields, value).fields]
    elif isinstance(value, Struct):
        for name in _find_fields(cast(Any, kind)):
            _collect(getattr(value, name), found)


@cache
def _find_fields(kind: Any) -> tuple[str, ...]:
    """Return the fields of a class of documents that are scanned."""
    return tuple(name for name in kind.__struct_fields__ if name not in _IDS)


def _mask_value(value: Any, redactor: Redactor) -> Any:
    match value:
        case str():
            return value if isinstance(value, Enum) or not value else redactor.redact(value)
        case Struct():
            return _mask_struct(value, redactor)
        case tuple():
            return tuple([_mask_value(each, redactor) for each in value])
    return value


def _mask_struct(document: T, redactor: Redactor) -> T:
    if isinstance(document, Fields):
        return replace(document, fields=tuple(_mask_fields(document.fields, redactor)))
    if isinstance(document, Picture) and redactor.verify(document.data):
        # Part of an image is no image; what looks like one may be a text in base64.
        document = replace(document, data="")
    changed = {}
    for name in document.__struct_fields__:
        if name in _IDS:
            continue
        value = getattr(document, name)
        masked = _mask_value(value, redactor)
        if masked != value:
            changed[name] = masked
    return replace(document, **changed) if changed else document


def _mask_fields(
    fields: Iterable[tuple[str, str]], redactor: Redactor
) -> Iterator[tuple[str, str]]:
    for name, value in fields:
        joined = _join_field(name, value)
        masked = redactor.redact(joined)
        if masked == joined:
            yield name, value
            continue
        start = _join_field(name, "")
        is_in_value = masked.startswith(start)
        yield (name, masked.removeprefix(start)) if is_in_value else ("", masked)


def _join_field(name: str, value: str) -> str:
    """Return a named value as it would be assigned: the name says that the value is a secret."""
    return f"{name}: {value}"
