"""Catalogues: every word that a page may be asked to say, also those that are put together."""

import re
from collections.abc import Iterable
from importlib import resources

import pytest

from recollect.locations.entries import Refusal
from recollect.reader import salvage
from recollect.session.contexts import ContextKind
from recollect.session.outcomes import ToolStatus
from recollect.session.prompts import InputKind
from recollect.store.text import Part
from recollect.usage.explain import Status
from recollect.usage.groups import Group
from recollect.usage.reports import Order
from recollect.usage.scopes import ScopeKind
from recollect.web.api.selection import SessionOrder
from recollect.web.languages import LANGUAGES, load_catalogue
from recollect.web.pages.explain import NOTES

TEMPLATES = resources.files("recollect.render.html") / "templates"


def _name(prefix: str, kinds: Iterable[str]) -> set[str]:
    return {f"{prefix}{kind}" for kind in kinds}


FAMILIES: dict[str, set[str]] = {
    "groups": _name("group.", Group),
    "statuses of lines": _name("status.", Status) | _name("explain.why_", Status),
    "what is explained": _name("explain.kind_", ScopeKind),
    "orders of reports": _name("usage.order_", Order),
    "orders of sessions": _name("order.", SessionOrder),
    "parts of a session": _name("part.", (part.name.lower() for part in Part)),
    "verdicts": _name("health.verdict_", ("well", "news", "trouble")),
    "leftovers": _name("health.orphan_", ("session", "tasks", "file-history", "todo")),
    "charts": _name("usage.chart_", ("cost", "tokens")),
    "kinds of input": _name("", InputKind),
    "kinds of context": _name("", ContextKind),
    "statuses of calls": _name("", ToolStatus),
    "refusals": _name("", Refusal),
    "damage": {salvage.NO_RECORD, salvage.NUL_BYTES, salvage.CUT_SHORT, salvage.SHARES_LINE},
    "remarks": set(NOTES),
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_families_are_complete(language: str, family: str) -> None:
    """Whatever a value may be, there are words for it."""
    assert FAMILIES[family] - load_catalogue(language).keys() == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_phrases_of_conversations_are_translated(language: str) -> None:
    """Every English phrase that a conversation is drawn with is in the catalogue."""
    text = "".join(
        each.read_text(encoding="utf-8")
        for each in TEMPLATES.iterdir()
        if each.name.endswith(".html")
    )
    phrases = set(re.findall(r"""\b(?:translate|t)\((['"])(.+?)\1\)""", text))
    asked = {phrase for _, phrase in phrases}
    assert len(asked) > 8
    assert asked - load_catalogue(language).keys() == set()


def test_chinese_is_chinese() -> None:
    """Only names and signs are the same in both languages."""
    english, chinese = load_catalogue("en"), load_catalogue("zh")
    same = {key for key in english if english[key] == chinese[key]}
    assert same == {"api.title", "git"}
