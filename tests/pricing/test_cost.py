"""Tests of recollect.pricing.prices: exact amounts, rounded once, and billed requests."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.pricing import BilledRequest, Cost, Price, Tier, Tokens, split_requests, split_usage
from recollect.pricing.prices import add, make_tariff, multiply, multiply_total, round_amounts
from recollect.records.token_usage import CacheCreation, Iteration, ServerToolUse, Usage

counts = st.integers(min_value=0, max_value=2_000_000)
dollars = st.decimals(min_value=0, max_value=200, places=6)
factors = st.decimals(min_value=0, max_value=10, places=2)
tokens_used = st.builds(Tokens, counts, counts, counts, counts, counts, counts)
prices = st.builds(
    Price,
    model=st.just("some-model"),
    input=dollars,
    output=dollars,
    cache_read=dollars,
    cache_write_5m=dollars,
    cache_write_1h=dollars,
    web_search=dollars,
)


def exact_microdollars(tokens: Tokens, price: Price, factor: Decimal) -> Fraction:
    """Return the exact cost, computed independently."""
    per_token = (
        (tokens.input, price.input),
        (tokens.output, price.output),
        (tokens.cache_read, price.cache_read),
        (tokens.cache_write_5m, price.cache_write_5m),
        (tokens.cache_write_1h, price.cache_write_1h),
    )
    sums = sum(count * Fraction(each or 0) for count, each in per_token)
    return sums * Fraction(factor) + tokens.web_searches * Fraction(price.web_search or 0) * 1000


def cost_of(tokens: Tokens, price: Price, factor: Decimal = Decimal(1)) -> Cost | None:
    """Return the rounded cost of one request."""
    amounts = multiply(tokens, make_tariff(price, factor))
    return None if amounts is None else round_amounts(amounts)


@given(tokens_used, prices, factors)
def test_the_total_is_exact_but_for_one_rounding(
    tokens: Tokens, price: Price, factor: Decimal
) -> None:
    """Classes add up to the exact sum, rounded half to even; factors do not apply to searches."""
    cost = cost_of(tokens, price, factor)
    assert cost is not None
    assert cost.total == round(exact_microdollars(tokens, price, factor))


@given(tokens_used, prices, factors)
def test_the_total_alone_is_the_same(tokens: Tokens, price: Price, factor: Decimal) -> None:
    """The total equals the sum of the classes."""
    cost = cost_of(tokens, price, factor)
    assert cost is not None
    assert multiply_total(tokens, make_tariff(price, factor)) == cost.total


def test_a_total_is_unknown_where_a_class_is() -> None:
    """If the class was used; above a threshold the higher price applies."""
    tier = Tier(above=10, input=Decimal(3))
    price = Price(model="m", input=Decimal(1), output=Decimal(2), tiers=(tier,))
    tariff = make_tariff(price, Decimal(1))
    assert multiply_total(Tokens(10, 1), tariff) == 12
    assert multiply_total(Tokens(11, 1), tariff) == 35
    assert multiply_total(Tokens(1, 1, cache_read=1), tariff) is None


@given(tokens_used, prices)
def test_each_class_is_right_to_a_microdollar(tokens: Tokens, price: Price) -> None:
    """No class is negative, is off by a whole microdollar, or costs anything without tokens."""
    cost = cost_of(tokens, price)
    assert cost is not None
    alone = cost_of(Tokens(cache_read=tokens.cache_read), price)
    assert alone is not None
    assert cost.cache_read >= 0
    assert abs(cost.cache_read - alone.cache_read) <= 1
    assert alone == Cost(cache_read=alone.total)


@given(tokens_used, tokens_used, prices, prices, factors)
def test_requests_of_one_message_are_rounded_together(
    one: Tokens, other: Tokens, price: Price, second: Price, factor: Decimal
) -> None:
    """Two requests at different prices add up exactly before the rounding."""
    first_part = multiply(one, make_tariff(price, factor))
    second_part = multiply(other, make_tariff(second, Decimal(1)))
    assert first_part is not None
    assert second_part is not None
    exact = exact_microdollars(one, price, factor)
    exact += exact_microdollars(other, second, Decimal(1))
    assert round_amounts(add(first_part, second_part)).total == round(exact)


def test_half_a_microdollar_goes_to_the_even_side() -> None:
    """Ties are not always rounded up, which would add up."""
    price = Price(model="m", input=Decimal("0.5"), output=Decimal(0))
    costs = [cost_of(Tokens(input=count), price) for count in (1, 2, 3, 4, 5)]
    assert costs == [Cost(), Cost(input=1), Cost(input=2), Cost(input=2), Cost(input=2)]


def test_a_long_prompt_raises_the_whole_request() -> None:
    """Above a threshold every token has the higher price; prices missing in a tier stay."""
    price = Price(
        model="m",
        input=Decimal(1),
        output=Decimal(2),
        cache_read=Decimal(3),
        tiers=(
            Tier(above=100, input=Decimal(10)),
            Tier(above=200, input=Decimal(20), output=Decimal(30)),
        ),
    )
    at = [cost_of(Tokens(sent, 1, 1), price) for sent in (99, 100, 199, 200)]
    assert at == [
        Cost(input=99, output=2, cache_read=3),
        Cost(input=1000, output=2, cache_read=3),
        Cost(input=1990, output=2, cache_read=3),
        Cost(input=4000, output=30, cache_read=3),
    ]


def test_a_class_without_a_price_is_unknown_once_it_is_used() -> None:
    """A missing price is not zero."""
    price = Price(model="m", input=Decimal(1), output=Decimal(2))
    assert cost_of(Tokens(input=5, output=5), price) == Cost(input=5, output=10)
    assert cost_of(Tokens(input=5, cache_read=1), price) is None
    assert cost_of(Tokens(input=5, web_searches=1), price) is None


token_counts = st.integers(min_value=0, max_value=10**7)


def writes(total: int, five: int, hour: int) -> Usage:
    """Return a usage with only cache writes."""
    split = CacheCreation(ephemeral_5m_input_tokens=five, ephemeral_1h_input_tokens=hour)
    return Usage(cache_creation_input_tokens=total, cache_creation=split)


def test_every_class_is_found() -> None:
    """Each number of a usage has its own class; fetches have none."""
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
    """Writes are split as recorded; the rest are 5-minute writes."""
    tokens = split_usage(usage, is_largest=is_largest)
    assert tokens == Tokens(cache_write_5m=five, cache_write_1h=hour)


def test_a_split_without_a_total_is_believed_of_the_largest_record_only() -> None:
    """A fork leaves a copy whose total has no cache writes, so its split is not counted."""
    usage = writes(0, 1200, 34)
    assert split_usage(usage) == Tokens()
    assert split_usage(usage, is_largest=True) == Tokens(cache_write_5m=1200, cache_write_1h=34)


def test_counts_below_zero_are_nothing() -> None:
    """Negative counts count as zero."""
    usage = Usage(input_tokens=-5, output_tokens=7, cache_read_input_tokens=-1)
    assert split_usage(usage) == Tokens(output=7)


@given(token_counts, token_counts, token_counts, token_counts, token_counts)
def test_no_token_is_lost(sent: int, received: int, read: int, total: int, hour: int) -> None:
    """Classes add up to the totals of the usage."""
    usage = Usage(
        input_tokens=sent,
        output_tokens=received,
        cache_read_input_tokens=read,
        cache_creation_input_tokens=total,
        cache_creation=CacheCreation(ephemeral_1h_input_tokens=hour),
    )
    assert split_usage(usage).total == usage.total_tokens


def test_a_step_that_repeats_the_totals_is_not_counted_again() -> None:
    """An ordinary message is one request, with its speed, tier and region."""
    usage = Usage(
        output_tokens=8,
        speed="fast",
        service_tier="batch",
        inference_geo="us",
        iterations=(Iteration(type="message", output_tokens=8),),
    )
    own = BilledRequest("claude-opus-5", Tokens(output=8), "fast", "batch", "us")
    assert split_requests("claude-opus-5", usage) == (own,)


def test_steps_of_the_model_itself_are_in_the_totals() -> None:
    """Several steps of type `message` are one request, because the totals include them."""
    step = Iteration(type="message", output_tokens=4)
    usage = Usage(output_tokens=8, iterations=(step, step))
    requests = split_requests("claude-opus-5", usage)
    assert requests == (BilledRequest("claude-opus-5", Tokens(output=8)),)


def test_an_advisor_is_billed_apart() -> None:
    """An advisor's tokens are not in the totals, and its speed is its own."""
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
        BilledRequest("claude-opus-5", Tokens(output=8), speed="fast", inference_geo="us"),
        BilledRequest("claude-fable-5", Tokens(823, 1612, 10, 10, 20), inference_geo="us"),
    )


