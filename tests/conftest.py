"""Fixtures for every test: a home of its own, and a guard around the real one.

Tests that need sample transcripts use `shared`; tests of the program use `run_recollect`.
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import settings

from tests import process
from tests.golden import WRITE_VARIABLE
from tests.guard.home_guard import Policy, install, make_policy, policy_to_environment
from tests.process import RunRecollect
from tests.slow_files import SLOW_FILES, make_order

ROOT = Path(__file__).resolve().parent.parent
GUARD = ROOT / "tests" / "guard"
SHARED = Path(os.environ.get("RECOLLECT_SHARED") or ROOT.parent / "shared")
OURS = {WRITE_VARIABLE}
"""Variables that control the tests themselves."""

BREACHES = pytest.StashKey[list[str]]()
POLICY = pytest.StashKey[Policy]()

# No deadline: on a busy machine it measures other programs. `ci` is deterministic, so that a commit
# gets the same result twice; `dev` tries new examples each time and finds more over time.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def pytest_configure(config: pytest.Config) -> None:
    """Install the guard before the first test module is imported."""
    _restore_signals()
    breaches: list[str] = []

    def refuse(message: str) -> None:
        breaches.append(message)
        raise AssertionError(message)

    config.stash[BREACHES] = breaches
    config.stash[POLICY] = _policy_of_this_machine()
    install(config.stash[POLICY], on_breach=refuse)


def _restore_signals() -> None:
    """Restore signals that `nohup` or a shell's `&` ignores: child processes would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put slow files first, and mark tests that use the sample data for `-m "not shared"`."""
    order = make_order(SLOW_FILES)
    items.sort(key=lambda item: order(item.path))
    for item in items:
        if "shared" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.shared)


@pytest.fixture(autouse=True)
def _no_mask() -> Iterator[None]:
    """Reset what an app of this process has masked, and its rules for secrets."""
    yield
    masking = sys.modules.get("recollect.reader.line_blocks")
    if masking is not None:
        masking.mask_by_default(None)
    rules = sys.modules.get("recollect.redact.own_rules")
    if rules is not None:
        rules.use_own_rules(None)


@pytest.fixture
def breaches(pytestconfig: pytest.Config) -> list[str]:
    """Accesses to the real home in this process so far; empty unless a test is about the guard."""
    return pytestconfig.stash[BREACHES]


@pytest.fixture(scope="session", autouse=True)
def _environment_of_shared_fixtures(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Point every home variable away from the real home for fixtures that several tests share."""
    with _make_environment(pytestconfig, tmp_path_factory):
        yield


@pytest.fixture(autouse=True)
def safe_environment(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory, breaches: list[str]
) -> Iterator[None]:
    """Point every home variable to an empty directory, here and in child processes.

    Variables of the program itself are removed.
    """
    with _make_environment(pytestconfig, tmp_path_factory):
        yield
    # A test must fail even if the code under test swallowed the guard's AssertionError.
    assert breaches == []


@contextmanager
def _make_environment(
    config: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("CLAUDE", "RECOLLECT_"))]:
            if name not in OURS:
                patch.delenv(name)
        for name, value in _home_variables(home).items():
            patch.setenv(name, str(value))
        for name, text in policy_to_environment(config.stash[POLICY]).items():
            patch.setenv(name, text)
        patch.setenv("PYTHONPATH", str(GUARD), prepend=os.pathsep)
        yield


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder with sample transcripts, which is not part of the project."""
    if not SHARED.is_dir():
        pytest.skip("no sample data: set RECOLLECT_SHARED or put `shared` beside the project")
    return SHARED


@pytest.fixture
def run_recollect(safe_environment: None) -> RunRecollect:
    """Return a function that runs the program in a process, away from the real home."""
    return process.run_recollect


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """Start a process that waits to be ended."""
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as running:
        yield running


def _home_variables(home: Path) -> dict[str, Path]:
    return {
        "HOME": home,
        "USERPROFILE": home,
        "APPDATA": home / "AppData" / "Roaming",
        "LOCALAPPDATA": home / "AppData" / "Local",
        "CLAUDE_CONFIG_DIR": home / ".claude",
        "XDG_CACHE_HOME": home / ".cache",
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_DATA_HOME": home / ".local" / "share",
        "XDG_RUNTIME_DIR": home / ".run",
        "XDG_STATE_HOME": home / ".local" / "state",
    }


def _policy_of_this_machine() -> Policy:
    temporary = tempfile.gettempdir()
    homes = _real_homes()
    claude = [home / part for home in homes for part in (".claude", ".config/claude")]
    configured = os.environ.get("CLAUDE_CONFIG_DIR", "").split(",")
    # A home of "/" or the temporary folder contains everything else, so then only Claude Code's own
    # folders are refused.
    deny = [home for home in homes if str(home) not in {os.sep, temporary}]
    allow = [sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path, temporary]
    caches = [home / ".cache" / "pip" for home in homes]
    return make_policy(
        [*map(str, (*deny, *claude)), *configured],
        [*allow, *map(str, (ROOT, SHARED, *caches))],
    )


def _real_homes() -> list[Path]:
    """Return the home by environment and by account; they differ if HOME was changed."""
    homes = {Path.home()}
    if sys.platform != "win32":
        import pwd  # not available on Windows

        homes.add(Path(pwd.getpwuid(os.getuid()).pw_dir))
    return sorted(homes)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a disk of 500 KB, where one can be had."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=500k", "tmpfs", str(place)]
    try:
        made = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        made = False
    if not made:
        pytest.skip("cannot mount a small disk here")
    yield place
    subprocess.run(["umount", str(place)], check=True)
