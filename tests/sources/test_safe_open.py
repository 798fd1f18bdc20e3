"""Tests of recollect.sources.safe_files."""

import os
import socket
from io import FileIO
from pathlib import Path

import pytest

from recollect.errors import UnreadableInput
from recollect.sources.safe_files import open_file
from recollect.sources.source import _open_descriptor, is_key_name
from tests.locations.trees import link, needs_permissions, needs_pipes, write


def refusal(path: Path, *, resolve: bool = False) -> str:
    """The message that comes instead of a file."""
    with pytest.raises(UnreadableInput) as caught:
        open_file(path, resolve=resolve)
    return str(caught.value)


def test_regular_file_is_read_as_it_is(tmp_path: Path) -> None:
    """The bytes come unchanged, and the descriptor is closed with the file."""
    content = bytes(range(256)) + b"\r\n\x1a"
    with open_file(write(tmp_path / "a.jsonl", content)) as file:
        assert isinstance(file, FileIO)
        assert (file.read(), file.mode) == (content, "rb")
    assert file.closed


def test_descriptor_is_not_inherited(tmp_path: Path) -> None:
    """A program that we start does not get the file."""
    with open_file(write(tmp_path / "a.jsonl")) as file:
        assert isinstance(file, FileIO)
        assert os.get_inheritable(file.fileno()) is False


def test_link_is_refused(tmp_path: Path) -> None:
    """A link that was not asked for is not followed, even to a good file."""
    write(tmp_path / "a.jsonl")
    shortcut = link(tmp_path / "b.jsonl", "a.jsonl")
    assert refusal(shortcut) == (
        f"Not reading {shortcut}: it is a symbolic link. Specify the file it points to."
    )


def test_link_given_by_the_user_is_resolved(tmp_path: Path) -> None:
    """With `resolve` a link is replaced by its target."""
    write(tmp_path / "a.jsonl", b"text")
    with open_file(link(tmp_path / "b.jsonl", "a.jsonl"), resolve=True) as file:
        assert file.read() == b"text"


@pytest.mark.parametrize("resolve", [False, True])
def test_directory_is_refused(tmp_path: Path, resolve: bool) -> None:
    """A directory is not a file."""
    assert refusal(tmp_path, resolve=resolve) == (
        f"Not reading {tmp_path}: it is not a regular file. Specify a transcript, a .jsonl file."
    )


@needs_pipes
@pytest.mark.parametrize("resolve", [False, True])
def test_pipe_is_refused_without_waiting(tmp_path: Path, resolve: bool) -> None:
    """A named pipe without a writer does not block the reader."""
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    assert refusal(pipe, resolve=resolve) == (
        f"Not reading {pipe}: it is not a regular file. Specify a transcript, a .jsonl file."
    )


@pytest.mark.skipif(not Path(os.devnull).is_char_device(), reason="no device files here")
def test_device_is_refused() -> None:
    """A device is not even opened."""
    assert refusal(Path(os.devnull)) == (
        f"Not reading {os.devnull}: it is not a regular file. Specify a transcript, a .jsonl file."
    )


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no sockets in directories here")
def test_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket is refused with the same words."""
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        # A relative name, because the system allows some hundred characters only.
        server.bind("s.jsonl")
        assert refusal(Path("s.jsonl")) == (
            "Not reading s.jsonl: it is not a regular file. Specify a transcript, a .jsonl file."
        )


@pytest.mark.parametrize("resolve", [False, True])
def test_key_is_refused(tmp_path: Path, resolve: bool) -> None:
    """The secret of a running process is never opened."""
    key = write(tmp_path / "1.0af3.key")
    assert refusal(key, resolve=resolve) == (
        f"Not reading {key}: it is the secret of a running process."
    )


def test_link_to_a_key_is_refused(tmp_path: Path) -> None:
    """A link with a harmless name does not lead to a secret."""
    key = write(tmp_path / "1.0af3.key")
    shortcut = link(tmp_path / "a.jsonl", key)
    assert refusal(shortcut, resolve=True) == (
        f"Not reading {key}: it is the secret of a running process."
    )


@pytest.mark.parametrize("resolve", [False, True])
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing.jsonl", "No such file or directory"),
        ("x" * 300, "File name too long"),
    ],
)
def test_path_that_leads_nowhere_is_reported(
    tmp_path: Path, name: str, reason: str, resolve: bool
) -> None:
    """The message gives the system's reason and what to check."""
    path = tmp_path / name
    assert refusal(path, resolve=resolve) == (
        f"Cannot read {path}: {reason}. Check that it exists and that you can read it."
    )


@pytest.mark.parametrize("resolve", [False, True])
@pytest.mark.parametrize("name", ["a\0b", "a\ud83db"])
def test_path_that_no_file_can_have_is_reported(tmp_path: Path, name: str, resolve: bool) -> None:
    """A path that Python itself rejects gives the same kind of error, with Python's reason."""
    with pytest.raises(UnreadableInput) as caught:
        open_file(tmp_path / name, resolve=resolve)
    assert str(caught.value) == (
        f"Cannot read {tmp_path / name}: {caught.value.__cause__}. "
        "Check that it exists and that you can read it."
    )


def test_loop_of_links_is_reported(tmp_path: Path) -> None:
    """A link to itself is a message, not a hang."""
    loop = link(tmp_path / "loop.jsonl", "loop.jsonl")
    assert refusal(loop, resolve=True) == (
        f"Cannot read {loop}: Too many levels of symbolic links. "
        "Check that it exists and that you can read it."
    )


@needs_permissions
def test_forbidden_file_is_reported(tmp_path: Path) -> None:
    """An unreadable file gives a message with the reason."""
    path = write(tmp_path / "a.jsonl")
    path.chmod(0o000)
    assert refusal(path) == (
        f"Cannot read {path}: Permission denied. Check that it exists and that you can read it."
    )


@needs_pipes
def test_pipe_put_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    """The descriptor is checked too, and closed: an exchange after the first look gains nothing."""
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    lowest_free = next_descriptor()
    with pytest.raises(UnreadableInput) as caught:
        _open_descriptor(str(pipe), os.O_RDONLY)
    assert str(caught.value) == (
        f"Not reading {pipe}: it is not a regular file. Specify a transcript, a .jsonl file."
    )
    assert next_descriptor() == lowest_free


def next_descriptor() -> int:
    """The number that the next opened file gets, which is the lowest one not in use."""
    with Path(os.devnull).open("rb") as file:
        return file.fileno()


@pytest.mark.parametrize(
    ("name", "expected"),
    [("123.0af3.key", True), ("123.KEY", True), (".key", True), ("123.json", False)],
)
def test_keys_are_recognised_by_their_suffix(name: str, expected: bool) -> None:
    """The secret of a running process ends in `.key`, in whatever case."""
    assert is_key_name(name) is expected
