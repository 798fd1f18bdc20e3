"""Merge the lines of a file into one row per message with its cost; and find the first time in a
transcript.

This runs for every assistant line, so it is optimised for speed: most lines repeat the previous
one, which is detected by comparing two numbers. A row has the largest usage, the earliest time and
all tools of its message.

Every cost in the index is computed here, for new lines, merged rows and changed prices alike, so
results are consistent. The price is that of the day of the message's earliest time, in UTC. The
first time in a transcript distinguishes an original from its copies: a fork starts with its own
time, before the older records that it copied. Usage and search both use it, so that they choose the
same session.
"""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import PurePath
from typing import Final, TypeVar

import msgspec

from recollect.pricing import BilledRequest, Prices
from recollect.pricing.prices import CACHE_SIZE, Tariff, multiply_total
from recollect.quantities import MICRO
from recollect.records.conversation_records import SYNTHETIC_MODEL, AssistantUsage, MessageUsage
from recollect.records.token_usage import Iteration, Tokens, Usage, split_usage
from recollect.session.times import parse_time
from recollect.sources.source import SourceFile
from recollect.store.ledger_rows import MessageRow

DAY_MS = 86_400_000
MAX_COST = 2**50
"""A billion dollars in micro-dollars: anything larger is damage."""

_FIRST_DAY = date(1970, 1, 1).toordinal()
_decode_usage = msgspec.json.Decoder(Usage).decode


