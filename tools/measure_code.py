"""Measure the structure of the code: `python -m tools.measure_code`.

Prints the size of modules, the share of imports and suppressions, the number of functions, modules
and layers involved in a request, and how often a transcript is opened until the index is up to
date. Requests run on the sample sessions, commands without an index and again with an up-to-date
one; only their own process is measured. A layer is a package directly below `recollect`; a crossing
is a function called from another layer, counted once per calling layer. It is a callback if the
calling layer is the lower one. Reading is measured on generated transcripts, most of which are
larger than the head and the tail that listings read.

`--crossings REQUEST` lists the crossings of one request by their layers.
"""

import argparse
import ast
import os
import re
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from itertools import dropwhile
from pathlib import Path
from statistics import median, quantiles
from typing import Final, NamedTuple

from benchmarks.corpus import make_corpus
from tests.web.running import RunningServer, copy_demo, run_server
from tools.probe import CALL, LOG_VARIABLE, MARK, PACKAGE, READ

COMMANDS: Final = {
    "show latest": ("show", "latest"),
    "usage": ("usage",),
    "search": ("search", "tide"),
}
PAGE: Final = "session page"
CORPUS_SIZE: Final = 8_000_000

LogLine = tuple[str, ...]

_PROJECT: Final = Path(PACKAGE).parent.parent / "pyproject.toml"


class Sizes(NamedTuple):
    """Static figures of the source."""

    modules: int
    lines: int
    median_lines: float
    p90_lines: float
    import_share: float
    noqa_per_1000: float
    shared_names: int
    """Files that share their name with another file, not counting `__init__.py`."""


class Reach(NamedTuple):
    """The functions, modules and layers involved in a request."""

    functions: int
    modules: int
    layer_pairs: int
    """How many layers call how many others: there cannot be fewer crossings."""
    crossings: int
    callbacks: int
    """The crossings from a lower layer to a higher one."""


class Crossing(NamedTuple):
    """A function that is called from another layer."""

    caller: str
    """The calling layer."""
    layer: str
    file: str
    function: str


class Reading(NamedTuple):
    """How often a transcript was opened, and how often all of it was read."""

    opens: int
    whole: int


def main(arguments: Sequence[str] | None = None) -> None:
    """Print all figures, or the crossings of one request."""
    requests = (*COMMANDS, PAGE)
    parser = argparse.ArgumentParser(prog="python -m tools.measure_code")
    parser.add_argument(
        "--crossings", choices=requests, metavar="REQUEST", help=", ".join(requests)
    )
    wanted = parser.parse_args(arguments).crossings
    if wanted:
        print_crossings(find_crossings(trace_request(wanted)))
        return
    print_sizes(measure_sizes(sorted(Path(PACKAGE).rglob("*.py"))))
    print("\nrequest          functions   modules   layer pairs   crossings   callbacks")
    for name, words in COMMANDS.items():
        print_reach(name, summarise_calls(trace_command(*words)))
        print_reach("  with an index", summarise_calls(trace_command(*words, again=True)))
    print_reach(PAGE, summarise_calls(trace_page()))
    print("\nuntil up to date       opens       whole reads   (per transcript: median, most)")
    print_readings("index --text", measure_index())
    print_readings("server", measure_server())


def measure_sizes(paths: Sequence[Path]) -> Sizes:
    """Return the figures of these modules; there must be at least two."""
    texts = [path.read_text(encoding="utf-8") for path in paths]
    lengths = [len(text.splitlines()) for text in texts]
    names = Counter(path.name for path in paths if path.name != "__init__.py")
    total = sum(lengths)
    return Sizes(
        modules=len(paths),
        lines=total,
        median_lines=median(lengths),
        p90_lines=quantiles(lengths, n=10)[-1],
        import_share=sum(map(count_import_lines, texts)) / total,
        noqa_per_1000=1000 * sum(len(re.findall(r"#\s*noqa\b", text)) for text in texts) / total,
        shared_names=sum(count for count in names.values() if count > 1),
    )


def count_import_lines(text: str) -> int:
    """Return the number of lines of import statements, anywhere in a module."""
    return sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
    )


def trace_request(name: str) -> list[LogLine]:
    """Log the calls of a request."""
    return trace_page() if name == PAGE else trace_command(*COMMANDS[name])


def trace_command(*arguments: str, again: bool = False) -> list[LogLine]:
    """Log the calls of a command; `again` runs it twice, so that the index is up to date."""
    with _open_workplace() as place:
        copy_demo(place.folder)
        if again:
            _run_probed(place, *arguments)
        process = _run_probed(place, *arguments)
        return list(_read_log(place.log / f"{process}.log"))


def trace_page() -> list[LogLine]:
    """Log the calls of the first request of a session page, once the server is up to date."""
    with _open_workplace() as place:
        copy_demo(place.folder)
        with _run_probed_server(place) as server:
            sessions = server.get("/api/history/sessions").json()["sessions"]
            log = place.log / f"{server.process.pid}.log"
            server.process.send_signal(signal.SIGUSR1)
            server.wait_for(lambda: (MARK,) in _read_log(log))
            answer = server.get(f"/s/{sessions[0]['id']}")
            if answer.status != HTTPStatus.OK:
                sys.exit(f"The page of a session was answered with {answer.status}.")
            return list(dropwhile((MARK,).__ne__, _read_log(log)))


def measure_index() -> list[Reading]:
    """Measure how transcripts are read by `recollect index --text`."""
    with _open_workplace() as place:
        make_corpus(place.root, CORPUS_SIZE)
        _run_probed(place, "index", "--text")
        return summarise_reads(_read_logs(place.log), place.root)


