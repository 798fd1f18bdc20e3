"""Any damage to the index on disk is detected, and the index is set aside and rebuilt."""

import random
import shutil
from collections.abc import Callable

import apsw
import pytest

from recollect.errors import IndexFailure
from recollect.store.data_directory import INDEX_NAME
from recollect.store.database import (
    DAMAGED_NAME,
    check_everything,
    open_for_reading,
    open_for_writing,
    set_aside_if_damaged,
)
from recollect.store.schema import DamagedIndex
from recollect.sync.index_access import query_index
from recollect.sync.session_lists import list_current
from tests.sync.lines import PRICED, Line
from tests.sync.world import World, add_up, assert_same

PAGE = 8192
FLIPS, SLOW_FLIPS = 25, 500
Totals = tuple[int, ...]


class Indexed:
    """A world with an index that can be restored."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.path = world.data / INDEX_NAME
        write_sessions(world)
        world.sync()
        # Closing the last connection that writes merges the log into the file.
        self.content = self.path.read_bytes()
        self.totals = self.ask()

    def ask(self) -> Totals:
        """Return the counted totals from an up-to-date index."""
        return query_index(self.world.data, self.world.find(), add_up)

    def put_back(self, content: bytes) -> None:
        """Restore an index with this content, without any other files."""
        shutil.rmtree(self.world.data)
        self.world.data.mkdir()
        self.path.write_bytes(content)

    @property
    def was_set_aside(self) -> bool:
        """Return whether a damaged index was kept."""
        return (self.world.data / DAMAGED_NAME).exists()


def write_sessions(world: World) -> None:
    """Write sessions that share some messages."""
    dice = random.Random(1)
    for number in range(8):
        lines = [
            Line(
                id=f"msg_{number if message > 5 else number // 2}_{message}",
                request=f"req_{number}_{message}",
                model=dice.choice(PRICED),
                time=f"2026-03-{number + 1:02}T{message % 24:02}:00:00.000Z",
                input=dice.randrange(1000),
                output=dice.randrange(1000),
                tools=dice.choice([(), ("Bash",), ("Read",)]),
                branch=dice.choice(["main", "topic"]),
            )
            for message in range(25)
        ]
        world.write(f"p{number % 3}/s{number}", b"".join(line.encode() for line in lines))


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    """An index that tests may damage."""
    base = tmp_path_factory.mktemp("damage")
    return Indexed(World(base, base / "data"))


def flip(content: bytes, place: int, bit: int) -> bytes:
    """Return the content with one bit flipped."""
    changed = bytearray(content)
    changed[place] ^= 1 << bit
    return bytes(changed)


@pytest.mark.parametrize(
    "seed",
    [*range(FLIPS), *(pytest.param(n, marks=pytest.mark.slow) for n in range(FLIPS, SLOW_FLIPS))],
)
def test_a_flipped_bit_never_makes_a_wrong_answer(indexed: Indexed, seed: int) -> None:
    """It is detected on opening or by the query, or it does not matter."""
    dice = random.Random(seed)
    content = indexed.content
    indexed.put_back(flip(content, dice.randrange(len(content)), dice.randrange(8)))
    assert indexed.ask() == indexed.totals


@pytest.mark.parametrize("seed", range(10))
def test_a_look_at_everything_finds_what_answers_do_not_show(indexed: Indexed, seed: int) -> None:
    """Before new data is added to a damaged index."""
    dice = random.Random(seed)
    content = indexed.content
    indexed.put_back(flip(content, dice.randrange(len(content)), dice.randrange(8)))
    set_aside_if_damaged(indexed.world.data)
    world = indexed.world
    added = world.write("p9/later", Line(id="later", output=3).encode())
    messages, _, output, *_ = indexed.ask()
    added.unlink()
    assert (messages, output) == (indexed.totals[0] + 1, indexed.totals[2] + 3)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "garbage": lambda content: bytes(random.Random(1).randbytes(len(content))),
    "text": lambda _: b"This is no index.\n" * 1000,
    "half": lambda content: content[: len(content) // 2],
    "a page short": lambda content: content[:-PAGE],
    "a torn page": lambda content: content[:-100],
    "a byte": lambda _: b"S",
    "header only": lambda content: content[:100],
    "no header": lambda content: bytes(100) + content[100:],
    "longer": lambda content: content + bytes(PAGE),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_broken_file_is_rebuilt(indexed: Indexed, damage: str) -> None:
    """Truncated, overwritten, or not an index at all."""
    indexed.put_back(DAMAGES[damage](indexed.content))
    assert indexed.ask() == indexed.totals
    connection = open_for_reading(indexed.world.data)
    assert connection is not None
    check_everything(connection)
    connection.close()


def test_a_zeroed_page_is_found_whichever_it_is(indexed: Indexed) -> None:
    """Disks lose data in blocks."""
    for start in range(0, len(indexed.content), PAGE):
        content = indexed.content[:start] + bytes(PAGE) + indexed.content[start + PAGE :]
        indexed.put_back(content)
        assert indexed.ask() == indexed.totals, start
        set_aside_if_damaged(indexed.world.data)
        assert indexed.ask() == indexed.totals, start


@pytest.mark.parametrize("leftover", ["-wal", "-shm", "-journal"])
def test_leftovers_of_another_index_do_no_harm(indexed: Indexed, leftover: str) -> None:
    """A restored index may have the log of another one beside it."""
    indexed.put_back(indexed.content)
    beside = indexed.path.with_name(INDEX_NAME + leftover)
    beside.write_bytes(random.Random(2).randbytes(PAGE * 3))
    assert indexed.ask() == indexed.totals
    indexed.path.unlink()
    beside.write_bytes(random.Random(2).randbytes(PAGE * 3))
    assert indexed.ask() == indexed.totals


def test_the_log_of_an_earlier_time_does_no_harm(indexed: Indexed) -> None:
    """Nor does an older log of the same index."""
    world = indexed.world
    indexed.put_back(indexed.content)
    reader = open_for_reading(world.data)
    extra = world.write("p9/extra", Line(id="extra").encode())
    world.sync()
    log = indexed.path.with_name(f"{INDEX_NAME}-wal").read_bytes()
    assert reader is not None
    assert log
    reader.close()
    world.append("p9/extra", Line(id="extra_2").encode() * 2)
    world.sync()
    content = indexed.path.read_bytes()
    expected = indexed.ask()
    indexed.put_back(content)
    indexed.path.with_name(f"{INDEX_NAME}-wal").write_bytes(log)
    assert indexed.ask() == expected
    extra.unlink()


def test_one_damaged_index_is_kept(indexed: Indexed) -> None:
    """The last one, for inspection."""
    indexed.put_back(b"first" * 1000)
    indexed.ask()
    indexed.path.write_bytes(b"last" * 1000)
    indexed.ask()
    kept = {path.stem for path in indexed.world.data.iterdir() if "damaged" in path.name}
    assert kept == {"index.damaged"}
    assert (indexed.world.data / DAMAGED_NAME).read_bytes() == b"last" * 1000


def forget_files(world: World, *names: str) -> None:
    """Sync these files, then delete them."""
    for name in names:
        world.write(f"p/{name}", Line(id=name, branch=name, advisor=7).encode())
    world.sync()
    for name in names:
        world.path(f"p/{name}").unlink()
    world.sync()


def zero_problems(world: World) -> None:
    """Damage a page without counted data."""
    path = world.data / INDEX_NAME
    connection = apsw.Connection(str(path))
    page = int(connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'problems'").get)
    connection.close()
    content = path.read_bytes()
    path.write_bytes(content[: (page - 1) * PAGE] + bytes(PAGE) + content[page * PAGE :])


def test_what_vanished_files_counted_is_carried_over(world: World) -> None:
    """It exists nowhere else; the rest comes from the files. Current prices apply."""
    world.write("p/here", Line(id="here").encode())
    forget_files(world, "gone")
    expected = world.dump()
    prices = world.base / "prices.toml"
    prices.write_text(
        f'[[prices]]\nmodel = "{PRICED[0]}"\ninput = 1.0\noutput = 2.0\n', encoding="utf-8"
    )
    world.sync(prices=prices)
    zero_problems(world)
    assert set_aside_if_damaged(world.data)
    world.sync()
    assert_same(world.dump(), expected)


def test_what_cannot_be_a_message_is_left_behind(world: World) -> None:
    """The other deleted files are carried over."""
    forget_files(world, "good", "bad")
    connection = apsw.Connection(str(world.data / INDEX_NAME))
    connection.execute("UPDATE messages SET request_id = x'ff' WHERE message_id = 'bad'")
    connection.close()
    zero_problems(world)
    world.sync()
    assert [row[0] for row in world.dump()["messages"]] == ["claude/projects/p/good.jsonl"]
    assert not set_aside_if_damaged(world.data)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE sessions SET models = x'00'",
        "UPDATE sessions SET all_models = x'00'",
        "UPDATE sessions SET turn_starts = x'00'",
        "UPDATE tool_calls SET session = session + 99",
        "UPDATE sessions SET path = x'00' WHERE id = 1",
    ],
)
def test_what_cannot_be_a_session_is_left_behind(indexed: Indexed, damage: str) -> None:
    """Truncated files read as zeros, and rows may refer to lost ones."""
    world = indexed.world
    indexed.put_back(indexed.content)
    listed = list_current(world.data, world.find(), is_complete=True)
    connection = apsw.Connection(str(indexed.path))
    connection.execute(damage)
    connection.close()
    zero_problems(world)
    set_aside_if_damaged(world.data)
    assert indexed.ask() == indexed.totals
    assert list_current(world.data, world.find(), is_complete=True) == listed


def test_damage_found_by_a_query_is_repaired(indexed: Indexed) -> None:
    """The query is repeated on a new index."""
    indexed.put_back(indexed.content)
    questions: list[Totals] = []

    def question(connection: apsw.Connection) -> Totals:
        questions.append(add_up(connection))
        if len(questions) == 1:
            raise apsw.CorruptError("found while reading")
        return questions[-1]

    assert query_index(indexed.world.data, indexed.world.find(), question) == indexed.totals
    assert questions == [indexed.totals] * 2


def test_damage_that_stays_is_reported(indexed: Indexed) -> None:
    """The number of attempts is limited."""
    indexed.put_back(indexed.content)

    def question(_: apsw.Connection) -> Totals:
        raise apsw.CorruptError("always")

    with pytest.raises(
        IndexFailure, match=r"is damaged \(always\)\. Run `recollect index --rebuild`"
    ):
        query_index(indexed.world.data, indexed.world.find(), question)


def test_a_small_addition_survives_damage(indexed: Indexed) -> None:
    """Additions beside the catalogue get a working index."""
    indexed.put_back(b"garbage" * 1000)
    with open_for_writing(indexed.world.data) as connection:
        connection.execute("CREATE TABLE extra (x)")
    assert indexed.was_set_aside
    assert indexed.ask() == indexed.totals


def test_a_look_at_everything_is_content_with_a_sound_index(indexed: Indexed) -> None:
    """A full check of an intact index changes nothing."""
    indexed.put_back(indexed.content)
    assert not set_aside_if_damaged(indexed.world.data)
    assert not indexed.was_set_aside


def test_messages_that_contradict_the_hours_are_found(world: World) -> None:
    """Before anything is added to them, and by a full check."""
    world.write("p/a", Line().encode())
    world.sync()
    connection = apsw.Connection(str(world.data / INDEX_NAME))
    connection.execute("UPDATE messages SET output = output + 4")
    with pytest.raises(DamagedIndex):
        check_everything(connection)
    connection.close()
    world.append("p/a", Line(id="msg_2").encode())
    world.sync()
    assert (world.data / DAMAGED_NAME).exists()
    assert_same(world.dump(), world.dump_fresh())
