"""Made-up texts in many scripts for the laws of search, and an index to look them up in."""

import re
import sqlite3
import unicodedata
from collections.abc import Sequence
from contextlib import closing

from hypothesis import strategies as st

from recollect.search import TOKENIZER, TermSequence, prepare_for_index

_SPACED = (
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    "éÉüßøŁİıſǅﬁ²½Ωςάжйё"
    "אבגשׁابتيहिन्दीकि"
    "_-./+'#@"
    "\u0301\u0327\u200d\u200b\ufe0f"
)
_PICTOGRAPHS = "😀👍🏽👨\u200d👩🇩🇪✅❌⚠⏺"
# Han (old, rare and beyond the first plane), kana, Hangul, Thai, Lao, Khmer, Burmese, Tibetan, Yi.
_UNSPACED = "中文字会話議事録的一𠮷𰻝々ァアがパーの한국어기록ไฟล์สระພາສາខ្មែរမြန်မာབོདꀀ"
_SEPARATORS = ["", " ", "\n", "，", "。", "—", "│", " → ", ", ", "\x00", "\ud83d", "\ue0a0"]

words = st.text(_SPACED, min_size=1, max_size=12) | st.sampled_from(
    ["parseQuery", "HTTPServer", "utf8", "SHA256", "getURLs", "sha256Sum", "XMLHttpRequest", "iOS"]
)
unspaced_runs = st.text(_UNSPACED, min_size=1, max_size=12).map(
    lambda run: unicodedata.normalize("NFC", run)
)
anything = st.text(st.characters(codec=None), max_size=60)
separators = st.sampled_from(_SEPARATORS)
pictographs = st.text(_PICTOGRAPHS, min_size=1, max_size=4)
texts = st.lists(words | unspaced_runs | pictographs | separators, max_size=12).map("".join)


def tokenise(prepared: bytes) -> list[str]:
    """The terms that SQLite takes from a prepared text, in their order."""
    with closing(sqlite3.connect(":memory:")) as connection:
        _fill(connection, prepared)
        connection.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(indexed, 'instance')")
        return [row[0] for row in connection.execute("SELECT term FROM vocabulary ORDER BY offset")]


def is_found(text: str, sequences: Sequence[TermSequence]) -> list[bool]:
    """For each sequence, whether an index of the text finds it."""
    with closing(sqlite3.connect(":memory:")) as connection:
        _fill(connection, prepare_for_index(text))
        ask = "SELECT count(*) FROM indexed WHERE indexed MATCH ?"
        return [bool(connection.execute(ask, (_to_match(it),)).fetchone()[0]) for it in sequences]


def _fill(connection: sqlite3.Connection, prepared: bytes) -> None:
    connection.execute(f'CREATE VIRTUAL TABLE indexed USING fts5(text, tokenize="{TOKENIZER}")')
    connection.execute("INSERT INTO indexed VALUES (CAST(? AS TEXT))", (prepared,))


def _to_match(sequence: TermSequence) -> str:
    assert not re.search('["*]', "".join(sequence.terms))
    return f'"{" ".join(sequence.terms)}"{"*" if sequence.ends_open else ""}'
