"""Tests of recollect.pricing.price_tables: model names, the user's file and the bundled ones."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import UsageError
from recollect.pricing import Cost, Price, Prices, Tier, normalise_model
from recollect.pricing.price_tables import PriceFile, list_lookup_names, read_bundled
from recollect.pricing.prices import GENERATED_PRICES, PRICE_OVERRIDES
from recollect.records.token_usage import Usage

USAGE = Usage(input_tokens=1_000, output_tokens=1_000)


def write(folder: Path, text: str) -> Path:
    """Write a user's price file."""
    path = folder / "prices.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_model_of_the_users_own(tmp_path: Path) -> None:
    """A model that is otherwise unknown gets the user's price."""
    path = write(
        tmp_path,
        """
        [[prices]]
        model = "glm-4.6"
        input = 0.6
        output = 2.2
        cache_read = 0.11
        web_search = 5
        source = "my contract"

        [[prices.tiers]]
        above = 128_000
        input = 1.2
        """,
    )
    prices = Prices.load(path)
    assert prices.find("glm-4.6", "2026-11-15") == Price(
        model="glm-4.6",
        input=Decimal("0.6"),
        output=Decimal("2.2"),
        cache_read=Decimal("0.11"),
        web_search=Decimal(5),
        tiers=(Tier(above=128_000, input=Decimal("1.2")),),
        source="my contract",
    )
    assert prices.cost("glm-4.6", USAGE, "2026-11-15") == Cost(input=600, output=2_200)


def test_an_override_holds_on_its_days_only(tmp_path: Path) -> None:
    """Before its first day and after its last the bundled price applies, under any spelling."""
    path = write(
        tmp_path,
        """
        [[prices]]
        model = "claude-opus-5-5"
        first_day = 2026-11-01
        last_day = 2026-11-30
        input = 1
        output = 1

        [[prices]]
        model = "claude-opus-5-5"
        first_day = 2026-11-15
        last_day = 2026-11-20
        input = 0
        output = 0
        """,
    )
    prices = Prices.load(path)
    days = ["10-31", "11-01", "11-14", "11-15", "11-20", "11-21", "11-30", "12-01"]
    costs = [prices.cost("anthropic/claude-opus-5.5", USAGE, f"2026-{day}") for day in days]
    assert [cost and cost.total for cost in costs] == [
        24_000,
        2_000,
        2_000,
        0,
        0,
        2_000,
        2_000,
        24_000,
    ]


def test_an_override_may_use_another_spelling(tmp_path: Path) -> None:
    """A price for a known alias is a price of the model."""
    text = '[[prices]]\nmodel = "claude-opus-4-20250514"\ninput = 1\noutput = 1\n'
    prices = Prices.load(write(tmp_path, text))
    assert prices.cost("claude-4-opus", USAGE, "2026-11-15") == Cost(input=1_000, output=1_000)


def test_names_lead_a_proxys_model_to_a_price(tmp_path: Path) -> None:
    """A name may refer to a model in any spelling, or to an earlier name."""
    text = '[names]\n"house" = "anthropic/claude-opus-5.5"\n"guest" = "house"\n'
    prices = Prices.load(write(tmp_path, text))
    costs = [prices.cost(name, USAGE, "2026-11-15") for name in ("house", "guest")]
    assert costs == [Cost(input=4_000, output=20_000)] * 2


def test_a_provider_may_have_its_own_price(tmp_path: Path) -> None:
    """A price for a router's or cloud's spelling does not affect the model itself."""
    text = '[[prices]]\nmodel = "anthropic/claude-opus-5.5"\ninput = 5\noutput = 25\n'
    prices = Prices.load(write(tmp_path, text))
    models = ["anthropic/claude-opus-5.5", "claude-opus-5.5", "claude-opus-5-5"]
    costs = [prices.cost(model, USAGE, "2026-11-15") for model in models]
    assert [cost and cost.total for cost in costs] == [30_000, 24_000, 24_000]


