"""Tests of recollect.library.transcript_ends."""

from pathlib import Path

import pytest

from recollect.errors import UnreadableInput
from recollect.library.transcript_ends import STRAY_LIMIT, is_stray
from tests.locations.trees import link, transcript, write

SUMMARY = b'{"type":"summary","summary":"A short title","leafUuid":"u1"}\n'
PROMPT = b'{"type":"user","uuid":"u1","message":{"role":"user","content":"a \\"summary\\""}}\n'


@pytest.mark.parametrize(
    "content",
    [
        b"",
        SUMMARY,
        SUMMARY.rstrip(b"\n"),
        SUMMARY * 3,
        b"\n" + SUMMARY.replace(b"\n", b"\r\n") + b"  \n",
    ],
    ids=["0 bytes", "one", "no newline", "several", "blank lines"],
)
def test_file_without_a_conversation_is_a_stray(tmp_path: Path, content: bytes) -> None:
    """An empty file, or nothing but summaries, is what a resume leaves behind."""
    assert is_stray(transcript(write(tmp_path / "s.jsonl", content))) is True


@pytest.mark.parametrize(
    "content",
    [
        PROMPT,
        SUMMARY + PROMPT,
        PROMPT + SUMMARY,
        SUMMARY[:-10],
        b'["summary"]\n',
        b'{"type":"user","summary":"summary"}\n',
        b'{"type":"summary","n":' + b"[" * 5000 + b"\n",
        b'{"type":"summary","n":' + b"1" * 5000 + b"}\n",
        b'{"type":"summary","s":"\xff"}\n',
        SUMMARY * (STRAY_LIMIT // len(SUMMARY) + 1),
    ],
    ids=[
        "prompt",
        "summary first",
        "summary last",
        "torn",
        "list",
        "other type",
        "deep",
        "long number",
        "not UTF-8",
        "large",
    ],
)
def test_file_with_anything_else_is_not_a_stray(tmp_path: Path, content: bytes) -> None:
    """A file with any other record or a damaged line, or a large one, has to be read."""
    assert is_stray(transcript(write(tmp_path / "s.jsonl", content))) is False


def test_file_that_grew_since_it_was_found_is_not_a_stray(tmp_path: Path) -> None:
    """The current content decides, up to the limit."""
    path = write(tmp_path / "s.jsonl", SUMMARY)
    found = transcript(path)
    path.write_bytes(SUMMARY * (STRAY_LIMIT // len(SUMMARY) + 1))
    assert is_stray(found) is False


def test_large_file_is_not_opened(tmp_path: Path) -> None:
    """A large file is decided by its size alone, even if it was deleted."""
    path = write(tmp_path / "s.jsonl", b" " * (STRAY_LIMIT + 1))
    found = transcript(path)
    path.unlink()
    assert is_stray(found) is False


def test_file_exchanged_for_a_link_is_refused(tmp_path: Path) -> None:
    """A link in place of the file is not followed."""
    path = write(tmp_path / "s.jsonl", SUMMARY)
    found = transcript(path)
    path.unlink()
    link(path, write(tmp_path / "other", SUMMARY))
    with pytest.raises(UnreadableInput):
        is_stray(found)
