"""Tests of recollect.search.literals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.search.literals import NOTHING, Demand, Either, Every, Literal, demand_of
from recollect.search.regexes import compile_regex
from recollect.search.tree import Regex


@pytest.mark.parametrize(
    ("pattern", "demand"),
    [
        ("timeout", Literal("timeout")),
        (r"time(d )?out after \d", Every((Literal("time"), Literal("out after ")))),
        (r"C\+\+", Literal("C++")),
        ("colou?r", Every((Literal("colo"), Literal("r")))),
        ("go+gle{2}x", Every((Literal("go"), Literal("gle"), Literal("x")))),
        ("ab*c{0,3}d", Every((Literal("a"), Literal("d")))),
        ("(?i)get|post", Either((Literal("get"), Literal("post")))),
        ("x(?:a|b)y", Every((Literal("x"), Either((Literal("a"), Literal("b"))), Literal("y")))),
        ("(?P<verb>get)", Literal("get")),
        ("(get)+", Literal("get")),
        (r"^\[error\]$", Literal("[error]")),
        ("[]x]a[^]y]b[[:alpha:]z]c", Every((Literal("a"), Literal("b"), Literal("c")))),
        (r"[\]]a", Literal("a")),
        (r"a\nb\x41c\x{1F600}d\pLe\p{Greek}f", Every(tuple(map(Literal, "abcdef")))),
        ("修改文件", Literal("修改文件")),
        ("a{x}", Literal("a{x}")),
    ],
)  # fmt: skip
def test_what_a_match_must_hold(pattern: str, demand: Demand) -> None:
    """Characters outside of options, classes and alternatives are demanded."""
    assert demand_of(pattern) == demand


@pytest.mark.parametrize(
    "pattern",
    ["", ".*", "a|", "(a)?", "a{0}", "(a|.)", r"\Qa+b\E", r"(a", "a)", "[a", "a**", "(?=a)",
     r"\1", "a{2}{3}", "{,3}", "(" * 100 + "a" + ")" * 100, "x" * 3 + "\\"],
)  # fmt: skip
def test_where_nothing_is_demanded(pattern: str) -> None:
    """What may be absent, and what cannot be followed, demands nothing."""
    assert demand_of(pattern) == NOTHING


def holds(text: str, demand: Demand) -> bool:
    """Whether a text holds what is demanded, ignoring case."""
    match demand:
        case Literal():
            return demand.text.lower() in text.lower()
        case Every():
            return all(holds(text, part) for part in demand.parts)
        case Either():
            return any(holds(text, part) for part in demand.parts)


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
    """Whatever the expression, no text that it matches lacks what it demands."""
    if pattern and compile_regex(Regex(pattern), pattern).search(text):
        assert holds(text, demand_of(pattern))
