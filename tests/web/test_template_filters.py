"""Tests of recollect.web.template_filters."""

import pytest

from recollect.render.html.html_turns import shorten_model
from recollect.web.template_filters import (
    FILTERS,
    count_days_left,
    get_base_name,
    make_unique_models,
    make_unique_names,
    shorten_tool,
    truncate,
)

NOON = 1_794_744_000
"""2026-11-15T12:00:00Z."""


@pytest.mark.parametrize(
    ("moment", "days"),
    [
        ("2026-11-15T12:00:00+00:00", 0),
        ("2026-11-16T11:59:59+00:00", 0),
        ("2026-11-16T12:00:00+00:00", 1),
        ("2026-11-22T13:00:00+01:00", 7),
        ("2026-11-01T00:00:00+00:00", 0),
        ("9999-12-31T23:59:59+00:00", 2_912_124),
    ],
)
def test_days_left(moment: str, days: int) -> None:
    """Only whole days are counted, and none if the moment has passed."""
    assert count_days_left(moment, NOON) == days


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/mina/projects/tidepool", "tidepool"),
        ("/home/mina/projects/tidepool/", "tidepool"),
        (r"C:\Users\mina\notes", "notes"),
        ("-home-mina-notes", "-home-mina-notes"),
        ("/", "/"),
        ("", ""),
        ("/home/mina/文档/菜谱", "菜谱"),
    ],
)
def test_base_names(path: str, name: str) -> None:
    """The name is the last part of a path of any system."""
    assert get_base_name(path) == name


def test_folders_of_one_name_are_distinguished() -> None:
    """By as many folders above as it takes, whatever system they are of."""
    assert make_unique_names(
        [
            "/w/pond",
            "/ana/w/cli",
            "/bo/w/cli",
            "D:\\src\\cli",
            "/bo/w/cli/.worktrees/3",
            "/",
            "/cli",
        ]
    ) == {
        "/w/pond": "pond",
        "/ana/w/cli": "ana/w/cli",
        "/bo/w/cli": "bo/w/cli",
        "D:\\src\\cli": "src/cli",
        "/bo/w/cli/.worktrees/3": "cli/3",
        "/": "/",
        "/cli": "/cli",
    }


def test_models_of_one_name_are_distinguished() -> None:
    """By their full names; all others have their common names."""
    models = ["claude-sonnet-4-20250514", "claude-sonnet-4", "claude-opus-4-6"]
    assert make_unique_models(models) == {
        "claude-sonnet-4-20250514": "claude-sonnet-4-20250514",
        "claude-sonnet-4": "claude-sonnet-4",
        "claude-opus-4-6": "opus 4.6",
    }


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("number", None, "—"),
        ("number", 1234, "1,234"),
        ("short", None, "—"),
        ("short", 12_345, "12.3K"),
        ("money", None, "—"),
        ("money", 0.001, "<$0.01"),
        ("exact_money", None, "—"),
        ("exact_money", 1234.5, "$1,234.5000"),
        ("moment", None, "—"),
        ("moment", NOON, "2026-11-15 12:00"),
        ("moment", 1e18, "—"),
        ("time", None, ""),
        ("time", "2026-11-12T06:00:00.000Z", "2026-11-12 06:00"),
        ("time", "2026-11-12T06:00:00", "2026-11-12 06:00"),
        ("time", "not a moment at all", ""),
        ("iso", NOON, "2026-11-15T12:00:00+00:00"),
        ("iso", 1e18, "—"),
    ],
)
def test_filters(name: str, value: object, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing figure is a dash, and times are those of the server's time zone."""
    monkeypatch.setenv("TZ", "UTC")
    assert FILTERS[name](value) == shown


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("claude-opus-5-5", "opus 5.5"),
        ("claude-opus-5-5-20261101", "opus 5.5"),
        ("claude-sonnet-4-20250514", "sonnet 4"),
        ("claude-3-5-haiku-20241022", "claude-3-5-haiku-20241022"),
        ("gpt-5", "gpt-5"),
        ("", ""),
    ],
)
def test_model_names(model: str, name: str) -> None:
    """Names in the current pattern are shortened; all others are unchanged."""
    assert shorten_model(model) == name


def test_tools_of_servers_are_named_without_them() -> None:
    """A narrow column has room for the tool only."""
    names = ["Bash", "mcp__ide__getDiagnostics", "mcp__plugin_notes__read__all", "mcp__odd"]
    assert [shorten_tool(name) for name in names] == [
        "Bash",
        "getDiagnostics",
        "read__all",
        "mcp__odd",
    ]


@pytest.mark.parametrize(
    ("text", "length", "shown"),
    [
        ("as long as it may be", 15, "as long as it may be"),
        ("a little longer than that", 15, "a little..."),
        ("密钥是[redacted:aws-key#1]，请使用", 15, "密钥是..."),
        ("x=[redacted:aws-key] and more", 16, "x=..."),
        ("x=[redacted:aws-key] and more", 23, "x=[redacted:aws-key]..."),
    ],
)
def test_titles_are_cut_at_words_and_tags(text: str, length: int, shown: str) -> None:
    """Also where a text has no blanks; a few characters more are not worth a cut."""
    assert truncate(text, length) == shown
