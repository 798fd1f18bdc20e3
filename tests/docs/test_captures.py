"""The images in the README equal the output of the terminal."""

import re
from pathlib import Path

import pytest

from tools import generate_captures

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_pictures_are_up_to_date(safe_environment: None) -> None:
    """Each equals the current output of its command; `make docs` regenerates them."""
    kept = {path.stem: path.read_text("utf-8") for path in generate_captures.CAPTURES.glob("*.svg")}
    assert generate_captures.make_captures() == kept


def test_every_picture_is_in_the_readme() -> None:
    """Each is on the front page, with an alternative text."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[(.+)\]\(docs/captures/(\w+)\.svg\)", readme)
    assert {name for words, name in shown if len(words.split()) > 3} == set(
        generate_captures.SCENES
    )


def test_pictures_refer_to_nothing_outside() -> None:
    """No font, style or link is loaded from anywhere: the only address is that of the format."""
    pictures = [path.read_text("utf-8") for path in generate_captures.CAPTURES.glob("*.svg")]
    addresses = {found for text in pictures for found in re.findall(r"\w+://[^\"<> ]+", text)}
    assert addresses == {"http://www.w3.org/2000/svg"}
