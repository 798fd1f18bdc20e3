"""Problems with targets: nothing is overwritten, and no incomplete file is left."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recollect.errors import RecollectError, UsageError
from recollect.export import ExportOptions, Format
from recollect.export.export_content import SessionPart
from recollect.export.exporter import Exporter
from recollect.export.writing import write_file
from recollect.library.opening import open_session
from tests.cli.demo_home import make_demo_home
from tests.export.sessions import open_demo, say, write_session
from tests.process import RunRecollect

HTML = ExportOptions(format=Format.HTML)
FORCED = ExportOptions(format=Format.HTML, force=True)


@pytest.fixture
def home(safe_environment: None) -> Path:
    """A home with the demo data."""
    return make_demo_home()


def test_an_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    """Unless the user passes --force."""
    target = tmp_path / "x.html"
    target.write_text("mine")
    with pytest.raises(UsageError, match="--force"):
        Exporter(HTML).write(SessionPart(open_demo()), target)
    assert target.read_text() == "mine"
    Exporter(FORCED).write(SessionPart(open_demo()), target)
    assert target.read_text().startswith("<!doctype html>")
    assert [each.name for each in tmp_path.iterdir()] == ["x.html"]


def test_a_link_is_an_existing_file(tmp_path: Path) -> None:
    """Even a broken one; with --force the link is replaced, not its target."""
    victim = tmp_path / "victim"
    (tmp_path / "x.html").symlink_to(victim)
    with pytest.raises(UsageError, match="--force"):
        Exporter(HTML).write(SessionPart(open_demo()), tmp_path / "x.html")
    Exporter(FORCED).write(SessionPart(open_demo()), tmp_path / "x.html")
    assert (victim.exists(), (tmp_path / "x.html").is_symlink()) == (False, False)


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes with names")
@pytest.mark.parametrize("options", [HTML, FORCED])
def test_a_device_or_pipe_is_not_replaced(tmp_path: Path, options: ExportOptions) -> None:
    """Replacing /dev/null by a file would break the machine."""
    target = tmp_path / "pipe.html"
    os.mkfifo(target)
    with pytest.raises(UsageError, match="not a regular file"):
        Exporter(options).write(SessionPart(open_demo()), target)
    assert (target.is_fifo(), [each.name for each in tmp_path.iterdir()]) == (True, ["pipe.html"])


@pytest.mark.skipif(sys.platform == "win32", reason="no modes")
def test_files_and_directories_are_private(tmp_path: Path) -> None:
    """A conversation is private until its owner shares it."""
    Exporter(HTML).write_many([SessionPart(open_demo())], tmp_path / "out")
    modes = {stat.S_IMODE(each.stat().st_mode) for each in (tmp_path / "out").iterdir()}
    assert (modes, stat.S_IMODE((tmp_path / "out").stat().st_mode)) == ({0o600}, 0o700)


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    """The first writer wins."""
    target = tmp_path / "x"

    def write_and_lose() -> list[bytes]:
        target.write_text("theirs")
        return [b"ours"]

    with pytest.raises(UsageError, match="already exists"):
        write_file(target, (piece for piece in write_and_lose()))
    assert (target.read_text(), list(tmp_path.iterdir())) == ("theirs", [target])


def test_a_full_disk_leaves_nothing(small_disk: Path, tmp_path: Path) -> None:
    """The message says so, and no incomplete file is left."""
    path = write_session(tmp_path, [say("some words " * 10_000) for _ in range(8)])
    for kind in (Format.HTML, Format.MARKDOWN, Format.JSON, Format.CSV):
        target = small_disk / f"x.{kind}"
        part = SessionPart(open_session(path))
        with pytest.raises(RecollectError, match="No space left on device"):
            Exporter(ExportOptions(format=kind)).write(part, target)
        assert list(small_disk.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nosuch", "-o", "x.html"], 3, "No session matches 'nosuch'"),
        (["harbour", "-o", "x.jsonl"], 2, "--no-redact"),
        (["harbour", "--turn", "99", "-o", "x.md"], 3, "No such turn"),
        (["harbour", "json flag", "--format", "html"], 2, "Use -o to specify where to write."),
        (["-o", "x.html"], 2, "Specify a SESSION"),
        (["harbour", "--watch", "--format", "text"], 2, "--watch keeps one file up to date"),
        (["harbour", "--review", "-o", "x.md"], 2, "needs a terminal"),
        (["harbour", "--json", "--format", "text"], 2, "Use it with -o"),
        (["--project", "nosuch", "-o", "out"], 3, "No project path contains 'nosuch'"),
        (["--search", "zzzqqq", "-o", "out"], 3, "No session matches 'zzzqqq'"),
        (["harbour", "-o", "file"], 2, "file already exists. Use --force to overwrite it."),
        (["harbour", "-o", "file/x.md"], 1, "Cannot write file/x.md: Not a directory"),
        (["harbour", "-o", "loop"], 2, "loop already exists. Use --force to overwrite it."),
        (["harbour", "-o", "loop/x.md"], 1, "Cannot create loop: File exists"),
    ],
)
def test_a_bad_request_says_what_to_do(
    run_recollect: RunRecollect,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    """The right exit code, a clear message, and no file."""
    place = home / "place"
    place.mkdir()
    (place / "file").write_text("")
    (place / "loop").symlink_to("loop")
    monkeypatch.chdir(place)
    result = run_recollect("export", *arguments)
    assert (result.code, message in result.stderr) == (code, True), result
    assert sorted(each.name for each in place.iterdir()) == ["file", "loop"]


def test_nothing_is_written_into_a_claude_directory(
    run_recollect: RunRecollect, home: Path
) -> None:
    """It belongs to Claude Code."""
    before = sorted((home / ".claude").rglob("*"))
    target = home / ".claude" / "projects" / "x.html"
    result = run_recollect("export", "harbour", "-o", str(target))
    assert (result.code, "belongs to Claude Code" in result.stderr) == (2, True)
    assert sorted((home / ".claude").rglob("*")) == before


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize("prompts", [150, 600])
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", -15), ("SIGHUP", -1)])
def test_an_interrupt_leaves_nothing(
    tmp_path: Path, safe_environment: None, prompts: int, name: str, code: int
) -> None:
    """Ctrl+C, `kill` or a closed terminal while a file is written, by one process or several."""
    path = write_session(tmp_path / "claude", [say("<b> x = 1\n" * 2_000) for _ in range(prompts)])
    place = tmp_path / "place"
    place.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "recollect", "export", str(path), "-o", str(place / "x.html")],
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not list(place.iterdir()) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    assert [each.name.startswith(".x.html.") for each in place.iterdir()] == [True]
    os.killpg(process.pid, getattr(signal, name))
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, b"Traceback" in errors) == (code, False), errors
    assert list(place.iterdir()) == []
