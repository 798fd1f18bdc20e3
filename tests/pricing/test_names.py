"""One name for the many spellings of a model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.pricing import normalise_model
from recollect.pricing.names import spellings

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
    """Suffix, provider, region and revision go, the date stays."""
    assert normalise_model(written) == name


def test_a_date_is_left_out_last() -> None:
    """A model is looked up as written, then by its normal name, then without its date."""
    assert spellings(" us.anthropic.claude-haiku-4-5-20251001-v1:0") == (
        "us.anthropic.claude-haiku-4-5-20251001-v1:0",
        "claude-haiku-4-5-20251001",
        "claude-haiku-4-5",
    )


@given(st.from_regex(r"[a-z0-9.-]{0,30}", fullmatch=True))
def test_plain_names_stay_plain(name: str) -> None:
    """What comes out has no `@` and no provider left in it."""
    normal = normalise_model(f"anthropic/{name}@20250929")
    assert normal.endswith("-20250929")
    assert "anthropic/" not in normal
