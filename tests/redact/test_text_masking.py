"""Tests of recollect.redact.text_masking."""

from random import Random

from recollect.redact.text_masking import mask_in_lines, mask_words, may_hold_secret
from tests.redact.made_up_secrets import make_pem

KEY = "AKIAIOSFODNN7RTGHJKL"


def test_plain_words_need_no_rules() -> None:
    """Most titles and prompts are that."""
    assert not may_hold_secret("fix the flaky test in tests/test_reef.py, please")
    assert mask_words("fix the flaky test") == "fix the flaky test"


def test_a_short_text_is_masked_without_numbers() -> None:
    """A title does not know how many secrets its session has."""
    assert mask_words(f"deploy with {KEY}") == "deploy with [redacted:aws-key]"


def test_a_file_keeps_its_lines() -> None:
    """A key of many lines leaves as many behind."""
    key = make_pem(Random(1), "PRIVATE KEY").text
    text = f"before\n{key}\nkey = {KEY}\n"
    masked = mask_in_lines(text)
    assert masked.count("\n") == text.count("\n")
    assert masked.replace("\n", "|").rstrip("|").startswith("before|[redacted:private-key]||")
    assert masked.endswith("\nkey = [redacted:aws-key]\n")
