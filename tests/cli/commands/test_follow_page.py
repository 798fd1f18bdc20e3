"""docs/follow.md matches the command, its events and the library."""

import asyncio
import re
from pathlib import Path
from typing import Any

from recollect.documents.events import EventDocument
from recollect.documents.kinds import StatusKind
from tests.library.claude_root import FIRST, ClaudeRoot, prompt
from tests.process import RunRecollect

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "follow.md").read_text(encoding="utf-8")
EVENTS = "found appended reset caught_up status continued ended watching".split()


def first_cells(text: str) -> list[str]:
    """The names in the first column of all tables."""
    return re.findall(r"^\| `([^`]+)` \|", text, flags=re.MULTILINE)


def test_every_option_is_documented(run_recollect: RunRecollect) -> None:
    """Each option of the help is on the page."""
    shown = set(re.findall(r"--[a-z-]+", run_recollect("follow", "--help").stdout))
    assert shown - set(re.findall(r"--[a-z-]+", PAGE)) == {"--help"}


def test_every_status_is_documented() -> None:
    """The table has every status that the program reports."""
    part = PAGE[PAGE.index("## Status") : PAGE.index("## Guarantees")]
    assert first_cells(part) == [kind.value for kind in StatusKind]


def test_every_field_and_event_is_documented() -> None:
    """The tables have the fields of an event, in their order, and all events."""
    part = PAGE[PAGE.index("## The JSON form") : PAGE.index("## In the library")]
    assert first_cells(part) == [*EventDocument.__struct_fields__, *EVENTS]


def test_the_example_runs(tmp_path: Path) -> None:
    """The library example on the page works unchanged."""
    (source,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    names: dict[str, Any] = {}
    exec(source, names)
    root = ClaudeRoot(tmp_path)
    root.session(FIRST, prompt("hello"), {"type": "cost-state"})
    session, position = asyncio.run(names["watch"](tmp_path))
    assert (session.turns[0].words, position[:2]) == ("hello", "1.")
