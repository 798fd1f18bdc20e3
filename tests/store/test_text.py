"""Tests of recollect.store.text_rows and the full-text tables around it."""

import stat
import time
from pathlib import Path

import apsw
import pytest

from recollect.documents.kinds import TextKind
from recollect.sources.growth import FileState
from recollect.store.data_directory import find_text_path
from recollect.store.schema import DamagedIndex, ReplacedIndex
from recollect.store.text_conditions import (
    ALWAYS,
    Condition,
    any_of,
    has_part,
    is_error,
    is_since,
    is_until,
    none_of,
)
from recollect.store.text_database import delete_texts, find_identity, read_texts, update_texts
from recollect.store.text_matches import TextPlace, unpack_place
from recollect.store.text_queries import TextIndexCache, open_text_queries
from recollect.store.text_rows import IndexedFile, TextBatch, TextRow, TextState, TextWriter
from recollect.store.vocabulary import Vocabulary, rebuild_vocabulary

TOKENIZER = "unicode61"
FILE = IndexedFile("/claude/projects/-pond/a.jsonl", "-pond", "a")
NOW = 1_790_000_000


def make_row(text: str, *, second: int = NOW, position: int = 0, **more: object) -> TextRow:
    """Return the row of a prompt's text."""
    fields: dict[str, object] = {
        "length": 10,
        "number": 0,
        "part": TextKind.PROMPT,
        "tool": None,
        "model": None,
        "branch": None,
        "cwd": None,
        "is_error": False,
        "is_subagent": False,
        "is_copy": False,
        "key": position,
        "call": None,
    }
    return TextRow(second=second, position=position, text=text.encode(), **{**fields, **more})  # type: ignore[arg-type]


def write(directory: Path, *rows: TextRow, start: int = 0, position: int = 100) -> None:
    """Write rows of one file to the index, read from `start` to `position`."""
    batch = TextBatch(FILE.path, 0, start, TextState(FileState(position=position)), list(rows))
    update_texts(
        directory, "1", TOKENIZER, lambda connection: TextWriter(connection).write([batch], [FILE])
    )


def find(directory: Path, match: str | None, condition: Condition = ALWAYS) -> list[int]:
    """Return the positions of the matches, newest first."""
    with open_text_queries(directory, "1", TOKENIZER) as queries:
        assert queries.has_index
        found = queries.find_matches(match, condition, deadline=time.monotonic() + 60)
        texts = queries.describe(found.handles, match)
        return [texts[handle].position for handle in reversed(found.handles)]


def test_words_find_texts_the_newest_first(tmp_path: Path) -> None:
    """Ordered by time, not by the order of writing."""
    write(
        tmp_path,
        make_row("alpha", second=NOW + 5, position=1),
        make_row("alpha", second=NOW, position=2),
        make_row("beta", second=NOW, position=3),
        make_row("alpha", second=NOW + 9, position=4),
    )
    assert find(tmp_path, '"alpha"') == [4, 1, 2]


def test_a_crowded_second_overflows_into_the_next(tmp_path: Path) -> None:
    """Many texts of one second are all kept, even if written in several batches."""
    first = [make_row("alpha", position=number) for number in range(50)]
    write(tmp_path, *first)
    write(tmp_path, make_row("alpha", position=200), start=100, position=300)
    assert sorted(find(tmp_path, '"alpha"')) == [*range(50), 200]


@pytest.mark.parametrize("second", [-5, 0, 1 << 62])
def test_times_out_of_this_world_do_no_harm(tmp_path: Path, second: int) -> None:
    """A time before 1970 or far in the future is clamped."""
    write(tmp_path, make_row("alpha", second=second))
    assert find(tmp_path, '"alpha"') == [0]


