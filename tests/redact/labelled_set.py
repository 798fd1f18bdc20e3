"""The labelled set: texts with planted secrets, and whether a secret can still be read in a text.

Whether something leaked is decided without the engine: the output is decoded in the ways that a
reader could decode it, and searched for any twelve characters of the secret.
"""

import base64
import binascii
import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import Final, NamedTuple
from urllib.parse import unquote

from recollect.redact.findings import Confidence, Finding
from recollect.redact.policy import find_secrets
from tests.redact.made_up_secrets import Family
from tests.redact.secret_contexts import list_contexts, write_down

READABLE: Final = 12
"""This many characters of a secret in a row are a leak."""
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_LINE_END: Final = re.compile(r"\s*[\r\n]+(?:\s*\d+→)?[+ \t]*")
_RUN: Final = re.compile(r"[A-Za-z0-9+/]{16,}")

Transform = Callable[[str], str]


class Example(NamedTuple):
    """A text, where its secret comes from, and what must not be readable."""

    family: Family
    context: str
    text: str
    secrets: tuple[str, ...]


class Recall(NamedTuple):
    """Numbers of planted secrets found, by all rules and by definite findings alone."""

    planted: int
    found: int
    definite: int
    missed: Counter[str]
    """Misses of all rules, by `family in context`."""

    @property
    def all_rules(self) -> float:
        """Return the share that was found."""
        return self.found / self.planted

    @property
    def definite_rules(self) -> float:
        """Return the share that definite findings alone cover."""
        return self.definite / self.planted


def iter_examples(families: Iterable[Family], seed: int, repeats: int) -> Iterator[Example]:
    """Yield every family in every context, that many times each."""
    rng = Random(seed)
    for family in families:
        for context in list_contexts(family):
            for _ in range(repeats):
                plant = family.make(rng)
                yield Example(
                    family, context, write_down(context, family, plant, rng), plant.secrets
                )


def measure_recall(examples: Iterable[Example]) -> Recall:
    """Return how much of the planted secrets can no longer be read once findings are cut out."""
    planted = found = definite = 0
    missed: Counter[str] = Counter()
    for example in examples:
        findings = find_secrets(example.text)
        planted += 1
        if is_readable(cut_out(example.text, findings), example.secrets):
            missed[f"{example.family.name} in {example.context}"] += 1
        else:
            found += 1
        sure = [each for each in findings if each.confidence is Confidence.DEFINITE]
        definite += not is_readable(cut_out(example.text, sure), example.secrets)
    return Recall(planted, found, definite, missed)


def cut_out(text: str, findings: Iterable[Finding]) -> str:
    """Return a text without what was found."""
    pieces: list[str] = []
    at = 0
    for finding in findings:
        pieces.append(text[at : finding.start])
        at = finding.end
    return "■".join([*pieces, text[at:]])


def is_readable(text: str, secrets: Iterable[str]) -> bool:
    """Return whether part of a secret can be read in a text, in any of its decoded forms."""
    forms = list(_iter_forms(text))
    return any(piece in form for piece in _iter_pieces(secrets) for form in forms)


def _iter_pieces(secrets: Iterable[str]) -> Iterator[str]:
    for secret in secrets:
        length = min(len(secret), READABLE)
        yield from (secret[at : at + length] for at in range(len(secret) - length + 1))


def _iter_forms(text: str) -> Iterator[str]:
    plain = _COLOUR.sub("", text)
    yield plain
    joined = _LINE_END.sub("", plain)
    yield joined
    yield unquote(plain)
    yield html.unescape(plain)
    unescaped = plain
    for _ in range(3):
        unescaped = unescaped.replace("\\\\", "\\").replace('\\"', '"').replace("\\n", "\n")
        yield unescaped
    for run in _RUN.findall(joined):
        yield from _iter_decoded(run)


def _iter_decoded(run: str) -> Iterator[str]:
    for shift in range(4):
        part = run[shift:]
        try:
            decoded = base64.b64decode(part[: len(part) // 4 * 4])
        except binascii.Error:
            continue
        yield decoded.decode("utf-8", "ignore")
