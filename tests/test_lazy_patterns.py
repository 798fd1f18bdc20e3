"""Tests of recollect.lazy_patterns: expressions that are compiled on first use."""

import re

import pytest

from recollect.lazy_patterns import compile_lazily


def test_it_matches_like_a_compiled_pattern() -> None:
    """Methods and attributes are those of the compiled pattern, with its flags."""
    lazy = compile_lazily(rb"(a+)b", re.IGNORECASE)
    compiled = re.compile(rb"(a+)b", re.IGNORECASE)
    assert [each.span(1) for each in lazy.finditer(b"xAaB ab")] == [(1, 3), (5, 6)]
    assert (lazy.sub(b"-", b"xAaB ab"), lazy.fullmatch(b"aaa")) == (b"x- -", None)
    assert (lazy.groups, lazy.flags) == (compiled.groups, compiled.flags)


def test_it_is_compiled_on_first_use() -> None:
    """An invalid expression is noticed only when it is used."""
    lazy = compile_lazily("(")
    with pytest.raises(re.error, match="unterminated subpattern"):
        lazy.search("(")