class Costs:
    """Costs at the list prices of the day, in micro-dollars; None if a price is not known."""

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._find_tariff = lru_cache(maxsize=CACHE_SIZE)(self._look_up)

    def of_tokens(
        self, model: str | None, terms: str, tokens: Tokens, time: int | None
    ) -> int | None:
        """Return the cost of a message with a single request."""
        tariff = self._find_tariff(model, terms, None if time is None else time // DAY_MS)
        cost = None if tariff is None else multiply_total(tokens, tariff)
        return None if cost is None else _check(cost)

    def of_usage(
        self, model: str | None, usage: bytes, time: int | None, *, is_largest: bool
    ) -> int | None:
        """Return the cost of a message with advisors or declined attempts, from its usage."""
        day = None if time is None else _name_day(time // DAY_MS)
        cost = self._prices.cost(model, _decode_usage(usage), day, is_largest=is_largest)
        return None if cost is None else _check(cost.total)

    def _look_up(self, model: str | None, terms: str, number: int | None) -> Tariff | None:
        """Return the prices of a day, given as days since 1970."""
        day = None if number is None else _name_day(number)
        return self._prices.find_tariff(BilledRequest(model, Tokens(), *split_terms(terms)), day)


def _check(cost: int) -> int | None:
    return cost if cost <= MAX_COST else None


def _name_day(number: int) -> date | None:
    try:
        return date.fromordinal(_FIRST_DAY + number)
    except (ValueError, OverflowError):
        return None


@lru_cache(maxsize=256)
def join_terms(speed: str | None, tier: str | None, geo: str | None) -> str:
    """Encode everything that affects the price of a message besides its model as one text."""
    return "|".join((text or "").replace("|", "/") for text in (speed, tier, geo))


@lru_cache(maxsize=256)
def split_terms(terms: str) -> tuple[str | None, str | None, str | None]:
    """Decode speed, service tier and geography from `terms`."""
    speed, tier, geo = terms.split("|")
    return speed or None, tier or None, geo or None


MAX_VALUE = 2**40 - 1
"""Far more tokens than a message can have: a larger number is damage, and counts as 0."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_USUAL_TIME = len("2026-11-15T12:00:00.000Z")
T = TypeVar("T", Usage, Iteration)
LineKey = tuple[str, str | None, str | None, bool]
"""The key that the lines of one message in one file share.

Message id, request id, model, and whether it is from a progress record about a subagent.
"""

_NO_USAGE = Usage()

_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
)


class Lines:
    """The lines of one message in one file, while they are being read."""

    __slots__ = (
        *("best", "client_cost", "model", "position", "request_id", "text", "time", "tools"),
        "usage",
    )

    def __init__(self, record: AssistantUsage, model: str | None, usage: Usage) -> None:
        self.best = record
        self.usage = usage
        self.client_cost = None if record.cost_usd is None else to_micro(record.cost_usd)
        self.request_id = record.request_id
        self.model = model
        self.position = record.span.offset if record.span else 0
        self.text = record.timestamp
        self.time = to_milliseconds(record.timestamp)
        self.tools: set[str] | None = None

    def add(self, record: AssistantUsage, usage: Usage) -> None:
        """Add a line."""
        if usage.output_tokens >= self.usage.output_tokens and self._is_larger(record, usage):
            self.best, self.usage = record, usage
        if record.cost_usd is not None:
            self.client_cost = max_known(self.client_cost, to_micro(record.cost_usd))
        if record.timestamp != self.text and not self._is_earlier_than(record.timestamp):
            time = to_milliseconds(record.timestamp)
            if time is not None and (self.time is None or time < self.time):
                self.time, self.text = time, record.timestamp

    def add_tool(self, name: str) -> None:
        """Add a tool that a line calls."""
        if self.tools is None:
            self.tools = {name}
        else:
            self.tools.add(name)

    def _is_larger(self, record: AssistantUsage, usage: Usage) -> bool:
        known = self.usage
        if usage.output_tokens > known.output_tokens:
            return True
        # The same usage is nearly always repeated, and comparing is faster than adding.
        if (
            usage.input_tokens != known.input_tokens
            or usage.cache_read_input_tokens != known.cache_read_input_tokens
            or usage.cache_creation_input_tokens != known.cache_creation_input_tokens
        ):
            total, other = usage.total_tokens, known.total_tokens
            if total != other:
                return total > other
        return self.best.is_sidechain and not record.is_sidechain

    def _is_earlier_than(self, text: str | None) -> bool:
        """Compare times as text, which is correct for the usual format."""
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
    """Return the messages of one file, in the order of their first lines."""
    gathered: dict[str, Lines] = {}
    others: dict[LineKey, Lines] = {}
    for record in records:
        message = record.message
        if message is None or message.model == SYNTHETIC_MODEL:
            continue
        usage, model = message.usage or _NO_USAGE, message.model
        # A bitwise or of all numbers detects one that is negative or too large.
        bits = usage.input_tokens | usage.output_tokens
        bits |= usage.cache_creation_input_tokens | usage.cache_read_input_tokens
        if not 0 <= bits <= MAX_VALUE:
            usage = _sanitize_counts(usage)
        message_id = message.id or name_line(record)
        lines = gathered.get(message_id)
        if record.type == "progress":
            lines = _add_shared_id(others, find_key(record, message), record, usage)
        elif lines is None:
            gathered[message_id] = lines = Lines(record, model, usage)
        elif lines.request_id == record.request_id and lines.model == model:
            lines.add(record, usage)
        else:
            lines = _add_shared_id(others, find_key(record, message), record, usage)
        if message.content.__class__ is tuple:
            for head in message.content:
                if head.name:
                    lines.add_tool(head.name)
    rows = [_make_row(message_id, lines, costs) for message_id, lines in gathered.items()]
    rows += [_make_row(key[0], lines, costs) for key, lines in others.items()]
    return sorted(rows, key=lambda row: row.position) if others else rows


def name_line(record: AssistantUsage) -> str:
    """Return the name of a message without an id: its record, or else the offset of its line.

    The directory is left out, because it may be moved.
    """
    if record.uuid:
        return record.uuid
    span = record.span
    return f"{PurePath(span.file).stem}:{span.offset}" if span else ""


def find_key(record: AssistantUsage, message: MessageUsage) -> LineKey:
    """Return the key of the message that a line belongs to."""
    name = message.id or name_line(record)
    return name, record.request_id, message.model, record.is_relayed


def to_milliseconds(text: str | None) -> int | None:
    """Parse a time to whole milliseconds since 1970; None if it is invalid."""
    moment = parse_time(text)
    if moment is None:
        return None
    since = moment - _EPOCH
    return since.days * DAY_MS + since.seconds * 1000 + since.microseconds // 1000


def _add_shared_id(
    others: dict[LineKey, Lines], key: LineKey, record: AssistantUsage, usage: Usage
) -> Lines:
    """Add a line that was relayed, or whose id may also belong to another request or model."""
    lines = others.get(key)
    if lines is None:
        others[key] = lines = Lines(record, key[2], usage)
    else:
        lines.add(record, usage)
    return lines


def _make_row(message_id: str, lines: Lines, costs: Costs) -> MessageRow:
    record, usage, model = lines.best, lines.usage, lines.model
    tokens = split_usage(usage)
    if tokens.web_searches > MAX_VALUE:
        tokens = msgspec.structs.replace(tokens, web_searches=0)
    terms = join_terms(usage.speed, usage.service_tier, usage.inference_geo)
    late_5m, late_1h = _find_late(usage)
    encoded = _encode_steps(usage)
    if encoded is None:
        cost = costs.of_tokens(model, terms, tokens, lines.time)
    else:
        cost = costs.of_usage(model, encoded, lines.time, is_largest=False)
    # Not with keyword arguments, which would take three times as long for thousands of rows.
    row = MessageRow(
        tokens.input,
        tokens.output,
        tokens.cache_read,
        tokens.cache_write_5m,
        tokens.cache_write_1h,
        tokens.web_searches,
        late_5m,
        late_1h,
        encoded,
        cost,
        lines.client_cost,
        lines.time,
        record.is_sidechain,
        record.forked_from is not None,
        record.type == "progress",
        lines.position,
        message_id,
        lines.request_id,
        model,
        record.git_branch,
        record.version,
        record.entrypoint,
        record.cwd,
        _join_tools(lines.tools) if lines.tools else "",
        terms,
    )
    if row.client_cost is None or row.has_tokens:
        return row
    return msgspec.structs.replace(row, cost=row.client_cost)


def max_known(one: int | None, other: int | None) -> int | None:
    """Return the larger of two numbers, either of which may be None."""
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)


def to_micro(dollars: float | None) -> int | None:
    """Convert a price to micro-dollars; None if it is invalid."""
    if dollars is None:
        return None
    micro = dollars * MICRO
    return round(micro) if 0 <= micro <= MAX_COST else None


def _join_tools(names: set[str]) -> str:
    if len(names) == 1:
        # The case of nearly all messages.
        return next(iter(names)).replace("\n", " ")
    text = "\n".join(sorted(names))
    if text.count("\n") < len(names):
        return text
    return "\n".join(sorted({name.replace("\n", " ") for name in names}))


def _sanitize_counts(counted: T) -> T:
    return msgspec.structs.replace(
        counted, **{name: _sanitize(getattr(counted, name)) for name in _COUNTS}
    )


def _sanitize(count: int) -> int:
    return count if 0 <= count <= MAX_VALUE else 0


def _find_late(usage: Usage) -> tuple[int, int]:
    split = usage.cache_creation
    if split is None or usage.cache_creation_input_tokens:
        return 0, 0
    return _sanitize(split.ephemeral_5m_input_tokens), _sanitize(split.ephemeral_1h_input_tokens)


def _encode_steps(usage: Usage) -> bytes | None:
    """Return the usage as JSON if it includes steps of other models or advisors."""
    steps = usage.iterations
    if not steps or (len(steps) == 1 and steps[0].type == "message"):
        return None
    sanitized = tuple(_mask_names(_sanitize_counts(step), "type", "model") for step in steps)
    kept = msgspec.structs.replace(
        usage, iterations=sanitized, fallback_credit=msgspec.Raw(b"null")
    )
    return msgspec.json.encode(_mask_names(kept, "service_tier", "speed", "inference_geo"))


def _mask_names(value: T, *names: str) -> T:
    """Return a value without definite secrets in these fields."""
    from recollect.redact.quick_masks import mask_name  # few messages have steps

    texts = {name: text for name in names if (text := getattr(value, name))}
    masked = {name: mask_name(text) for name, text in texts.items()}
    return value if masked == texts else msgspec.structs.replace(value, **masked)


_HEADS: Final = (4 * 1024, 64 * 1024)
"""Sizes of the head in which to look for the first time, which is nearly always near the start."""

_TIME: Final = re.compile(rb'"timestamp" ?: ?"([^"]{1,40})"')


def find_first_time(file: SourceFile, size: int) -> int | None:
    """Find the first time in an open file of that size, in milliseconds since 1970."""
    for length in _HEADS:
        file.seek(0)
        # In a string, the quotes would be escaped, so this is always a field.
        found = _TIME.search(file.read(min(length, size)))
        if found:
            return to_milliseconds(found[1].decode("ascii", "replace"))
    return None