def test_an_advisor_without_a_name_has_no_model() -> None:
    """Its model is not assumed to be that of the message."""
    usage = Usage(iterations=(Iteration(type="advisor_message", output_tokens=5),))
    assert split_requests("claude-opus-5", usage)[1] == BilledRequest(None, Tokens(output=5))


def test_a_compaction_by_the_api_is_billed_apart() -> None:
    """Its tokens are not in the totals either."""
    usage = Usage(
        input_tokens=23_000,
        iterations=(
            Iteration(type="compaction", input_tokens=180_000, output_tokens=3_500),
            Iteration(type="message", input_tokens=23_000),
        ),
    )
    assert split_requests("claude-opus-4-6", usage) == (
        BilledRequest("claude-opus-4-6", Tokens(input=23_000)),
        BilledRequest("claude-opus-4-6", Tokens(input=180_000, output=3_500)),
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
    """Whatever model the message names, a silent refusal is free and the answer is not."""
    requests = split_requests(model, fallback(said=0))
    assert requests == (BilledRequest("claude-opus-4-8", Tokens(412, 264)),)


def test_an_attempt_that_broke_off_is_billed_to_its_own_model() -> None:
    """Output of the model that declined is billed in addition to the answer."""
    assert split_requests("claude-fable-5", fallback(said=90)) == (
        BilledRequest("claude-opus-4-8", Tokens(412, 264)),
        BilledRequest("claude-fable-5", Tokens(408, 90)),
    )


def test_an_attempt_without_a_name_was_that_of_the_message() -> None:
    """A step without a model ran on the requested one."""
    usage = Usage(
        output_tokens=2,
        iterations=(
            Iteration(type="message", output_tokens=1),
            Iteration(type="fallback_message", model="claude-opus-4-8", output_tokens=2),
        ),
    )
    assert split_requests("claude-fable-5", usage) == (
        BilledRequest("claude-opus-4-8", Tokens(output=2)),
        BilledRequest("claude-fable-5", Tokens(output=1)),
    )


def test_a_fallback_without_a_name_leaves_the_message_its_model() -> None:
    """The model of the message is used."""
    step = Iteration(type="fallback_message", output_tokens=2)
    usage = Usage(output_tokens=2, iterations=(step,))
    assert split_requests("claude-opus-5", usage) == (
        BilledRequest("claude-opus-5", Tokens(output=2)),
    )
