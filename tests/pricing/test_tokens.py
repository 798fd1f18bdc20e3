"""Usage → tokens by class, and the requests behind one message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.pricing import Request, Tokens, split_requests, split_usage
from recollect.records.usage import CacheCreation, Iteration, ServerToolUse, Usage

counts = st.integers(min_value=0, max_value=10**7)


def writes(total: int, five: int, hour: int) -> Usage:
    """A usage with cache writes only."""
    split = CacheCreation(ephemeral_5m_input_tokens=five, ephemeral_1h_input_tokens=hour)
    return Usage(cache_creation_input_tokens=total, cache_creation=split)


def test_every_class_is_found() -> None:
    """Each number of a usage has its own class, and fetches have none."""
    usage = Usage(
        input_tokens=1,
        output_tokens=2,
        cache_read_input_tokens=3,
        cache_creation_input_tokens=9,
        cache_creation=CacheCreation(ephemeral_5m_input_tokens=4, ephemeral_1h_input_tokens=5),
        server_tool_use=ServerToolUse(web_search_requests=6, web_fetch_requests=7),
    )
    tokens = split_usage(usage)
    assert tokens == Tokens(1, 2, 3, 4, 5, 6)
    assert (tokens.prompt, tokens.total) == (13, 15)


@pytest.mark.parametrize(
    ("usage", "five", "hour"),
    [
        pytest.param(Usage(cache_creation_input_tokens=100), 100, 0, id="no split"),
        pytest.param(writes(100, 60, 40), 60, 40, id="whole split"),
        pytest.param(writes(100, 10, 40), 60, 40, id="remainder is for five minutes"),
        pytest.param(writes(100, 0, 0), 100, 0, id="empty split"),
        pytest.param(writes(100, 90, 40), 60, 40, id="the total has the last word"),
        pytest.param(writes(100, 0, 140), 0, 100, id="an hour beyond the total"),
        pytest.param(writes(100, 0, -40), 100, 0, id="damaged split"),
        pytest.param(writes(-100, 0, 0), 0, 0, id="damaged total"),
    ],
)
@pytest.mark.parametrize("is_largest", [False, True])
def test_cache_writes(usage: Usage, five: int, hour: int, is_largest: bool) -> None:
    """Writes are split as stated, and what is left open lives for five minutes."""
    tokens = split_usage(usage, is_largest=is_largest)
    assert tokens == Tokens(cache_write_5m=five, cache_write_1h=hour)


def test_a_split_without_a_total_is_believed_of_the_largest_record_only() -> None:
    """The copy that a fork leaves denies its writes in the total, and so it is not counted."""
    usage = writes(0, 1200, 34)
    assert split_usage(usage) == Tokens()
    assert split_usage(usage, is_largest=True) == Tokens(cache_write_5m=1200, cache_write_1h=34)


def test_counts_below_zero_are_nothing() -> None:
    """Damage never makes a message cheaper."""
    usage = Usage(input_tokens=-5, output_tokens=7, cache_read_input_tokens=-1)
    assert split_usage(usage) == Tokens(output=7)


@given(counts, counts, counts, counts, counts)
def test_no_token_is_lost(sent: int, received: int, read: int, total: int, hour: int) -> None:
    """The classes add up to the totals of the usage."""
    usage = Usage(
        input_tokens=sent,
        output_tokens=received,
        cache_read_input_tokens=read,
        cache_creation_input_tokens=total,
        cache_creation=CacheCreation(ephemeral_1h_input_tokens=hour),
    )
    assert split_usage(usage).total == usage.total_tokens


def test_a_step_that_repeats_the_totals_is_not_counted_again() -> None:
    """The usual message is one request, with the terms that it was made on."""
    usage = Usage(
        output_tokens=8,
        speed="fast",
        service_tier="batch",
        inference_geo="us",
        iterations=(Iteration(type="message", output_tokens=8),),
    )
    own = Request("claude-opus-5", Tokens(output=8), "fast", "batch", "us")
    assert split_requests("claude-opus-5", usage) == (own,)


def test_steps_of_the_model_itself_are_in_the_totals() -> None:
    """Several steps of type `message` are one request, as the totals already sum them up."""
    step = Iteration(type="message", output_tokens=4)
    usage = Usage(output_tokens=8, iterations=(step, step))
    requests = split_requests("claude-opus-5", usage)
    assert requests == (Request("claude-opus-5", Tokens(output=8)),)


def test_an_advisor_is_billed_apart() -> None:
    """Tokens of an advisor are not in the totals, and its speed is not that of the answer."""
    usage = Usage(
        output_tokens=8,
        speed="fast",
        inference_geo="us",
        iterations=(
            Iteration(type="message", output_tokens=3),
            Iteration(
                type="advisor_message",
                model="claude-fable-5",
                input_tokens=823,
                output_tokens=1612,
                cache_read_input_tokens=10,
                cache_creation_input_tokens=30,
                cache_creation=CacheCreation(ephemeral_1h_input_tokens=20),
            ),
            Iteration(type="message", output_tokens=5),
        ),
    )
    assert split_requests("claude-opus-5", usage) == (
        Request("claude-opus-5", Tokens(output=8), speed="fast", inference_geo="us"),
        Request("claude-fable-5", Tokens(823, 1612, 10, 10, 20), inference_geo="us"),
    )


def test_an_advisor_without_a_name_has_no_model() -> None:
    """Its model is not guessed from that of the message."""
    usage = Usage(iterations=(Iteration(type="advisor_message", output_tokens=5),))
    assert split_requests("claude-opus-5", usage)[1] == Request(None, Tokens(output=5))


def test_a_compaction_by_the_api_is_billed_apart() -> None:
    """The summary that the API made before answering is not in the totals either."""
    usage = Usage(
        input_tokens=23_000,
        iterations=(
            Iteration(type="compaction", input_tokens=180_000, output_tokens=3_500),
            Iteration(type="message", input_tokens=23_000),
        ),
    )
    assert split_requests("claude-opus-4-6", usage) == (
        Request("claude-opus-4-6", Tokens(input=23_000)),
        Request("claude-opus-4-6", Tokens(input=180_000, output=3_500)),
    )


def fallback(*, said: int) -> Usage:
    """A message that one model declined after `said` tokens and another one answered."""
    return Usage(
        input_tokens=412,
        output_tokens=264,
        iterations=(
            Iteration(type="message", model="claude-fable-5", input_tokens=408, output_tokens=said),
            Iteration(
                type="fallback_message",
                model="claude-opus-4-8",
                input_tokens=412,
                output_tokens=264,
            ),
        ),
    )


@pytest.mark.parametrize("model", ["claude-fable-5", "claude-opus-4-8"])
def test_the_totals_belong_to_the_model_that_answered(model: str) -> None:
    """Whichever model the message names, a silent refusal is free and the answer is not."""
    requests = split_requests(model, fallback(said=0))
    assert requests == (Request("claude-opus-4-8", Tokens(412, 264)),)


def test_an_attempt_that_broke_off_is_billed_to_its_own_model() -> None:
    """What the first model said before it declined is billed beside the answer."""
    assert split_requests("claude-fable-5", fallback(said=90)) == (
        Request("claude-opus-4-8", Tokens(412, 264)),
        Request("claude-fable-5", Tokens(408, 90)),
    )


def test_an_attempt_without_a_name_was_that_of_the_message() -> None:
    """A step that names no model ran on the one that was asked."""
    usage = Usage(
        output_tokens=2,
        iterations=(
            Iteration(type="message", output_tokens=1),
            Iteration(type="fallback_message", model="claude-opus-4-8", output_tokens=2),
        ),
    )
    assert split_requests("claude-fable-5", usage) == (
        Request("claude-opus-4-8", Tokens(output=2)),
        Request("claude-fable-5", Tokens(output=1)),
    )


def test_a_fallback_without_a_name_leaves_the_message_its_model() -> None:
    """Without a better name the message's own model stands."""
    step = Iteration(type="fallback_message", output_tokens=2)
    usage = Usage(output_tokens=2, iterations=(step,))
    assert split_requests("claude-opus-5", usage) == (Request("claude-opus-5", Tokens(output=2)),)
