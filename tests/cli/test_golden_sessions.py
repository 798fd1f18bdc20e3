"""Golden files of the commands about single sessions, on the demo data."""

import re
from pathlib import Path

import pytest

from recollect.render.terminal import measure
from tests.cli.demo_home import GOLDEN, WIDTHS, make_demo_home, pretend_to_serve, run_at
from tests.golden import check_golden
from tests.process import RunRecollect

FOLLOW = ("follow", "7aa5fa93", "--until", "end")
COMMANDS = {
    "list": ("list",),
    "list-tree": ("list", "--tree"),
    "list-errors": ("list", "--errors"),
    "follow": (*FOLLOW, "--turns", "2"),
    "tools": ("tools",),
    "tools-session": ("tools", "--session", "94791a87"),
    "demo": ("demo",),
    "start": (),
}
DOCUMENTS = {
    "list": ("list", "--json"),
    "list-tree": ("list", "--tree", "--json"),
    "follow": (*FOLLOW, "--poll", "--json-lines"),
    "tools": ("tools", "--json"),
    "resume": ("resume", "latest", "--json"),
    "open": ("open", "latest", "--json"),
}


@pytest.fixture
def home(safe_environment: None) -> Path:
    """A home with the demo data, and no index."""
    return make_demo_home()


def stabilise(text: str, home: Path) -> str:
    """Remove what differs between machines."""
    text = re.sub(r'("id": "1\.)[^"]*', r"\1…", text.replace(str(home), "~"))
    return re.sub(r'(: ")[^"]*/\.claude/', r"\1/home/mina/.claude/", text)


@pytest.mark.parametrize("words", [("resume", "latest", "--print"), ("open", "latest")])
def test_what_is_copied_is_not_broken(
    run_recollect: RunRecollect, home: Path, words: tuple[str, ...]
) -> None:
    """A command and a link are one line, however narrow the terminal is."""
    pretend_to_serve(home)
    results = [run_at(run_recollect, width, *words) for width in WIDTHS]
    assert [(each.code, each.stdout.count("\n")) for each in results] == [(0, 1)] * len(WIDTHS)
    check_golden(GOLDEN / f"{words[0]}.txt", stabilise(results[0].stdout, home))
    assert len({each.stdout for each in results}) == 1


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", COMMANDS)
def test_pages_look_as_they_are_meant_to(
    run_recollect: RunRecollect, home: Path, name: str, width: int
) -> None:
    """The output of each command, including messages, equals its file and fits the width."""
    result = run_at(run_recollect, width, *COMMANDS[name])
    text = stabilise(f"{result.stdout}-- stderr\n{result.stderr}", home)
    assert result.code == 0
    check_golden(GOLDEN / f"{name}-{width}.txt", text)
    assert [line for line in text.splitlines() if measure(line) > width] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_are_what_they_are_meant_to_be(
    run_recollect: RunRecollect, home: Path, name: str
) -> None:
    """The JSON of each command equals its file."""
    pretend_to_serve(home)
    result = run_at(run_recollect, 80, *DOCUMENTS[name])
    assert (result.code, result.stderr) == (0, "")
    check_golden(GOLDEN / f"{name}.json", stabilise(result.stdout, home))
