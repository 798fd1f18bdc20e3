"""Tests of recollect.search.regexes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.search.query_tree import Regex
from recollect.search.regexes import (
    NOTHING,
    AllOf,
    AnyOf,
    Literal,
    Requirement,
    compile_regex,
    find_required_literals,
)


@pytest.mark.parametrize(
    ("pattern", "requirement"),
    [
        ("timeout", Literal("timeout")),
        (r"time(d )?out after \d", AllOf((Literal("time"), Literal("out after ")))),
        (r"C\+\+", Literal("C++")),
        ("colou?r", AllOf((Literal("colo"), Literal("r")))),
        ("go+gle{2}x", AllOf((Literal("go"), Literal("gle"), Literal("x")))),
        ("ab*c{0,3}d", AllOf((Literal("a"), Literal("d")))),
        ("(?i)get|post", AnyOf((Literal("get"), Literal("post")))),
        ("x(?:a|b)y", AllOf((Literal("x"), AnyOf((Literal("a"), Literal("b"))), Literal("y")))),
        ("(?P<verb>get)", Literal("get")),
        ("(get)+", Literal("get")),
        (r"^\[error\]$", Literal("[error]")),
        ("[]x]a[^]y]b[[:alpha:]z]c", AllOf((Literal("a"), Literal("b"), Literal("c")))),
        (r"[\]]a", Literal("a")),
        (r"a\nb\x41c\x{1F600}d\pLe\p{Greek}f", AllOf(tuple(map(Literal, "abcdef")))),
        ("修改文件", Literal("修改文件")),
        ("a{x}", Literal("a{x}")),
    ],
)  # fmt: skip
def test_what_a_match_must_contain(pattern: str, requirement: Requirement) -> None:
    """Characters outside of options, classes and alternatives are demanded."""
    assert find_required_literals(pattern) == requirement


@pytest.mark.parametrize(
    "pattern",
    ["", ".*", "a|", "(a)?", "a{0}", "(a|.)", r"\Qa+b\E", r"(a", "a)", "[a", "a**", "(?=a)",
     r"\1", "a{2}{3}", "{,3}", "(" * 100 + "a" + ")" * 100, "x" * 3 + "\\"],
)  # fmt: skip
def test_where_nothing_is_demanded(pattern: str) -> None:
    """Optional parts, and constructs that are not analysed, require no words."""
    assert find_required_literals(pattern) == NOTHING


def holds(text: str, requirement: Requirement) -> bool:
    """Return whether a text contains the required words, ignoring case."""
    match requirement:
        case Literal():
            return requirement.text.lower() in text.lower()
        case AllOf():
            return all(holds(text, part) for part in requirement.parts)
        case AnyOf():
            return any(holds(text, part) for part in requirement.parts)


atoms = st.sampled_from(
    [
        "a",
        "b",
        "ab",
        " ",
        ".",
        "[ab]",
        "[^a]",
        r"\w",
        r"\.",
        "(ab)",
        "(?:a|b )",
        "((a b)?)",
        "(?i:A)",
    ]
)
repeats = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{0,1}", "{1,}", "+?"])
patterns = st.lists(st.tuples(atoms, repeats).map("".join), max_size=6).map("".join)


@given(patterns | st.tuples(patterns, patterns).map("|".join), st.text("abAB .", max_size=12))
def test_every_match_holds_what_is_demanded(pattern: str, text: str) -> None:
    """Every text that matches an expression contains the words that it requires."""
    if pattern and compile_regex(Regex(pattern), pattern).search(text):
        assert holds(text, find_required_literals(pattern))
