"""Tokens as the Messages API reports them, on each assistant record.

Numbers are kept as written: which of several copies counts is a matter for the ledger, not here.
"""

from msgspec import Raw, Struct


class CacheCreation(Struct, frozen=True, kw_only=True, gc=False):
    """Cache writes by how long they live."""

    ephemeral_5m_input_tokens: int = 0
    ephemeral_1h_input_tokens: int = 0


class ServerToolUse(Struct, frozen=True, kw_only=True, gc=False):
    """Requests that the API served with its own tools."""

    web_search_requests: int = 0
    web_fetch_requests: int = 0
    code_execution_requests: int = 0
    tool_search_requests: int = 0


class OutputTokensDetails(Struct, frozen=True, kw_only=True, gc=False):
    """Parts of `output_tokens`, not additions to it."""

    thinking_tokens: int = 0


class Iteration(Struct, frozen=True, kw_only=True, gc=False):
    """One step inside a response; advisor and fallback steps have a model of their own."""

    type: str | None = None
    model: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation: CacheCreation | None = None
    output_tokens_details: OutputTokensDetails | None = None


class Usage(Struct, frozen=True, kw_only=True, gc=False):
    """`message.usage`; `input_tokens` leaves out what was read from or written to the cache."""

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
        """All four token classes together."""
        return (
            self.input_tokens
            + self.output_tokens
            + self.cache_creation_input_tokens
            + self.cache_read_input_tokens
        )
