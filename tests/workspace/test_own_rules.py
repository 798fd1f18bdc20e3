"""The user's own rules for secrets apply everywhere, and again when they change."""

import json
import os
from functools import partial
from pathlib import Path

import pytest

from recollect.export import ExportOptions
from recollect.workspace.workspace import open_workspace
from tests.export.sessions import answer, call, reply, say, write_session
from tests.process import RunRecollect
from tests.redact.made_up_secrets import OWN_RULES
from tests.web.running import RunningServer, run_server

VALUE = "reef_0123456789abcdefghij"
ALLOWED = "AKIAIOSFODNN7RTGHJKL"
SESSION = "a0000000-0000-4000-8000-000000000000"
COLOURED = "\x1b[31mreef_0123\x1b[0m456789abcdefghij"
ESCAPED = json.dumps(json.dumps({"key": "reef_0123456789abcde\u0066ghij"}))


def plant(root: Path) -> Path:
    """A session with a value of the user's own kind in a title, in output and in a reply."""
    return write_session(
        root,
        [
            say(f"use {VALUE} and {ALLOWED}"),
            reply(call("t1", "Bash", command="printenv")),
            answer("t1", f"{COLOURED}\n{ESCAPED}"),
            reply({"type": "text", "text": f"harbour {VALUE}"}, message_id="m2"),
        ],
        SESSION,
    )


def list_files_with(data: Path, value: str) -> list[str]:
    """Return the files of a data directory in which a value can be read."""
    files = (path for path in data.rglob("*") if path.is_file())
    return sorted(path.name for path in files if value.encode() in path.read_bytes())


COMMANDS = (
    ("list", "--json"),
    ("show", SESSION, "--json"),
    ("show", SESSION, "--raw"),
    ("search", "harbour", "--json"),
    ("export", SESSION, "--format", "text"),
)


@pytest.mark.slow
def test_changed_rules_apply_to_what_is_in_the_index(
    run_recollect: RunRecollect, home: Path, own_rules: Path, tmp_path: Path
) -> None:
    """Titles, snippets, names and findings are rebuilt automatically."""
    plant(home)

    def show() -> tuple[set[bool], set[bool]]:
        printed = [run_recollect(*each) for each in COMMANDS]
        assert [each.code for each in printed] == [0] * len(COMMANDS)
        shown = {VALUE in each.stdout for each in printed}
        return shown, {ALLOWED in each.stdout for each in printed if "AKIA" in each.stdout}

    def find_kinds() -> dict[str, int]:
        done = run_recollect("secrets", "scan", "--all", "--json")
        return {each["kind"]: each["count"] for each in json.loads(done.stdout)["findings"]}

    own_rules.write_text("")
    assert (find_kinds(), show()) == ({"aws-key": 1}, ({True}, set()))
    assert list_files_with(tmp_path / "data", VALUE) != []
    own_rules.write_text(f'{OWN_RULES}\n[redact]\nallow = ["AKIA.*"]\n')
    assert find_kinds() == {"reef-key": 3}
    assert show() == ({False}, {True})
    assert list_files_with(tmp_path / "data", VALUE) == []
    searched = run_recollect("search", VALUE, "--json")
    assert len(json.loads(searched.stdout)["hits"]) > 0
    own_rules.write_text("")
    assert (find_kinds(), show()) == ({"aws-key": 1}, ({True}, set()))


def test_a_value_is_found_however_it_is_written(
    run_recollect: RunRecollect, home: Path, own_rules: Path
) -> None:
    """In colours and in nested JSON, as with built-in rules."""
    plant(home)
    for _ in range(2):
        shown = run_recollect("show", SESSION, "--tools", "full").stdout
        assert ("0123" in shown, shown.count("[redacted:reef-key#1]")) == (False, 5)
        assert run_recollect("index", "--text").code == 0


def is_masked(server: RunningServer, page: str) -> bool:
    """Return whether a page does not show the value."""
    return VALUE.encode() not in server.get(page).body


@pytest.mark.slow
def test_a_server_obeys_rules_that_change_meanwhile(home: Path, own_rules: Path) -> None:
    """The Health page lists the kind, and no page or download contains the value any more."""
    plant(home)
    rules = own_rules.read_text()
    own_rules.write_text("")
    pages = (
        *(f"/s/{SESSION}", "/sessions", "/search?q=harbour", f"/api/sessions/{SESSION}/turns"),
        f"/api/sessions/{SESSION}/export?format=text",
    )
    with run_server(home.parent, home) as server:
        server.wait_until_current()
        assert [VALUE.encode() in server.get(each).body for each in pages] == [True] * len(pages)
        own_rules.write_text(rules)
        server.wait_for(lambda: b"reef-key" in server.get("/health").body)
        server.wait_until_current()
        for page in pages:
            server.wait_for(partial(is_masked, server, page))
        own_rules.write_text("[redact]\nallow = 1\n")
        assert is_masked(server, pages[0])


def test_the_library_obeys_them_too(home: Path, own_rules: Path, tmp_path: Path) -> None:
    """It uses the same index and the same export."""
    plant(home)
    with open_workspace(home, os.environ["RECOLLECT_DATA_DIR"]) as workspace:
        (listed,) = workspace.sessions().sessions
        workspace.export(SESSION, tmp_path / "x.md")
        written = workspace.export(SESSION, tmp_path / "x.txt", ExportOptions(force=True))
        raw = workspace.export(SESSION, tmp_path / "x.jsonl", ExportOptions(redaction=None))
    assert listed.first_prompt == "use [redacted:reef-key] and [redacted:aws-key]"
    assert VALUE not in (tmp_path / "x.md").read_text()
    assert VALUE not in (tmp_path / "x.txt").read_text()
    assert (written.format, raw.format, raw.is_redacted) == ("text", "jsonl", False)
