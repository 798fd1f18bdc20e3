"""A review of an export lists exactly the values in what is exported."""

from pathlib import Path
from random import Random

import pytest

from recollect.export import ExportOptions, Format, Level
from recollect.workspace.session_exports import ExportRequest, SessionExport
from recollect.workspace.turn_selection import TurnBounds, TurnSelection
from recollect.workspace.workspace import open_workspace
from tests.export.sessions import reply, say, write_session
from tests.redact.made_up_secrets import FAMILIES

TOKENS = [FAMILIES["github"].make(Random(seed)).text for seed in range(4)]
BARE = FAMILIES["aws-secret"].make(Random(5)).text
NAME = "a0000000-0000-4000-8000-000000000000"
OTHER = "b0000000-0000-4000-8000-000000000000"


def review(root: Path, request: ExportRequest, level: Level = Level.FULL) -> list[tuple[str, int]]:
    """Return the values that an export would mask, with their counts."""
    options = ExportOptions(format=Format.MARKDOWN, level=level)
    with open_workspace(root, temporary=True) as workspace:
        listed = SessionExport(workspace, request, options).list_masked_values()
    return [(each.value, each.count) for each in listed]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A session of three turns, the second abandoned, with a secret in each, and a second one."""
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": TOKENS[2]}}
    records = [
        say("start") | {"uuid": "p1"},
        reply({"type": "text", "text": f"{TOKENS[0]} and {BARE}"}, message_id="m1")
        | {"uuid": "r1"},
        say(f"try {TOKENS[1]}") | {"uuid": "p2"},
        reply({"type": "text", "text": "no"}, message_id="m2") | {"uuid": "r2"},
        say(f"AWS_SECRET_ACCESS_KEY={BARE}") | {"uuid": "p3", "parentUuid": "r1"},
        reply(call, message_id="m3") | {"uuid": "r3"},
    ]
    write_session(tmp_path, records, NAME)
    write_session(tmp_path, [say("reef"), say(f"use {TOKENS[3]}")], OTHER)
    return tmp_path


@pytest.mark.parametrize(
    ("selection", "values"),
    [
        (TurnSelection(), [(TOKENS[0], 1), (BARE, 2), (TOKENS[2], 2)]),
        (TurnSelection(turns=TurnBounds(1, 1)), [(TOKENS[0], 1), (BARE, 1)]),
        (TurnSelection(turns=TurnBounds(3, 3)), [(BARE, 1), (TOKENS[2], 2)]),
        (TurnSelection(branch="1"), [(TOKENS[0], 1), (BARE, 1), (TOKENS[1], 1)]),
    ],
)
def test_only_values_of_the_selected_turns_are_listed(
    root: Path, selection: TurnSelection, values: list[tuple[str, int]]
) -> None:
    """Including one that is recognisable only in another turn."""
    assert review(root, ExportRequest(names=(NAME,), selection=selection)) == values


def test_only_values_at_the_level_are_listed(root: Path) -> None:
    """Without tool calls, their values are not exported and not listed."""
    request = ExportRequest(names=(NAME,))
    values = [value for value, _ in review(root, request, Level.CONVERSATION)]
    assert values == [TOKENS[0], BARE]
    assert review(root, request, Level.PROMPTS) == [(BARE, 1)]


def test_only_values_of_sessions_that_match_are_listed(root: Path) -> None:
    """A search selects sessions."""
    assert review(root, ExportRequest(search="reef")) == [(TOKENS[3], 1)]


def test_a_place_is_reviewed_alone(root: Path) -> None:
    """The review of a place covers only its turn, like the export."""
    assert review(root, ExportRequest(names=(f"{NAME}:2",))) == [(TOKENS[1], 1)]


def test_a_value_in_the_title_is_listed(tmp_path: Path) -> None:
    """The title is exported with every selection."""
    title = {"type": "custom-title", "customTitle": f"rotate {TOKENS[0]}", "sessionId": NAME}
    write_session(tmp_path, [say("one"), title, say("two")], NAME)
    selection = TurnSelection(turns=TurnBounds(2, 2))
    with open_workspace(tmp_path, temporary=True) as workspace:
        request = ExportRequest(names=(NAME,), selection=selection)
        (found,) = SessionExport(workspace, request, ExportOptions()).list_masked_values()
    assert (found.value, found.turn, found.count) == (TOKENS[0], None, 1)
    assert (found.before, found.after) == ("rotate ", "")
