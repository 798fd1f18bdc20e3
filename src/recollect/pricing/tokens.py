"""Usage → tokens by class, and the requests that were billed for one message.

The same split serves counting and pricing, so that the two never disagree. It takes the numbers as
they stand in one record: which of several records of a message counts is for the ledger to decide.
"""

from collections.abc import Iterator

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


class Request(Struct, frozen=True, gc=False):
    """Tokens that were billed together, by the model that they were billed at."""

    model: str | None
    tokens: Tokens
    speed: str | None = None
    service_tier: str | None = None
    inference_geo: str | None = None


def split_usage(usage: Usage, *, is_largest: bool = False) -> Tokens:
    """The tokens of a message by class, without those of advisors and declined attempts.

    `is_largest` says that no other record of the message has more: only then are cache writes
    believed that the total denies, because a fork leaves such records behind as copies.
    """
    written_5m, written_1h = _split_writes(usage, is_largest)
    searches = usage.server_tool_use.web_search_requests if usage.server_tool_use else 0
    return _tokens(
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_input_tokens,
        written_5m,
        written_1h,
        searches,
    )


def split_requests(
    model: str | None, usage: Usage, *, is_largest: bool = False
) -> tuple[Request, ...]:
    """All that was billed for a message: first its own tokens, then those of other steps.

    The totals of `usage` describe the attempt that answered. An advisor, a compaction by the API
    and an attempt that another model broke off are in `iterations` only.
    """
    tokens = split_usage(usage, is_largest=is_largest)
    steps = usage.iterations
    # A single step of type `message` only repeats the totals, and nearly every message has it.
    if not steps or (len(steps) == 1 and steps[0].type == "message"):
        return (Request(model, tokens, usage.speed, usage.service_tier, usage.inference_geo),)
    served_by = _serving_model(model, usage)
    own = Request(served_by, tokens, usage.speed, usage.service_tier, usage.inference_geo)
    return (own, *_side_requests(model, served_by, usage, is_largest))


def _serving_model(model: str | None, usage: Usage) -> str | None:
    """The model that answered: the message keeps the requested one when it broke off midway."""
    for step in reversed(usage.iterations or ()):
        if step.type == "fallback_message":
            return step.model or model
    return model


def _side_requests(
    model: str | None, served_by: str | None, usage: Usage, is_largest: bool
) -> Iterator[Request]:
    unnamed = {"message": model, "advisor_message": None}
    for step in usage.iterations or ():
        asked = step.model or unnamed.get(step.type or "", served_by)
        if _is_billed_apart(step, asked, served_by):
            # `speed` is that of the answer; nothing says that the other steps ran at it.
            yield Request(
                asked,
                _split_step(step, is_largest),
                service_tier=usage.service_tier,
                inference_geo=usage.inference_geo,
            )


def _is_billed_apart(step: Iteration, asked: str | None, served_by: str | None) -> bool:
    if step.type in ("advisor_message", "compaction"):
        return True
    # An attempt that was declined before it said anything is free.
    return asked != served_by and step.output_tokens > 0


def _split_step(step: Iteration, is_largest: bool) -> Tokens:
    written_5m, written_1h = _split_writes(step, is_largest)
    return _tokens(
        step.input_tokens, step.output_tokens, step.cache_read_input_tokens, written_5m, written_1h
    )


def _split_writes(counted: Usage | Iteration, is_largest: bool) -> tuple[int, int]:
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


def _tokens(
    sent: int, received: int, read: int, written_5m: int, written_1h: int, searches: int = 0
) -> Tokens:
    """Counts below zero are damage, and nothing was ever billed for them."""
    if (sent | received | read | written_5m | written_1h | searches) < 0:
        counts = (sent, received, read, written_5m, written_1h, searches)
        return Tokens(*(max(count, 0) for count in counts))
    return Tokens(sent, received, read, written_5m, written_1h, searches)
