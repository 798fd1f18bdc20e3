"""docs/cli.md and the man pages equal what is generated from the commands."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from recollect.cli.exit_codes import BROKEN_PIPE, FAILED, INTERRUPTED
from recollect.errors import RecollectError
from tools import generate_docs
from tools.command_pages import Page, list_exit_codes, list_pages
from tools.manual import escape

ROOT = Path(__file__).resolve().parents[2]
PAGES = {page.name: page for page in list_pages()}
HINT = "run `make docs`"


def test_the_page_is_up_to_date() -> None:
    """docs/cli.md equals the current help texts."""
    assert generate_docs.PAGE.read_text(encoding="utf-8") == generate_docs.make_page(), HINT


def test_the_manuals_are_up_to_date() -> None:
    """There is a man page for each command, with its current help, and no other."""
    written = {
        path.name: path.read_text(encoding="utf-8") for path in generate_docs.MANUALS.glob("*")
    }
    assert written == generate_docs.make_manuals(), HINT


@pytest.mark.parametrize("page", PAGES.values(), ids=list(PAGES))
def test_every_command_has_an_example(page: Page) -> None:
    """Except the program itself."""
    if page.name != "recollect":
        assert [each for each in page.examples if page.words[1] in each] != []


@pytest.mark.parametrize("page", PAGES.values(), ids=list(PAGES))
def test_every_option_is_explained(page: Page) -> None:
    """Every option has a help text."""
    assert [name for name, meaning in page.options if not meaning] == []


def test_every_variable_is_documented() -> None:
    """Every environment variable in the code is in the list."""
    sources = (ROOT / "src").rglob("*.py")
    used = {
        name
        for path in sources
        for name in re.findall(r'= ?"(RECOLLECT_[A-Z_]+)"', path.read_text(encoding="utf-8"))
    }
    assert used - set(generate_docs.ENVIRONMENT) == set()


def test_every_exit_code_is_documented() -> None:
    """The list has exactly the exit codes of the program."""
    listed = {int(code) for codes, _ in list_exit_codes() for code in codes.split(", ")}
    raised = {error.exit_code for error in RecollectError.__subclasses__()}
    assert listed == raised | {0, FAILED, INTERRUPTED, BROKEN_PIPE}


def test_text_is_escaped_for_roff() -> None:
    """No text is interpreted as a request or an escape."""
    assert [escape(text) for text in (".SH", "'x", r"a\b", "--all")] == [
        r"\&.SH",
        r"\(aqx",
        r"a\eb",
        r"\-\-all",
    ]


@pytest.mark.parametrize("name", generate_docs.make_manuals())
def test_manuals_are_set_without_a_warning(name: str) -> None:
    """Groff prints no warnings for any of them."""
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("groff is not installed")
    command = [groff, "-man", "-Tutf8", "-ww", "-z", str(generate_docs.MANUALS / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
