"""Tests of recollect.redact."""

import sys
from collections.abc import Callable
from random import Random

import pytest

from recollect.redact.context_rules import KEYWORDS
from recollect.redact.findings import DEFAULT_POLICY
from recollect.redact.policy import find_secrets
from recollect.redact.quick_masks import (
    cut_text,
    cut_text_start,
    mask_in_lines,
    mask_name,
    mask_path,
    mask_words,
    may_contain_secret,
)
from tests.redact.made_up_secrets import WITH_RULE, make_pem

KEY = "AKIAIOSFODNN7RTGHJKL"


def test_plain_words_need_no_rules() -> None:
    """Most titles and prompts are that."""
    assert not may_contain_secret("fix the flaky test in tests/test_reef.py, please")
    assert mask_words("fix the flaky test") == "fix the flaky test"


@pytest.mark.parametrize(
    "text",
    [
        "The PASSWORD is Reef2041",
        "DB_PASSW\nORD=Reef2041",
        "dock\ner login -u mina -p Reef2041",
        "run it with --token a1b2c3d4",
        "postgres:\n//mina:Reef2041@db",
        "-----BEGIN PRIVATE KEY-----",
        "pass:x",
        "use curl\n-u me",
        "build/release-2026-11-15",
        "postgres://me:x@host",
        "(" + "x" * 40 + ")",
    ],
)
def test_mentions_of_secrets_and_random_text_need_the_rules(text: str) -> None:
    """Names with a value, words before an argument, logins, long words and encoded bytes.

    In any case, and wrapped.
    """
    assert may_contain_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        *("passing curls", "x" * 39, "release-2026-11", "https://host/a:b"),
        *("The PASSWORD changed", "refresh the token = call.refresh(session)", "a key: value"),
    ],
)
def test_what_only_looks_similar_needs_none(text: str) -> None:
    """Parts of other words, words that are a little shorter, and names without a secret."""
    assert not may_contain_secret(text)


def test_a_short_text_is_masked_without_numbers() -> None:
    """A title does not know how many secrets its session has."""
    assert mask_words(f"deploy with {KEY}") == "deploy with [redacted:aws-key]"


@pytest.mark.parametrize(
    "name",
    ["msg_01qkJVGVG6tfB9XVi3MWZrpJ", "msg_bdrk_01" + "aB3dE" * 4 + "fG", "msg_" + "9fc0" * 6],
)
def test_the_id_of_a_reply_needs_no_rules(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every session has one; a key in the same field is masked."""
    monkeypatch.setitem(sys.modules, "recollect.redact.redactor", None)
    assert mask_name(name) == name
    monkeypatch.undo()
    assert mask_name(f"msg_{KEY}") == "msg_[redacted:aws-key]"


@pytest.mark.parametrize(
    ("text", "length", "cut"),
    [
        ("use [redacted:aws-key#1] here", 4, "use "),
        ("use [redacted:aws-key#1] here", 5, "use "),
        ("use [redacted:aws-key#1] here", 23, "use "),
        ("use [redacted:aws-key#1] here", 24, "use [redacted:aws-key#1]"),
        ("use [redacted:aws-key] here", 21, "use "),
        ("use [redacted:aws-key] here", 25, "use [redacted:aws-key] he"),
        ("[redacted:aws-key][redacted:aws-key]", 20, "[redacted:aws-key]"),
        ("the list [1, 2, 3]", 12, "the list [1,"),
        ("short", 12, "short"),
    ],
)
def test_no_tag_is_cut(text: str, length: int, cut: str) -> None:
    """A text ends before it; other brackets are cut like words."""
    assert cut_text(text, length) == cut


@pytest.mark.parametrize(
    ("text", "start", "rest"),
    [
        ("[redacted:aws-key#1] here", 0, "[redacted:aws-key#1] here"),
        ("[redacted:aws-key#1] here", 1, " here"),
        ("use [redacted:aws-key] here", 4, "[redacted:aws-key] here"),
        ("use [redacted:aws-key] here", 21, " here"),
        ("use [redacted:aws-key] here", 22, " here"),
        ("[1, 2, 3]", 2, ", 2, 3]"),
    ],
)
def test_no_tag_is_cut_at_the_start(text: str, start: int, rest: str) -> None:
    """A text begins after a tag that contains the position, not after one that begins there."""
    assert cut_text_start(text, start) == rest


def test_no_secret_is_taken_for_words() -> None:
    """The quick check passes every text in which a rule finds a secret, even without digits."""
    rng = Random(8)
    texts = [f"use {family.make(rng).text}" for family in WITH_RULE for _ in range(200)]
    texts.append("use AK" + "IAQWERTYUIOPLKJHGF")
    missed = [text for text in texts if not may_contain_secret(text) and find_secrets(text)]
    assert missed == []


def test_no_name_of_a_secret_is_taken_for_words() -> None:
    """Passwords have few characters and no format, and a mnemonic consists of words."""
    mnemonic = "reef kelp crab tide wave sand gull seal moss clam foam dune"
    values = ["Reef#2041x", "aj3k9x_p2q", "bUBnqoEgVLFtTvhD", "zZe_Yo5^PM0Gi+dt"]
    texts = [
        f"{name}{sign}{value}{sign[1:].strip()}"
        for name in (*KEYWORDS, "mnemonic", "seed phrase", "recovery_phrase")
        for sign in ("=", ": ", " '", '": "', " is ", " = ")
        for value in (*values, mnemonic)
    ]
    texts += [
        f"psql {login}"
        for login in ("postgres://mina:Reef2041@db", "postgres%3A%2F%2Fmina%3AReef2041%40db")
    ]
    policy = DEFAULT_POLICY.for_display
    assert sum(bool(find_secrets(text, policy)) for text in texts) > len(texts) / 10
    missed = [text for text in texts if not may_contain_secret(text)]
    assert [text for text in missed if find_secrets(text, policy)] == []


@pytest.mark.parametrize("mask", [mask_name, mask_path])
def test_no_secret_in_a_name_is_taken_for_words(mask: Callable[[str], str]) -> None:
    """Also if dashes and underscores happen to separate its characters."""
    rng = Random(9)
    plants = [family.make(rng) for family in WITH_RULE if family.recognisable for _ in range(100)]
    names = [f"release/{each.text}" for each in plants if "\n" not in each.text]
    policy = DEFAULT_POLICY.for_display
    missed = [name for name in names if mask(name) == name]
    assert [name for name in missed if find_secrets(name, policy)] == []


def test_a_file_keeps_its_lines() -> None:
    """A key of several lines is replaced by the same number of lines."""
    key = make_pem(Random(1), "PRIVATE KEY").text
    text = f"before\n{key}\nkey = {KEY}\n"
    masked = mask_in_lines(text)
    assert masked.count("\n") == text.count("\n")
    assert masked.replace("\n", "|").rstrip("|").startswith("before|[redacted:private-key]||")
    assert masked.endswith("\nkey = [redacted:aws-key]\n")
