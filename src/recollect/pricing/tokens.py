"""Usage → tokens by class, and the requests that were billed for one message.

The same split serves counting and pricing, so that the two never disagree. It takes the numbers as
they stand in one record: which of several records of a message counts is for the ledger to decide.
"""

from collections.abc import Iterator

from msgspec import Struct

from recollect.records.tokens import Tokens, make_tokens, split_usage, split_writes
from recollect.records.usage import Iteration, Usage


class Request(Struct, frozen=True, gc=False):
    """Tokens that were billed together, by the model that they were billed at."""

    model: str | None
    tokens: Tokens
    speed: str | None = None
    service_tier: str | None = None
    inference_geo: str | None = None


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
    written_5m, written_1h = split_writes(step, is_largest)
    return make_tokens(
        step.input_tokens, step.output_tokens, step.cache_read_input_tokens, written_5m, written_1h
    )
