"""A server whose full-text index is damaged while it runs."""

import random
from functools import partial
from pathlib import Path

import pytest

from recollect.store.data_directory import find_text_path
from tests.web.running import RunningServer, copy_demo, run_server

PAGE = 8192
QUERIES = ("tide", "te*", "is:error", "ide")


def search(server: RunningServer, query: str) -> tuple[int, object]:
    """The status and the hits of a query."""
    answer = server.get(f"/api/search?q={query}")
    return answer.status, answer.json()


def overwrite(path: Path, offset: int, data: bytes) -> bool:
    """Damage a file; return False if it does not exist because earlier damage was detected."""
    try:
        with path.open("r+b") as file:
            file.seek(offset)
            file.write(data)
    except FileNotFoundError:
        return False
    return True


@pytest.mark.slow
def test_damage_never_changes_an_answer(tmp_path: Path) -> None:
    """Each page in turn is overwritten; the index is built again and the hits stay the same."""
    with run_server(tmp_path, copy_demo(tmp_path)) as server:
        server.wait_until_current()
        path = find_text_path(server.data)
        expected = [search(server, query) for query in QUERIES]
        noise = random.Random(1).randbytes(PAGE)
        for number in range(path.stat().st_size // PAGE):
            server.wait_for(partial(overwrite, path, number * PAGE, noise))
            for query, answer in zip(QUERIES, expected, strict=True):
                found = search(server, query)
                assert found[0] == 200
                if found != answer:
                    # Only with the remark that the index is not complete yet.
                    assert found[1]["index_complete"] is False  # type: ignore[index]
                    server.wait_until_current()
                    assert search(server, query) == answer


@pytest.mark.slow
def test_a_deleted_index_is_built_again(tmp_path: Path) -> None:
    """Until then, no response claims to be complete."""
    with run_server(tmp_path, copy_demo(tmp_path)) as server:
        server.wait_until_current()
        expected = search(server, "tide")
        find_text_path(server.data).unlink()
        found = search(server, "tide")
        assert found == expected or not found[1]["index_complete"]  # type: ignore[index]
        server.wait_until_current()
        assert search(server, "tide") == expected
