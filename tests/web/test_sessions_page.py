"""The list of sessions: its totals, the counts on its filters, and its groups."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import pytest

from tests.library.claude_root import ClaudeRoot, prompt
from tests.web.markup import find_links, find_texts
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


def _read_groups(page: bytes) -> list[tuple[str, int, str, str]]:
    """The name of each group, its number of sessions, tokens and cost."""
    words = re.compile(r"(.+) (\d+) sessions?")
    rows = [words.fullmatch(text) for text in find_texts(page, "th", scope="rowgroup")]
    figures = [find_texts(page, "tr", class_="group")[at].split()[-2:] for at in range(len(rows))]
    return [
        (row[1], int(row[2]), tokens, cost)
        for row, (tokens, cost) in zip(rows, figures, strict=True)
        if row
    ]


def test_a_project_has_the_totals_of_its_own_list(listed: RunningServer) -> None:
    """Its name leads there, with the other filters; together the groups are the whole list."""
    page = listed.get("/sessions?group=project&errors=true").body
    groups = _read_groups(page)
    links = find_links(page, "tr", class_="group")
    assert len(groups) == len(links) > 1
    for (_, sessions, tokens, cost), link in zip(groups, links, strict=True):
        (count,) = find_texts(listed.get(link).body, "p", class_="count")
        assert re.match(rf"{sessions} of \d+ sessions · {re.escape(cost)} · {tokens} tokens", count)
    assert sum(sessions for _, sessions, *_ in groups) == _read_total(listed, "errors=true")


def test_days_come_newest_first(listed: RunningServer) -> None:
    """In any order of the sessions, each under the day on which it was last active."""
    rows = listed.get("/api/history/sessions?pageSize=200").json()["sessions"]
    days = Counter(
        f"{datetime.fromtimestamp(row['lastActiveAt'] / 1000).astimezone():%a %Y-%m-%d}"
        for row in rows
    )
    for order in ("activity", "cost"):
        groups = _read_groups(listed.get(f"/sessions?group=day&order={order}").body)
        assert {name: sessions for name, sessions, *_ in groups} == days
        dates = [name.split()[-1] for name, *_ in groups]
        assert dates == sorted(dates, reverse=True)


def test_a_group_is_continued_on_the_next_page(tmp_path: Path) -> None:
    """Under its name, with the totals of the whole group."""
    root = ClaudeRoot(tmp_path / "claude")
    for number in range(60):
        root.session(str(uuid5(NAMESPACE_URL, str(number))), prompt("drain"))
    with run_server(tmp_path, root.path) as server:
        server.wait_until_current()
        for number, rows in ((1, 50), (2, 10)):
            page = server.get(f"/sessions?group=project&page={number}").body
            assert find_texts(page, "th", scope="rowgroup")[0].endswith(" 60 sessions")
            assert len(find_texts(page, "tr", data_session="")) == rows
        assert find_links(server.get("/sessions?group=project").body, "nav", class_="pages") == [
            "/sessions?group=project&page=2"
        ]
