"""Measure the structure of the code: `python -m tools.measure_code`.

Prints the size of modules, the share of imports and suppressions, the number of functions, modules
and layers involved in a request, and how often a transcript is opened until the index is up to
date. Requests run on the sample sessions, commands without an index; only their own process is
measured. A layer is a package directly below `recollect`; a crossing is a function called from
another layer, counted once per calling layer. Reading is measured on generated transcripts, most of
which are larger than the head and the tail that listings read.
"""

import ast
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
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
CORPUS_SIZE: Final = 8_000_000


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
    crossings: int


class Reading(NamedTuple):
    """How often a transcript was opened, and how often all of it was read."""

    opens: int
    whole: int


def main() -> None:
    """Print all figures."""
    print_sizes(measure_sizes(sorted(Path(PACKAGE).rglob("*.py"))))
    print("\nrequest          functions   modules   layer crossings")
    for name, arguments in COMMANDS.items():
        print_reach(name, measure_command(*arguments))
    print_reach("session page", measure_page())
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


def measure_command(*arguments: str) -> Reach:
    """Measure a command."""
    with _open_workplace() as place:
        copy_demo(place.folder)
        process = _run_probed(place, *arguments)
        return summarise_calls(_read_log(place.log / f"{process}.log"))


def measure_page() -> Reach:
    """Measure the first request of a session page, once the server is up to date."""
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
            return summarise_calls(dropwhile((MARK,).__ne__, _read_log(log)))


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


def summarise_calls(lines: Iterable[tuple[str, ...]]) -> Reach:
    """Return the figures of the calls in a log."""
    calls = {line[1:] for line in lines if line[0] == CALL}
    functions = {(file, name) for _, file, name in calls}
    crossings = {
        (find_layer(caller), file, name)
        for caller, file, name in calls
        if find_layer(caller) != find_layer(file)
    }
    return Reach(len(functions), len({file for file, _ in functions}), len(crossings))


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
    print(f"{name:14}{reach.functions:12}{reach.modules:10}{reach.crossings:18}")


def print_readings(name: str, readings: Sequence[Reading]) -> None:
    """Print the figures of all transcripts on one line."""
    opens, whole = [each.opens for each in readings], [each.whole for each in readings]
    print(f"{name:14}{median(opens):12g},{max(opens):3}{median(whole):12g},{max(whole):3}")


if __name__ == "__main__":
    main()
