"""Usage and its explanation: the figures of the ledger, down to the records."""

import json
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlencode

import pytest

from recollect.documents.usage_groups import Group
from recollect.documents.usage_report import Figures
from recollect.quantities import format_dollars, format_share
from recollect.web.pages.usage_page import make_tiles
from recollect.workspace.usage_requests import UsageSummary
from tests.web.addresses import SESSION
from tests.web.browser.writing import append_records, make_turn
from tests.web.markup import find_links, find_texts
from tests.web.running import RunningServer, copy_demo, run_server

NEW = "11111111-2222-3333-4444-555555555555"
FIGURES = ("messages", "input_tokens", "output_tokens", "cost_usd", "unpriced_messages")


def _make_reply(number: int, model: str, moment: str, **more: object) -> dict[str, object]:
    usage = {"input_tokens": 100, "output_tokens": 1000}
    return {
        "type": "assistant",
        "uuid": f"aaaaaaaa-0000-0000-0000-00000000000{number}",
        "parentUuid": None,
        "sessionId": NEW,
        "cwd": "/home/mina/projects/tidepool",
        "timestamp": moment,
        "message": {
            "id": f"msg_{number}",
            "role": "assistant",
            "model": model,
            "content": [{"type": "text", "text": "Done."}],
            "usage": usage,
        },
        **more,
    }


