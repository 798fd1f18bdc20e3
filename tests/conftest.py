"""What every test gets without asking: a home of its own, and a guard around the real one.

Tests that need sample transcripts ask for `shared`; tests of the program ask for `run_recollect`.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests import process
from tests.golden import WRITE_VARIABLE
from tests.guard.home_guard import Policy, install, make_policy, policy_to_environment
from tests.process import RunRecollect

ROOT = Path(__file__).resolve().parent.parent
GUARD = ROOT / "tests" / "guard"
SHARED = Path(os.environ.get("RECOLLECT_SHARED") or ROOT.parent / "shared")
OURS = {WRITE_VARIABLE}
"""Variables that speak to the tests while they run."""

BREACHES = pytest.StashKey[list[str]]()
POLICY = pytest.StashKey[Policy]()

# No deadline: on a busy machine it measures the neighbours. `ci` repeats itself, so that a commit
# gets the same verdict twice; `dev` looks at new examples each time and finds more over the days.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def pytest_configure(config: pytest.Config) -> None:
    """Put the guard up before the first test module is imported."""
    breaches: list[str] = []

    def refuse(message: str) -> None:
        breaches.append(message)
        raise AssertionError(message)

    config.stash[BREACHES] = breaches
    config.stash[POLICY] = _policy_of_this_machine()
    install(config.stash[POLICY], on_breach=refuse)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what asks for the sample data, so that `-m "not shared"` leaves it out."""
    for item in items:
        if "shared" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.shared)


@pytest.fixture
def breaches(pytestconfig: pytest.Config) -> list[str]:
    """What touched the real home in this process so far; a test that is not about it sees none."""
    return pytestconfig.stash[BREACHES]


@pytest.fixture(autouse=True)
def safe_environment(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory, breaches: list[str]
) -> Iterator[None]:
    """Every variable that leads to a home leads to an empty one, here and in child processes.

    What somebody has set for the program itself does not reach a test.
    """
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("CLAUDE", "RECOLLECT_"))]:
            if name not in OURS:
                patch.delenv(name)
        for name, value in _home_variables(home).items():
            patch.setenv(name, str(value))
        for name, text in policy_to_environment(pytestconfig.stash[POLICY]).items():
            patch.setenv(name, text)
        patch.setenv("PYTHONPATH", str(GUARD), prepend=os.pathsep)
        yield
    # Code that swallows the guard's AssertionError must not pass for that.
    assert breaches == []


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with sample transcripts, which the project does not carry."""
    if not SHARED.is_dir():
        pytest.skip("no sample data: set RECOLLECT_SHARED or put `shared` beside the project")
    return SHARED


@pytest.fixture
def run_recollect(safe_environment: None) -> RunRecollect:
    """Runs the program as a user would, in a process of its own and away from the real home."""
    return process.run_recollect


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
    # A home of "/" or of the temporary folder holds everything else, so there only Claude Code's
    # own folders are refused.
    deny = [home for home in homes if str(home) not in {os.sep, temporary}]
    allow = [sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path, temporary]
    caches = [home / ".cache" / "pip" for home in homes]
    return make_policy(
        [*map(str, (*deny, *claude)), *configured],
        [*allow, *map(str, (ROOT, SHARED, *caches))],
    )


def _real_homes() -> list[Path]:
    """The home by environment and the home by account; they differ when HOME was moved."""
    homes = {Path.home()}
    if sys.platform != "win32":
        import pwd  # noqa: PLC0415 - there is no such module on Windows

        homes.add(Path(pwd.getpwuid(os.getuid()).pw_dir))
    return sorted(homes)
