"""Tests of recollect.redact.prefilter."""

import json
from collections.abc import Sequence
from random import Random

import pytest

from recollect.redact.findings import Confidence
from recollect.redact.policy import find_secrets
from recollect.redact.prefilter import find_suspicious_lines
from recollect.redact.record_lines import find_in_record
from tests.redact.harmless_texts import KINDS, make_harmless
from tests.redact.held_out_secrets import HELD_OUT_FAMILIES
from tests.redact.labelled_set import Example, iter_examples
from tests.redact.made_up_secrets import WITH_RULE, Family
from tests.redact.metamorphic import TRANSFORMS
from tests.redact.secret_contexts import list_contexts, write_down
from tests.redact.tuning_secrets import TUNED_FAMILIES

KEY = "AKIAIOSFODNN7RTGHJKL"


def write_line(text: str) -> bytes:
    """Return the line of a tool result."""
    block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": text}
    record = {"type": "user", "message": {"role": "user", "content": [block]}}
    return json.dumps(record, ensure_ascii=False).encode()


def is_missed(example: Example) -> bool:
    """Return whether the prefilter misses the line of a definite secret."""
    found = find_secrets(example.text)
    is_definite = any(each.confidence is Confidence.DEFINITE for each in found)
    return is_definite and not find_suspicious_lines(write_line(example.text))


@pytest.mark.parametrize("families", [WITH_RULE, TUNED_FAMILIES, HELD_OUT_FAMILIES])
def test_definite_secrets_are_suspected(families: Sequence[Family]) -> None:
    """All but a few that are in base64 and split by the end of a line."""
    examples = list(iter_examples(families, 11, 1))
    missed = [each for each in examples if is_missed(each)]
    assert {each.context for each in missed} <= {"encoded-file"}
    assert len(missed) <= len(examples) / 900


@pytest.mark.parametrize(
    "before", ["\n", "\t", "\r\n", '"', "\\", "\\n", "/", "=", "\x1b[1m", "%3D", "&quot;", "é"]
)
def test_definite_secrets_are_suspected_after_any_character(before: str) -> None:
    """Even at the start of a line, where the letter before it ends an escape: `\\nAKIA…`."""
    rng = Random(5)
    texts = [
        f"see{before}{family.make(rng).text}"
        for family in WITH_RULE
        if family.recognisable
        for _ in range(3)
    ]
    lines = [write_line(text) for text in texts]
    lines += [write_line(line.decode()) for line in lines]
    missed = [line for line in lines if has_definite(line) and not find_suspicious_lines(line)]
    assert missed == []


@pytest.mark.parametrize("name", TRANSFORMS)
def test_definite_secrets_are_suspected_however_a_text_is_written(name: str) -> None:
    """Coloured, escaped, percent-encoded and so on; but not also split by the end of a line."""
    rng = Random(11)
    texts = [
        TRANSFORMS[name](write_down(context, family, family.make(rng), rng))
        for family in WITH_RULE
        for context in list_contexts(family)
        if context not in {"wrapped", "encoded-file"}
    ]
    lines = [write_line(text) for text in texts]
    missed = [line for line in lines if has_definite(line) and not find_suspicious_lines(line)]
    assert missed == []


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_keyword_may_be_cut_by_the_end_of_a_line(at: int) -> None:
    """As in a terminal of 80 columns."""
    wrapped = f"{'x' * (79 - at)} {KEY[:at]}\n{KEY[at:]} and more"
    assert has_definite(write_line(wrapped))
    assert find_suspicious_lines(write_line(wrapped))


def has_definite(line: bytes) -> bool:
    """Return whether a line contains a definite secret."""
    return any(each.confidence is Confidence.DEFINITE for each in find_in_record(line))


def test_hardly_any_other_line_is_suspected() -> None:
    """Hashes, ids, lock files, code, images and prose."""
    lines = [write_line(make_harmless(3, kind, 20_000)) for kind in KINDS]
    assert find_suspicious_lines(b"\n".join(lines)) == []


def test_lines_are_found_by_their_spans() -> None:
    """In order, each once, without its line end, however many secrets it contains."""
    lines = [b'{"a": 1}', f'{{"b": "{KEY} {KEY}"}}'.encode(), b"{}", KEY.encode()]
    data = b"\n".join(lines)
    spans = find_suspicious_lines(data)
    assert [data[start:end] for start, end in spans] == [lines[1], lines[3]]


def test_token_counts_are_no_secrets() -> None:
    """They occur in every reply."""
    usage = b'{"usage": {"input_tokens": 3, "cache_creation_input_tokens": 12345678901234567890}}'
    assert find_suspicious_lines(usage) == []
