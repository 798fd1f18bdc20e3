"""What somebody wants to be told of: a failure, a question, a text, a sum of money.

Knows when such a thing happens in a series of events; refuses to know what is done about it. What
was there before, or is told again after a reset, sets nothing off; only a sum counts from the first
event that is heard, each message once and at its largest.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from recollect.errors import UsageError
from recollect.live.events import AnyEvent, Appended, Level, Reset, Source, StatusChanged
from recollect.live.matching import Matcher
from recollect.live.status import StatusKind
from recollect.locations import TranscriptKind
from recollect.pricing import Prices
from recollect.records.conversation import Assistant
from recollect.records.envelope import Record
from recollect.session.content import iter_tool_uses
from recollect.sync.documents import list_documents

ERROR: Final = "error"
PERMISSION: Final = "permission"
_COST: Final = "cost:"
_MICRO: Final = 1_000_000
_MOST_CALLS: Final = 1000
"""Calls whose tool is remembered until their result comes."""


class Fired(Struct, frozen=True, kw_only=True):
    """Something that was waited for has happened; `text` is as hostile as any transcript."""

    trigger: str
    session_id: str
    agent_id: str | None = None
    path: str | None = None
    text: str = ""


class Ledger:
    """What the messages heard so far cost, in millionths of a dollar."""

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._costs: dict[str, int] = {}
        self.total = 0

    def add(self, record: Record) -> None:
        """Count a line of a message; of several lines the dearest counts."""
        message = record.message if isinstance(record, Assistant) else None
        if not isinstance(record, Assistant) or message is None or not message.usage:
            return
        cost = self._prices.cost(message.model, message.usage, record.timestamp)
        key = message.id or record.uuid or ""
        more = (cost.total if cost else 0) - self._costs.get(key, 0)
        if more > 0:
            self._costs[key] = self._costs.get(key, 0) + more
            self.total += more


class Triggers:
    """Hears events and tells which of them somebody waits for."""

    def __init__(self, wanted: Iterable[str], prices: Prices | None = None) -> None:
        texts = tuple(wanted)
        self._is_live = False
        self._wants_errors = ERROR in texts
        self._wants_permissions = PERMISSION in texts
        self._limits = [(text, _read_limit(text)) for text in texts if text.startswith(_COST)]
        self._matchers = [(text, Matcher(text)) for text in texts if _is_query(text)]
        self._ledger = Ledger(prices or Prices.load()) if self._limits else None
        self._tools: dict[str, str] = {}

    def hear(self, event: AnyEvent) -> Iterator[Fired]:
        """What `event` sets off."""
        match event:
            case Level():
                self._is_live = True
                yield from self._check_limits("")
            case Reset():
                self._is_live = False
            case Appended():
                yield from self._hear_record(event.record, event.source)
            case StatusChanged() if self._wants_permissions:
                if event.status.kind is StatusKind.WAITING_FOR_PERMISSION:
                    yield Fired(
                        trigger=PERMISSION, session_id=event.session_id, text=event.status.reason
                    )

    def _hear_record(self, record: Record, source: Source) -> Iterator[Fired]:
        self._remember_calls(record)
        if self._ledger:
            self._ledger.add(record)
        if not self._is_live:
            return
        yield from self._check_limits(source.session_id)
        for trigger, text in self._iter_hits(record, source):
            yield Fired(
                trigger=trigger,
                session_id=source.session_id,
                agent_id=source.agent_id,
                path=source.path,
                text=text,
            )

    def _iter_hits(self, record: Record, source: Source) -> Iterator[tuple[str, str]]:
        if self._wants_errors:
            is_subagent = source.kind is not TranscriptKind.SESSION
            documents = list_documents(record, is_subagent=is_subagent)
            yield from ((ERROR, each.text) for each in documents if each.is_error)
        for trigger, matcher in self._matchers:
            text = matcher.find(record, source, self._tools)
            if text is not None:
                yield trigger, text

    def _check_limits(self, session_id: str) -> Iterator[Fired]:
        total = self._ledger.total if self._ledger else 0
        reached = [each for each in self._limits if total >= each[1]]
        self._limits = [each for each in self._limits if total < each[1]]
        for trigger, _ in reached:
            text = f"${total / _MICRO:,.2f} at list prices"
            yield Fired(trigger=trigger, session_id=session_id, text=text)

    def _remember_calls(self, record: Record) -> None:
        message = record.message if isinstance(record, Assistant) else None
        for use in iter_tool_uses(message.content if message else None):
            self._tools[use.id] = use.name
            if len(self._tools) > _MOST_CALLS:
                del self._tools[next(iter(self._tools))]


def _is_query(text: str) -> bool:
    return text not in (ERROR, PERMISSION) and not text.startswith(_COST)


def _read_limit(text: str) -> float:
    try:
        dollars = float(text.removeprefix(_COST))
    except ValueError:
        dollars = 0.0
    if not 0 < dollars < float("inf"):
        raise UsageError(f"{text!r} is no limit: write it like cost:5.00, in dollars.")
    return dollars * _MICRO
