"""Cost by cause: why tokens were spent, each counted once, under the first cause that applies.

The ledger has the counted messages and their costs; notes on replies describe their context. Each
request is compared with the previous one in the same transcript. Costs are split in proportion to
tokens of the same class, in whole millionths of a dollar, so that the parts of a message always add
up to it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct, structs

from recollect.pricing import Prices
from recollect.pricing.prices import BilledRequest
from recollect.records.token_usage import CLASSES
from recollect.session.client_reports import ReplyNote
from recollect.store.usage_queries import LedgerEntry, Measures

LONG_CONTEXT: Final = 100_000
"""Tokens that a request reads from the cache beyond this are the cost of a long context."""


class Cause(StrEnum):
    """Why tokens were spent, in the order in which causes are considered."""

    SUBAGENTS = "subagents"
    RETRIES = "retries"
    COMPACTIONS = "compactions"
    CACHE_REBUILDS = "cache-rebuilds"
    LONG_CONTEXTS = "long-contexts"
    THINKING = "thinking"
    OTHER = "other"


class CausePart(Struct, frozen=True):
    """Tokens, and what they cost in millionths of a dollar."""

    tokens: int = 0
    cost: int = 0

    def __add__(self, other: "CausePart") -> "CausePart":
        """Return the sum of both."""
        return CausePart(self.tokens + other.tokens, self.cost + other.cost)


class CausedMessage(Struct, frozen=True, kw_only=True):
    """A counted message, and the causes of its tokens."""

    entry: LedgerEntry
    parts: dict[Cause, CausePart]

    @property
    def is_priced(self) -> bool:
        """Whether its price is known."""
        return self.entry.measures.cost is not None


class ReplyCase(Struct, frozen=True, kw_only=True):
    """The facts that determine the causes of a message."""

    note: ReplyNote | None = None
    is_subagent: bool = False
    cached_before: int = 0
    """Tokens in the cache after the previous request."""


class _UnattributedUsage:
    """Tokens and cost of a message by class, as far as they have no cause yet."""

    def __init__(self, measures: Measures, costs: list[int]) -> None:
        self.tokens = dict(zip(CLASSES, structs.astuple(measures.tokens), strict=True))
        self._costs = dict(zip(CLASSES, costs, strict=True))
        self._cost = measures.cost or 0
        self.parts: defaultdict[Cause, CausePart] = defaultdict(CausePart)

    def take(self, cause: Cause, name: str, tokens: int) -> int:
        """Attribute tokens of a class to a cause, at most those left; return how many."""
        left: int = self.tokens[name]
        taken = min(max(tokens, 0), left)
        if taken:
            cost = self._costs[name] * taken // left
            self.tokens[name] -= taken
            self._costs[name] -= cost
            # Searches have a price but are not tokens.
            counted = taken if name != "web_searches" else 0
            self.parts[cause] += CausePart(counted, cost)
        return taken

    def take_sent(self, cause: Cause, tokens: int) -> None:
        """Attribute tokens that were sent and not read from the cache."""
        for name in ("cache_write_5m", "cache_write_1h", "input"):
            tokens -= self.take(cause, name, tokens)

    def close(self, cause: Cause) -> dict[Cause, CausePart]:
        """Attribute the remaining tokens, and return all parts."""
        for name in CLASSES:
            self.take(cause, name, self.tokens[name])
        # Rounded fractions, and costs other than tokens.
        rest = self._cost - sum(part.cost for part in self.parts.values())
        if rest:
            self.parts[cause] += CausePart(0, rest)
        return dict(self.parts)


def split_message(measures: Measures, costs: list[int], case: ReplyCase) -> dict[Cause, CausePart]:
    """Return the parts of a message; `costs` are those of its classes, their sum at most its cost.

    The parts always add up to the tokens and to the cost of the message.
    """
    usage, note = _UnattributedUsage(measures, costs), case.note
    if case.is_subagent:
        return usage.close(Cause.SUBAGENTS)
    if note is not None and note.is_superseded:
        return usage.close(Cause.RETRIES)
    if note is not None and note.follows_compaction:
        usage.take_sent(Cause.COMPACTIONS, measures.tokens.prompt)
    repeated = min(case.cached_before, measures.tokens.prompt) - measures.tokens.cache_read
    is_retry = note is not None and note.follows_error
    usage.take_sent(Cause.RETRIES if is_retry else Cause.CACHE_REBUILDS, max(repeated, 0))
    usage.take(Cause.LONG_CONTEXTS, "cache_read", measures.tokens.cache_read - LONG_CONTEXT)
    if note is not None:
        usage.take(Cause.THINKING, "output", note.thinking_tokens)
    return usage.close(Cause.OTHER)


def attribute_messages(
    entries: Iterable[LedgerEntry],
    notes: Mapping[int, Mapping[str, ReplyNote]],
    subagent_files: frozenset[int],
    prices: Prices,
) -> Iterator[CausedMessage]:
    """Yield the counted messages with their causes.

    `entries` are all rows of each file, in their order: a copy that does not count was sent, too.
    `notes` are by the number of the file and the id of the message.
    """
    file_id, cached = -1, 0
    for entry in entries:
        if entry.file_id != file_id:
            file_id, cached = entry.file_id, 0
        is_subagent = entry.is_sidechain or entry.is_relayed or file_id in subagent_files
        note = notes.get(file_id, {}).get(entry.message_id)
        if entry.is_counted:
            case = ReplyCase(note=note, is_subagent=is_subagent, cached_before=cached)
            costs = split_cost(entry, prices)
            yield CausedMessage(entry=entry, parts=split_message(entry.measures, costs, case))
        if not is_subagent:
            cached = entry.own.tokens.prompt - entry.own.tokens.input


def split_cost(entry: LedgerEntry, prices: Prices) -> list[int]:
    """Return the cost of a message by class; zeros if the breakdown is not known."""
    measures = entry.measures
    nothing = [0] * len(CLASSES)
    if not measures.cost or measures.time is None:
        return nothing
    day = datetime.fromtimestamp(measures.time / 1000, UTC).date()
    cost = prices.cost_of(BilledRequest(entry.model, measures.tokens), day)
    if cost is None or not cost.total:
        return nothing
    # Multipliers of a message, such as for fast mode, are the same for all classes.
    return [measures.cost * part // cost.total for part in structs.astuple(cost)]


class CauseTotals(Struct, frozen=True, kw_only=True):
    """The sum of all parts of a cause."""

    cause: Cause
    part: CausePart
    messages: int


def add_up_causes(messages: Iterable[CausedMessage]) -> tuple[CauseTotals, ...]:
    """Return the totals of each cause that occurs, the most expensive first, `other` last."""
    parts: defaultdict[Cause, CausePart] = defaultdict(CausePart)
    counts: defaultdict[Cause, int] = defaultdict(int)
    for message in messages:
        for cause, part in message.parts.items():
            parts[cause] += part
            counts[cause] += 1
    found = (CauseTotals(cause=each, part=parts[each], messages=counts[each]) for each in parts)
    return tuple(
        sorted(
            found,
            key=lambda each: (each.cause is Cause.OTHER, -each.part.cost, -each.part.tokens),
        )
    )