def test_conditions_can_be_put_together(tmp_path: Path) -> None:
    """Conditions filter the matches of words, and work without words."""
    write(
        tmp_path,
        make_row("alpha", position=1, is_error=True),
        make_row("alpha", position=2, part=TextKind.REPLY, second=NOW + 100),
        make_row("beta", position=3, part=TextKind.REPLY),
    )
    replies = has_part([TextKind.REPLY])
    asked = {
        "replies": find(tmp_path, '"alpha"', replies),
        "errors": find(tmp_path, None, is_error()),
        "either": find(tmp_path, None, any_of([replies, is_error()])),
        "no replies": find(tmp_path, None, none_of(replies)),
        "late": find(tmp_path, '"alpha"', is_since(NOW + 50)),
        "early": find(tmp_path, '"alpha"', is_until(NOW + 50)),
    }
    assert asked == {
        "replies": [2],
        "errors": [1],
        "either": [2, 3, 1],
        "no replies": [1],
        "late": [2],
        "early": [1],
    }


def test_reading_again_replaces_earlier_texts(tmp_path: Path) -> None:
    """A batch from the start of a file replaces all earlier ones."""
    write(tmp_path, make_row("alpha", position=1), make_row("alpha", position=2))
    write(tmp_path, make_row("beta", position=1))
    assert (find(tmp_path, '"alpha"'), find(tmp_path, None)) == ([], [1])


def test_a_batch_that_somebody_else_has_written_is_skipped(tmp_path: Path) -> None:
    """A batch that continues from an outdated position is not added."""
    write(tmp_path, make_row("alpha", position=1), position=100)
    write(tmp_path, make_row("alpha", position=100), start=100, position=200)
    write(tmp_path, make_row("alpha", position=100), start=100, position=200)
    assert find(tmp_path, '"alpha"') == [100, 1]


def test_files_can_be_forgotten(tmp_path: Path) -> None:
    """Nothing in a removed file is found."""
    write(tmp_path, make_row("alpha"))
    update_texts(
        tmp_path, "1", TOKENIZER, lambda c: TextWriter(c).remove_files([FILE.path, "unknown"])
    )
    assert find(tmp_path, '"alpha"') == []


def test_other_terms_rebuild_the_index(tmp_path: Path) -> None:
    """An index with other terms is not read, and the next writer replaces it."""
    write(tmp_path, make_row("alpha"))
    assert find_identity(tmp_path, "2") is None
    update_texts(tmp_path, "2", TOKENIZER, rebuild_vocabulary)
    assert find_identity(tmp_path, "1") is None


@pytest.mark.parametrize("is_read", [True, False])
def test_a_damaged_index_is_deleted(tmp_path: Path, *, is_read: bool) -> None:
    """Damage found while reading or writing raises, and the next writer creates a new index."""
    write(tmp_path, make_row("alpha"))
    find_text_path(tmp_path).write_bytes(b"no database " * 1000)
    with pytest.raises(DamagedIndex, match="Run `recollect index --text --rebuild`"):
        find(tmp_path, '"alpha"') if is_read else write(tmp_path, make_row("alpha"))
    assert not find_text_path(tmp_path).exists()
    write(tmp_path, make_row("beta", position=7))
    assert find(tmp_path, '"beta"') == [7]


def test_a_look_leaves_a_damaged_index_where_it_is(tmp_path: Path) -> None:
    """A status query deletes nothing."""
    write(tmp_path, make_row("alpha"))
    find_text_path(tmp_path).write_bytes(b"no database " * 1000)
    with pytest.raises(DamagedIndex), read_texts(tmp_path, "1", deletes_damaged=False):
        pass
    assert find_text_path(tmp_path).exists()


def test_the_index_that_took_the_place_of_a_damaged_one_is_kept(tmp_path: Path) -> None:
    """Two processes find the same damage, the second one after the first has repaired it."""
    write(tmp_path, make_row("alpha", position=1))

    def find_damage() -> None:
        with read_texts(tmp_path, "1"):
            delete_texts(tmp_path)
            write(tmp_path, make_row("beta", position=2))
            raise apsw.CorruptError("found in the first index")

    with pytest.raises(DamagedIndex):
        find_damage()
    assert find(tmp_path, '"beta"') == [2]


