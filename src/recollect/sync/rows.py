"""Lines of a file → one row a message: its largest usage, its earliest time and all its tools.

This runs for every assistant line there is, so it is written for speed: most lines repeat the one
before, and of those little more than two numbers is looked at.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import PurePath
from typing import TypeVar

import msgspec
from msgspec import Raw
from msgspec.structs import astuple, replace

from recollect.records.conversation import (
    SYNTHETIC_MODEL,
    AssistantUsage,
    BlockHead,
    MessageUsage,
)
from recollect.records.tokens import Tokens, split_usage
from recollect.records.usage import Iteration, Usage
from recollect.session.times import parse_time
from recollect.sync.costs import DAY_MS, Costs, join_terms

LARGEST = 2**40 - 1
"""Far more tokens than a message can have: a larger number is damage, and counts as none."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_USUAL_TIME = len("2026-11-15T12:00:00.000Z")
T = TypeVar("T", Usage, Iteration)
LineKey = tuple[str, str | None, str | None]
"""Message, request and model: what the lines of one message in one file have in common."""

_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
)


class MessageRow(Tokens, frozen=True, gc=False, array_like=True, kw_only=True):
    """A message as one file tells it: the union of its lines there."""

    late_5m: int
    """Cache writes that only the split by lifetime tells of; they count in the largest copy."""
    late_1h: int
    usage: bytes | None
    """The usage as JSON where more requests were billed, because tokens do not tell that cost."""
    cost: int | None
    """Micro-dollars, None when the price is not known."""
    time: int | None
    """Milliseconds since 1970."""
    is_sidechain: bool
    is_copy: bool
    """Whether it says itself that it was copied from another session."""
    position: int
    """Offset of its first line."""
    message_id: str
    request_id: str | None
    model: str | None
    branch: str | None
    version: str | None
    entrypoint: str | None
    cwd: str | None
    tools: str
    """Names of the tools that it calls, one a line, in order."""
    terms: str
    """Speed, service tier and geography, which change the price."""

    @property
    def key(self) -> LineKey:
        """What its lines have in common."""
        return self.message_id, self.request_id, self.model


class Lines:
    """The lines of one message in one file, while they are being read."""

    __slots__ = ("best", "model", "position", "request_id", "text", "time", "tools", "usage")

    def __init__(self, record: AssistantUsage, model: str | None, usage: Usage) -> None:
        self.best = record
        self.usage = usage
        self.request_id = record.request_id
        self.model = model
        self.position = record.span.offset if record.span else 0
        self.text = record.timestamp
        self.time = to_milliseconds(record.timestamp)
        self.tools: set[str] | None = None

    def add(self, record: AssistantUsage, usage: Usage) -> None:
        """Take in one more line."""
        if usage.output_tokens >= self.usage.output_tokens and self._is_larger(record, usage):
            self.best, self.usage = record, usage
        if record.timestamp != self.text and not self._is_earlier_than(record.timestamp):
            time = to_milliseconds(record.timestamp)
            if time is not None and (self.time is None or time < self.time):
                self.time, self.text = time, record.timestamp

    def add_tools(self, heads: Iterable[BlockHead]) -> None:
        """Take in the tools that a line calls."""
        for head in heads:
            if head.name:
                if self.tools is None:
                    self.tools = {head.name}
                else:
                    self.tools.add(head.name)

    def _is_larger(self, record: AssistantUsage, usage: Usage) -> bool:
        known = self.usage
        if usage.output_tokens > known.output_tokens:
            return True
        total, other = usage.total_tokens, known.total_tokens
        if total != other:
            return total > other
        return self.best.is_sidechain and not record.is_sidechain

    def _is_earlier_than(self, text: str | None) -> bool:
        """Whether that can be told from the texts: times of the usual form are ordered as they."""
        known = self.text
        return (
            text is not None
            and known is not None
            and self.time is not None
            and text > known
            and len(text) == len(known) == _USUAL_TIME
            and text[-1] == known[-1] == "Z"
        )


