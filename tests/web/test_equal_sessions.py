"""The same session is the same JSON in `recollect list --json` and in the API."""

import json
import os
import subprocess
import sys
from typing import Any
from urllib.parse import quote

from tests.web.running import NOW, RunningServer


def list_with_command(server: RunningServer) -> list[dict[str, Any]]:
    """The sessions that the command line prints, from the index of the server."""
    command = ["list", "--subagents", "-n", "0", "--json", "--claude-dir", str(server.root)]
    done = subprocess.run(
        [sys.executable, "-m", "recollect", *command],
        env={**os.environ, "RECOLLECT_DATA_DIR": str(server.data), "RECOLLECT_NOW": NOW},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    sessions: list[dict[str, Any]] = json.loads(done.stdout)["sessions"]
    return sessions


def test_a_session_is_the_same_for_the_command_line_and_the_api(server: RunningServer) -> None:
    """Field by field, with figures, usage and expiry, for sessions and subagents."""
    listed = list_with_command(server)
    assert len(listed) > 8
    asked = [
        server.get(f"/api/sessions/{quote(each['id'])}?project={quote(each['project'])}").json()
        for each in listed
    ]
    assert [each["session"] for each in asked] == listed
    assert all(each["cost_usd"] for each in listed if not each["is_subagent"] and each["models"])
