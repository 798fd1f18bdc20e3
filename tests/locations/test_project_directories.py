"""Tests of recollect.locations.references."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from recollect.locations.claude_directories import encode_project_path, encode_without_limit
from recollect.locations.discovery import discover_root
from recollect.locations.references import select_transcripts, work_directory
from tests.locations.trees import link, transcript, write


def cwd_of(recorded: Mapping[str, str]) -> Callable[[Path], str | None]:
    """Return a stand-in for a reader: the working directory of each transcript, by its stem."""
    return lambda path: recorded.get(path.stem)


def select(root: Path, cwd: str, recorded: Mapping[str, str]) -> list[str]:
    """Return the stems of the transcripts that belong to a working directory."""
    everything = [transcript(path, path.stem) for path in sorted(root.glob("projects/*/*.jsonl"))]
    chosen = select_transcripts(everything, cwd, cwd_of(recorded))
    return [found.path.stem for found in chosen]


def test_projects_that_share_a_directory_are_distinguished(tmp_path: Path) -> None:
    """Three paths with the same name each get the transcripts that record them."""
    recorded = {"s1": "/home/me/a.b", "s2": "/home/me/a_b", "s3": "/home/me/a-b"}
    for name in recorded:
        write(tmp_path / "projects" / "-home-me-a-b" / f"{name}.jsonl")
    assert [select(tmp_path, cwd, recorded) for cwd in recorded.values()] == [
        ["s1"],
        ["s2"],
        ["s3"],
    ]


def test_transcript_without_a_work_directory_stays(tmp_path: Path) -> None:
    """In a directory of the right name, transcripts without a working directory are kept."""
    write(tmp_path / "projects" / "-home-me-a-b" / "s1.jsonl")
    assert select(tmp_path, "/home/me/a.b", {}) == ["s1"]


def test_transcript_that_went_elsewhere_stays(tmp_path: Path) -> None:
    """In a directory of the right name, another recorded path means `cd` or a move."""
    recorded = {"s1": "/home/me/app/sub", "s2": "/elsewhere"}
    for name in recorded:
        write(tmp_path / "projects" / "-home-me-app" / f"{name}.jsonl")
    assert select(tmp_path, "/home/me/app", recorded) == ["s1", "s2"]


def test_transcript_in_another_directory_must_record_the_path(tmp_path: Path) -> None:
    """In directories of other names, only transcripts that record the path are found."""
    recorded = {"s1": "/home/me/app", "s2": "/home/me/other"}
    for name in ("s1", "s2", "s3"):
        write(tmp_path / "projects" / "renamed" / f"{name}.jsonl")
    assert select(tmp_path, "/home/me/app", recorded) == ["s1"]


def test_long_path_is_found_under_every_name_it_had(tmp_path: Path) -> None:
    """The hashed name, the name without a limit, and a hash of another kind if a record agrees."""
    cwd = "/home/me/" + "long" * 50
    other = cwd + "er"
    cut = encode_without_limit(cwd)[:200]
    places = {
        "s1": encode_project_path(cwd),
        "s2": encode_without_limit(cwd),
        "s3": f"{cut}-zzzzzz",
        "s4": f"{cut}-zzzzzz",
        "s5": f"{cut}-zzzzzz",
        "s6": f"{cut}-yyyyyy",
        "s7": f"{cut}-yyyyyy",
        "s8": encode_project_path(other),
        "s9": encode_project_path(cwd),
    }
    for name, directory in places.items():
        write(tmp_path / "projects" / directory / f"{name}.jsonl")
    recorded = {"s3": cwd, "s5": other, "s6": other, "s8": other, "s9": other}
    assert sorted(select(tmp_path, cwd, recorded)) == ["s1", "s2", "s3", "s4"]


def test_link_to_the_work_directory_finds_its_real_path(tmp_path: Path) -> None:
    """From a linked directory, the transcripts of the real path are found."""
    real = tmp_path / "real"
    real.mkdir()
    shortcut = link(tmp_path / "shortcut", real)
    resolved = os.path.realpath(real)
    root = tmp_path / "root"
    write(root / "projects" / encode_project_path(resolved) / "s1.jsonl")
    write(root / "projects" / "renamed" / "s2.jsonl")
    assert sorted(select(root, str(shortcut), {"s2": resolved})) == ["s1", "s2"]


@pytest.mark.parametrize(
    "recorded", ["C:\\Users\\Me\\App", "c:\\users\\me\\app", "C:/Users/Me/App"]
)
def test_windows_path_is_the_same_in_any_spelling(tmp_path: Path, recorded: str) -> None:
    """Case and slashes do not distinguish Windows paths, on any system."""
    write(tmp_path / "projects" / "C--Users-Me-App" / "s1.jsonl")
    write(tmp_path / "projects" / "elsewhere" / "s2.jsonl")
    selected = select(tmp_path, "C:\\Users\\Me\\App\\", {"s1": recorded, "s2": recorded})
    assert selected == ["s1", "s2"]


def test_posix_path_is_the_same_in_one_spelling_only(tmp_path: Path) -> None:
    """Case distinguishes other paths."""
    write(tmp_path / "projects" / "renamed" / "s1.jsonl")
    assert select(tmp_path, "/home/me/app", {"s1": "/home/me/App"}) == []


@pytest.mark.parametrize(
    ("cwd", "spellings"),
    [
        ("/", ("/",)),
        ("/nowhere/app/", ("/nowhere/app",)),
        ("C:\\Users\\me\\", ("C:\\Users\\me",)),
        ("relative", ("relative",)),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="on Windows these paths have a drive")
def test_foreign_path_is_not_mixed_with_our_own(cwd: str, spellings: tuple[str, ...]) -> None:
    """A path that is not absolute on this system is used unchanged, except for a trailing slash."""
    assert work_directory(cwd).spellings == spellings


def find_directories(root: Path, cwd: str, recorded: dict[str, str]) -> tuple[Path, ...]:
    """Return the directories with transcripts of a working directory."""
    found = select_transcripts(discover_root(root).transcripts, cwd, cwd_of(recorded))
    return tuple(dict.fromkeys(each.project_dir for each in found))


def test_directories_of_a_project_are_found(tmp_path: Path) -> None:
    """The directories that contain transcripts of a working directory, by path."""
    for directory in ("-home-me-a-b", "renamed", "unrelated"):
        write(tmp_path / "projects" / directory / f"in {directory}.jsonl")
    recorded = {"in -home-me-a-b": "/home/me/a.b", "in renamed": "/home/me/a.b"}
    assert find_directories(tmp_path, "/home/me/a.b", recorded) == (
        tmp_path / "projects" / "-home-me-a-b",
        tmp_path / "projects" / "renamed",
    )


def test_directory_of_a_colliding_project_is_not_found(tmp_path: Path) -> None:
    """A directory of this name with only transcripts of another path is left out."""
    write(tmp_path / "projects" / "-home-me-a-b" / "s1.jsonl")
    recorded = {"s1": "/home/me/a_b"}
    assert find_directories(tmp_path, "/home/me/a.b", recorded) == ()
