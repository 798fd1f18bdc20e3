"""docs/index.md documents every table of the index, and its example queries run."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from recollect.store.data_directory import INDEX_NAME
from recollect.store.schema import TABLE_NAMES, TABLES
from recollect.sync.cached_values import load_calls
from recollect.sync.index_access import find_transcripts
from recollect.sync.session_lists import list_current
from recollect.sync.sync_engine import sync
from tests.library.claude_root import FIRST, ClaudeRoot, call, prompt, reply, result

PAGE = (Path(__file__).parents[2] / "docs" / "index.md").read_text(encoding="utf-8")
SECTION = PAGE[PAGE.index("## Query it with SQL") : PAGE.index("## Exit codes")]
QUERIES = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of a session with a tool call, with everything in it."""
    base = tmp_path_factory.mktemp("documented")
    root, data = ClaudeRoot(base / "claude"), base / "data"
    root.session(FIRST, prompt("a"), reply("b"), call("Bash", {}), result("done"))
    transcripts = find_transcripts([root.path])
    sync(data, transcripts)
    list_current(data, transcripts)
    load_calls(data, transcripts)
    return data / INDEX_NAME


def read_columns(table: str) -> set[str]:
    """The columns of a table."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(TABLES)
        return {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}


@pytest.mark.parametrize("table", sorted(TABLE_NAMES))
def test_every_table_is_documented_with_its_columns(table: str) -> None:
    """All of its columns, and nothing that is not one."""
    (row,) = re.findall(rf"^\| `{table}` \|[^|]*\|(.*)\|$", SECTION, re.MULTILINE)
    documented = set(re.findall(r"`(\w+)`", row))
    columns = read_columns(table)
    assert columns - documented == set()
    assert documented - columns - TABLE_NAMES - {"id"} == set()


def test_there_are_queries() -> None:
    """Else the next test would test nothing."""
    assert len(QUERIES) >= 5


@pytest.mark.parametrize("query", QUERIES)
def test_a_documented_query_runs_in_any_sqlite(index: Path, query: str) -> None:
    """Here in the one that comes with Python, which knows nothing of page checksums."""
    with closing(sqlite3.connect(f"{index.as_uri()}?mode=ro", uri=True)) as connection:
        connection.execute(query).fetchall()


def test_sessions_and_tool_calls_can_be_joined(index: Path) -> None:
    """SQL can query everything that lists and `tools` show."""
    query = (
        "SELECT s.session_id, s.title, s.turn_count, c.tool, c.status "
        "FROM tool_calls AS c JOIN sessions AS s ON s.id = c.session"
    )
    with closing(sqlite3.connect(f"{index.as_uri()}?mode=ro", uri=True)) as connection:
        assert connection.execute(query).fetchall() == [(FIRST, "a", 1, "Bash", "success")]
