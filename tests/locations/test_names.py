"""Tests of recollect.locations.claude_directories."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.locations.claude_directories import (
    decode_id,
    encode_id,
    encode_project_path,
    encode_without_limit,
    is_plain_name,
    is_transcript_name,
)
from tests.locations.hostile_names import HOSTILE_NAMES, STRANGE_BUT_PLAIN_NAMES


@pytest.mark.parametrize(
    ("cwd", "directory"),
    [
        ("/", "-"),
        ("/home/me/a.b", "-home-me-a-b"),
        ("/home/me/a_b", "-home-me-a-b"),
        ("/home/me/a b", "-home-me-a-b"),
        ("/home/me/a-b", "-home-me-a-b"),
        ("/home/me/UPPER", "-home-me-UPPER"),
        ("/-lead", "--lead"),
        ("/home/me/wörk", "-home-me-w-rk"),
        ("/home/me/e\u0301", "-home-me-e-"),
        ("/home/me/中文", "-home-me---"),
        ("/home/me/e😀x", "-home-me-e--x"),
        ("/home/me/\ud83d", "-home-me--"),
        ("C:\\Users\\x", "C--Users-x"),
        ("\\\\srv\\s", "--srv-s"),
        ("/repo/.claude/worktrees/n", "-repo--claude-worktrees-n"),
    ],
)
def test_every_other_utf16_unit_becomes_one_dash(cwd: str, directory: str) -> None:
    """Each UTF-16 unit that is not an ASCII letter or digit becomes one dash, never merged."""
    assert encode_project_path(cwd) == directory


def test_name_of_200_units_stays_whole() -> None:
    """A path of exactly 200 units has no hash."""
    assert encode_project_path("/" + "a" * 199) == "-" + "a" * 199


@pytest.mark.parametrize(
    ("cwd", "directory"),
    [
        ("/home/me/" + "a" * 192, "-home-me-" + "a" * 191 + "-178n6y"),
        # Leading zeros add nothing, and this word is known to hash to the lowest number of all.
        ("\0" * 200 + "polygenelubricants", "-" * 200 + "-zik0zk"),
        ("\0" * 201, "-" * 200 + "-0"),
    ],
)
def test_longer_name_is_cut_and_hashed(cwd: str, directory: str) -> None:
    """A longer name keeps 200 units and gets the base-36 hash of the whole original path."""
    assert encode_project_path(cwd) == directory


def test_versions_without_a_limit_keep_the_whole_name() -> None:
    """The name of a long path without the limit is as long as the path."""
    assert encode_without_limit("/home/me/" + "é" * 300) == "-home-me-" + "-" * 300


def test_shared_vectors_match(shared: Path) -> None:
    """Every directory name that the real client made is computed correctly."""
    vectors = json.loads((shared / "vectors" / "project_paths.json").read_text(encoding="utf-8"))
    computed = [{"cwd": it["cwd"], "directory": encode_project_path(it["cwd"])} for it in vectors]
    assert computed == vectors


@given(st.text(st.characters(codec=None), max_size=300))
def test_encoded_name_is_always_safe_and_bounded(cwd: str) -> None:
    """The name of any path has only ASCII letters, digits and dashes, at most 208."""
    name = encode_project_path(cwd)
    assert name == "".join(c for c in name if c == "-" or (c.isascii() and c.isalnum()))
    assert len(name) <= 208


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_string_is_no_plain_name(name: str) -> None:
    """A string that could be a path on any system is refused on every system."""
    assert is_plain_name(name) is False


@pytest.mark.parametrize("name", STRANGE_BUT_PLAIN_NAMES)
def test_strange_string_may_be_a_plain_name(name: str) -> None:
    """Characters that only look like separators, or matter only to shells, are allowed."""
    assert is_plain_name(name) is True


@given(st.text(st.characters(codec=None)))
def test_plain_name_joins_as_exactly_one_component(name: str) -> None:
    """A plain name adds one component to a path, and that component is the name."""
    if is_plain_name(name):
        assert Path("/base", name).parts == ("/", "base", name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("0b6bd7b5-38f4-4c0c-9d3e-3a5f1d0f9a11.jsonl", True),
        ("any stem.jsonl", True),
        (".jsonl", True),
        ("agent-a1.jsonl", True),
        ("x.jsonl.backup", False),
        ("x.json", False),
        ("history.jsonl", False),
        ("journal.jsonl", False),
        ("._x.jsonl", False),
        ("x.JSONL", False),
    ],
)
def test_transcripts_are_recognised_by_their_suffix(name: str, expected: bool) -> None:
    """Any stem is allowed, but logs of prompts and workflows and backups are not transcripts."""
    assert is_transcript_name(name) is expected


@pytest.mark.parametrize(
    ("name", "session_id"),
    [
        ("0b6bd7b5-38f4-4c0c-9d3e-3a5f1d0f9a11", "0b6bd7b5-38f4-4c0c-9d3e-3a5f1d0f9a11"),
        ("my best session", "my best session"),
        ("$(id)", "$(id)"),
        ("笔记", "笔记"),
        ("-rf", "%2Drf"),
        ("..", "%2E."),
        ("100%", "100%25"),
        ("caf\udce9", "caf%E9"),
        ("a\x1b[2J", "a%1B[2J"),
        ("exe.\u202egnp", "exe.%E2%80%AEgnp"),
    ],
)
def test_an_id_is_the_name_as_text(name: str, session_id: str) -> None:
    """Only characters that cannot be typed, printed or put into a URL are percent-encoded."""
    assert (encode_id(name), decode_id(session_id)) == (session_id, name)


@given(st.binary(max_size=40).map(lambda data: data.decode("utf-8", "surrogateescape")))
def test_ids_distinguish_names(name: str) -> None:
    """Every name has an id of its own, printable and never an option or a parent directory."""
    session_id = encode_id(name)
    assert decode_id(session_id) == name
    assert session_id.isprintable()
    assert session_id[:1] not in {"-", "."}
