"""Phrases of views in another language: summaries of calls, titles of notices, names of fields.

Error messages have a separate phrasebook, so that views are not matched against them.

Views are English data that terminal, JSON and pages share, and their summaries quote from
transcripts. Pages therefore translate the phrases that they recognise, one by one: fixed phrases,
and those with numbers or quotations in them. Anything else is shown unchanged.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from importlib import resources

import msgspec

from recollect.render.views.part_builders import FACT_SEPARATOR

_OWN = "en"
"""The language of the views."""
_PLACEHOLDER = re.compile(r"\{n?\}")
_GROUPS = {"{}": "(.+)", "{n}": r"([\d,.]+)"}
"""`{}` stands for anything, and `{n}` for a number."""


class Phrasebook:
    """Translates phrases into one language; an empty phrasebook returns them unchanged."""

    def __init__(self, phrases: Mapping[str, str]) -> None:
        self._whole = {key: value for key, value in phrases.items() if "{" not in key}
        # Longest first: "failed with exit code {n}: {}" before "failed: {}".
        templates = sorted(phrases.keys() - self._whole.keys(), key=len, reverse=True)
        self._templates = [(_compile(key), phrases[key]) for key in templates]
        self.translate = lru_cache(maxsize=4096)(self._translate)

    def _translate(self, text: str) -> str:
        if not self._whole:
            return text
        return FACT_SEPARATOR.join(map(self._translate_fact, text.split(FACT_SEPARATOR)))

    def _translate_fact(self, fact: str) -> str:
        if fact in self._whole:
            return self._whole[fact]
        for pattern, template in self._templates:
            if found := pattern.fullmatch(fact):
                return _fill(template, map(self._translate_fact, found.groups()))
        return fact


def _compile(key: str) -> re.Pattern[str]:
    literals = map(re.escape, _PLACEHOLDER.split(key))
    groups = (_GROUPS[each] for each in _PLACEHOLDER.findall(key))
    return re.compile(next(literals) + "".join(map(str.__add__, groups, literals)), re.DOTALL)


def _fill(template: str, values: Iterable[str]) -> str:
    waiting = iter(values)
    return _PLACEHOLDER.sub(lambda _: next(waiting), template)


@cache
def load_phrasebook(language: str, name: str = "phrases") -> Phrasebook:
    """Load the phrases or the `messages` of errors in a language; English needs none."""
    if language == _OWN:
        return Phrasebook({})
    path = resources.files("recollect.web") / "locales" / f"{name}-{language}.json"
    return Phrasebook(msgspec.json.decode(path.read_bytes(), type=dict[str, str]))
