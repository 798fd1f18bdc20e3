"""One title and one first prompt per session, wherever it is shown."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from recollect.cli.picker_state import open_state
from recollect.cli.terminal_output import label_title
from recollect.store.data_directory import find_data_directory
from recollect.sync.index_access import find_transcripts
from recollect.sync.session_lists import list_current
from tests.process import run_recollect
from tests.sdk.sources import iter_recorded_roots, lay_out, list_samples
from tests.web.markup import find_texts
from tests.web.running import RunningServer, copy_demo, run_server

Names = dict[str, tuple[str | None, str | None]]


def _run(root: Path, *words: str) -> str:
    done = run_recollect(*words, "--claude-dir", str(root))
    assert done.code == 0, done
    return done.stdout


def _list_names(root: Path) -> Names:
    """Return title and first prompt by id in `list --json`, without repeated ids."""
    rows = json.loads(_run(root, "list", "--limit", "0", "--json"))["sessions"]
    ids = [row["id"] for row in rows]
    return {
        row["id"]: (row["title"], row["first_prompt"]) for row in rows if ids.count(row["id"]) == 1
    }


def _ask_names(server: RunningServer, session: str) -> Names:
    """Return title and first prompt of a session in `show` and in the API."""
    document = json.loads(_run(server.root, "show", session, "--json"))["session"]
    row = server.get(f"/api/sessions/{quote(session)}").json()["session"]
    return {
        "show": (document["title"], document["first_prompt"]),
        "API session": (row["title"], row["first_prompt"]),
    }


def assert_one_name(root: Path, folder: Path, shown: int) -> None:
    """Every surface has the names of the list; `show` is asked for the first `shown` sessions."""
    folder.mkdir()
    listed = _list_names(root)
    with run_server(folder, root, "--no-open") as server:
        usage = server.get("/api/usage?group=session&limit=1000").json()["rows"]
        server.wait_until_current()
        history = server.get("/api/history/sessions?pageSize=200").json()["sessions"]
        named = {each["id"]: (each["title"], each["firstMessage"]) for each in history}
        assert named == {each: listed[each] for each in named if each in listed}
        assert {row["key"]: row["title"] for row in usage if row["key"] in listed} == {
            row["key"]: listed[row["key"]][0] for row in usage if row["key"] in listed
        }
        page = server.get("/sessions").body
        rows = find_texts(page, "tr", data_session="")
        assert len(rows) == min(len(named), 50)
        # Of a session without any prompt `show` has nothing to show.
        for session in [each for each in named if listed[each][1]][:shown]:
            assert _ask_names(server, session) == dict.fromkeys(
                ("show", "API session"), listed[session]
            )
            # Markdown in a conversation may have headings of its own.
            head = find_texts(server.get(f"/s/{quote(session)}").body, "h1")[0]
            name = " ".join((listed[session][0] or listed[session][1] or session).split())
            assert head.rstrip(".")[:100] == name[: len(head.rstrip("."))][:100]
            assert any(row.startswith(head[:60]) for row in rows)
    listings = list_current(find_data_directory(), find_transcripts([root]))
    picked = [row.listing for row in open_state(listings, "/").rows]
    assert {each.id: (each.title, each.first_prompt) for each in picked if each.id in listed} == {
        each.id: listed[each.id] for each in picked if each.id in listed
    }
    words = _run(root, "list", "--limit", "0")
    for title, first in listed.values():
        assert label_title(title, first)[:20] in words


def test_demo(tmp_path: Path) -> None:
    """On the made-up sessions."""
    assert_one_name(copy_demo(tmp_path), tmp_path / "server", 20)


@pytest.mark.slow
def test_sessions_of_the_real_client(shared: Path, tmp_path: Path) -> None:
    """On what five versions of the client wrote."""
    for number, root in enumerate(iter_recorded_roots(shared)):
        assert_one_name(root, tmp_path / str(number), 3)


@pytest.mark.slow
def test_sessions_that_people_published(shared: Path, tmp_path: Path) -> None:
    """On the samples from elsewhere."""
    with lay_out(list_samples(shared), shared / "corpus") as root:
        assert_one_name(root, tmp_path / "server", 5)
