"""Tool output in a file beside the transcript."""

import json

import pytest
from msgspec import Raw

from recollect.session.tool_calls import SpilledOutput, find_spilled

PATH = "/home/me/.claude/projects/-p/s1/tool-results/b1.txt"
TEXT = (
    f"<persisted-output>\nOutput too large (106.3KB). Full output saved to: {PATH}\n\n"
    "Preview (first 2KB):\n1\n2\n...\n</persisted-output>"
)


def raw(value: object) -> Raw:
    """Return `value` as raw JSON."""
    return Raw(json.dumps(value).encode())


def test_the_record_says_where_the_output_is() -> None:
    """Path and size come from the structured result, the preview from the text."""
    given = raw({"stdout": "1\n2", "persistedOutputPath": "/other.txt", "persistedOutputSize": 9})
    assert find_spilled(TEXT, given) == SpilledOutput("/other.txt", 9, "1\n2")


@pytest.mark.parametrize("given", [Raw(), raw(None), raw("Error"), raw({"stdout": ""}), raw([1])])
def test_the_text_alone_is_enough(given: Raw) -> None:
    """Without a structured result the path is read from the text, and no size is known."""
    assert find_spilled(TEXT, given) == SpilledOutput(PATH, None, "1\n2")


@pytest.mark.parametrize(
    ("text", "preview"),
    [
        (f"<persisted-output>\nFull output saved to: {PATH}", ""),
        (f"<persisted-output>\nFull output saved to: {PATH}\nPreview (first 2KB):\nall", "all"),
        (TEXT.replace("1\n2", "...\n..."), "...\n..."),
        (TEXT.replace("1\n2", "a)\nPreview (first 1KB):\nb"), "a)\nPreview (first 1KB):\nb"),
    ],
)
def test_the_preview_follows_its_heading(text: str, preview: str) -> None:
    """The preview does not include the client's own markers."""
    assert find_spilled(text, Raw()) == SpilledOutput(PATH, None, preview)


def test_a_path_of_windows_is_kept_as_it_was_written() -> None:
    """The path is that of the machine that wrote it."""
    path = "C:\\Users\\me\\.claude\\projects\\C--p\\s1\\tool-results\\b 1.txt"
    text = TEXT.replace(PATH, path)
    assert find_spilled(text, Raw()) == SpilledOutput(path, None, "1\n2")


@pytest.mark.parametrize(
    "text",
    ["", "1\n2", f"I read {TEXT}", "<persisted-output>\nnothing was saved</persisted-output>"],
)
def test_other_results_are_whole(text: str) -> None:
    """Only a text that starts with the marker and names a file was spilled."""
    given = raw({"persistedOutputPath": None})
    assert find_spilled(text, given) is None


def test_hostile_text_costs_no_more_than_its_length() -> None:
    """A megabyte of headings that never close is searched once; the test would not end."""
    text = TEXT.replace("Preview (first 2KB)", "Preview (first " * 70_000)
    assert find_spilled(text, Raw()) == SpilledOutput(PATH, None, "")