def measure_server() -> list[Reading]:
    """Measure how transcripts are read until a new server is up to date."""
    with _open_workplace() as place:
        make_corpus(place.root, CORPUS_SIZE)
        with _run_probed_server(place):
            return summarise_reads(_read_logs(place.log), place.root)


def summarise_calls(lines: Sequence[LogLine]) -> Reach:
    """Return the figures of the calls in a log."""
    functions = {line[2:] for line in lines if line[0] == CALL}
    crossings, rank = find_crossings(lines), read_ranks()
    return Reach(
        functions=len(functions),
        modules=len({file for file, _ in functions}),
        layer_pairs=len({(each.caller, each.layer) for each in crossings}),
        crossings=len(crossings),
        callbacks=sum(rank.get(each.caller, 0) < rank.get(each.layer, 0) for each in crossings),
    )


def find_crossings(lines: Iterable[LogLine]) -> set[Crossing]:
    """Return the calls in a log that go from one layer to another."""
    calls = {line[1:] for line in lines if line[0] == CALL}
    found = {
        Crossing(find_layer(caller), find_layer(file), file, name) for caller, file, name in calls
    }
    return {each for each in found if each.caller != each.layer}


def read_ranks() -> dict[str, int]:
    """Return the rank of each layer in the import contract, 0 for the lowest."""
    contracts = tomllib.loads(_PROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = next(each["layers"] for each in contracts["contracts"] if each["id"] == "layers")
    rows = enumerate(reversed(layers))
    return {name: rank for rank, row in rows for name in row.split(" | ")}


def find_layer(file: str) -> str:
    """Return the layer of a module."""
    return file.removeprefix(PACKAGE).partition(os.sep)[0].removesuffix(".py")


def summarise_reads(lines: Iterable[tuple[str, ...]], root: Path) -> list[Reading]:
    """Return how each transcript below `root` was read, according to the log."""
    opens: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    for line in lines:
        if line[0] == READ and line[1].startswith(str(root / "projects")):
            opens[line[1]] += 1
            whole[line[1]] += int(line[2]) >= int(line[3])
    return [Reading(opens[path], whole[path]) for path in opens]


class _Workplace(NamedTuple):
    folder: Path
    root: Path
    log: Path


@contextmanager
def _open_workplace() -> Iterator[_Workplace]:
    """Create directories for transcripts, an index and a log."""
    with tempfile.TemporaryDirectory(prefix="recollect-measure-") as name:
        folder = Path(name)
        (folder / "log").mkdir()
        yield _Workplace(folder, folder / "claude", folder / "log")


@contextmanager
def _run_probed_server(place: _Workplace) -> Iterator[RunningServer]:
    """Run a server until it is up to date; its output goes to the log."""
    os.environ[LOG_VARIABLE] = str(place.log)
    try:
        with run_server(place.folder, place.root, module="tools.probe") as server:
            # Without searching, which would read texts that are not indexed yet.
            server.wait_for_figures()
            yield server
    finally:
        del os.environ[LOG_VARIABLE]


def _run_probed(place: _Workplace, *arguments: str) -> int:
    """Run `recollect` to completion; return the id of its process."""
    environment = {
        **os.environ,
        LOG_VARIABLE: str(place.log),
        "HOME": str(place.folder),
        "CLAUDE_CONFIG_DIR": str(place.root),
        "RECOLLECT_DATA_DIR": str(place.folder / "data"),
    }
    command = [sys.executable, "-m", "tools.probe", *arguments]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        if process.wait() != 0:
            sys.exit(f"`recollect {' '.join(arguments)}` ended with {process.returncode}.")
        return process.pid


def _read_logs(folder: Path) -> Iterator[tuple[str, ...]]:
    for path in folder.iterdir():
        yield from _read_log(path)


def _read_log(path: Path) -> Iterator[tuple[str, ...]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield tuple(line.split("\t"))


def print_sizes(sizes: Sizes) -> None:
    """Print the figures of the source, one per line."""
    print(f"modules            {sizes.modules:8,}")
    print(f"lines              {sizes.lines:8,}")
    print(f"lines per module   {sizes.median_lines:8,.0f}   (p90 {sizes.p90_lines:,.0f})")
    print(f"import lines       {sizes.import_share:8.1%}")
    print(f"noqa per 1,000     {sizes.noqa_per_1000:8.1f}")
    print(f"shared file names  {sizes.shared_names:8,}")


def print_reach(name: str, reach: Reach) -> None:
    """Print the figures of a request on one line."""
    widths = (11, 10, 14, 12, 12)
    print(f"{name:16}" + "".join(f"{each:{w}}" for each, w in zip(reach, widths, strict=True)))


def print_crossings(crossings: Iterable[Crossing]) -> None:
    """Print the functions that each layer calls in each other one, the most first."""
    pairs: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for each in sorted(crossings):
        pairs[each.caller, each.layer].append(f"{Path(each.file).stem}.{each.function}")
    for (caller, layer), functions in sorted(pairs.items(), key=lambda pair: -len(pair[1])):
        print(f"{caller} → {layer}: {len(functions)}")
        print("".join(f"    {function}\n" for function in functions), end="")


def print_readings(name: str, readings: Sequence[Reading]) -> None:
    """Print the figures of all transcripts on one line."""
    opens, whole = [each.opens for each in readings], [each.whole for each in readings]
    print(f"{name:14}{median(opens):12g},{max(opens):3}{median(whole):12g},{max(whole):3}")


if __name__ == "__main__":
    main()
