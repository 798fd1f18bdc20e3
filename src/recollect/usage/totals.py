"""Usage totals, and the ledger rows that reports are built from.

Money is an integer number of millionths of a dollar. Messages without a known price are counted
separately and never treated as free: if some messages have none, the cost is a lower bound; if all
have none, it is unknown.
"""

from collections.abc import Iterable
from operator import add
from pathlib import PurePath

from msgspec import Struct
from msgspec.structs import astuple

from recollect.locations.project_names import TRANSCRIPT_SUFFIX, encode_id
from recollect.locations.transcript_files import TranscriptKind
from recollect.records.usage import Tokens

MICRO = 1_000_000


class Totals(Tokens, frozen=True, gc=False, kw_only=True):
    """Tokens by class, server-side searches, messages, and cost."""

    messages: int = 0
    cost: int = 0
    """Cost of the messages with a known price."""
    unpriced: int = 0
    """Messages without a known price."""
    relayed: int = 0
    """Messages of subagents that are known only from progress records of the parent."""
    client_priced: int = 0
    """Messages without token counts, whose cost is the one that the client wrote on them."""

    def __add__(self, other: "Totals") -> "Totals":
        """Return the sum of both."""
        return make_totals(map(add, astuple(self), astuple(other)))

    @property
    def tokens(self) -> int:
        """Return the tokens of all classes."""
        return self.total

    @property
    def cache_write(self) -> int:
        """Return the cache writes of both lifetimes."""
        return self.cache_write_5m + self.cache_write_1h

    @property
    def known_cost(self) -> int | None:
        """Return the known part of the cost; None if there are messages and none has a price."""
        if self.messages:
            return None if self.unpriced == self.messages else self.cost
        # A share of a message may be less than one.
        return None if self.tokens and not self.cost else self.cost


def make_totals(figures: Iterable[int]) -> Totals:
    """Return totals from figures in the column order of the index."""
    counts = list(figures)
    tokens, (messages, cost, unpriced, relayed, client_priced) = counts[:-5], counts[-5:]
    return Totals(
        *tokens,
        messages=messages,
        cost=cost,
        unpriced=unpriced,
        relayed=relayed,
        client_priced=client_priced,
    )


def add_up(parts: Iterable[Totals]) -> Totals:
    """Return the sum of `parts`."""
    columns = list(zip(*map(astuple, parts), strict=True))
    return make_totals(map(sum, columns)) if columns else Totals()


def split_evenly(totals: Totals, count: int) -> list[Totals]:
    """Return `count` parts that add up to `totals`; what cannot be divided goes to the first."""
    divided = [divmod(figure, count) for figure in astuple(totals)]
    return [
        make_totals(share + (number < rest) for share, rest in divided) for number in range(count)
    ]


def to_dollars(micro: int | None) -> float | None:
    """Convert millionths of a dollar to dollars."""
    return None if micro is None else micro / MICRO


class SourceFile(Struct, frozen=True):
    """What reports need to know about a transcript."""

    path: str
    project: str
    """Name of the project's directory below `projects/`."""
    session_id: str = ""
    kind: str = TranscriptKind.SESSION.value
    project_path: str | None = None
    """The work directory that the project is named after."""
    agent_type: str | None = None

    @property
    def session(self) -> str:
        """Return the session id; a subagent without one is its own session, named by its file."""
        name = PurePath(self.path).name.removesuffix(TRANSCRIPT_SUFFIX)
        return self.session_id or encode_id(name)

    @property
    def is_subagent(self) -> bool:
        """Whether this is the transcript of a subagent."""
        return self.kind != TranscriptKind.SESSION.value


class LedgerRow(Struct, frozen=True, kw_only=True):
    """Totals of messages with the same values in all requested columns.

    A column is None if the report did not request it, or if the records do not have it.
    """

    totals: Totals
    moment: int | None = None
    """Start of the hour, or of a quarter of it, in seconds since 1970."""
    file: SourceFile | None = None
    model: str | None = None
    branch: str | None = None
    version: str | None = None
    entrypoint: str | None = None
    cwd: str | None = None
    tools: str | None = None
    """Names of all tools that the message calls, separated by newlines."""
    is_sidechain: bool = False


class ClientCost(Struct, frozen=True):
    """The cost that Claude Code itself reported, in millionths of a dollar."""

    cost: int
    is_guess: bool = False
    """Whether the client did not know the price of a model and used that of another."""
    messages: int | None = None
    """Number of messages whose costs were added up; None if the client reported a total."""
    own_cost: int = 0
    """Our cost of the same messages."""

    def find_difference(self, total: int) -> int:
        """Return how much more it is than ours; `total` is our cost of the whole session."""
        return self.cost - (total if self.messages is None else self.own_cost)
