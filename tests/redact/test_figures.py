"""How much is found, and how much is found wrongly: the figures of docs/secrets.md, on a small set.

`python -m benchmarks.redact` measures the same on the whole set.
"""

from random import Random

import pytest

from recollect.redact.policy import find_secrets
from tests.redact.harmless_texts import KINDS, make_harmless
from tests.redact.held_out_secrets import HELD_OUT_FAMILIES, KNOWN_FAMILIES
from tests.redact.labelled_set import Example, iter_examples, measure_recall
from tests.redact.made_up_secrets import FAMILIES, WITH_RULE
from tests.redact.metamorphic import TRANSFORMS
from tests.redact.secret_contexts import CONTEXTS
from tests.redact.tuning_secrets import TUNED_FAMILIES

MIN_RECALL = 0.995
MIN_RECALL_TUNED = 0.98
MIN_RECALL_HELD_OUT = 0.966
MIN_DEFINITE_HELD_OUT = 0.855
MAX_DROP = 0.005
MAX_FALSE_PER_MB = 5
MEGABYTE = 1_000_000


def test_the_set_is_as_large_as_documented() -> None:
    """Forty-seven of 221 families are held out and thirteen more were written down with them."""
    assert (len(WITH_RULE), len(TUNED_FAMILIES), len(HELD_OUT_FAMILIES)) == (42, 119, 47)
    tuned_on = {*FAMILIES, *(each.name for each in TUNED_FAMILIES)}
    assert tuned_on.isdisjoint(each.name for each in HELD_OUT_FAMILIES)
    assert len(CONTEXTS) >= 20
    assert len(TRANSFORMS) == 12


def test_no_rule_knows_a_held_out_family() -> None:
    """Alone, such a value is random, or a password in an address, or not found at all."""
    kinds = {
        found.kind
        for family in HELD_OUT_FAMILIES
        for seed in range(5)
        for found in find_secrets(family.make(Random(seed)).text)
    }
    assert kinds <= {"token", "connection-string"}


@pytest.mark.slow
def test_secrets_of_known_families_are_found() -> None:
    """Definite rules alone find nearly all secrets of the families that have rules."""
    recall = measure_recall(iter_examples((*WITH_RULE, *KNOWN_FAMILIES), seed=1, repeats=3))
    assert recall.definite_rules >= MIN_RECALL, recall.missed.most_common(9)
    assert recall.all_rules >= MIN_RECALL, recall.missed.most_common(9)


@pytest.mark.slow
def test_secrets_without_a_rule_are_found() -> None:
    """Names and randomness find nearly all secrets in the shapes that tokens have."""
    recall = measure_recall(iter_examples(TUNED_FAMILIES, seed=6, repeats=1))
    assert recall.all_rules >= MIN_RECALL_TUNED, recall.missed.most_common(9)


@pytest.mark.slow
def test_secrets_of_unknown_families_are_found() -> None:
    """Names and randomness find nearly all secrets of families that have no rule."""
    recall = measure_recall(iter_examples(HELD_OUT_FAMILIES, seed=2, repeats=2))
    assert recall.all_rules >= MIN_RECALL_HELD_OUT, recall.missed.most_common(9)
    assert recall.definite_rules >= MIN_DEFINITE_HELD_OUT


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_harmless_texts_are_left_alone(kind: str) -> None:
    """Hashes, ids, signatures, images, code and prose give hardly any false finding."""
    text = make_harmless(3, kind, 400_000)
    found = [text[each.start - 20 : each.end] for each in find_secrets(text)]
    assert len(found) <= MAX_FALSE_PER_MB * len(text) / MEGABYTE, found[:5]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(TRANSFORMS))
def test_the_way_of_writing_does_not_matter(name: str) -> None:
    """As much is found in a text that is coloured, escaped, numbered or encoded otherwise."""
    plain = [
        example
        for example in iter_examples(WITH_RULE, seed=4, repeats=2)
        if example.context in {"env", "yaml", "header", "sentence"} and not _is_long(example)
    ]
    Random(5).shuffle(plain)
    plain = plain[:160]
    changed = [example._replace(text=TRANSFORMS[name](example.text)) for example in plain]
    before, after = measure_recall(plain), measure_recall(changed)
    assert before.all_rules - after.all_rules <= MAX_DROP, after.missed.most_common(9)


def _is_long(example: Example) -> bool:
    """Return whether checking for leaks would take most of the time."""
    return sum(map(len, example.secrets)) > 300
