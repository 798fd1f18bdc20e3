"""Everything that the documentation names exists: commands, options, exit codes, settings,
packages.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.cli.exit_codes import BROKEN_PIPE, FAILED, INTERRUPTED
from recollect.errors import RecollectError
from recollect.workspace.config_file import SETTINGS
from tools.command_pages import Page, list_pages

ROOT = Path(__file__).resolve().parents[2]
COMMANDS: dict[str, Page] = {" ".join(page.words[1:]): page for page in list_pages()}
OPTIONS = set().union(*(page.flags for page in COMMANDS.values()))

# docs/format.md and docs/dev are about other programs: the client, pip, the official reader.
TEXTS = [
    ROOT / "README.md",
    *sorted(set((ROOT / "docs").glob("*.md")) - {ROOT / "docs" / "format.md"}),
    *sorted(set((ROOT / "changelog.d").glob("*.md")) - {ROOT / "changelog.d" / "README.md"}),
]
CLIENT_OPTIONS = {
    "--allowedTools",
    "--dangerously-skip-permissions",
    "--input-format",
    "--output-format",
    "--permission-prompt-tool",
    "--replay-user-messages",
}
"""Options of `claude` that a page names without the command around them."""

SEARCHED = {"--config", "--no-verify"}
"""Words of example queries."""


def read_code(path: Path) -> list[str]:
    """Return the code on a page: spans, and the lines of blocks."""
    text = path.read_text(encoding="utf-8")
    block = re.compile(r"^```\w*\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
    spans: list[str] = re.findall(r"`([^`\n]+)`", block.sub("", text))
    return [*spans, *(line for found in block.findall(text) for line in found.splitlines())]


def iter_calls(code: str) -> Iterator[list[str]]:
    """Yield the words after `recollect` in a shell line, without those passed on to `claude`."""
    for call in re.split(r"[|;#]|&&", code):
        words = call.split(" -- ")[0].removeprefix("$ ").split()
        if words[:1] == ["recollect"]:
            # `recollect demo` runs the command after it.
            yield words[2:] if words[1:2] == ["demo"] else words[1:]


def find_page(words: list[str]) -> Page | None:
    """Return the called command, with its subcommand."""
    # `COMMAND` and `[OPTIONS]` hold a place, an option alone is one of the program.
    names = words if words and words[0][0].islower() else []
    return COMMANDS.get(" ".join(names[:2])) or COMMANDS.get(" ".join(names[:1]))


def list_options(words: list[str]) -> set[str]:
    """Return the options among these words."""
    return set(re.findall(r"(?<!\S)--[a-z][\w-]*", " ".join(words)))


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_every_command_that_is_shown_exists(path: Path) -> None:
    """Each command line names an existing command and its options."""
    wrong = []
    for words in (words for code in read_code(path) for words in iter_calls(code)):
        page = find_page(words)
        if page is None or list_options(words) - page.flags:
            wrong.append(words)
    assert wrong == []


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_every_option_that_is_named_exists(path: Path) -> None:
    """An option by itself is one of ours, or a known one of `claude`."""
    named = {
        option
        for code in read_code(path)
        if not code.startswith("claude ") and not list(iter_calls(code))
        for option in list_options(code.split())
    }
    assert named - OPTIONS - CLIENT_OPTIONS - SEARCHED == set()


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_every_exit_code_that_is_named_exists(path: Path) -> None:
    """Exit codes in the text are those of the program."""
    text = path.read_text(encoding="utf-8")
    named = {int(code) for code in re.findall(r"\b[Ee]xit(?:s with| code) `?(\d+)", text)}
    raised = {error.exit_code for error in RecollectError.__subclasses__()}
    assert named - raised - {0, FAILED, INTERRUPTED, BROKEN_PIPE} == set()


def test_the_settings_are_those_of_the_file() -> None:
    """docs/config.md lists each setting that is the default of an existing option."""
    text = (ROOT / "docs" / "config.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| `(--[\w-]+)` \|", text, flags=re.MULTILINE)
    assert {setting for setting, _ in rows} == {
        name for name, setting in SETTINGS.items() if setting.parameter
    }
    assert {option for _, option in rows} - OPTIONS == set()


def test_the_drawn_packages_exist() -> None:
    """The layers in docs/dev/architecture.md are the existing packages."""
    text = (ROOT / "docs" / "dev" / "architecture.md").read_text(encoding="utf-8")
    drawing = text.split("```\n")[1]
    drawn = {name for line in drawing.splitlines() for name in line.split("   ")[0].split(" | ")}
    package = ROOT / "src" / "recollect"
    packages = {path.parent.name for path in package.glob("*/__init__.py")}
    modules = {path.stem for path in package.glob("*.py")} - {"__init__"}
    assert {name.strip() for name in drawn} == packages | modules
