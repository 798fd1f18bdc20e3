"""Usage → tokens by class: one split, and one list of classes, for counting and pricing alike.

It takes the numbers as they stand in one record; which of several records of a message counts is
for the ledger to decide.
"""

from typing import Final

from msgspec import Struct

from recollect.records.usage import Iteration, Usage


class Tokens(Struct, frozen=True, gc=False):
    """What one request used, by class; no token is in two classes."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    web_searches: int = 0

    @property
    def prompt(self) -> int:
        """All that was sent: the length that decides about long-context prices."""
        return self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h

    @property
    def total(self) -> int:
        """All tokens, sent and received."""
        return self.prompt + self.output


CLASSES: Final = Tokens.__struct_fields__
"""What is counted of each message, in the order that tables, rows and sums have as well."""


def split_usage(usage: Usage, *, is_largest: bool = False) -> Tokens:
    """The tokens of a message by class, without those of advisors and declined attempts.

    `is_largest` says that no other record of the message has more: only then are cache writes
    believed that the total denies, because a fork leaves such records behind as copies.
    """
    written_5m, written_1h = split_writes(usage, is_largest)
    searches = usage.server_tool_use.web_search_requests if usage.server_tool_use else 0
    return make_tokens(
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_input_tokens,
        written_5m,
        written_1h,
        searches,
    )


def split_writes(counted: Usage | Iteration, is_largest: bool) -> tuple[int, int]:
    """Cache writes for five minutes and for an hour; what the split leaves open is the former."""
    total, split = counted.cache_creation_input_tokens, counted.cache_creation
    if split is None:
        return total, 0
    if total:
        hour = min(max(split.ephemeral_1h_input_tokens, 0), total)
        return total - hour, hour
    if is_largest:
        return split.ephemeral_5m_input_tokens, split.ephemeral_1h_input_tokens
    return 0, 0


def make_tokens(
    sent: int, received: int, read: int, written_5m: int, written_1h: int, searches: int = 0
) -> Tokens:
    """Counts below zero are damage, and nothing was ever billed for them."""
    if (sent | received | read | written_5m | written_1h | searches) < 0:
        counts = (sent, received, read, written_5m, written_1h, searches)
        return Tokens(*(max(count, 0) for count in counts))
    return Tokens(sent, received, read, written_5m, written_1h, searches)
