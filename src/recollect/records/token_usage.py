"""Token usage as the Messages API reports it, and its split into token classes.

The split is shared by counting and pricing. Numbers are taken as written in one record: which of
several records of a message counts is decided by the ledger. Message ids of the API are globally
unique; proxies and scripts number theirs (`msg_2`), so unrelated sessions use the same ones.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Raw, Struct, structs

SYNTHETIC_MODEL: Final = "<synthetic>"
"""The model of messages that the client wrote itself; no model was called, so they are free."""


class CacheCreation(Struct, frozen=True, kw_only=True, gc=False):
    """Cache writes by lifetime."""

    ephemeral_5m_input_tokens: int = 0
    ephemeral_1h_input_tokens: int = 0


class ServerToolUse(Struct, frozen=True, kw_only=True, gc=False):
    """Requests that the API handled with its own tools."""

    web_search_requests: int = 0
    web_fetch_requests: int = 0
    code_execution_requests: int = 0
    tool_search_requests: int = 0


class OutputTokensDetails(Struct, frozen=True, kw_only=True, gc=False):
    """Parts of `output_tokens`, not additions to it."""

    thinking_tokens: int = 0


class Iteration(Struct, frozen=True, kw_only=True, gc=False):
    """One step of a response; advisor and fallback steps have their own model."""

    type: str | None = None
    model: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation: CacheCreation | None = None
    output_tokens_details: OutputTokensDetails | None = None


class Usage(Struct, frozen=True, kw_only=True, gc=False):
    """`message.usage`; `input_tokens` does not include cache reads and writes."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation: CacheCreation | None = None
    server_tool_use: ServerToolUse | None = None
    output_tokens_details: OutputTokensDetails | None = None
    service_tier: str | None = None
    speed: str | None = None
    inference_geo: str | None = None
    iterations: tuple[Iteration, ...] | None = None
    fallback_credit: Raw = Raw()

    @property
    def total_tokens(self) -> int:
        """Return the tokens of all four classes."""
        return (
            self.input_tokens
            + self.output_tokens
            + self.cache_creation_input_tokens
            + self.cache_read_input_tokens
        )


class Tokens(Struct, frozen=True, gc=False):
    """Tokens of a request by class; no token is in two classes."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    web_searches: int = 0

    @property
    def prompt(self) -> int:
        """Return the size of the prompt, which long-context prices depend on."""
        return self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h

    @property
    def total(self) -> int:
        """Return all tokens, including output."""
        return self.prompt + self.output


def sum_tokens(counts: Iterable[Tokens]) -> Tokens:
    """Return the sum of some tokens, class by class."""
    return Tokens(*map(sum, zip(*map(structs.astuple, counts), strict=True)))


CLASSES: Final = Tokens.__struct_fields__
"""The token classes, in the column order of tables, rows and sums."""


def split_usage(usage: Usage, *, is_largest: bool = False) -> Tokens:
    """Return the tokens of a message by class, without those of advisors and declined attempts.

    `is_largest` means that no other record of the message has more tokens. Only then cache writes
    are counted that contradict a total of zero, because forks leave such records as copies.
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
    """Return 5-minute and 1-hour cache writes; the former include those that are not split."""
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
    """Return tokens with negative counts, which are damage, replaced by zero."""
    if (sent | received | read | written_5m | written_1h | searches) < 0:
        counts = (sent, received, read, written_5m, written_1h, searches)
        return Tokens(*(max(count, 0) for count in counts))
    return Tokens(sent, received, read, written_5m, written_1h, searches)


_MIN_UNIQUE: Final = 20
"""Minimum length of a unique id; ids of the API and its resellers have 28 characters or more."""


def is_unique(message_id: str) -> bool:
    """Return whether a message id is globally unique, judging by its length."""
    return len(message_id) >= _MIN_UNIQUE
