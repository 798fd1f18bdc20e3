"""Tests of recollect.sync.usage_counting."""

from pathlib import Path

import pytest

from recollect.sync.usage_counting import find_agent_type


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"agentType": "Explore", "description": "x"}', "Explore"),
        ('{"agentType": ""}', None),
        ('{"agentType": 5}', None),
        ("{", None),
        ("[]", None),
        ("", None),
        ("\xff", None),
    ],
)
def test_the_sidecar_has_the_type(tmp_path: Path, text: str, expected: str | None) -> None:
    """Other files there are ignored."""
    (tmp_path / "agent-x.meta.json").write_text(text, encoding="latin-1")
    assert find_agent_type(str(tmp_path / "agent-x.jsonl")) == expected


def test_without_a_sidecar_there_is_no_type(tmp_path: Path) -> None:
    """Older clients wrote none; and a link is not followed."""
    assert find_agent_type(str(tmp_path / "agent-x.jsonl")) is None