def test_factors_of_the_users_own(tmp_path: Path) -> None:
    """The user's factor overrides ours for its models and days."""
    path = write(
        tmp_path,
        """
        [[multipliers]]
        field = "service_tier"
        value = "priority"
        factor = 1.5
        models = ["claude-opus-5.5"]
        first_day = 2026-11-01

        [[multipliers]]
        field = "inference_geo"
        value = "eu"
        factor = 1.05
        """,
    )
    prices = Prices.load(path)
    terms = [
        ("claude-opus-5-5", "priority", None, "2026-11-01"),
        ("claude-opus-5-5", "priority", None, "2026-10-31"),
        ("claude-opus-5", "priority", None, "2026-11-01"),
        ("claude-opus-5", None, "eu", "2026-11-01"),
    ]
    costs = [
        prices.cost(
            model,
            Usage(input_tokens=1_000, service_tier=tier, inference_geo=geography),
            day,
        )
        for model, tier, geography, day in terms
    ]
    assert [cost and cost.total for cost in costs] == [6_000, 4_000, 5_000, 5_250]


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    """Every part of a price file is optional."""
    prices = Prices.load(write(tmp_path, ""))
    assert prices.find("claude-opus-5-5", "2026-11-15") == Prices.load().find(
        "claude-opus-5-5", "2026-11-15"
    )


PRICE = '[[prices]]\nmodel = "m"\ninput = 1\noutput = 1\n'
HINT = "See docs/pricing.md for the format."
BAD = {
    '[[prices]]\nmodel = "m"\ninput = 1\n': "Object missing required field "
    f"`output` - at `$.prices[0]`. {HINT}",
    PRICE + "cache = 1\n": f"Object contains unknown field `cache` - at `$.prices[0]`. {HINT}",
    PRICE.replace("input = 1", 'input = "cheap"'): "Invalid decimal string - at "
    f"`$.prices[0].input`. {HINT}",
    PRICE.replace("input = 1", "input = -1"): "-1 is not a number from 0 to "
    f"1000000 with up to 12 decimal places - at `$.prices[0]`. {HINT}",
    PRICE.replace("input = 1", "input = inf"): "Infinity is not a number from 0 to "
    f"1000000 with up to 12 decimal places - at `$.prices[0]`. {HINT}",
    PRICE.replace("input = 1", "input = 1e-400000000"): "1E-400000000 is not a "
    f"number from 0 to 1000000 with up to 12 decimal places - at `$.prices[0]`. {HINT}",
    PRICE + "first_day = 2026-02-01\nlast_day = 2026-01-01\n": "`last_day` is "
    f"before `first_day` - at `$.prices[0]`. {HINT}",
    PRICE + PRICE: f"two prices for m with no `first_day`. {HINT}",
    PRICE + "[[prices.tiers]]\nabove = 9\n[[prices.tiers]]\nabove = 8\n": "tiers "
    f"must be in ascending order of `above` - at `$.prices[0]`. {HINT}",
    PRICE + "[[prices.tiers]]\nabove = -1\n": "`above` is a number of tokens and "
    f"cannot be negative - at `$.prices[0].tiers[0]`. {HINT}",
    '[[multipliers]]\nfield = "mood"\nvalue = "good"\nfactor = 2\n': "Invalid enum "
    f"value 'mood' - at `$.multipliers[0].field`. {HINT}",
    '[names]\n"mine" = "claude-opus-55"\n': "the model claude-opus-55 has no price. "
    "Correct the name or add [[prices]] with model = 'claude-opus-55'.",
    '[names]\n"mine" = "yours"\n"yours" = "claude-opus-5"\n': "the model yours has no "
    "price. Correct the name or add [[prices]] with model = 'yours'.",
    '[[multipliers]]\nfield = "speed"\nvalue = "fast"\nfactor = 2\nmodels = ["opus"]\n': "the "
    "model opus has no price. Correct the name or add [[prices]] with model = 'opus'.",
}


@pytest.mark.parametrize(("text", "message"), BAD.items())
def test_an_invalid_file_says_what_to_fix(tmp_path: Path, text: str, message: str) -> None:
    """Each mistake gives an error with the file, the location and the remedy."""
    path = write(tmp_path, text)
    with pytest.raises(UsageError) as refusal:
        Prices.load(path)
    assert str(refusal.value) == f"Invalid price file {path}: {message}"


