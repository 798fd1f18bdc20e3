"""Views decode what hides a secret, and map every position back."""

import json
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.redact.findings import OwnPattern, RedactionPolicy
from recollect.redact.plain_view import decode_view, join_wrapped
from recollect.redact.policy import find_secrets
from recollect.redact.redactor import Redactor
from tests.redact.made_up_secrets import FAMILIES

PIECES = st.sampled_from(
    [
        "a",
        "key=",
        " ",
        "\n",
        '\\"',
        "\\\\n",
        "%3D",
        "&amp;",
        "\x1b[32m",
        "\\u001b[0m",
        "[1m",
        "é",
        "\\",
    ]
)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("\x1b[1;32mkey\x1b[0m", "key"),
        ("\\u001b[32mkey\\u001b[0m", "key"),
        ("\x1b]0;title\x07key", "key"),
        ("[32mkey[0m", "key"),
        ('{\\"a\\": \\"b\\"}', '{"a": "b"}'),
        ('{\\\\\\"a\\\\\\"}', '{"a"}'),
        ("a\\\\nb", "a\nb"),
        ("a\\u003db", "a=b"),
        ("a%3Db%2Fc", "a=b/c"),
        ("&quot;a&quot; &amp; &#39;", '"a" & \''),
        ("C:\\Users", "C:\\Users"),
    ],
)
def test_a_view_is_what_a_reader_sees(written: str, read: str) -> None:
    """Colours, escapes, percent-encoding and entities are undone."""
    assert decode_view(written.encode()).data.decode() == read


@given(st.lists(PIECES, max_size=40).map("".join))
def test_positions_are_mapped_back(text: str) -> None:
    """The characters of a view come from spans of the original, in order."""
    data = text.encode()
    view = decode_view(data)
    spans = [view.locate(at, at + 1) for at in range(len(view.data))]
    assert all(0 <= start < end <= len(data) for start, end in spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    for at, (start, end) in enumerate(spans):
        assert end - start > 1 or data[start:end] == view.data[at : at + 1]


@given(st.text(), st.integers(1, 3))
def test_json_around_a_text_is_undone(text: str, levels: int) -> None:
    """Text inside several levels of JSON is read unescaped."""
    inner = f'{text.replace(chr(92), "")} word="value" \n'
    for _ in range(levels):
        inner = json.dumps({"text": inner})
    assert b'word="value" \n' in decode_view(inner.encode()).data


def test_lines_of_a_terminal_are_joined() -> None:
    """A line that was broken in the middle of a word is one line in the view of wrapped lines."""
    lines = [b"short", b"x" * 80, b"y" * 80, b"end", b"short"]
    view = join_wrapped(b"\n".join(lines))
    assert view is not None
    assert view.data == b"x" * 80 + b"y" * 80 + b"end" + b"\n"
    assert view.locate(0, 160) == (6, 167)


@pytest.mark.parametrize(
    "following",
    ["PORT=8080", "export LOG_LEVEL=debug", "Done.", "total 12", "2026-11-10 done", "-- end", "x"],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_secret_ends_with_its_line(following: str, line_end: str) -> None:
    """The next line is neither masked nor part of the value, although the line is as long as if
    a terminal had wrapped it.
    """
    key = FAMILIES["openai"].make(Random(3)).text
    text = line_end.join(["NODE_ENV=production", f"OPENAI_API_KEY={key}", following, ""])
    assert Redactor().redact(text) == text.replace(key, "[redacted:openai-key#1]")


def test_a_wrapped_secret_continues_in_the_next_line() -> None:
    """Random characters belong to the secret, and so do those of a pattern of the user."""
    key = FAMILIES["openai"].make(Random(3)).text
    line = f"starting with OPENAI_API_KEY={key} on port 8080"
    wrapped = "\n".join(line[at : at + 80] for at in range(0, len(line), 80))
    assert Redactor().redact(wrapped).endswith("KEY=[redacted:openai-key#1] on port 8080")
    policy = RedactionPolicy(patterns=(OwnPattern("reef-key", "reef_[A-Za-z0-9_]{20,}"),))
    for text in ("reef_" + "aB3" * 30 + "\nxQ7kP2mZ", "reef_" + "aB3" * 30 + "\nPORT=8080"):
        end = len(text) if text.endswith("Z") else text.index("\n")
        (found,) = find_secrets(text, policy)
        assert (found.kind, found.start, found.end) == ("reef-key", 0, end)


def test_prose_has_no_wrapped_lines() -> None:
    """Short lines were ended by their author."""
    assert join_wrapped(b"one\ntwo\n\n" + b"a" * 300 + b"\nb") is None


@given(st.text(st.characters(exclude_categories=())) | st.lists(PIECES, max_size=60).map("".join))
def test_any_text_can_be_scanned(text: str) -> None:
    """No text fails, lone surrogates included, and findings are in order and inside the text."""
    places = [place for each in find_secrets(text) for place in (each.start, each.end)]
    assert places == sorted(places)
    assert all(0 <= place <= len(text) for place in places)


def test_findings_count_characters() -> None:
    """Positions are those of the text, whatever scripts are in it."""
    text = "été 漢字 \U0001f600 password: 'Hunter2!x' \ud800"
    (finding,) = find_secrets(text)
    assert text[finding.start : finding.end] == "Hunter2!x"
