"""Exact amounts, rounded once."""

from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from recollect.pricing import Cost, Price, Tier, Tokens
from recollect.pricing.cost import add, make_tariff, multiply, multiply_total, round_amounts

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
    """The same by the book."""
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
    """The rounded cost of one request."""
    amounts = multiply(tokens, make_tariff(price, factor))
    return None if amounts is None else round_amounts(amounts)


@given(tokens_used, prices, factors)
def test_the_total_is_exact_but_for_one_rounding(
    tokens: Tokens, price: Price, factor: Decimal
) -> None:
    """The classes add up to the exact sum, rounded half to even; searches take no factor."""
    cost = cost_of(tokens, price, factor)
    assert cost is not None
    assert cost.total == round(exact_microdollars(tokens, price, factor))


@given(tokens_used, prices, factors)
def test_the_total_alone_is_the_same(tokens: Tokens, price: Price, factor: Decimal) -> None:
    """Whoever needs no classes gets what they add up to."""
    cost = cost_of(tokens, price, factor)
    assert cost is not None
    assert multiply_total(tokens, make_tariff(price, factor)) == cost.total


def test_a_total_is_unknown_where_a_class_is() -> None:
    """As soon as it was used; above a threshold the higher price holds."""
    tier = Tier(above=10, input=Decimal(3))
    price = Price(model="m", input=Decimal(1), output=Decimal(2), tiers=(tier,))
    tariff = make_tariff(price, Decimal(1))
    assert multiply_total(Tokens(10, 1), tariff) == 12
    assert multiply_total(Tokens(11, 1), tariff) == 35
    assert multiply_total(Tokens(1, 1, cache_read=1), tariff) is None


@given(tokens_used, prices)
def test_each_class_is_right_to_a_microdollar(tokens: Tokens, price: Price) -> None:
    """No class is negative, none strays by a whole microdollar, and none costs without tokens."""
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
    """A tie is not always rounded up, so that many of them do not add up to a drift."""
    price = Price(model="m", input=Decimal("0.5"), output=Decimal(0))
    costs = [cost_of(Tokens(input=count), price) for count in (1, 2, 3, 4, 5)]
    assert costs == [Cost(), Cost(input=1), Cost(input=2), Cost(input=2), Cost(input=2)]


def test_a_long_prompt_raises_the_whole_request() -> None:
    """Above a threshold every token has the higher price, and what a tier leaves out stays."""
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
    """A missing price is no price of zero."""
    price = Price(model="m", input=Decimal(1), output=Decimal(2))
    assert cost_of(Tokens(input=5, output=5), price) == Cost(input=5, output=10)
    assert cost_of(Tokens(input=5, cache_read=1), price) is None
    assert cost_of(Tokens(input=5, web_searches=1), price) is None