def test_a_writer_notices_that_its_index_was_replaced(tmp_path: Path) -> None:
    """Its earlier batches are not in the new one, which must not count as complete."""
    write(tmp_path, make_row("alpha"))
    identity = find_identity(tmp_path, "1")
    delete_texts(tmp_path)
    write(tmp_path, make_row("beta", position=2))
    with pytest.raises(ReplacedIndex):
        update_texts(tmp_path, "1", TOKENIZER, lambda _: None, identity=identity)
    assert find(tmp_path, '"beta"') == [2]


def test_a_list_of_terms_without_its_end_is_damage(tmp_path: Path) -> None:
    """A page of zeros has a valid checksum, and SQLite takes it for the end of a value."""
    write(tmp_path, make_row("alpha"))
    cut = "UPDATE vocabulary SET terms = x'616c7068610000'"
    update_texts(tmp_path, "1", TOKENIZER, lambda connection: connection.execute(cut).fetchall())
    with read_texts(tmp_path, "1") as connection:
        assert connection is not None
        with pytest.raises(DamagedIndex):
            Vocabulary(connection).find_beginning("al")


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    """The index contains data from transcripts: directories are 0700 and files 0600."""
    write(tmp_path / "data", make_row("alpha"))
    place = tmp_path / "data" / "text"
    modes = {stat.S_IMODE(path.stat().st_mode) for path in place.iterdir()}
    assert (stat.S_IMODE(place.stat().st_mode), modes) == (0o700, {0o600})


@pytest.mark.parametrize("is_gathered", [True, False])
def test_terms_are_found_by_what_is_inside(tmp_path: Path, *, is_gathered: bool) -> None:
    """The terms of few texts and of many are found, shortest first, without repetition."""
    texts = ["pydantic", "dantic", "danube", "x" * (2 << 20)]
    rows = [make_row(text, position=number) for number, text in enumerate(texts)]
    write(tmp_path, *(rows if is_gathered else rows[:3]))
    update_texts(tmp_path, "1", TOKENIZER, rebuild_vocabulary)
    with open_text_queries(tmp_path, "1", TOKENIZER) as queries:
        assert queries.has_index
        assert (queries.find_terms("dan", 2), queries.find_terms("antic", 9)) == (
            ["danube", "dantic"][::-1],
            ["dantic", "pydantic"],
        )


def find_with(cache: TextIndexCache, directory: Path, match: str) -> tuple[int, list[str]]:
    """Return the number of matches on a cached connection, and the terms found."""
    with open_text_queries(directory, "1", TOKENIZER, cache) as queries:
        assert queries.has_index
        found = queries.find_matches(match, ALWAYS, deadline=time.monotonic() + 60)
        return len(found.handles), queries.find_terms("alph", 9)


def test_a_cached_connection_sees_every_change(tmp_path: Path) -> None:
    """Texts added, removed or rebuilt by another process since the last search."""
    cache = TextIndexCache()
    write(tmp_path, make_row("alpha"))
    assert find_with(cache, tmp_path, "alpha") == (1, ["alpha"])
    write(tmp_path, make_row("alpha alphabet", position=100), start=100, position=200)
    assert find_with(cache, tmp_path, "alpha") == (2, ["alpha", "alphabet"])
    update_texts(tmp_path, "1", TOKENIZER, lambda c: TextWriter(c).remove_files([FILE.path]))
    assert find_with(cache, tmp_path, "alpha")[0] == 0
    delete_texts(tmp_path)
    write(tmp_path, make_row("alphorn"))
    assert find_with(cache, tmp_path, "alphorn") == (1, ["alphorn"])
    cache.close()


def test_a_cached_connection_compares_texts_with_those_of_today(tmp_path: Path) -> None:
    """The density of a text depends on the length of others, including those added since."""
    cache = TextIndexCache()

    def measure(cache: TextIndexCache | None) -> list[float | None]:
        with open_text_queries(tmp_path, "1", TOKENIZER, cache) as queries:
            assert queries.has_index
            found = queries.describe(queries.find_handles("alpha"), "alpha")
            return [text.density for text in found.values()]

    write(tmp_path, make_row("alpha"))
    before = measure(cache)
    write(tmp_path, make_row("beta " * 99, position=100), start=100, position=200)
    assert measure(cache) == measure(None) != before
    cache.close()


