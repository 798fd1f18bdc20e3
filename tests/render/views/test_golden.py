"""Views of two demo sessions, compared with golden files."""

from pathlib import Path

import msgspec
import pytest

from recollect.demo import CLAUDE_DIRECTORY
from recollect.library.opening import open_session
from recollect.render.views.turn_views import build_turn_views
from tests.golden import check_golden

GOLDEN = Path(__file__).parent / "golden"
SESSIONS = {
    "compacted": "94791a87-9d13-410a-a632-25a9b25c1b45",
    "rewound": "8facb961-b86b-4d27-b5bd-038c0d96c55c",
}


@pytest.mark.parametrize("name", SESSIONS)
def test_views_of_a_demo_session(name: str) -> None:
    """Every turn, step and part equals the golden file."""
    session = open_session(SESSIONS[name], root=CLAUDE_DIRECTORY)
    encoded = msgspec.json.encode(build_turn_views(session))
    check_golden(GOLDEN / f"{name}.json", msgspec.json.format(encoded, indent=1).decode() + "\n")
