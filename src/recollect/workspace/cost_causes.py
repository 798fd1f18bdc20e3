"""Cost by cause: joins the ledger, the notes on replies and the prices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from recollect.documents.usage_groups import Group
from recollect.documents.usage_report import CauseDocument, CauseMessage, CauseRow
from recollect.errors import UsageError
from recollect.pricing import Prices
from recollect.quantities import format_utc, to_dollars
from recollect.sync import load_reply_notes
from recollect.usage import causes, ledger_access, reports, totals
from recollect.workspace.usage_requests import UsageFilters, make_usage_query

if TYPE_CHECKING:
    from recollect.session.client_reports import ReplyNote
    from recollect.workspace.workspace import Workspace

MAX_MESSAGES: Final = 200
_NOTHING: Final = totals.Totals()


class CauseResult(Struct, frozen=True, kw_only=True):
    """The document, and the transcripts that could not be counted."""

    document: CauseDocument
    problems: Mapping[str, str]
    failure: str | None = None


def find_causes(
    workspace: Workspace, filters: UsageFilters, cause: str | None = None
) -> CauseResult:
    """Return tokens and cost by cause, and the messages of one cause if requested.

    Reads each transcript once, and again when it has changed.
    """
    wanted = _read_cause(cause)
    query = make_usage_query(Group.DAY, filters, workspace.now)
    transcripts = workspace.find_transcripts()
    notes = load_reply_notes(workspace.data_directory, transcripts, workspace.count_files)

    def load(ledger: ledger_access.UsageLedger) -> tuple[CauseDocument, Mapping[str, str]]:
        messages = list(_iter_caused(ledger, query, notes))
        files = {each.entry.file_id for each in messages}
        unread = sum(ledger.files[each].path not in notes for each in files)
        return _describe(ledger, query, messages, wanted, unread), ledger.problems

    (document, problems), failure = workspace.query_ledger(load)
    return CauseResult(document=document, problems=problems, failure=failure)


def _read_cause(name: str | None) -> causes.Cause | None:
    if name is None:
        return None
    if name not in tuple(causes.Cause):
        raise UsageError(f"{name!r} is not a cause; choose one of {', '.join(causes.Cause)}.")
    return causes.Cause(name)


def _iter_caused(
    ledger: ledger_access.UsageLedger,
    query: reports.UsageQuery,
    notes: Mapping[str, tuple[ReplyNote, ...]],
) -> Iterator[causes.CausedMessage]:
    files, prices = ledger.files, Prices.load(ledger.prices)
    by_file = {
        number: {note.message_id: note for note in notes[row.path]}
        for number, row in files.items()
        if row.path in notes
    }
    sources = ledger_access.describe_files(ledger, query)
    subagents = frozenset(number for number, each in sources.items() if each.is_subagent)
    entries = (each for each in ledger.queries.iter_all() if each.file_id in files)
    is_wanted = _make_filter(ledger, query, sources)
    for message in causes.attribute_messages(entries, by_file, subagents, prices):
        if is_wanted(message):
            yield message


class _Filter(Struct, frozen=True):
    """Selects the messages of a query."""

    query: reports.UsageQuery
    sources: Mapping[int, totals.SourceFile]
    directories: Mapping[int, str | None]

    def __call__(self, message: causes.CausedMessage) -> bool:
        entry = message.entry
        time = entry.measures.time
        row = totals.LedgerRow(
            totals=_NOTHING,
            moment=None if time is None else time // 1000,
            file=self.sources.get(entry.file_id),
            model=entry.model,
            cwd=self.directories.get(entry.number),
        )
        return reports.matches(row, self.query)


def _make_filter(
    ledger: ledger_access.UsageLedger,
    query: reports.UsageQuery,
    sources: Mapping[int, totals.SourceFile],
) -> _Filter:
    directories = ledger.queries.find_directories() if query.project else {}
    return _Filter(query, sources, directories)


def _describe(
    ledger: ledger_access.UsageLedger,
    query: reports.UsageQuery,
    messages: list[causes.CausedMessage],
    cause: causes.Cause | None,
    unread: int,
) -> CauseDocument:
    rows = causes.add_up_causes(messages)
    total = sum((row.part for row in rows), causes.CausePart())
    unpriced = sum(not each.is_priced for each in messages)
    is_priced = unpriced < len(messages) or not messages
    caused = sorted(
        (each for each in messages if cause in each.parts),
        key=lambda each: (-each.parts[cause or causes.Cause.OTHER].cost, each.entry.number),
    )
    return CauseDocument(
        timezone=query.zone.name,
        since=query.since.isoformat() if query.since else None,
        until=query.until.isoformat() if query.until else None,
        rows=tuple(
            CauseRow(
                cause=row.cause.value,
                messages=row.messages,
                tokens=row.part.tokens,
                cost_usd=to_dollars(row.part.cost) if is_priced else None,
                share=_divide(row.part, total),
            )
            for row in rows
        ),
        messages=len(messages),
        tokens=total.tokens,
        cost_usd=to_dollars(total.cost) if is_priced else None,
        unpriced_messages=unpriced,
        unread_files=unread,
        cause=cause.value if cause else None,
        caused=tuple(_describe_message(ledger, each, cause) for each in caused[:MAX_MESSAGES])
        if cause
        else (),
        omitted=max(len(caused) - MAX_MESSAGES, 0),
    )


def _divide(part: causes.CausePart, total: causes.CausePart) -> float | None:
    if total.cost:
        return round(part.cost / total.cost, 6)
    return round(part.tokens / total.tokens, 6) if total.tokens else None


def _describe_message(
    ledger: ledger_access.UsageLedger, message: causes.CausedMessage, cause: causes.Cause | None
) -> CauseMessage:
    entry, part = message.entry, message.parts[cause or causes.Cause.OTHER]
    file = ledger.files[entry.file_id]
    time = entry.measures.time
    return CauseMessage(
        message_id=entry.message_id,
        session_id=file.session_id,
        file=file.path,
        offset=entry.position,
        model=entry.model,
        time=None if time is None else format_utc(time // 1000),
        tokens=part.tokens,
        cost_usd=to_dollars(part.cost) if message.is_priced else None,
    )
