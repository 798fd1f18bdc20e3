"""Costs of messages at the bundled prices."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from recollect.pricing import SYNTHETIC_MODEL, BilledRequest, Cost, Prices, Tokens
from recollect.pricing.prices import CACHE_SIZE
from recollect.records.token_usage import CacheCreation, Iteration, ServerToolUse, Usage
from tests.process import run_python

DAY = "2026-11-15T08:00:00.000Z"
USAGE = Usage(input_tokens=100_000, output_tokens=100_000)


@pytest.fixture(scope="module")
def prices() -> Prices:
    """The bundled prices."""
    return Prices.load()


def total(cost: Cost | None) -> int | None:
    """Return the microdollars of a known cost."""
    return None if cost is None else cost.total


def test_a_message_by_class(prices: Prices) -> None:
    """Each class has its own price."""
    usage = Usage(
        input_tokens=1_000,
        output_tokens=2_000,
        cache_read_input_tokens=30_000,
        cache_creation_input_tokens=9_000,
        cache_creation=CacheCreation(
            ephemeral_5m_input_tokens=4_000, ephemeral_1h_input_tokens=5_000
        ),
        server_tool_use=ServerToolUse(web_search_requests=3, web_fetch_requests=9),
    )
    cost = prices.cost("claude-opus-5-5", usage, DAY)
    assert cost == Cost(4_000, 40_000, 6_000, 20_000, 40_000, 30_000)
    assert cost.total == 140_000


@pytest.mark.parametrize(
    "model",
    [
        "claude-sonnet-4-5",
        "claude-sonnet-4-5-20250929",
        "claude-sonnet-4-5@20250929",
        "claude-sonnet-4-5[1m]",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "anthropic/claude-sonnet-4.5",
    ],
)
def test_spellings_cost_the_same(prices: Prices, model: str) -> None:
    """A model costs the same under each of its names."""
    assert total(prices.cost(model, USAGE, DAY)) == 300_000 + 1_500_000


@pytest.mark.parametrize(
    "model", ["claude-opus-9", "glm-4.6", "opus", "default", "", None, "claude-opus-5-5-preview"]
)
def test_an_unknown_model_has_no_cost(prices: Prices, model: str | None) -> None:
    """It is neither free nor priced like similar models."""
    assert prices.cost(model, USAGE, DAY) is None
    assert prices.find(model, DAY) is None


def test_messages_of_the_client_itself_are_free(prices: Prices) -> None:
    """Synthetic messages cost nothing on any day, and have no price to show."""
    assert prices.cost(SYNTHETIC_MODEL, USAGE, None) == Cost()
    assert prices.find(SYNTHETIC_MODEL, DAY) is None


@pytest.mark.parametrize(
    ("model", "dollars"),
    [
        ("claude-mythos-preview", 15.00),
        ("claude-mythos-5", 6.00),
        ("claude-mythos-5-1", 6.00),
        ("claude-fable-5.1", 6.00),
        ("claude-opus-4-20250514", 9.00),
        ("claude-3-5-haiku-20241022", 0.48),
    ],
)
def test_models_by_hand_and_by_alias(prices: Prices, model: str, dollars: float) -> None:
    """Overrides and aliases have prices."""
    assert total(prices.cost(model, USAGE, DAY)) == round(dollars * 10**6)


FACTORS = {
    ("claude-opus-4-6", "fast", None, None): 6,
    ("claude-opus-4-7", "fast", None, None): 6,
    ("claude-opus-4-8", "fast", None, None): 2,
    ("claude-opus-5", "fast", None, None): 2,
    ("claude-opus-5-5", "fast", None, None): 2,
    ("us.anthropic.claude-opus-5-5-v1:0", "fast", None, None): 2,
    ("claude-opus-5-5", "standard", "standard", "global"): 1,
    ("claude-opus-5-5", "", "", ""): 1,
    ("claude-opus-5-5", None, "priority", "not_available"): 1,
    ("claude-opus-5-5", None, "batch", None): 0.5,
    ("claude-opus-5-5", None, None, "us"): 1.1,
    ("claude-opus-5-5", "fast", None, "us"): 2.2,
    ("claude-sonnet-5", "fast", None, None): None,
    ("claude-opus-5-5", "warp", None, None): None,
    ("claude-opus-5-5", None, "flex", None): None,
    ("claude-opus-5-5", None, None, "mars"): None,
}


@pytest.mark.parametrize(("terms", "factor"), FACTORS.items())
def test_factors(
    prices: Prices, terms: tuple[str, str | None, str | None, str | None], factor: float | None
) -> None:
    """Speed, tier and region multiply the cost of tokens; an unknown value has no price."""
    model, *rest = terms
    plain = prices.cost_of(BilledRequest(model, Tokens(1_000, 1_000)), DAY)
    assert plain is not None
    cost = prices.cost_of(BilledRequest(model, Tokens(1_000, 1_000), *rest), DAY)
    assert total(cost) == (None if factor is None else round(plain.total * factor))


def test_factors_leave_searches_alone(prices: Prices) -> None:
    """A search costs a cent, however fast the answer was."""
    request = BilledRequest("claude-opus-5", Tokens(web_searches=1), "fast", "batch", "us")
    assert prices.cost_of(request, DAY) == Cost(web_search=10_000)


LONG = Tokens(
    input=1, output=1_000, cache_read=100_000, cache_write_5m=50_000, cache_write_1h=50_000
)
SHORT = Tokens(output=1_000, cache_read=100_000, cache_write_5m=50_000, cache_write_1h=50_000)


@pytest.mark.parametrize(
    ("model", "day", "short", "long"),
    [
        ("claude-sonnet-4-20250514", "2025-10-01", 532_500, 1_057_506),
        ("claude-sonnet-4-5", "2025-10-01", 532_500, 1_057_506),
        ("claude-sonnet-4-6", "2026-03-12", 532_500, 1_057_506),
        ("claude-sonnet-4-6", "2026-03-13", 532_500, 532_503),
        ("claude-opus-4-6", "2026-03-12", 887_500, 1_762_510),
        ("claude-opus-4-6", "2026-03-13", 887_500, 887_505),
        ("claude-opus-5-5", "2026-11-15", 690_000, 690_004),
    ],
)
def test_long_prompts(prices: Prices, model: str, day: str, short: int, long: int) -> None:
    """One token above 200,000 doubles the prompt's price, for models and days with that rule."""
    costs = [
        prices.cost_of(BilledRequest(model, tokens), date.fromisoformat(day))
        for tokens in (SHORT, LONG)
    ]
    assert [total(cost) for cost in costs] == [short, long]


