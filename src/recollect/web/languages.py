"""Words of the pages in the languages that there are.

A key that a language lacks is an error of ours: a test compares the catalogues.
"""

from functools import cache
from importlib import resources
from typing import Final

import msgspec
from starlette.requests import Request

COOKIE: Final = "recollect-language"
LANGUAGES: Final = {"en": "English", "zh": "简体中文"}
DEFAULT: Final = "en"
ONE: Final = ".one"
"""Ends the key of words for a single thing."""


class Translator:
    """Says things in one language."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._words = load_catalogue(language)

    def __call__(self, key: str, **values: object) -> str:
        """The words for a key with the values put in; without any, a script fills the holes.

        Where there is one of something, and the key has words for one, those.
        """
        is_one = str(values.get("count", values.get("days"))) == "1"
        words = (is_one and self._words.get(f"{key}{ONE}")) or self._words[key]
        return words.format(**values) if values else words

    def translate(self, words: str) -> str:
        """The words for an English text that is a key itself; the text where there are none."""
        return self._words.get(words, words)


@cache
def load_catalogue(language: str) -> dict[str, str]:
    """All words of a language, by key."""
    path = resources.files("recollect.web") / "locales" / f"{language}.json"
    return msgspec.json.decode(path.read_bytes(), type=dict[str, str])


def choose_language(request: Request) -> str:
    """The language that somebody chose, or else the first that their browser asks for."""
    chosen = request.cookies.get(COOKIE)
    if chosen in LANGUAGES:
        return chosen
    for tag in _list_wanted(request.headers.get("accept-language", "")):
        if tag in LANGUAGES:
            return tag
    return DEFAULT


def _list_wanted(header: str) -> list[str]:
    wanted: list[tuple[float, str]] = []
    for part in header.split(",")[:20]:
        tag, _, weight = part.partition(";")
        language = tag.strip().lower().partition("-")[0]
        wanted.append((-_read_weight(weight), language))
    return [language for _, language in sorted(wanted, key=lambda each: each[0])]


def _read_weight(text: str) -> float:
    try:
        return float(text.strip().removeprefix("q=") or 1)
    except ValueError:
        return 0.0
