"""Tests of recollect.locations.claude_directories."""

import os
from pathlib import Path

import pytest

from recollect.errors import NothingFound
from recollect.locations.claude_directories import find_home, resolve_roots
from tests.locations.trees import link


def make_root(path: Path) -> Path:
    """Make a directory that counts as a root."""
    (path / "projects").mkdir(parents=True)
    return path


def test_given_directories_come_before_everything(tmp_path: Path) -> None:
    """Directories given by the user replace the environment and the defaults."""
    make_root(tmp_path / ".claude")
    first, second, configured = (make_root(tmp_path / name) for name in ("b", "a", "c"))
    environment = {"CLAUDE_CONFIG_DIR": str(configured), "HOME": str(tmp_path)}
    assert resolve_roots([first, second], environment) == (first, second)


def test_given_directory_needs_no_projects(tmp_path: Path) -> None:
    """A directory of any layout may be given."""
    assert resolve_roots([tmp_path], {}) == (tmp_path,)


def test_missing_given_directory_is_named(tmp_path: Path) -> None:
    """A missing directory is an error even if others exist."""
    missing, file = tmp_path / "missing", tmp_path / "file"
    file.touch()
    with pytest.raises(NothingFound) as caught:
        resolve_roots([tmp_path, missing, file], {})
    assert str(caught.value) == (
        f"No such directory: {missing}, {file}. Give --claude-dir a directory that contains "
        "Claude Code's `projects` directory, usually ~/.claude."
    )


def test_configured_directory_replaces_the_defaults(tmp_path: Path) -> None:
    """If CLAUDE_CONFIG_DIR is set, only it counts, with or without projects."""
    make_root(tmp_path / ".claude")
    configured = tmp_path / "configured"
    configured.mkdir()
    environment = {"CLAUDE_CONFIG_DIR": str(configured), "HOME": str(tmp_path)}
    assert resolve_roots((), environment) == (configured,)


def test_configured_directory_with_a_comma_is_one_directory(tmp_path: Path) -> None:
    """The whole value counts as a path if it is one, as it does for Claude Code."""
    both = tmp_path / "a,b"
    both.mkdir()
    (tmp_path / "a").mkdir()
    assert resolve_roots((), {"CLAUDE_CONFIG_DIR": str(both)}) == (both,)


def test_configured_list_skips_what_is_empty_or_missing(tmp_path: Path) -> None:
    """Otherwise the value is a list, in its order."""
    first, second = tmp_path / "b", tmp_path / "a"
    first.mkdir()
    second.mkdir()
    value = f",{first}, ,{tmp_path / 'missing'}, {second} ,"
    assert resolve_roots((), {"CLAUDE_CONFIG_DIR": value}) == (first, second)


@pytest.mark.parametrize("value", ["", " ", ",", " , "])
def test_configured_nothing_counts_as_not_configured(tmp_path: Path, value: str) -> None:
    """If the variable contains no path, the defaults apply."""
    root = make_root(tmp_path / ".claude")
    environment = {"CLAUDE_CONFIG_DIR": value, "HOME": str(tmp_path)}
    assert resolve_roots((), environment) == (root,)


def test_missing_configured_directories_are_named(tmp_path: Path) -> None:
    """If no configured directory exists, the defaults are not used silently."""
    make_root(tmp_path / ".claude")
    places = f"{tmp_path / 'x'},{tmp_path / 'y'}"
    with pytest.raises(NothingFound) as caught:
        resolve_roots((), {"CLAUDE_CONFIG_DIR": places, "HOME": str(tmp_path)})
    assert str(caught.value) == (
        f"No Claude Code data found. Looked in:\n  {tmp_path / 'x'}\n  {tmp_path / 'y'}\n"
        "Use --claude-dir to specify the directory that contains `projects`, "
        "or set CLAUDE_CONFIG_DIR to it."
    )


def test_default_places_in_order(tmp_path: Path) -> None:
    """All three default directories are used, XDG first."""
    environment = {"HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    places = (
        make_root(tmp_path / "xdg" / "claude"),
        make_root(tmp_path / "home" / ".config" / "claude"),
        make_root(tmp_path / "home" / ".claude"),
    )
    assert resolve_roots((), environment) == places


def test_default_place_without_projects_does_not_count(tmp_path: Path) -> None:
    """A default directory is a root only if it contains projects."""
    (tmp_path / ".config" / "claude").mkdir(parents=True)
    root = make_root(tmp_path / ".claude")
    assert resolve_roots((), {"HOME": str(tmp_path)}) == (root,)


def test_relative_xdg_directory_is_ignored(tmp_path: Path) -> None:
    """XDG_CONFIG_HOME is used only if it is absolute, as its specification requires."""
    root = make_root(tmp_path / ".claude")
    assert resolve_roots((), {"HOME": str(tmp_path), "XDG_CONFIG_HOME": "."}) == (root,)


def test_nothing_found_names_every_default_place(tmp_path: Path) -> None:
    """The message lists each searched directory once, and says what to do."""
    xdg = tmp_path / "home" / ".config"
    with pytest.raises(NothingFound) as caught:
        resolve_roots((), {"HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(xdg)})
    assert str(caught.value) == (
        f"No Claude Code data found. Looked in:\n  {xdg / 'claude'}\n"
        f"  {tmp_path / 'home' / '.claude'}\n"
        "Use --claude-dir to specify the directory that contains `projects`, "
        "or set CLAUDE_CONFIG_DIR to it."
    )


def test_same_real_directory_counts_once(tmp_path: Path) -> None:
    """Two spellings of one directory are one root, under the first spelling."""
    root = make_root(tmp_path / "root")
    shortcut = link(tmp_path / "shortcut", root)
    assert resolve_roots([shortcut, root, root / "projects" / ".."], {}) == (shortcut,)


def test_relative_directory_becomes_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A resolved root does not depend on the working directory."""
    make_root(tmp_path / "root")
    monkeypatch.chdir(tmp_path)
    assert resolve_roots([Path("root")], {}) == (tmp_path / "root",)


def test_process_environment_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a mapping, the current environment of the process is used."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    assert resolve_roots() == (tmp_path,)


@pytest.mark.skipif(os.name == "nt", reason="Windows asks USERPROFILE first")
def test_home_comes_from_the_mapping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """HOME precedes USERPROFILE, empty values are ignored, and the system comes last."""
    monkeypatch.setenv("HOME", str(tmp_path / "system"))
    both = {"HOME": str(tmp_path / "a"), "USERPROFILE": str(tmp_path / "b")}
    assert [find_home(both), find_home({**both, "HOME": ""}), find_home({})] == [
        tmp_path / "a",
        tmp_path / "b",
        tmp_path / "system",
    ]


@pytest.mark.skipif(os.name == "nt", reason="Windows does not ask HOME")
def test_no_home_at_all_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the system knows no home directory either, the message says so."""
    monkeypatch.setenv("HOME", "~")
    with pytest.raises(NothingFound) as caught:
        resolve_roots((), {})
    assert str(caught.value) == (
        "No Claude Code data found. Looked in:\n  (no home directory found)\n"
        "Use --claude-dir to specify the directory that contains `projects`, "
        "or set CLAUDE_CONFIG_DIR to it."
    )
