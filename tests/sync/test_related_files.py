"""Tests of recollect.sync.sync_engine: the figures equal those of the whole ledger."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from recollect import Workspace
from recollect.documents.session_documents import TokenShares
from recollect.store import find_index_status
from recollect.store.database import DAMAGED_NAME
from recollect.store.usage_queries import UsageQueries
from recollect.sync import count_related, find_transcripts, sync, sync_in_memory
from recollect.sync.workers import Limits
from recollect.usage.ledger_access import UsageLedger
from recollect.usage.token_shares import attribute_tokens
from tests.library.claude_root import FIRST, SECOND, THIRD, ClaudeRoot, prompt
from tests.sdk.sources import iter_recorded_roots
from tests.workspace.test_token_shares import CASES, NEW, OLD, answer

SMALL = Limits(pool_bytes=0)
"""Limits with which even a few lines are too much for the ledger."""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory without an index."""
    return tmp_path / "data"


def count(root: Path, path: str, data: Path) -> TokenShares | None:
    """Return the shares of a session from as few files as possible, if that is enough."""
    connection = count_related(data, find_transcripts([root]), [path], limits=SMALL)
    if connection is None:
        return None
    return attribute_tokens(UsageLedger(UsageQueries(connection), [root]), [path])[path]


def count_all(root: Path, paths: Iterable[str]) -> dict[str, TokenShares]:
    """Return the shares of sessions by path, from all files."""
    queries = UsageQueries(sync_in_memory(find_transcripts([root])))
    return attribute_tokens(UsageLedger(queries, [root]), paths)


@pytest.mark.parametrize("name", CASES)
def test_the_figures_are_those_of_the_ledger(tmp_path: Path, data: Path, name: str) -> None:
    """Copies in other files are found, even if a transcript alone does not show them."""
    original, fork, (own, copied, more) = CASES[name]
    root = ClaudeRoot(tmp_path / "claude")
    if original:
        root.session(FIRST, *original)
    path = str(root.session(SECOND, *fork))
    root.session(THIRD, prompt("else"), answer("z1", 1))
    shares = count(root.path, path, data)
    assert shares is not None
    totals = (shares.own.total, shares.copied.total, shares.subagents.total)
    assert totals == (own, copied, more)
    assert shares == count_all(root.path, [path])[path]


def test_only_files_with_its_messages_are_read(tmp_path: Path, data: Path) -> None:
    """Sessions without shared messages are not read, and no index is created."""
    root = ClaudeRoot(tmp_path / "claude")
    path = root.session(FIRST, *OLD)
    fork = root.session(SECOND, *OLD, *NEW)
    root.session(THIRD, prompt("else"), answer("z1", 1))
    found = count_related(data, find_transcripts([root.path]), [str(path)], limits=SMALL)
    assert found is not None
    assert set(UsageQueries(found).files) == {str(path), str(fork)}
    assert not data.exists()


def test_little_is_put_into_the_index(tmp_path: Path, data: Path) -> None:
    """A small history is read faster than it is searched."""
    root = ClaudeRoot(tmp_path / "claude")
    path = str(root.session(FIRST, *OLD))
    assert count_related(data, find_transcripts([root.path]), [path]) is None


def test_an_index_with_files_is_used(tmp_path: Path, data: Path) -> None:
    """It may include deleted copies, which are in no file."""
    root = ClaudeRoot(tmp_path / "claude")
    gone, path = root.session(FIRST, *OLD), root.session(SECOND, *OLD, *NEW)
    sync(data, find_transcripts([root.path]))
    gone.unlink()
    assert count(root.path, str(path), data) is None


def test_an_index_that_was_replaced_is_used(tmp_path: Path, data: Path) -> None:
    """Its data about deleted transcripts is carried over to the next one."""
    root = ClaudeRoot(tmp_path / "claude")
    path = root.session(SECOND, *OLD, *NEW)
    data.mkdir()
    (data / DAMAGED_NAME).write_bytes(b"")
    assert count(root.path, str(path), data) is None


@pytest.mark.parametrize("name", ["gen-1", "id\u00e9-long-enough-to-be-unique", None])
def test_ids_that_are_not_found_by_a_search_need_the_ledger(
    tmp_path: Path, data: Path, name: str | None
) -> None:
    """Ids that repeat, may be escaped, or name a line do not identify copies."""
    root = ClaudeRoot(tmp_path / "claude")
    line = answer("a1", 1, uuid=None)
    message = {**line["message"], "id": name} if isinstance(line["message"], dict) else {}
    path = root.session(FIRST, prompt("drain"), {**line, "message": message})
    assert count(root.path, str(path), data) is None


def test_a_session_without_replies_has_no_tokens(tmp_path: Path, data: Path) -> None:
    """There is nothing to search for."""
    root = ClaudeRoot(tmp_path / "claude")
    path = str(root.session(FIRST, prompt("drain")))
    root.session(SECOND, *OLD)
    shares = count(root.path, path, data)
    assert shares is not None
    assert (shares.own.total, shares.copied.total, shares.cost_usd) == (0, 0, None)


def test_a_long_history_is_not_read_for_one_session(tmp_path: Path) -> None:
    """The figures stay the same when the ledger is filled later."""
    root = ClaudeRoot(tmp_path / "claude")
    root.session(FIRST, *OLD)
    path = root.session(SECOND, *OLD, *NEW)
    root.session(THIRD, prompt("x" * Limits().pool_bytes), answer("z1", 1))
    with Workspace([root.path], data_directory=tmp_path / "data") as workspace:
        transcript = workspace.find(str(path))
        early = workspace.attribute_tokens([transcript])
        assert find_index_status(tmp_path / "data").files == 0
        workspace.usage()
        assert find_index_status(tmp_path / "data").files == 3
        assert workspace.attribute_tokens([transcript]) == early


@pytest.mark.slow
def test_sessions_of_the_real_client(shared: Path, data: Path) -> None:
    """Every session and subagent of five versions has the figures of the ledger."""
    compared = 0
    for root in iter_recorded_roots(shared.resolve()):
        wanted = count_all(root, [each.file for each in find_transcripts([root])])
        for path, shares in wanted.items():
            found = count(root, path, data)
            if found is not None:
                assert found == shares, path
                compared += 1
    assert compared > 400