def test_a_step_at_a_hundred_thousand(prices: Prices) -> None:
    """Haiku 5.5 costs five times as much above it."""
    costs = [
        prices.cost_of(BilledRequest("claude-haiku-5-5", Tokens(input=count)), DAY)
        for count in (100_000, 100_001)
    ]
    assert costs == [Cost(input=10_000), Cost(input=50_000)]


def test_requests_are_priced_one_by_one(prices: Prices) -> None:
    """Two requests that are long only together cost less than one long one."""
    half = prices.cost("claude-sonnet-4-5", Usage(cache_read_input_tokens=150_000), DAY)
    whole = prices.cost("claude-sonnet-4-5", Usage(cache_read_input_tokens=300_000), DAY)
    assert (total(half), total(whole)) == (45_000, 180_000)


TOKYO = timezone(timedelta(hours=9))


@pytest.mark.parametrize(
    ("when", "is_new"),
    [
        ("2026-03-12T23:59:59.999Z", False),
        ("2026-03-13T00:00:00.000Z", True),
        ("2026-03-13T08:59:59.999+09:00", False),
        ("2026-03-13T09:00:00.000+09:00", True),
        ("2026-03-12T23:59:59", False),
        ("2026-03-13", True),
        (date(2026, 3, 12), False),
        (datetime(2026, 3, 13, tzinfo=UTC), True),
        (datetime(2026, 3, 13, 8, tzinfo=TOKYO), False),
        (datetime(2026, 3, 13), True),  # noqa: DTZ001 - a naive time is taken for UTC
    ],
)
def test_the_day_is_that_of_utc(prices: Prices, when: str | date, is_new: bool) -> None:
    """A price starts at midnight UTC, whatever the time zone of the timestamp."""
    price = prices.find("claude-opus-4-6", when)
    assert price is not None
    assert (price.first_day == date(2026, 3, 13)) is is_new


@pytest.mark.parametrize("when", [None, "", "yesterday", "2026-13-40T00:00:00Z", "Z"])
def test_without_a_day_there_is_no_price(prices: Prices, when: str | None) -> None:
    """The price is not guessed."""
    assert prices.cost("claude-opus-5-5", USAGE, when) is None
    assert prices.find("claude-opus-5-5", when) is None


def test_an_advisor_costs_its_own_price(prices: Prices) -> None:
    """Own tokens and those of the advisor each have their model's price."""
    advice = Iteration(type="advisor_message", model="claude-fable-5", output_tokens=1_000)
    usage = Usage(output_tokens=1_000, iterations=(Iteration(type="message"), advice))
    assert prices.cost("claude-opus-5-5", usage, DAY) == Cost(output=20_000 + 50_000)


@pytest.mark.parametrize(
    ("model", "adviser"), [("claude-opus-5-5", "oracle-1"), ("oracle-1", "claude-fable-5")]
)
def test_one_unknown_model_makes_the_message_unknown(
    prices: Prices, model: str, adviser: str
) -> None:
    """A partial cost is never shown as the total."""
    advice = Iteration(type="advisor_message", model=adviser, output_tokens=1_000)
    usage = Usage(output_tokens=1_000, iterations=(Iteration(type="message"), advice))
    assert prices.cost(model, usage, DAY) is None


def test_the_copy_of_a_fork_costs_nothing(prices: Prices) -> None:
    """Cache writes missing from the total count only in the largest record."""
    usage = Usage(cache_creation=CacheCreation(ephemeral_5m_input_tokens=1_200))
    assert prices.cost("claude-opus-5-5", usage, DAY) == Cost()
    largest = prices.cost("claude-opus-5-5", usage, DAY, is_largest=True)
    assert largest == Cost(cache_write_5m=6_000)


def test_what_is_remembered_is_bounded() -> None:
    """Thousands of made-up model names do not fill the memory, and prices stay correct."""
    prices = Prices.load()
    asked = {prices.cost(f"made-up-{number}", USAGE, DAY) for number in range(CACHE_SIZE + 1)}
    assert asked == {None}
    assert len(prices._tariffs) == 1
    assert total(prices.cost("claude-opus-5-5", USAGE, DAY)) == 2_400_000


def test_importing_reads_no_prices() -> None:
    """The files are opened when prices are loaded, and the price library is never imported."""
    script = """
import sys
opened = []
def watch(event, args):
    if event == "open" and str(args[0]).endswith((".json", ".toml")):
        opened.append(str(args[0]).replace("\\\\", "/").split("/")[-1])
sys.addaudithook(watch)
import recollect.pricing
print(opened)
recollect.pricing.Prices.load()
print(sorted(opened))
print("genai_prices" in sys.modules)
"""
    printed = run_python("-c", script).stdout.splitlines()
    assert printed == ["[]", "['overrides.toml', 'prices.json']", "False"]
