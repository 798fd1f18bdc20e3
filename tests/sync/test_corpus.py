"""On a made-up history whose figures are known by construction, nothing is off by a token."""

import json
import random
import shutil
from collections import Counter, defaultdict
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.store.catalog import Names
from recollect.sync.sync_engine import SyncReport, sync
from recollect.sync.workers import Limits
from tests.process import run_python
from tests.sync.world import World, assert_same, iter_hours

FIGURES = {
    "messages": "messages",
    "input": "input",
    "output": "output",
    "cache_read": "cache_read",
    "cache_write_5m": "cache_5m",
    "cache_write_1h": "cache_1h",
}
"""Our names of figures, and the generator's."""


@pytest.fixture(scope="module", params=[3, 11])
def corpus(
    request: pytest.FixtureRequest, shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A Claude directory of 20 MB with a file of its true figures."""
    out = tmp_path_factory.mktemp("corpus") / "claude"
    generator = str(shared / "bench" / "gen_corpus.py")
    made = run_python(
        generator, f"--out={out}", "--size=20M", f"--seed={request.param}", "--jobs=1"
    )
    assert made.code == 0, made.stderr
    return out


@pytest.fixture
def copied(corpus: Path, tmp_path: Path) -> World:
    """A world of the same files, which a test may change."""
    world = World(tmp_path, tmp_path / "data")
    shutil.copytree(corpus, world.root)
    return world


def add_up_by_day_and_model(world: World) -> dict[str, Counter[str]]:
    """Return the sums of the hours in the generator's format."""
    connection = world.open()
    names = Names(connection)
    sums: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in iter_hours(connection):
        day = datetime.fromtimestamp(row["hour"] * 3600, UTC).date()
        sums[f"{day} {names.text(row['model'])}"].update(
            {theirs: row[ours] for ours, theirs in FIGURES.items()}
        )
    connection.close()
    return dict(sums)


def load_truth(world: World) -> dict[str, Counter[str]]:
    """Return the figures recorded by the generator."""
    truth = json.loads((world.root / "truth.json").read_bytes())["by_day_model"]
    wanted = FIGURES.values()
    return {key: Counter({name: row[name] for name in wanted}) for key, row in truth.items()}


def test_figures_are_those_of_the_generator(copied: World) -> None:
    """By day and by model, every class of tokens; a second sync adds nothing to them."""
    copied.sync()
    assert add_up_by_day_and_model(copied) == load_truth(copied)
    before = copied.dump()
    assert copied.sync() == SyncReport()
    assert_same(copied.dump(), before)


def test_workers_give_what_one_process_gives(copied: World) -> None:
    """And so does any size of steps."""
    copied.sync()
    limits = Limits(pool_bytes=0, batch_bytes=1 << 20, commit_bytes=3 << 20)
    many = World(copied.base, copied.base / "many", limits)
    many.sync()
    assert_same(many.dump(), copied.dump())


def test_files_in_any_order_give_the_same_index(copied: World) -> None:
    """A few at a time, in any order, forks before their originals."""
    found = copied.find()
    random.Random(5).shuffle(found)
    for end in range(0, len(found), 9):
        sync(copied.data, found[:end])
    copied.sync()
    assert_same(copied.dump(), copied.dump_fresh())


def test_growing_files_give_the_same_index(copied: World) -> None:
    """Appended to at any byte, in the midst of lines and characters, all of them in turns."""
    dice = random.Random(7)
    contents = {found.path: found.path.read_bytes() for found in copied.find()}
    written = dict.fromkeys(contents, 0)
    for path in contents:
        path.write_bytes(b"")
    for step in range(6):
        for path, content in contents.items():
            rest = len(content) - written[path]
            length = rest if step == 5 else dice.choice([0, dice.randrange(rest + 1), rest // 2])
            with path.open("ab") as file:
                file.write(content[written[path] :][:length])
            written[path] += length
        copied.sync()
    assert add_up_by_day_and_model(copied) == load_truth(copied)
    assert_same(copied.dump(), copied.dump_fresh())


def test_moved_sessions_give_the_same_index(copied: World) -> None:
    """Whole sessions that went to another project, as when a folder is renamed."""
    copied.sync()
    projects = sorted(path for path in (copied.root / "projects").iterdir() if path.is_dir())
    for number, session in enumerate(sorted(projects[0].iterdir()) + sorted(projects[1].iterdir())):
        target = projects[2] if number % 2 else copied.root / "projects" / "elsewhere"
        target.mkdir(exist_ok=True)
        session.rename(target / session.name)
    assert copied.sync() == SyncReport()
    assert add_up_by_day_and_model(copied) == load_truth(copied)
    assert_same(copied.dump(), copied.dump_fresh())
