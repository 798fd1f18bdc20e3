"""Tests of the query language: recollect.search.query_parser and recollect.search.query_tree."""

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import UsageError
from recollect.search import Query, QueryError, parse_query
from recollect.search.query_parser import MAX_DEPTH, MAX_LENGTH, point_at, suggest_field
from recollect.search.query_tree import (
    And,
    Bound,
    FieldTerm,
    Node,
    Not,
    Or,
    Phrase,
    Prefix,
    Regex,
    Word,
    iter_text_terms,
)
from tests.search.texts import anything, texts

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
A, B, C, D = map(Word, "abcd")


def _read(text: str) -> Node:
    return parse_query(text, now=NOW).root


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a", A),
        ("  a\tb\u3000c ", And((A, B, C))),
        ("a AND b", And((A, B))),
        ('"a b"', Phrase("a b")),
        ("“a b”", Phrase("a b")),
        (r'"say \"hi\" in C:\\dir \d"', Phrase(r'say "hi" in C:\dir \d')),
        ('a"b c"d', And((A, Phrase("b c"), D))),
        ("ab*", Prefix("ab")),
        ("**ab**", Word("ab")),
        ("f*o", Word("f*o")),
        ("中文*", Prefix("中文")),
        ("a -b", And((A, Not(B)))),
        ('a -"b c"', And((A, Not(Phrase("b c"))))),
        ("a -(b c)", And((A, Not(And((B, C)))))),
        ("-(-a)", A),
        ("a OR b", Or((A, B))),
        ("a|b || c", Or((A, B, C))),
        ("a b OR c d", And((A, Or((B, C)), D))),
        ("(a b) OR (c d)", Or((And((A, B)), And((C, D))))),
        ("((a)) (b (c d))", And((A, B, C, D))),
        ("a or b", And((A, Word("or"), B))),
        ("ORa ANDb", And((Word("ORa"), Word("ANDb")))),
        ("'OR' 'AND'", And((Word("OR"), Word("AND")))),
        ("a -OR", And((A, Not(Word("OR"))))),
    ],
)
def test_words_and_operators(text: str, tree: Node) -> None:
    """Words are joined by AND, OR joins its two neighbours, and groups are flattened."""
    assert _read(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("/a b/", Regex("a b")),
        ("/A/i", Regex("A", ignores_case=True)),
        (r"/a\/b\\/", Regex(r"a\/b\\")),
        ("a -/b/", And((A, Not(Regex("b"))))),
        ("(/a/|/b/)", Or((Regex("a"), Regex("b")))),
        ("/[/", Regex("[")),
        ("/usr/bin", Word("usr/bin")),
        ("/compact", Word("compact")),
        ("/a/m", Word("a/m")),
        ("/a b", And((A, B))),
        ("a / b / c", And((A, B, C))),
    ],
)
def test_regular_expressions(text: str, tree: Node) -> None:
    """Slashes around text that end a word make an expression, unchecked; others are paths."""
    assert _read(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("project:tide", FieldTerm("project", "tide")),
        ('project:"my \\"app\\""', FieldTerm("project", 'my "app"')),
        ("project:“my app”", FieldTerm("project", "my app")),
        ("file:/usr/x.py", FieldTerm("file", "/usr/x.py")),
        ("branch:a/b:c*", FieldTerm("branch", "a/b:c*")),
        ("Role:User", FieldTerm("role", "user")),
        ("is:error", FieldTerm("is", "error")),
        ("a -tool:Bash", And((A, Not(FieldTerm("tool", "Bash"))))),
        ("model:x OR model:y", Or((FieldTerm("model", "x"), FieldTerm("model", "y")))),
        ("since:2026-11-01", Bound("since", "2026-11-01", datetime(2026, 11, 1, tzinfo=UTC))),
        ("until:2026-11-01", Bound("until", "2026-11-01", datetime(2026, 11, 2, tzinfo=UTC))),
        ("since:7D", Bound("since", "7d", datetime(2026, 11, 8, tzinfo=UTC))),
        ('until:"today"', Bound("until", "today", datetime(2026, 11, 16, tzinfo=UTC))),
    ],
)
def test_fields(text: str, tree: Node) -> None:
    """A known name with a value is a field; dates become the start or end of a period."""
    assert _read(text) == tree


