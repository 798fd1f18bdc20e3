"""The figures of `tools.measure_code`."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.measure_code import (
    Reach,
    Reading,
    Sizes,
    count_import_lines,
    find_crossings,
    measure_index,
    measure_server,
    measure_sizes,
    print_crossings,
    summarise_calls,
    summarise_reads,
    trace_command,
)
from tools.probe import CALL, MARK, PACKAGE, READ


def test_sizes_of_a_few_modules(tmp_path: Path) -> None:
    """Lines, imports, excuses and names are counted over all modules."""
    texts = {
        "__init__.py": "",
        "a/__init__.py": "",
        "a/rows.py": "import os\n\n\nprint(os)  # noqa: T201\n",
        "b/rows.py": "x = 1\n" * 6,
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert measure_sizes(sorted(tmp_path.rglob("*.py"))) == Sizes(
        modules=4,
        lines=10,
        median_lines=2,
        p90_lines=7.0,
        import_share=0.1,
        noqa_per_1000=100,
        shared_names=2,
    )


def test_imports_count_with_all_their_lines() -> None:
    """An import over several lines, or inside a function, takes the lines that it takes."""
    text = "from a import (\n    b,\n    c,\n)\n\n\ndef f():\n    import d\n    return d\n"
    assert count_import_lines(text) == 5


def test_crossings_are_functions_called_from_another_layer() -> None:
    """A function counts once per calling layer; calls within a layer do not count."""
    cli, rows, store = (PACKAGE + name for name in ("cli/a.py", "usage/totals.py", "store/b.py"))
    lines = [
        (CALL, cli, cli, "main"),
        (CALL, cli, rows, "list_rows"),
        (CALL, PACKAGE + "cli/other.py", rows, "list_rows"),
        (CALL, rows, rows, "_helper"),
        (CALL, rows, store, "query"),
        (CALL, cli, store, "query"),
        (CALL, store, cli, "show_progress"),
        (MARK,),
    ]
    assert summarise_calls(lines) == Reach(
        functions=5, modules=3, layer_pairs=4, crossings=4, callbacks=1
    )


def test_crossings_are_listed_by_layers(capsys: pytest.CaptureFixture[str]) -> None:
    """Each function has the name of its module; the layers with most calls come first."""
    cli, store = PACKAGE + "cli/a.py", PACKAGE + "store/b.py"
    lines = [
        (CALL, store, cli, "show_progress"),
        (CALL, cli, store, "query"),
        (CALL, cli, store, "Index.close"),
    ]
    print_crossings(find_crossings(lines))
    assert capsys.readouterr().out == (
        "cli → store: 2\n    b.Index.close\n    b.query\nstore → cli: 1\n    a.show_progress\n"
    )


def test_a_whole_read_takes_at_least_the_size_of_the_file(tmp_path: Path) -> None:
    """Heads and tails are opens; files that are not transcripts of the root do not count."""
    one = str(tmp_path / "projects" / "p" / "one.jsonl")
    lines = [
        (READ, one, "100", "1000"),
        (READ, one, "1000", "1000"),
        (READ, "/elsewhere/two.jsonl", "5", "5"),
    ]
    assert summarise_reads(lines, tmp_path) == [Reading(opens=2, whole=1)]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="the probe needs signals that Windows has not")
def test_a_command_is_traced() -> None:
    """A real command passes through functions of several layers."""
    reach = summarise_calls(trace_command("list"))
    assert reach.functions > reach.modules > 10
    assert reach.crossings > reach.layer_pairs > reach.callbacks


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="the probe needs signals that Windows has not")
@pytest.mark.parametrize("measure", [measure_index, measure_server])
def test_a_transcript_is_read_at_most_twice(measure: Callable[[], list[Reading]]) -> None:
    """Once by the quick pass, which lists share, and once by the text pass."""
    readings = measure()
    assert len(readings) > 10
    assert {each for each in readings if each.opens > 2 or each.whole > 2} == set()