def gather_rows(records: Iterable[AssistantUsage], costs: Costs) -> list[MessageRow]:
    """The messages of one file, in the order of their first lines."""
    gathered: dict[str, Lines] = {}
    others: dict[LineKey, Lines] = {}
    for record in records:
        message = record.message
        if message is None or message.usage is None or message.model == SYNTHETIC_MODEL:
            continue
        usage, model = message.usage, message.model
        if not _is_sound(usage):
            usage = _mend_counts(usage)
        message_id = message.id or name_line(record)
        lines = gathered.get(message_id)
        if lines is None:
            gathered[message_id] = lines = Lines(record, model, usage)
        elif lines.request_id == record.request_id and lines.model == model:
            lines.add(record, usage)
        else:
            lines = _add_apart(others, find_key(record, message), record, usage)
        if message.content.__class__ is tuple:
            lines.add_tools(message.content)
    rows = [_make_row(message_id, lines, costs) for message_id, lines in gathered.items()]
    rows += [_make_row(key[0], lines, costs) for key, lines in others.items()]
    return sorted(rows, key=lambda row: row.position) if others else rows


def name_line(record: AssistantUsage) -> str:
    """What a message without an id goes by: its record, or else the place of its line.

    The folder is left out, because it may be moved.
    """
    if record.uuid:
        return record.uuid
    span = record.span
    return f"{PurePath(span.file).stem}:{span.offset}" if span else ""


def find_key(record: AssistantUsage, message: MessageUsage) -> LineKey:
    """Which lines this one belongs to."""
    return message.id or name_line(record), record.request_id, message.model


def to_milliseconds(text: str | None) -> int | None:
    """The time that `text` names, in whole milliseconds since 1970; None when it names none."""
    moment = parse_time(text)
    if moment is None:
        return None
    since = moment - _EPOCH
    return since.days * DAY_MS + since.seconds * 1000 + since.microseconds // 1000


def _add_apart(
    others: dict[LineKey, Lines], key: LineKey, record: AssistantUsage, usage: Usage
) -> Lines:
    """Take in a line whose id belongs to another request or model as well."""
    lines = others.get(key)
    if lines is None:
        others[key] = lines = Lines(record, key[2], usage)
    else:
        lines.add(record, usage)
    return lines


def _make_row(message_id: str, lines: Lines, costs: Costs) -> MessageRow:
    record, usage, model = lines.best, lines.usage, lines.model
    tokens = split_usage(usage)
    if tokens.web_searches > LARGEST:
        tokens = replace(tokens, web_searches=0)
    terms = join_terms(usage.speed, usage.service_tier, usage.inference_geo)
    late_5m, late_1h = _find_late(usage)
    encoded = _encode_steps(usage)
    if encoded is None:
        cost = costs.of_tokens(model, terms, tokens, lines.time)
    else:
        cost = costs.of_usage(model, encoded, lines.time, is_largest=False)
    return MessageRow(
        *astuple(tokens),
        late_5m=late_5m,
        late_1h=late_1h,
        usage=encoded,
        cost=cost,
        time=lines.time,
        is_sidechain=record.is_sidechain,
        is_copy=record.forked_from is not None,
        position=lines.position,
        message_id=message_id,
        request_id=lines.request_id,
        model=model,
        branch=record.git_branch,
        version=record.version,
        entrypoint=record.entrypoint,
        cwd=record.cwd,
        tools=_join_tools(lines.tools) if lines.tools else "",
        terms=terms,
    )


def _join_tools(names: set[str]) -> str:
    text = "\n".join(sorted(names))
    if text.count("\n") < len(names):
        return text
    return "\n".join(sorted({name.replace("\n", " ") for name in names}))


def _is_sound(usage: Usage) -> bool:
    # One `or` of all bits shows a number that is negative or too large.
    bits = usage.input_tokens | usage.output_tokens
    bits |= usage.cache_creation_input_tokens | usage.cache_read_input_tokens
    return 0 <= bits <= LARGEST


def _mend_counts(counted: T) -> T:
    return replace(counted, **{name: _mend(getattr(counted, name)) for name in _COUNTS})


def _mend(count: int) -> int:
    return count if 0 <= count <= LARGEST else 0


def _find_late(usage: Usage) -> tuple[int, int]:
    split = usage.cache_creation
    if split is None or usage.cache_creation_input_tokens:
        return 0, 0
    return _mend(split.ephemeral_5m_input_tokens), _mend(split.ephemeral_1h_input_tokens)


def _encode_steps(usage: Usage) -> bytes | None:
    """The usage as JSON if steps of other models or advisors were billed with it."""
    steps = usage.iterations
    if not steps or (len(steps) == 1 and steps[0].type == "message"):
        return None
    mended = tuple(map(_mend_counts, steps))
    return msgspec.json.encode(replace(usage, iterations=mended, fallback_credit=Raw(b"null")))