def test_two_searches_at_once_have_a_connection_each(tmp_path: Path) -> None:
    """Only one of them is kept."""
    cache = TextIndexCache()
    write(tmp_path, make_row("alpha"))
    with open_text_queries(tmp_path, "1", TOKENIZER, cache) as first:
        assert first.has_index
        assert find_with(cache, tmp_path, "alpha") == (1, ["alpha"])
        assert first.count_matches("alpha") == 1
    assert find_with(cache, tmp_path, "alpha") == (1, ["alpha"])
    cache.close()


def test_places_and_traits_are_found_with_the_texts(tmp_path: Path) -> None:
    """The properties of texts, and the facet counts of all matches."""
    write(
        tmp_path,
        make_row(
            "alpha",
            length=4095,
            part=TextKind.TOOL_INPUT,
            is_subagent=True,
            tool="Bash",
            cwd="/pond",
            is_error=True,
        ),
        make_row("alpha", second=NOW + 1, position=1, is_copy=True, cwd="/pond"),
    )
    with open_text_queries(tmp_path, "1", TOKENIZER) as queries:
        assert queries.has_index
        found = queries.find_matches(
            "alpha", ALWAYS, deadline=time.monotonic() + 60, with_traits=True
        )
        counts = queries.count_traits(found)
        names = queries.names
    assert [*map(unpack_place, found.places)] == [
        TextPlace(1, TextKind.TOOL_INPUT, 6, is_copy=False, is_subagent=True),
        TextPlace(1, TextKind.PROMPT, 1, is_copy=True, is_subagent=False),
    ]
    counted = {(names[cwd], project): count for (cwd, project), count in counts.projects.items()}
    assert counted == {("/pond", FILE.project): 2}
    assert {names.get(number): count for number, count in counts.tool.items()} == {
        "Bash": 1,
        None: 1,
    }
    assert counts.errors == 1


@pytest.mark.parametrize(("match", "limit"), [("alpha", 2), (None, 2), ("alpha", 3), ("alpha", 0)])
def test_only_the_newest_can_be_asked_for(tmp_path: Path, match: str | None, limit: int) -> None:
    """They are returned oldest first, with a flag if there are more."""
    write(tmp_path, *(make_row("alpha", second=NOW + at, position=at) for at in range(3)))
    with open_text_queries(tmp_path, "1", TOKENIZER) as queries:
        assert queries.has_index
        found = queries.find_matches(match, ALWAYS, deadline=time.monotonic() + 60, limit=limit)
        seconds = [queries.find_second(handle) - NOW for handle in found.handles]
        counts = [queries.count_matches("alpha", limit) for limit in (2, 4, -1)]
    assert (seconds, found.is_cut) == ([0, 1, 2][3 - limit :], limit < 3)
    assert counts == [2, 3, 3]


def test_time_can_run_out(tmp_path: Path) -> None:
    """Texts that cannot be checked in time are left out, and the result says so."""
    write(tmp_path, *(make_row("alpha", position=number) for number in range(10)))
    with open_text_queries(tmp_path, "1", TOKENIZER) as queries:
        assert queries.has_index
        condition = Condition("passes(0, 0, 0, 0, 0)")
        found = queries.find_matches(None, condition, deadline=0, checks=[lambda *_: True])
    assert (found.handles, found.is_cut) == ([], True)


def test_all_terms_are_gathered(tmp_path: Path) -> None:
    """Every term is in the list once, in order, whatever its first character."""
    terms = "0 1 2 6 9 a ab c z zz ж 中文 가 𐐨".split()
    write(tmp_path, make_row(" ".join(reversed(terms))))
    update_texts(tmp_path, "1", TOKENIZER, rebuild_vocabulary)
    with read_texts(tmp_path, "1") as connection:
        assert connection is not None
        rows = connection.execute("SELECT terms FROM vocabulary ORDER BY id").get
        found = b"".join(rows).decode().split()
        beginnings = [Vocabulary(connection).find_beginning(term) for term in terms]
    assert found == terms
    assert beginnings == [{other for other in terms if other.startswith(term)} for term in terms]