@pytest.fixture(scope="module")
def priced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server on the demo data and a session of right now, in part by a model without a price."""
    folder = tmp_path_factory.mktemp("usage")
    root = copy_demo(folder)
    lines = [
        _make_reply(1, "claude-opus-5-5", "2026-11-13T11:00:00Z"),
        _make_reply(1, "claude-opus-5-5", "2026-11-13T11:00:01Z", uuid="bbbbbbbb-0"),
        _make_reply(2, "<mystery> & co", "2026-11-13T11:30:00Z"),
        _make_reply(3, "<synthetic>", "2026-11-13T11:31:00Z"),
    ]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    project = next(path for path in (root / "projects").iterdir() if "tidepool" in path.name)
    Path(project, f"{NEW}.jsonl").write_text(text, encoding="utf-8")
    with run_server(folder, root, "--no-open") as running:
        running.wait_until_current()
        yield running


def _measure(row: dict[str, Any], measure: str) -> float:
    names = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")
    tokens: int = sum(row[f"{name}_tokens"] for name in names)
    return row["cost_usd"] or 0 if measure == "cost" else tokens


def _report(server: RunningServer, **wanted: str) -> dict[str, Any]:
    report: dict[str, Any] = server.get(f"/api/usage?{urlencode(wanted)}").json()
    return report


@pytest.mark.parametrize("group", list(Group))
def test_every_row_can_be_split_into_sessions(priced: RunningServer, group: Group) -> None:
    """A row of any report equals the sum of its sessions."""
    for row in _report(priced, group=group.value)["rows"]:
        split = _report(priced, group="session", only=group.value, key=row["key"] or "")
        assert {name: split["totals"][name] for name in FIGURES} == {
            name: row[name] for name in FIGURES
        }


def test_sessions_of_the_api_have_their_titles(priced: RunningServer) -> None:
    """A program sees the titles that the list shows, null for a session that has none."""
    listed = priced.get("/api/history/sessions?pageSize=200").json()["sessions"]
    titles = {each["id"]: each["title"] for each in listed}
    rows = _report(priced, group="session")["rows"]
    assert {row["key"]: row["title"] for row in rows} == {
        row["key"]: titles[row["key"]] for row in rows
    }
    assert {row["title"] is None for row in rows} == {True, False}


@pytest.mark.parametrize("group", list(Group))
def test_every_row_leads_to_where_it_comes_from(priced: RunningServer, group: Group) -> None:
    """Each row of the table has links, and all of them lead somewhere."""
    page = priced.get(f"/usage?group={group.value}&timezone=UTC").body
    rows = _report(priced, group=group.value)["rows"]
    links = find_links(page, "tr", data_item="")
    assert len(links) == 2 * len(rows)
    assert {link.partition("?")[0] for link in links} <= {"/usage", "/usage/explain"} | {
        f"/s/{row['key']}" for row in rows
    }
    assert {priced.get(link).status for link in set(links)} == {200}


def test_unknown_costs_are_never_nothing(priced: RunningServer) -> None:
    """A sum with a model of no known price is a lower bound, and the model is named."""
    page = priced.get("/usage?group=model").body
    cells = {row.split()[0]: row for row in find_texts(page, "tr", data_item="")}
    assert cells["<mystery>"].startswith("<mystery> & co unknown — 1 100 1,000")
    assert find_texts(page, "tr")[-1].startswith("Total ≥ $")
    assert find_texts(page, "p", class_="unpriced") == [
        (
            "No known price for <mystery> & co (1 message). "
            "They are left out of the cost, not counted as free."
        )
    ]
    assert find_texts(page, "ul", class_="legend") == ["no known price"]


def test_label_is_honest(priced: RunningServer) -> None:
    """Every page with costs says what they are, and in which time zone days are counted."""
    said = [
        find_texts(priced.get(path).body, "p", class_="basis")[0]
        for path in ("/usage?timezone=Asia/Tokyo", f"/usage/explain?target={SESSION}&timezone=UTC")
    ]
    assert said == [
        "List-price estimate, not your bill · Time zone: Asia/Tokyo",
        "List-price estimate, not your bill · Time zone: UTC",
    ]


def test_running_block_is_shown(priced: RunningServer) -> None:
    """The current block, with its burn rate, is above every report."""
    page = priced.get("/usage?group=model").body
    assert find_texts(page, "section", class_="running") == [
        (
            "Current 5-hour block 60.0 Time left 4 h 0 min So far ≥ $0.02 "
            "Burn rate $0.02 per hour · 37 tokens per minute Projected total $0.10 · 11.0K tokens"
        )
    ]


def test_no_block_is_running(server: RunningServer) -> None:
    """Without one, nothing is shown."""
    assert find_texts(server.get("/usage").body, "section", class_="running") == []


def test_lines_are_explained(priced: RunningServer) -> None:
    """Each line links to its record and says whether it counts, and why."""
    page = priced.get(f"/usage/explain?target={NEW}&timezone=UTC").body
    rows = find_texts(page, "tr", data_status="")
    assert [row.split(" ", 1)[1] for row in rows] == [
        "counted 2026-11-13 11:00:00 claude-opus-5-5 100 1,000 0 0 $0.0204",
        "repeat 2026-11-13 11:00:01 claude-opus-5-5 100 1,000 0 0 — repeats 0",
        "counted 2026-11-13 11:30:00 <mystery> & co 100 1,000 0 0 unknown",
        "synthetic 2026-11-13 11:31:00 <synthetic> 100 1,000 0 0 — written by Claude Code itself",
    ]
    assert [text.split(" ", 2)[:2] for text in find_texts(page, "dl", class_="reasons")] == [
        ["counted", "2"]
    ]
    records = find_links(page, "th", class_="offset")
    assert [link.partition("?")[0] for link in records] == [
        f"/s/{NEW}/raw/aaaaaaaa-0000-0000-0000-000000000001",
        f"/s/{NEW}/raw/bbbbbbbb-0",
        f"/s/{NEW}/raw/aaaaaaaa-0000-0000-0000-000000000002",
        f"/s/{NEW}/raw/aaaaaaaa-0000-0000-0000-000000000003",
    ]
    assert {priced.get(link).status for link in records} == {200}


def test_clients_own_total_is_next_to_ours(server: RunningServer) -> None:
    """If Claude Code recorded a total, the difference is shown."""
    target = "94791a87-9d13-410a-a632-25a9b25c1b45"
    page = server.get(f"/usage/explain?target={target}").body
    assert find_texts(page, "dl", class_="tiles") == [
        (
            "Cost at list prices $0.06 Claude Code's own total $0.0845 Difference $0.0245 "
            "Messages counted 8 Lines not counted 1"
        )
    ]
    rows = _report(server, group="session", client_costs="true")["rows"]
    shown = {row["key"]: row.get("client_cost_usd") for row in rows}
    assert shown[target] == pytest.approx(0.0845, abs=0.0001)


@pytest.mark.parametrize("measure", ["cost", "tokens"])
@pytest.mark.parametrize("breakdown", ["false", "true"])
def test_charts_are_above_tables(priced: RunningServer, measure: str, breakdown: str) -> None:
    """A column for each day, named like the rows of the table."""
    page = priced.get(f"/usage?measure={measure}&breakdown={breakdown}&since=2026-10-01").body
    columns = [text.partition(":")[0] for text in find_texts(page, "g", class_="column")]
    rows = [text.split()[0] for text in find_texts(page, "tr", data_item="")]
    assert sorted(columns) == sorted(rows) != []


@pytest.mark.parametrize("measure", ["cost", "tokens"])
def test_the_average_is_that_of_the_table(priced: RunningServer, measure: str) -> None:
    """A day of the line is the mean of seven rows; days without a row are 0."""
    where = f"measure={measure}&since=2026-10-01&timezone=UTC"
    page = priced.get(f"/usage?group=day&{where}").body
    assert "7-day average" in find_texts(page, "ul", class_="legend")[0]
    points = page.decode().partition('<polyline class="average" points="')[2].partition('"')[0]
    rows = _report(priced, group="day", since="2026-10-01", timezone="UTC")["rows"]
    by_day = {date.fromisoformat(row["key"]): _measure(row, measure) for row in rows}
    first, last = min(by_day), max(by_day)
    days = [last - timedelta(days=at) for at in range((last - first).days - 5)]
    average = {
        (day - first).days: sum(by_day.get(day - timedelta(days=at), 0) for at in range(7)) / 7
        for day in days
    }
    drawn = {int(float(x)): float(y) for x, y in (each.split(",") for each in points.split())}
    assert {min(average), max(average)} <= set(drawn) <= set(average)
    # Heights are proportional to the values, 206 is 0.
    highest = max(drawn, key=lambda at: average[at])
    unit = (206 - drawn[highest]) / average[highest]
    assert {at: 206 - average[at] * unit for at in drawn} == pytest.approx(drawn, abs=0.01)


@pytest.mark.parametrize("wanted", ["group=day&since=2026-11-10", "group=week", "group=model"])
def test_no_average_where_it_says_nothing(priced: RunningServer, wanted: str) -> None:
    """A few days are not averaged, nor are other rows than days."""
    page = priced.get(f"/usage?{wanted}").body
    assert (b"average" in page, find_texts(page, "table") != []) == (False, True)


@pytest.mark.parametrize("measure", ["cost", "tokens"])
@pytest.mark.parametrize("group", ["project", "tool", "day"])
def test_shares_are_those_of_the_total(priced: RunningServer, group: str, measure: str) -> None:
    """Each row and each of its models has its share, and the header names the total."""
    wanted = {"group": group, "breakdown": "true", "order": "cost-desc"}
    page = priced.get(f"/usage?{urlencode({**wanted, 'measure': measure})}").body
    report = _report(priced, **wanted)
    total = _measure(report["totals"], measure)
    lines = [line for row in report["rows"] for line in (row, *row["models"])]
    is_unknown = [measure == "cost" and line["cost_usd"] is None for line in lines]
    assert find_texts(page, "td", class_="part-of") == [
        "—" if unknown else format_share(_measure(line, measure) / total)
        for line, unknown in zip(lines, is_unknown, strict=True)
    ] + ["100%"]
    assert find_texts(page, "th", class_="part-of") == [f"% Share of the {measure}"]


@pytest.mark.parametrize(
    "wanted",
    [
        {"group": "project", "since": "2026-11-10", "timezone": "UTC"},
        {"group": "day", "only": "model", "key": "claude-opus-5-5"},
    ],
)
def test_totals_open_their_sessions(priced: RunningServer, wanted: dict[str, str]) -> None:
    """Each total is a link to the sessions it is made of, and these have the same totals."""
    page = priced.get(f"/usage?{urlencode(wanted)}").body
    links = find_links(page, "dl", class_="tiles")
    sessions = [priced.get(link).body for link in links]
    totals = find_texts(page, "dl", class_="tiles")
    assert len(links) == page.partition(b'class="tiles"')[2].partition(b"</dl>")[0].count(b"<dt>")
    assert [find_texts(each, "dl", class_="tiles") for each in sessions] == [totals] * len(links)
    rows = _report(priced, **{**wanted, "group": "session"})["rows"]
    assert [len(find_texts(each, "tr", data_item="")) for each in sessions] == [len(rows)] * len(
        links
    )


def test_sessions_do_not_link_to_themselves(priced: RunningServer) -> None:
    """The totals of a report by session do not link to the same report."""
    assert find_links(priced.get("/usage?group=session").body, "dl", class_="tiles") == []


def test_nothing_has_no_shares(priced: RunningServer) -> None:
    """If no price is known, there is no column for shares of the cost."""
    page = priced.get("/usage?group=project&model=mystery").body
    assert (find_texts(page, "td", class_="part-of"), find_texts(page, "tfoot")) == (
        [],
        ["Total unknown 1 100 1,000 0 0"],
    )


def test_invalid_filters_are_reported_in_place(server: RunningServer) -> None:
    """An invalid date does not cost the page."""
    page = server.get("/usage?since=nonsense").body
    assert find_texts(page, "p", class_="query-error") == [
        (
            "since : 'nonsense' is not a valid date (try 2026-11-15, 2026-11, 2026, today, "
            "yesterday, 7d, 2w or 12h)."
        )
    ]


def test_no_usage_is_reported(server: RunningServer) -> None:
    """A report without rows is a sentence and no empty table."""
    page = server.get("/usage?model=nothing-like-this").body
    assert (find_texts(page, "p", class_="empty-state"), find_texts(page, "table")) == (
        ["No usage in this range. Widen the filters, or use Claude Code for a while."],
        [],
    )


def test_filters_apply_without_a_button(server: RunningServer) -> None:
    """A change is sent at once; the button is for a browser without scripts."""
    page = server.get("/usage").body.decode()
    form = page.partition('action="/usage" data-apply>')[2].partition("</form>")[0]
    assert form.count('<button type="submit">') == form.count("<noscript><button") == 1


@pytest.mark.parametrize(
    ("cost", "before", "change"),
    [
        (3.0, 2.0, "+50%"),
        (1.0, 2.0, "\N{MINUS SIGN}50%"),
        (25.0, 2.0, "+1,150%"),
        (1.999, 2.0, "+0%"),
        (1.0, 0.0, ""),
        (None, 2.0, ""),
        (1.0, None, ""),
    ],
)
def test_the_change_is_a_rounded_percentage(
    cost: float | None, before: float | None, change: str
) -> None:
    """Without a cost before there is none; zero has no minus sign."""
    totals = Figures(
        **dict.fromkeys(Figures.__struct_fields__, 0) | {"cost_usd": cost}  # type: ignore[arg-type]
    )
    summary = UsageSummary(active_days=1, days=7, sessions=1, median_cost=None, cost_before=before)
    assert make_tiles(totals, summary).change == change


def test_tiles_say_what_totals_are_made_of(server: RunningServer) -> None:
    """Below them: the days before, active days, the cache, messages, and the usual session."""
    week = {"since": "2026-11-06", "until": "2026-11-12", "timezone": "UTC"}
    before = {"since": "2026-10-30", "until": "2026-11-05", "timezone": "UTC"}
    days, sessions = (_report(server, group=group, **week) for group in ("day", "session"))
    totals = days["totals"]
    cost, active = totals["cost_usd"], len(days["rows"])
    earlier = _report(server, **before)["totals"]["cost_usd"]
    cached = totals["cache_read_tokens"] / _measure(totals, "tokens")
    change = f"{cost / earlier - 1:+,.0%}".replace("-", "\N{MINUS SIGN}")
    usual = median(row["cost_usd"] for row in sessions["rows"])
    page = server.get(f"/usage?{urlencode({'group': 'model', **week})}").body
    assert find_texts(page, "dd", class_="note") == [
        f"{change} vs. the previous 7 days",
        f"{active} of 7 days",
        f"{cached:.1%} read from cache",
        f"{totals['messages']} messages",
        f"median {format_dollars(usual)}",
    ]
    (tiles,) = find_texts(page, "dl", class_="tiles")
    assert f"Per active day {format_dollars(cost / active)}" in tiles
    assert f"Sessions {len(sessions['rows'])} median" in tiles


def test_tiles_without_days_before(priced: RunningServer) -> None:
    """All days have none before them, and are counted from the first to the last active one."""
    rows = _report(priced, group="day", timezone="UTC")["rows"]
    days = sorted(date.fromisoformat(row["key"]) for row in rows)
    page = priced.get("/usage?timezone=UTC").body
    notes = find_texts(page, "dd", class_="note")
    assert notes[0] == f"{len(days)} of {(days[-1] - days[0]).days + 1} days"
    assert not any("before" in note for note in notes)
    nothing = priced.get("/usage?since=2020-01-01&until=2020-01-02").body
    assert find_texts(nothing, "dl", class_="tiles") == []


def test_projects_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """In lists of sessions, in hits, and in the rows and bars of usage."""
    root = tmp_path / "claude"
    for number, place in enumerate(("/home/mina/shop/app", "/home/mina/blog/app")):
        session_id = f"{number}0000000-0000-4000-8000-000000000000"
        folder = root / "projects" / place.replace("/", "-")
        folder.mkdir(parents=True)
        records = [{**each, "cwd": place} for each in make_turn(session_id, number)]
        append_records(folder / f"{session_id}.jsonl", records)
    with run_server(tmp_path, root) as server:
        server.wait_until_current()
        server.wait_for_figures()
        for page in ("/", "/sessions", "/search?q=boats", "/usage?group=project"):
            shown = server.read(page)
            assert [page for name in ("shop/app", "blog/app") if f">{name}" not in shown] == []
