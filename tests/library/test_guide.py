"""docs/library.md is correct: its examples, its names and its links."""

import doctest
import re
from pathlib import Path

import pytest

import recollect
from tests.process import run_python

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "library.md"
TEXT = PAGE.read_text(encoding="utf-8")


def section(title: str) -> str:
    """Return the part of the page below a heading."""
    return TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_every_example_does_what_it_shows() -> None:
    """Run from top to bottom, each example prints the output shown."""
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert (failed, tried > 40) == (0, True)


@pytest.mark.slow
def test_every_example_is_typed(tmp_path: Path) -> None:
    """`mypy --strict` accepts the examples as one program."""
    program = tmp_path / "guide.py"
    program.write_text(doctest.script_from_examples(TEXT), encoding="utf-8")
    options = ("--strict", "--config-file=", "--cache-dir", str(tmp_path / "cache"))
    checked = run_python("-m", "mypy", *options, str(program))
    assert checked.stdout == "Success: no issues found in 1 source file\n"


def test_the_list_of_names_is_the_list_of_names() -> None:
    """The table lists exactly the public names."""
    first_column = re.findall(r"^\|([^|]+)\|", section("All public names"), flags=re.MULTILINE)
    named = re.findall(r"`(\w+)`", "".join(first_column))
    assert sorted(named) == sorted(recollect.__all__)
