"""The list of sessions: its totals, and the counts on its filters."""

import json
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.web.markup import find_texts
from tests.web.running import RunningServer, copy_demo, run_server

OLD = datetime(2026, 11, 3, tzinfo=UTC).timestamp()
"""When a file was written that expires soon."""
FILTERS = ("live", "starred", "errors", "compacted", "expiring")
CONTEXTS = (
    "",
    "text=harbour",
    "subagents=true",
    "model=sonnet",
    "since=2026-11-01",
    "errors=true",
    "starred=true&errors=true",
    "live=true&expiring=true",
    "text=nothing-like-this",
)


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server on the sample sessions, of which one runs, two are starred and some expire."""
    folder = tmp_path_factory.mktemp("listed")
    root = copy_demo(folder)
    (root / "settings.json").write_text('{"cleanupPeriodDays": 15}', encoding="utf-8")
    sessions = sorted(path for path in root.glob("projects/*/*.jsonl") if "agent-" not in path.name)
    for path in sessions[:3]:
        os.utime(path, (OLD, OLD))
    # The client that has it open is this process.
    note = root / "sessions" / f"{os.getpid()}.json"
    note.parent.mkdir(exist_ok=True)
    running = {"pid": os.getpid(), "sessionId": sessions[0].stem, "status": "busy"}
    note.write_text(json.dumps(running), encoding="utf-8")
    with run_server(folder, root) as server:
        server.wait_until_current()
        server.wait_for_figures()
        for each in sessions[1:3]:
            _star(server, each)
        server.wait_for(lambda: _read_counts(server, "")["live"])
        yield server


def _star(server: RunningServer, path: Path) -> None:
    body = json.dumps({"starred": True}).encode()
    headers = {**server.authority, "content-type": "application/json"}
    assert server.ask(f"/api/sessions/{path.stem}/mark", "POST", headers, body).status == 200


def _read_counts(server: RunningServer, query: str) -> dict[str, int]:
    page = server.get(f"/sessions?{query}").body
    texts = {name: find_texts(page, "span", data_count=name) for name in FILTERS}
    return {name: int(text or "0") for name, (text,) in texts.items()}


def _read_total(server: RunningServer, query: str) -> int:
    page = server.get(f"/sessions?{query}").body
    (count,) = find_texts(page, "p", class_="count")
    return int(count.split()[0])


def test_the_filters_have_something_to_count(listed: RunningServer) -> None:
    """The sample has sessions for each filter, so that equal counts mean something."""
    counts = _read_counts(listed, "")
    assert (counts["live"], counts["starred"]) == (1, 2)
    assert all(counts.values())


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_count_is_what_the_filter_shows(listed: RunningServer, context: str) -> None:
    """Under any other filters; that of an active filter is the number of sessions listed."""
    counts = _read_counts(listed, context)
    shown = {name: _read_total(listed, _add(context, name)) for name in FILTERS}
    assert counts == shown


def _add(context: str, name: str) -> str:
    return context if f"{name}=" in context else f"{context}&{name}=true"


def test_a_filter_without_matches_has_no_count(listed: RunningServer) -> None:
    """Instead of zeros."""
    page = listed.get("/sessions?text=nothing-like-this").body
    assert [find_texts(page, "span", data_count=name) for name in FILTERS] == [[""]] * len(FILTERS)


@pytest.mark.parametrize("errors", ["false", "true"])
@pytest.mark.parametrize("order", ["activity", "cost"])
def test_totals_are_the_sums_of_what_is_listed(
    listed: RunningServer, order: str, errors: str
) -> None:
    """Cost and tokens are those of the rows, in any order; subagents are part of their session."""
    query = f"?order={order}&errors={errors}&pageSize=200"
    rows = listed.get(f"/api/history/sessions{query}").json()["sessions"]
    cost = sum(row["costUsd"] or 0 for row in rows)
    tokens = sum(row["totalTokens"] or 0 for row in rows)
    for subagents in ("false", "true"):
        page = listed.get(f"/sessions?order={order}&errors={errors}&subagents={subagents}").body
        (count,) = find_texts(page, "p", class_="count")
        found = re.search(r"\$([\d.]+) · ([\d.]+)K tokens", count)
        assert found is not None
        assert (float(found[1]), float(found[2])) == (round(cost, 2), round(tokens / 1000, 1))
