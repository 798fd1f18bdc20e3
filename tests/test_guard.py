"""Tests of the guard that keeps tests away from real transcripts."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.guard.home_guard import (
    DENY_VARIABLE,
    make_policy,
    policy_from_environment,
    policy_to_environment,
)
from tests.process import Finished, run_python

GUARD = Path(__file__).parent / "guard"


def test_home_is_refused_but_not_its_siblings(tmp_path: Path) -> None:
    """Everything in a refused folder is refused; a folder with the same prefix is not."""
    policy = make_policy([str(tmp_path / "home")], [])
    asked = ["home", "home/.claude/projects", "home2/notes", "elsewhere"]
    assert [policy.refuses(str(tmp_path / name)) for name in asked] == [True, True, False, False]


def test_closest_folder_decides(tmp_path: Path) -> None:
    """A project inside the home is allowed; Claude Code's folder inside that project is not."""
    policy = make_policy(
        [str(tmp_path / "home"), str(tmp_path / "home/code/.claude")], [str(tmp_path / "home/code")]
    )
    asked = ["home/notes", "home/code/main.py", "home/code/.claude/settings.json"]
    assert [policy.refuses(str(tmp_path / name)) for name in asked] == [True, False, True]


def test_refusal_wins_a_tie(tmp_path: Path) -> None:
    """A home that is also on the import path stays refused."""
    assert make_policy([str(tmp_path)], [str(tmp_path)]).refuses(str(tmp_path / "notes"))


def test_no_rule_means_allowed(tmp_path: Path) -> None:
    """Without a refused folder nothing is refused."""
    assert not make_policy([""], [str(tmp_path / "code")]).refuses(str(tmp_path / "notes"))


def test_policy_survives_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A child process sees the policy of its parent."""
    policy = make_policy([str(tmp_path / "a"), str(tmp_path / "b")], [str(tmp_path / "a/c")])
    for name, value in policy_to_environment(policy).items():
        monkeypatch.setenv(name, value)
    assert policy_from_environment() == policy


@pytest.mark.parametrize("touch", [Path.read_bytes, os.listdir, os.scandir])
def test_this_process_is_guarded(touch: Callable[[Path], object], breaches: list[str]) -> None:
    """Reading or listing in the real Claude directory fails before it happens."""
    path = _real_claude_folder() / "no-such-folder"
    with pytest.raises(AssertionError, match="is in the real home directory"):
        touch(path)
    assert [message.split(" ")[2] for message in breaches] == [f"{path},"]
    breaches.clear()


@pytest.mark.parametrize(
    "action",
    [
        "os.listdir(home)",
        "os.mkdir(home + '/new')",
        "os.rename('notes', home + '/notes')",
        "open(home + '/notes', 'w')",
        "sqlite3.connect('file:' + home + '/notes?mode=ro', uri=True)",
    ],
)
def test_a_child_process_is_guarded(action: str, tmp_path: Path) -> None:
    """A Python process that touches a refused folder exits at once, whatever it catches."""
    home = tmp_path / "home"
    home.mkdir()
    code = f"""
import os, sqlite3
home = {str(home)!r}
try:
    {action}
except BaseException:
    print("swallowed")
"""
    policy = make_policy([str(home)], [])
    with pytest.raises(AssertionError, match="is in the real home directory"):
        run_python("-c", code, env=policy_to_environment(policy))
    assert list(home.iterdir()) == []


def test_a_link_does_not_lead_around_the_guard(tmp_path: Path) -> None:
    """A link into the home is refused like its target."""
    home, link = tmp_path / "home", tmp_path / "link"
    home.mkdir()
    link.symlink_to(home)
    policy = make_policy([str(home)], [])
    with pytest.raises(AssertionError, match=r"open touched"):
        run_python("-c", f"open({str(link / 'x')!r})", env=policy_to_environment(policy))


def test_a_child_process_gets_a_safe_environment() -> None:
    """A child process finds the test's home, not the user's."""
    code = "import os; print(os.environ['HOME'], os.path.expanduser('~'), sep='\\n')"
    home = os.environ["HOME"]
    assert run_python("-c", code) == Finished(0, f"{home}\n{home}\n", "")


def test_the_guard_is_never_disabled_silently() -> None:
    """A process with the guard on its path but without a policy does not start."""
    code = f"""
import os, runpy
del os.environ[{DENY_VARIABLE!r}]
runpy.run_path({str(GUARD / "sitecustomize.py")!r})
"""
    message = f"tests/guard is on the path, but {DENY_VARIABLE!r} is not in the environment\n"
    assert run_python("-c", code) == Finished(1, "", message)


def _real_claude_folder() -> Path:
    """Return a refused Claude directory of this machine; it need not exist."""
    return next(Path(path) for path in policy_from_environment().deny if path.endswith(".claude"))
