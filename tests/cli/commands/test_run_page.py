"""docs/run.md matches the commands and the JSON documents."""

import re
from pathlib import Path

import pytest

from recollect.documents.command_reports import RUN_SCHEMA, RunDocument
from recollect.launch.client_commands import MAX_PROMPT_LENGTH, STREAMING
from recollect.launch.client_process import STOP_STEPS
from recollect.launch.stream_session import MAX_PAUSE
from tests.process import RunRecollect

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "run.md").read_text(encoding="utf-8")
EVENTS = "started message text stderr ended".split()


@pytest.mark.parametrize("command", ["run", "replay"])
def test_every_option_is_documented(run_recollect: RunRecollect, command: str) -> None:
    """Each option of the help is on the page."""
    shown = set(re.findall(r"--[a-z][a-z-]+", run_recollect(command, "--help").stdout))
    assert shown - set(re.findall(r"--[a-z][a-z-]+", PAGE)) == {"--help"}


def test_every_field_and_event_is_documented() -> None:
    """The tables have the fields of a document, in their order, and all events."""
    part = PAGE[PAGE.index("## The JSON form") :]
    cells = re.findall(r"^\| `([^`]+)` \|", part, flags=re.MULTILINE)
    assert cells == [*RunDocument.__struct_fields__, *EVENTS]
    assert f"| `{RUN_SCHEMA}` |" in part


def test_limits_and_words_are_those_of_the_code() -> None:
    """Numbers and the command line on the page equal those in the code."""
    assert [patience for _, patience in STOP_STEPS] == [5.0, 3.0]
    assert MAX_PAUSE == 5.0
    assert f"{MAX_PROMPT_LENGTH:,} bytes" in PAGE
    assert f"`claude {' '.join(STREAMING)}`" in PAGE
