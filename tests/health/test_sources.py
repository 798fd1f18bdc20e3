"""Tests of recollect.health.sources."""

import sys
from pathlib import Path

import pytest

from recollect.errors import NothingFound
from recollect.health.report import RefusedFile
from recollect.health.sources import Inventory, Source, describe_place, take_inventory

SESSION = "00000000-0000-4000-8000-000000000001"


def add(root: Path, *names: str) -> list[Path]:
    """Make empty files below a root."""
    paths = [root / name for name in names]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return paths


def names_of(inventory: Inventory) -> list[tuple[str, str]]:
    """What the report would call the files, and their kinds."""
    return [(source.name, source.kind) for source in inventory.sources]


def test_a_root_is_read_as_such(tmp_path: Path) -> None:
    """Of a Claude directory the transcripts are read, and names are relative to it."""
    add(
        tmp_path,
        "history.jsonl",
        f"projects/p/{SESSION}.jsonl",
        f"projects/p/{SESSION}/subagents/agent-a1.jsonl",
        f"projects/p/{SESSION}/subagents/workflows/wf_1/agent-a2.jsonl",
        f"projects/p/{SESSION}/subagents/workflows/wf_1/journal.jsonl",
    )
    assert names_of(take_inventory([tmp_path])) == [
        (f"projects/p/{SESSION}.jsonl", "session"),
        (f"projects/p/{SESSION}/subagents/agent-a1.jsonl", "subagent"),
        (f"projects/p/{SESSION}/subagents/workflows/wf_1/agent-a2.jsonl", "workflow-agent"),
        (f"projects/p/{SESSION}/subagents/workflows/wf_1/journal.jsonl", "workflow-journal"),
    ]


def test_any_directory_is_searched_to_the_bottom(tmp_path: Path) -> None:
    """A directory that is no Claude directory is read wherever its transcripts lie."""
    add(tmp_path, "deep/down/a.jsonl", "b.jsonl", "notes.txt")
    expected = [("b.jsonl", "session"), ("deep/down/a.jsonl", "session")]
    assert names_of(take_inventory([tmp_path])) == expected


def test_a_single_file_is_called_by_its_name(tmp_path: Path) -> None:
    """A file may have any name if it is asked for."""
    (path,) = add(tmp_path, "output.txt")
    assert take_inventory([path]) == Inventory((Source(path, "output.txt", "session"),), ())


def test_several_places_are_told_apart(tmp_path: Path) -> None:
    """With more than one place, each name says which it is from, with the home shortened."""
    home = tmp_path / "home"
    add(home / ".claude" / "projects" / "p", "a.jsonl")
    add(tmp_path / "other" / "projects" / "p", "a.jsonl")
    places = [home / ".claude", tmp_path / "other"]
    assert names_of(take_inventory(places, {"HOME": str(home)})) == [
        ("~/.claude/projects/p/a.jsonl", "session"),
        (f"{tmp_path}/other/projects/p/a.jsonl", "session"),
    ]


def test_a_file_is_read_once(tmp_path: Path) -> None:
    """A file that two places share is counted under the first."""
    (path,) = add(tmp_path, "projects/p/a.jsonl")
    inventory = take_inventory([tmp_path, tmp_path / "projects", path], {"HOME": str(tmp_path)})
    assert names_of(inventory) == [("~/projects/p/a.jsonl", "session")]


def test_the_home_is_hidden_in_project_names_too(tmp_path: Path) -> None:
    """Claude Code writes the home into directory names; a report does not repeat it."""
    add(tmp_path, "projects/-home-mina-app/a.jsonl", "projects/-home-minare/a.jsonl")
    assert names_of(take_inventory([tmp_path], {"HOME": "/home/mina"})) == [
        ("projects/~-app/a.jsonl", "session"),
        ("projects/-home-minare/a.jsonl", "session"),
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
def test_hostile_names_are_made_safe(tmp_path: Path) -> None:
    """A file name cannot drive the terminal, nor break a line, nor make the JSON unwritable."""
    add(tmp_path, "\x1b]0;title\x07\n.jsonl", "\udcff.jsonl")
    assert names_of(take_inventory([tmp_path])) == [
        ("␛]0;title\u2039U+0007\u203a\u2039U+000A\u203a.jsonl", "session"),
        ("\u2039U+DCFF\u203a.jsonl", "session"),
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_what_is_left_alone_is_listed(tmp_path: Path) -> None:
    """A link that leads out of the directory is named, its target is not."""
    root, secret = tmp_path / "root", tmp_path / "secret.jsonl"
    add(root, "a.jsonl")
    secret.touch()
    (root / "b.jsonl").symlink_to(secret)
    reason = "symbolic link that leads outside the directory being read"
    refused = RefusedFile(file="b.jsonl", reason=reason, failed=False)
    assert take_inventory([root]).refused == (refused,)


def test_a_missing_place_is_an_error(tmp_path: Path) -> None:
    """A path that is not there is a mistake in the request."""
    with pytest.raises(NothingFound):
        take_inventory([tmp_path / "missing"])


def test_places_are_described_without_the_home(tmp_path: Path) -> None:
    """A place below the home begins with `~`, any other one stays as it is."""
    environment = {"HOME": str(tmp_path)}
    places = [tmp_path / ".claude", tmp_path, Path("elsewhere\x1b")]
    shown = [describe_place(place, environment) for place in places]
    assert shown == ["~/.claude", "~", "elsewhere␛"]