def test_dates_in_the_wrong_order_are_refused() -> None:
    """It is an error if both must match, but not with OR."""
    with pytest.raises(QueryError) as refused:
        parse_query("a since:2026-11-15 until:2026-11-01", now=NOW)
    assert (refused.value.message, refused.value.column) == (
        "The range ends before it starts: since 2026-11-15 until 2026-11-01.",
        3,
    )
    either = parse_query("since:2026-11-15 OR until:2026-11-01", now=NOW)
    assert str(either) == "since:2026-11-15 OR until:2026-11-01"


def test_days_begin_in_the_time_zone() -> None:
    """Dates are in the given time zone."""
    query = parse_query("since:today", now=NOW, timezone=timezone(timedelta(hours=14)))
    assert query.root == Bound("since", "today", datetime(2026, 11, 15, 10, tzinfo=UTC))


def test_the_clock_is_read_when_none_is_given() -> None:
    """Without a clock, relative dates count from the present."""
    bound = parse_query("since:0h").root
    assert isinstance(bound, Bound)
    assert abs(datetime.now(UTC) - bound.moment) < timedelta(minutes=5)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("std::vector localhost:8080 12:30", ["std::vector", "localhost:8080", "12:30"]),
        ("https://a.b/c?d=e C:\\x\\y", ["https://a.b/c?d=e", "C:\\x\\y"]),
        ("TypeError: foo() -> None", ["TypeError", "foo", "None"]),
        ("--force -- - -> a", ["force", "a"]),
        ("file.py:12 Foo:bar 注意:x", ["file.py:12", "Foo:bar", "注意:x"]),
        ('{"a": [1]}', ["a", "1"]),
        ("don't @main #12 $HOME .env, 👍!", ["don't", "main", "12", "HOME", "env", "👍"]),
    ],
)
def test_pasted_text_is_words(text: str, words: list[str]) -> None:
    """Links, options, code and prose are words, without punctuation."""
    assert [term.text for term in iter_text_terms(_read(text))] == words


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("", 1),
        (" \n", 1),
        ("=> --", 1),
        ("()", 1),
        ('a "b', 3),
        ("a b”", 4),
        ('a "!"', 3),
        ("a //", 3),
        ("OR a", 1),
        ("a OR", 3),
        ("a OR OR b", 3),
        ("a | ()", 3),
        ("(a OR) b", 4),
        ("a OR =>", 3),
        ("a (b", 3),
        ("a b)", 4),
        ("-a", 1),
        ("a OR -b", 6),
        ("-(a b)", 1),
        ("-(-(-a))", 1),
        ("a is:", 3),
        ('a model:" "', 3),
        ("role:human", 6),
        ("is:eror", 4),
        ("since:never", 7),
        ("until:2026-02-30", 7),
        ("(" * (MAX_DEPTH + 1) + "a" + ")" * (MAX_DEPTH + 1), MAX_DEPTH + 1),
        ("a" * (MAX_LENGTH + 1), MAX_LENGTH + 1),
    ],
)
def test_what_cannot_be_read_is_pointed_at(text: str, column: int) -> None:
    """An error has the query and the column, counted from one."""
    with pytest.raises(QueryError) as refused:
        parse_query(text, now=NOW)
    assert (refused.value.query, refused.value.column) == (text, column)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("projects:x", "project:x"),
        ("sesion:8fac", "session:8fac"),
        ("author:mina", None),
        ("fmt:check", None),
        ("TypeError:x", None),
        ("projects", None),
    ],
)
def test_an_unknown_field_is_text_and_gets_a_suggestion(text: str, meant: str | None) -> None:
    """The text before a colon is searched for, and the nearest field is suggested."""
    assert (_read(text), suggest_field(text)) == (Word(text), meant)


def test_the_deepest_query_is_read() -> None:
    """Parentheses up to the limit are fine."""
    text = "a"
    for _ in range(MAX_DEPTH):
        text = f"({text} {'a' if text.endswith(')') else 'OR b'})"
    assert isinstance(_read(text), And | Or)


_PIECES = (
    'a Bc* 中文 OR AND | ( ) - " "a" “ ” / /x/i \\ project: is:error since:7d until:2026 role: '
    "' : * x:y foo:bar => \u0301 \ud800 👍"
)
fragments = st.lists(st.sampled_from([*_PIECES.split(" "), " ", " ", " OR ", "\n"])).map("".join)


@given(fragments | texts | anything)
def test_any_text_is_read_or_refused(text: str) -> None:
    """Every text is a query with a stable canonical form, or a QueryError with a position in it."""
    query = _read_or_refuse(text)
    if isinstance(query, QueryError):
        assert 1 <= query.column <= max(1, len(text))
    else:
        assert parse_query(str(query), now=NOW) == query


