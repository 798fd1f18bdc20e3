"""Tests of recollect.sync.index_access: the cost of a query if nothing has changed."""

import re
from pathlib import Path

from recollect.sync.index_access import find_price_fingerprint, is_current, query_if_current
from tests.process import run_python
from tests.sync.lines import Line
from tests.sync.world import World, add_up

HEAVY = {
    "recollect.reader",
    "recollect.pricing",
    "recollect.session",
    "recollect.records.conversation_records",
}
HEAVY |= {"multiprocessing", "hashlib", "platformdirs", "recollect.sync.sync_engine"}


def test_an_index_is_current_until_something_changes(world: World) -> None:
    """It is outdated once a file is added, grows or is deleted."""
    assert not is_current(world.data, world.find())
    world.write("p/a", Line().encode())
    world.sync()
    assert is_current(world.data, world.find())
    world.append("p/a", Line(id="msg_2").encode())
    assert not is_current(world.data, world.find())
    world.sync()
    world.write("p/b", Line(id="msg_3").encode())
    assert not is_current(world.data, world.find())
    world.sync()
    world.path("p/a").unlink()
    assert not is_current(world.data, world.find())
    world.sync()
    assert is_current(world.data, world.find())


def test_an_empty_index_is_current_without_files(world: World) -> None:
    """Once it has been created."""
    assert not is_current(world.data, [])
    world.sync()
    assert is_current(world.data, [])


def test_a_current_index_is_queried_immediately(world: World) -> None:
    """It need not be opened again after the check."""
    world.write("p/a", Line().encode())
    assert query_if_current(world.data, world.find(), add_up) is None
    world.sync()
    found = query_if_current(world.data, world.find(), add_up)
    assert found is not None
    assert found[0][0] == 1


def test_nothing_that_reads_is_loaded_to_find_out(world: World) -> None:
    """Neither the reader nor anything else that is slow to load."""
    world.write("p/a", Line().encode())
    world.sync()
    code = (
        "import sys; from pathlib import Path; "
        "from recollect.sync.index_access import find_transcripts, is_current, query_index; "
        "from recollect.store.data_directory import find_data_directory; find_data_directory(); "
        "found = find_transcripts([Path(sys.argv[1])]); data = Path(sys.argv[2]); "
        "print(is_current(data, found), query_index(data, found, lambda _: 1))"
    )
    result = run_python("-X", "importtime", "-c", code, str(world.root), str(world.data))
    assert result.stdout == "True 1\n"
    loaded = set(re.findall(r"^import time:.*\| +(\S+)$", result.stderr, flags=re.MULTILINE))
    assert loaded & HEAVY == set()


def test_the_edition_changes_with_the_prices(tmp_path: Path) -> None:
    """Including the user's own; otherwise it is always the same."""
    own = tmp_path / "prices.toml"
    own.write_text("x = 1", encoding="utf-8")
    first = find_price_fingerprint(own)
    own.write_text("x = 2", encoding="utf-8")
    assert len({find_price_fingerprint(), first, find_price_fingerprint(own)}) == 3
    assert find_price_fingerprint() == find_price_fingerprint()
