"""The benchmark of the web app runs on a very small history."""

from pathlib import Path

from benchmarks.rendering import render_all
from benchmarks.serving import ask, find_memory, measure_idling, stop, wait_until_current
from benchmarks.web import Figure, Options, draw_typing, make_history, measure_list
from tests.web.running import run_server


def test_a_goal_is_missed_from_its_own_value_on() -> None:
    """A figure has to stay below its goal, and one without a goal cannot miss it."""
    figures = [Figure("a", 499.9, "ms", 500), Figure("b", 500, "ms", 500), Figure("c", 9e9, "s")]
    assert [figure.is_missed for figure in figures] == [False, True, False]
    assert [str(figure).split() for figure in figures] == [
        ["a", "499.9", "ms", "<", "500", "ok"],
        ["b", "500.0", "ms", "<", "500", "MISSED"],
        ["c", "9,000,000,000.0", "s"],
    ]


def test_typing_is_every_beginning_of_a_query() -> None:
    """Each key that is pressed is a query of its own."""
    kinds = ("common word", "rare word", "two words", "phrase", "two Chinese characters")
    typed = draw_typing({kind: ["abc"] for kind in kinds}, Options(is_quick=True, corpus=None))
    assert typed == {kind: ["a", "ab", "abc"] for kind in kinds}


def test_a_running_server_is_measured(tmp_path: Path) -> None:
    """Lists, a session drawn whole, memory, rest and the end all give figures."""
    long = make_history(tmp_path / "claude", sessions=2, long_bytes=300_000)
    with run_server(tmp_path, tmp_path / "claude") as server:
        assert wait_until_current(server) > 0
        figures = list(measure_list(server, Options(is_quick=True, corpus=None)))
        assert [figure for figure in figures if figure.value <= 0] == []
        turns = render_all(server, long.stem, with_calls=False)
        everything = render_all(server, long.stem, with_calls=True)
        assert (turns.calls, everything.calls > 0) == (0, True)
        assert everything.size > turns.size > len(ask(server, "/").body) / 100
        assert find_memory(server.process.pid) > 10_000_000
        assert min(measure_idling(server, 0.2)) >= 0
        assert stop(server) > 0