def _read_or_refuse(text: str) -> Query | QueryError:
    try:
        return parse_query(text, now=NOW)
    except QueryError as refused:
        return refused


names = st.sampled_from("a OR AND x.y is:error foo:bar 中文 don't c3 é".split())
inner = st.text(st.characters(codec=None), max_size=8)
leaves = st.one_of(
    st.builds(Word, names),
    st.builds(Prefix, names),
    st.builds(Phrase, inner.map(lambda text: f"{text}x{text}")),
    st.builds(Regex, st.sampled_from(["a b", r"\/", "[(|]", '"', r"\\"]), st.booleans()),
    st.builds(FieldTerm, st.sampled_from(["project", "file"]), inner.map(lambda text: f"x{text}x")),
    st.just(Bound("since", "2026", datetime(2026, 1, 1, tzinfo=UTC))),
)


def _compose(nodes: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    """Generate trees like the parser's: no nested groups of one kind, no double negation."""
    conjuncts = st.lists(nodes.filter(lambda it: not isinstance(it, And)), min_size=2, max_size=3)
    disjuncts = st.lists(nodes.filter(lambda it: not isinstance(it, Or)), min_size=2, max_size=3)
    return st.one_of(
        nodes.filter(lambda it: not isinstance(it, Not)).map(Not),
        conjuncts.map(lambda parts: And(tuple(parts))),
        disjuncts.map(lambda parts: Or(tuple(parts))),
    )


@given(st.recursive(leaves, _compose, max_leaves=8))
def test_every_tree_can_be_written(tree: Node) -> None:
    """The canonical text of a tree parses to the same tree, whatever its words."""
    query = Query(And((A, *(tree.parts if isinstance(tree, And) else (tree,)))))
    assert parse_query(str(query), now=NOW) == query


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("a   b|c", "a (b OR c)"),
        ("(a  b) | c", "(a b) OR c"),
        ("PROJECT:x   Is:Error", "project:x is:error"),
        ('project:"x"  file:"a b"', 'project:x file:"a b"'),
        ("a -( b )", "a -b"),
        ("“it's \\”", '"it\'s \\\\"'),
        ("since:7D", "since:7d"),
    ],
)
def test_canonical_text(text: str, canonical: str) -> None:
    """A query has one canonical form, with dates as typed."""
    assert str(parse_query(text, now=NOW)) == canonical


def test_what_is_left_out_is_not_sought() -> None:
    """Only words and phrases that a hit may contain are listed, without negated ones and fields."""
    tree = _read('a (b* OR "c d") -e -(f g) /h/ file:i since:7d')
    assert list(iter_text_terms(tree)) == [A, Prefix("b"), Phrase("c d")]


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("a " * 500, "too many words and fields: 500, at most 128 are allowed", 257),
        ("a OR " * 150 + "b", "too many words and fields: 151, at most 128 are allowed", 641),
        ("a* b " * 9, "too many words with stars such as auth*: 9, at most 8 are allowed", 41),
    ],
)
def test_a_query_with_too_many_words_is_an_error(text: str, message: str, column: int) -> None:
    """Looking up all of them would take too long."""
    with pytest.raises(QueryError, match=re.escape(message)) as caught:
        parse_query(text)
    assert caught.value.column == column


def test_many_words_are_allowed() -> None:
    """Enough for a pasted message."""
    text = " ".join(f"w{number}" for number in range(128))
    assert str(parse_query(text)) == text


def test_it_is_an_error_of_usage() -> None:
    """The message is followed by the query and a caret, and its parts are attributes."""
    error = QueryError("no such thing", "a b", 3)
    assert isinstance(error, UsageError)
    assert (error.message, error.query, error.column) == ("no such thing", "a b", 3)
    assert str(error) == "no such thing\n  a b\n    ^"


@pytest.mark.parametrize(
    ("query", "column", "lines"),
    [
        ("", 1, "  \n  ^"),
        ("中文 x", 4, "  中文 x\n       ^"),
        ("e\u0301 x", 4, "  e\u0301 x\n    ^"),
        ("a\n\x1b[0m\u202eb", 3, "  a  [0m b\n    ^"),
        ("a" * 100 + "!", 101, "  " + "a" * 30 + "!\n  " + " " * 30 + "^"),
    ],
)
def test_the_caret_is_below_the_column(query: str, column: int, lines: str) -> None:
    """Wide characters take two cells, accents none, and nothing unprintable is shown."""
    assert point_at(query, column) == lines
