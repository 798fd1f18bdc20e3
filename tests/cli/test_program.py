"""Tests of recollect.cli.program: the frame around the commands."""

import re

import click
import pytest

from recollect.cli.program import COMMANDS, load_command
from tests.cli.demo_home import GOLDEN
from tests.process import Finished, RunRecollect, run_python
from tools.command_pages import list_pages

NOT_FOR_HELP = {
    "apsw",
    "asyncio",
    "jinja2",
    "msgspec",
    "rich",
    "starlette",
    "recollect.health",
    "recollect.reader",
    "recollect.records",
    *(f"recollect.cli.commands.{name}" for name in COMMANDS),
}
WITHOUT_OUTPUT = {"star", "note", "help"}
"""Commands that print nothing, or only what is written elsewhere: a person's own words, help."""
WIDTH = max(map(len, COMMANDS))
LISTED = "\n".join(f"  {name:<{WIDTH}}  {text}" for name, text in COMMANDS.items())
HELP = f"""\
Usage: recollect [OPTIONS] [COMMAND] [ARGS]...

  Find, read, search, follow and keep your Claude Code sessions, and see what
  they cost.

  Everything runs locally. Nothing is written to your Claude directory or your
  files unless you ask for it. Without a command, Recollect shows your
  sessions.

Options:
  -V, --version  Show the version and exit.
  -h, --help     Show this message and exit.

Commands:
{LISTED}

  Exit codes: 0 success, 1 failure, 2 usage error, 3 nothing found, 4 damaged
  input, 5 index unusable, 6 archive unusable, 7 claude failed.
"""


@pytest.mark.parametrize("argument", ["-h", "--help"])
def test_help_lists_the_commands(run_recollect: RunRecollect, argument: str) -> None:
    """The help goes to stdout, and names every command."""
    assert run_recollect(argument) == Finished(0, HELP, "")


def test_version_has_a_short_name(run_recollect: RunRecollect) -> None:
    """`-V` and `--version` are the same."""
    assert run_recollect("-V") == run_recollect("--version")


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_help_and_version_load_no_command(argument: str) -> None:
    """Neither a command nor anything that a command needs is loaded."""
    result = run_python("-X", "importtime", "-m", "recollect", argument)
    loaded = set(re.findall(r"^import time:.*\| +(\S+)$", result.stderr, flags=re.MULTILINE))
    assert "recollect.cli.program" in loaded
    assert loaded & NOT_FOR_HELP == set()


@pytest.mark.parametrize("arguments", [["--version"], ["statusline"]])
def test_shutdown_collects_no_garbage(arguments: list[str]) -> None:
    """When a command ends, all objects are exempt from Python's last garbage collections."""
    program = (
        "import atexit, gc, sys; from recollect.cli import main; "
        f"sys.argv = ['recollect', *{arguments}]; "
        "atexit.register(lambda: print(gc.get_freeze_count() > len(gc.get_objects())))"
        "; main()"
    )
    assert run_python("-c", program).stdout.splitlines()[-1] == "True"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_has_the_help_of_the_commands(name: str) -> None:
    """A command's line in the list is the first line of its own help, and it has its own name."""
    command = load_command(name)
    assert (command.name, (command.help or "").splitlines()[0]) == (name, COMMANDS[name])


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_explained(run_recollect: RunRecollect, name: str) -> None:
    """Each command has `-h`, and each option a help text."""
    result = run_recollect(name, "-h")
    assert (result.code, result.stderr) == (0, "")
    command = load_command(name)
    options = [option for option in command.params if isinstance(option, click.Option)]
    assert [option.name for option in options if not option.help] == []


def test_every_command_has_output_that_is_kept() -> None:
    """Text output of each command has a golden file, and there are no others."""
    kept = {path.stem.partition("-")[0] for path in GOLDEN.glob("*.txt")}
    assert kept == {*COMMANDS, "start"} - WITHOUT_OUTPUT


def test_every_command_with_json_has_a_document_that_is_kept() -> None:
    """JSON output of each command has a golden file."""
    kept = {path.stem.partition("-")[0] for path in GOLDEN.glob("*.json")}
    offering = {page.words[1] for page in list_pages() if page.flags & {"--json", "--json-lines"}}
    assert kept == offering
