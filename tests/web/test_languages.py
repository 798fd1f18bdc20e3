"""Both languages have the same texts, and templates use no others."""

import re
from importlib import resources

import pytest
from starlette.requests import Request

from recollect.web.templating import LANGUAGES, Translator, choose_language, load_catalogue

TEMPLATES = resources.files("recollect.web") / "templates"


def test_catalogues_have_the_same_keys() -> None:
    """Both languages have the same keys, with the same placeholders."""
    english, chinese = map(load_catalogue, ("en", "zh"))
    assert english.keys() == chinese.keys()
    holes = re.compile(r"\{\w+\}")
    different = [
        key
        for key in english
        if sorted(holes.findall(english[key])) != sorted(holes.findall(chinese[key]))
    ]
    assert different == []


def test_templates_ask_for_words_that_there_are() -> None:
    """Every key in a template is in the catalogue."""
    pages = [each for each in TEMPLATES.iterdir() if each.name.endswith(".html")]
    text = "".join(each.read_text(encoding="utf-8") for each in pages)
    asked = set(re.findall(r"\bt\('([\w.-]+)'[,)]", text))
    assert len(asked) > 50
    assert asked - load_catalogue("en").keys() == set()


def test_one_thing_has_words_of_its_own() -> None:
    """English distinguishes singular and plural, in every form of the number."""
    said = Translator("en")
    words = [said("sessions.error_count", count=count) for count in (0, 1, "1", 2)]
    assert words == ["0 errors", "1 error", "1 error", "2 errors"]
    assert said("sessions.expires", days=1) == "1 day left"
    assert Translator("zh")("sessions.error_count", count=1) == "1 个错误"


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", "en"),
        ("zh", "zh"),
        ("zh-TW,en;q=0.5", "zh"),
        ("fr,de;q=0.9", "en"),
        ("fr,zh-CN;q=0.2", "zh"),
        ("en;q=0.1,zh;q=0.9", "zh"),
        ("zh;q=nonsense,en;q=0.1", "en"),
        ("," * 1000, "en"),
    ],
)
def test_browser_chooses_the_language(header: str, language: str) -> None:
    """The first supported language among the browser's preferences."""
    scope = {"type": "http", "headers": [(b"accept-language", header.encode())]}
    assert choose_language(Request(scope)) == language


def test_words_take_values() -> None:
    """Values are inserted where the language needs them."""
    said = {
        language: Translator(language)("sessions.page_of", page=2, pages=5)
        for language in LANGUAGES
    }
    assert said == {"en": "Page 2 of 5", "zh": "第 2 / 5 页"}