def test_a_file_that_is_not_toml_says_where(tmp_path: Path) -> None:
    """The error has the line; its wording is Python's."""
    path = write(tmp_path, "[names]\n[[prices]\n")
    with pytest.raises(UsageError) as refusal:
        Prices.load(path)
    assert str(refusal.value).startswith(f"The price file {path} is not valid TOML: ")
    assert str(refusal.value).count("(at line 2, column ") == 1


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Missing files and files that are not text are usage errors."""
    missing, binary = tmp_path / "none.toml", tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    messages = []
    for path in (missing, binary):
        with pytest.raises(UsageError) as refusal:
            Prices.load(path)
        messages.append(str(refusal.value))
    assert messages == [
        f"Cannot read the price file {missing}: No such file or directory.",
        f"The price file {binary} is not UTF-8 text; save it as such.",
    ]


def test_the_example_in_the_documentation_is_a_price_file(tmp_path: Path) -> None:
    """The example in docs/pricing.md is a valid price file."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "pricing.md").read_text("utf-8")
    example = page.split("```toml\n")[1].split("```")[0]
    prices = Prices.load(write(tmp_path, example))
    assert prices.find("house-model", date(2026, 11, 15)) is not None


def test_overrides_give_their_source() -> None:
    """Each price in the overrides, and each factor other than 1, has a source."""
    overrides = read_bundled(PRICE_OVERRIDES)
    assert [price for price in overrides.prices if not price.source] == []
    factors = [entry for entry in overrides.multipliers if entry.factor != 1]
    assert [entry for entry in factors if not entry.source] == []


def test_generated_table_is_dated() -> None:
    """The table contains its source and its date."""
    table = read_bundled(GENERATED_PRICES)
    assert isinstance(table, PriceFile)
    assert table.source.startswith("genai-prices ")
    assert table.day is not None


SPELLINGS = {
    "claude-opus-5-5": "claude-opus-5-5",
    " claude-opus-5-5\n": "claude-opus-5-5",
    "claude-opus-5-5[1m]": "claude-opus-5-5",
    "claude-haiku-4-5-20251001": "claude-haiku-4-5-20251001",
    "claude-sonnet-4-5@20250929": "claude-sonnet-4-5-20250929",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0": "claude-sonnet-4-5-20250929",
    "global.anthropic.claude-opus-4-6-v1": "claude-opus-4-6",
    "eu.anthropic.claude-sonnet-4-5-20250929-v1:0[1m]": "claude-sonnet-4-5-20250929",
    "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/"
    "eu.anthropic.claude-opus-4-5-20251101-v1:0": "claude-opus-4-5-20251101",
    "anthropic/claude-opus-4.5": "claude-opus-4.5",
    "openrouter/anthropic/claude-sonnet-4": "claude-sonnet-4",
    "<synthetic>": "<synthetic>",
    "glm-4.6": "glm-4.6",
    "opus": "opus",
    "": "",
}


@pytest.mark.parametrize(("written", "name"), SPELLINGS.items())
def test_spellings_of_clouds_and_routers(written: str, name: str) -> None:
    """Suffix, provider, region and revision are removed, the date is kept."""
    assert normalise_model(written) == name


def test_a_date_is_left_out_last() -> None:
    """A model is looked up as written, then by its normalised name, then without its date."""
    assert list_lookup_names(" us.anthropic.claude-haiku-4-5-20251001-v1:0") == (
        "us.anthropic.claude-haiku-4-5-20251001-v1:0",
        "claude-haiku-4-5-20251001",
        "claude-haiku-4-5",
    )


@given(st.from_regex(r"[a-z0-9.-]{0,30}", fullmatch=True))
def test_plain_names_stay_plain(name: str) -> None:
    """A plain name has no `@` and no provider left in it."""
    normal = normalise_model(f"anthropic/{name}@20250929")
    assert normal.endswith("-20250929")
    assert "anthropic/" not in normal
