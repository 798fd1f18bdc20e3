"""`recollect secrets scan` as a user sees it."""

import json
from pathlib import Path
from random import Random

import pytest

from tests.cli.demo_home import GOLDEN, make_demo_home, run_at
from tests.golden import check_golden
from tests.process import RunRecollect
from tests.redact.made_up_secrets import FAMILIES

LETTERPRESS = "7aa5fa93-883b-4f00-b3b1-6090844693a9"
SECRET = FAMILIES["github"].make(Random(41)).text


@pytest.fixture
def home(safe_environment: None) -> Path:
    """A home with the demo data."""
    return make_demo_home()


def plant(home: Path) -> None:
    """Put a secret into the last prompt of a session of the demo data."""
    (path,) = home.rglob(f"{LETTERPRESS}.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines()
    last = max(number for number, line in enumerate(lines) if '"type":"user"' in line)
    record = json.loads(lines[last])
    record["toolUseResult"] = {"stdout": f"GITHUB_TOKEN={SECRET}"}
    lines[last] = json.dumps(record)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_a_secret_is_named_but_not_shown(run_recollect: RunRecollect, home: Path) -> None:
    """Kind, session, turn, time and count, and an exit code for scripts."""
    plant(home)
    done = run_at(run_recollect, 80, "secrets", "scan", "7aa5fa93")
    assert (done.code, done.stderr) == (4, "")
    assert SECRET not in done.stdout
    check_golden(GOLDEN / "secrets-scan.txt", done.stdout)


def test_json_has_what_the_text_has(run_recollect: RunRecollect, home: Path) -> None:
    """All sessions, for a program."""
    plant(home)
    done = run_at(run_recollect, 80, "secrets", "scan", "--all", "--json")
    assert (done.code, done.stderr) == (4, "")
    assert SECRET not in done.stdout
    check_golden(GOLDEN / "secrets-scan.json", done.stdout)


@pytest.mark.parametrize("what", [("--all",), ("--project", "letterpress"), ("-1",), ("latest",)])
def test_nothing_found_is_success(
    run_recollect: RunRecollect, home: Path, what: tuple[str, ...]
) -> None:
    """The demo data contains no secrets."""
    done = run_at(run_recollect, 80, "secrets", "scan", *what)
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.startswith("No secrets found in ")


@pytest.mark.parametrize("what", [(), ("latest", "--all"), ("--all", "--project", "x")])
def test_one_selection_is_needed(
    run_recollect: RunRecollect, home: Path, what: tuple[str, ...]
) -> None:
    """Scanning everything needs --all, and selections cannot be combined."""
    done = run_at(run_recollect, 80, "secrets", "scan", *what)
    assert (done.code, done.stderr) == (
        2,
        "recollect: Specify one of SESSION, --project and --all.\n",
    )


def test_an_unknown_project_is_nothing_found(run_recollect: RunRecollect, home: Path) -> None:
    """The message names it."""
    done = run_at(run_recollect, 80, "secrets", "scan", "--project", "nowhere")
    assert (done.code, done.stderr) == (3, "recollect: No project path contains 'nowhere'.\n")
