"""Attribute the tokens in a transcript to sessions: its own, or the originals of copies.

A transcript alone is not enough: a fork may be unmarked, its original may be deleted, and a
subagent without a transcript is known only from progress records. The ledger compares all files.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from recollect.documents.session_documents import TokenShares
from recollect.locations.transcript_files import TranscriptKind
from recollect.quantities import MICRO
from recollect.records.token_usage import Tokens, sum_tokens
from recollect.store import FileRow
from recollect.store.usage_queries import LedgerEntry
from recollect.usage.ledger_access import UsageLedger


def sum_copied_tokens(ledger: UsageLedger) -> Mapping[str, int]:
    """Return the tokens in each session's own transcripts that count in others, by session id."""
    copied: Counter[str] = Counter()
    for number, tokens in ledger.queries.sum_copied().items():
        row = ledger.files.get(number)
        if row is not None and row.kind == TranscriptKind.SESSION.value:
            copied[row.session_id] += tokens
    return copied


def attribute_tokens(ledger: UsageLedger, paths: Iterable[str]) -> dict[str, TokenShares]:
    """Return how the sessions and subagents in some transcripts are counted, as far as known."""
    wanted = {*paths}
    members: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for number, row in ledger.files.items():
        members[row.session_id, row.project].add(number)
    return {
        row.path: _share(ledger, number, row, members[row.session_id, row.project])
        for number, row in ledger.files.items()
        if row.path in wanted
    }


def _share(ledger: UsageLedger, number: int, row: FileRow, members: set[int]) -> TokenShares:
    """Return the shares of a transcript; `members` are all files of its session."""
    is_session = row.kind == TranscriptKind.SESSION.value
    numbers = members if is_session else {number}
    groups: defaultdict[str, list[LedgerEntry]] = defaultdict(list)
    for entry in ledger.queries.select_of_files(numbers):
        if entry.file_id in numbers:
            is_beside = entry.is_relayed or (is_session and entry.is_sidechain)
            groups[_name_share(entry, is_main=entry.file_id == number and not is_beside)] += [entry]
    counted = [entry.measures.cost for name in ("own", "beside") for entry in groups[name]]
    costs = [cost for cost in counted if cost is not None]
    return TokenShares(
        own=_sum(groups["own"]),
        copied=_sum(groups["copied"]),
        subagents=_sum(groups["beside"]),
        cost_usd=sum(costs) / MICRO if costs else None,
    )


def _name_share(entry: LedgerEntry, *, is_main: bool) -> str:
    if entry.is_counted:
        return "own" if is_main else "beside"
    return "copied" if is_main else "elsewhere"


def _sum(entries: Iterable[LedgerEntry]) -> Tokens:
    return sum_tokens(entry.measures.tokens for entry in entries)
