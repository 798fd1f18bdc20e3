"""The walkthrough names modules, classes and functions that exist."""

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import recollect

PAGE = Path(__file__).parents[2] / "docs" / "dev" / "walkthrough.md"
PACKAGES = {each.name for each in pkgutil.iter_modules(recollect.__path__)}


def list_names() -> list[str]:
    """Return the dotted names on the page that begin with a package of ours."""
    found = re.findall(r"`((?:\w+\.)+\w+)`", PAGE.read_text(encoding="utf-8"))
    return sorted({each for each in found if each.partition(".")[0] in PACKAGES})


@pytest.mark.parametrize("name", list_names())
def test_a_name_on_the_page_exists(name: str) -> None:
    """A name is a module, or an attribute of one."""
    try:
        importlib.import_module(f"recollect.{name}")
    except ModuleNotFoundError:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(f"recollect.{module}"), attribute)


def test_the_page_covers_every_way_out() -> None:
    """Each section passes through the right layers."""
    layers = {each.partition(".")[0] for each in list_names()}
    expected = {"locations", "reader", "records", "session", "library", "sync", "store"}
    assert layers >= expected | {"pricing", "usage", "search", "render", "live", "web", "cli"}
