"""The table against the library that it was generated from."""

import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec.structs import astuple, replace

from recollect.pricing import BilledRequest, Price, Prices, Tokens
from recollect.pricing.price_tables import PriceFile, read_bundled
from recollect.pricing.prices import GENERATED_PRICES

pytest.importorskip("genai_prices", reason="genai-prices, a development dependency, is missing")

import genai_prices
from genai_prices.types import ModelInfo

from tools import generate_prices

SAMPLES = 10_000
FIRST_DAY = date(2024, 1, 1)
TABLE = read_bundled(GENERATED_PRICES)
PROVIDER = generate_prices.find_provider()

# genai-prices has no long-context price for Sonnet 4; ours is in the overrides.
FLAT_AT_THE_SOURCE = "claude-sonnet-4-0"

is_current = pytest.mark.skipif(
    TABLE.source != f"genai-prices {genai_prices.__version__}",
    reason=f"the table is from {TABLE.source}, another version is installed",
)


def draw_tokens(rng: random.Random, price: Price) -> Tokens:
    """Generate tokens of the classes that the model has, often around a threshold."""
    sent, received, read, five, hour = (
        rng.choice((0, rng.randrange(50_000), rng.randrange(400_000))) for _ in range(5)
    )
    searches = 0 if price.web_search is None else rng.randrange(4)
    if rng.random() < 0.1:
        sent = rng.choice((100_000, 200_000)) + rng.choice((0, 1))
        return Tokens(sent, received, web_searches=searches)
    if price.cache_read is None:
        return Tokens(sent, received, web_searches=searches)
    return Tokens(sent, received, read, five, hour, searches)


def microdollars(tokens: Tokens, model: ModelInfo, moment: datetime) -> Decimal:
    """Return the cost by genai-prices, whose input includes cache reads and writes."""
    usage = genai_prices.Usage(
        input_tokens=tokens.prompt,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_write_5m + tokens.cache_write_1h,
        cache_write_1h_tokens=tokens.cache_write_1h,
        web_searches=tokens.web_searches,
    )
    found = model.calc_price(usage, PROVIDER, genai_request_timestamp=moment)
    return found.total_price * 10**6


@is_current
@pytest.mark.slow
def test_costs_equal_those_of_genai_prices() -> None:
    """For random usages of all models on any day, except for rounding."""
    rng, prices = random.Random(20261115), Prices.load()
    strays = []
    for _ in range(SAMPLES):
        model = rng.choice(PROVIDER.models)
        moment = datetime.combine(FIRST_DAY, datetime.min.time(), UTC)
        moment += timedelta(seconds=rng.randrange(3 * 366 * 24 * 3600))
        price = prices.find(model.id, moment)
        assert price is not None
        tokens = draw_tokens(rng, price)
        if model.id == FLAT_AT_THE_SOURCE and tokens.prompt > 200_000:
            tokens = Tokens(output=tokens.output)
        cost = prices.cost_of(BilledRequest(model.id, tokens), moment)
        expected = microdollars(tokens, model, moment)
        if cost is None or cost.total != round(expected):
            strays.append((model.id, moment, astuple(tokens), cost, expected))
    assert strays == []


def test_the_table_has_the_form_of_the_generator() -> None:
    """The committed file has the generator's format."""
    assert generate_prices.to_json(TABLE) == GENERATED_PRICES.read_text(encoding="utf-8")


def test_a_table_can_be_made_from_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first run writes a table, the second leaves it unchanged, and both print a summary."""
    target = tmp_path / "prices.json"
    generate_prices.main(target)
    first = target.read_bytes()
    generate_prices.main(target)
    assert target.read_bytes() == first
    table = read_bundled(target)
    summary = f"{len(table.prices)} prices, {len(table.names)} names"
    line = f"prices.json: genai-prices {genai_prices.__version__}, {summary}\n"
    assert capsys.readouterr().out == line + line


@is_current
def test_generating_again_changes_nothing() -> None:
    """Without changes the table keeps its date."""
    assert generate_prices.build(date(2030, 1, 1), TABLE) == TABLE


@is_current
def test_a_price_is_never_overwritten() -> None:
    """Old prices stay for their days; new ones start on the day of the run."""
    opus, *others = [price for price in TABLE.prices if price.model == "claude-opus-5-5"]
    assert others == []
    dearer = replace(opus, input=opus.input + 1)
    rest = tuple(price for price in TABLE.prices if price is not opus)
    previous = PriceFile(source="old", names=TABLE.names, prices=(*rest, dearer))
    day = date(2030, 1, 1)
    built = generate_prices.build(day, previous)
    found = [price for price in built.prices if price.model == "claude-opus-5-5"]
    assert found == [dearer, replace(opus, first_day=day)]
    assert (built.source, built.day) == (TABLE.source, day)
    assert generate_prices.build(date(2031, 1, 1), built) == built


@is_current
def test_a_dropped_model_stays() -> None:
    """Transcripts still name models that are no longer sold."""
    gone = Price(model="claude-0", input=Decimal(1), output=Decimal(2))
    previous = PriceFile(names={"claude-zero": "claude-0"}, prices=(gone, *TABLE.prices))
    built = generate_prices.build(date(2030, 1, 1), previous)
    assert [price for price in built.prices if price.model == "claude-0"] == [gone]
    assert built.names == {**TABLE.names, "claude-zero": "claude-0"}


@is_current
def test_names_lead_to_the_model_that_genai_prices_means() -> None:
    """Every name in the table matches the same model there."""
    matched = {name: PROVIDER.find_model(name) for name in TABLE.names}
    assert {name: model and model.id for name, model in matched.items()} == TABLE.names
