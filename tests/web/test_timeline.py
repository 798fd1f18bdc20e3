"""The timeline of a session: to scale while something happens, and the same figures in a table."""

import re
from pathlib import Path
from typing import Any

import pytest

from recollect.library.opening import open_session
from recollect.web.pages.timeline_page import (
    MAX_LANES,
    TimelineBar,
    TimelineMaker,
    assign_lanes,
    render_timeline,
)
from recollect.web.templating import Translator
from tests.versions.small_project import SESSION as SMALL
from tests.versions.small_project import Project
from tests.web.addresses import SESSION
from tests.web.running import RunningServer


def _make(start: float, end: float, title: str = "") -> TimelineBar:
    return TimelineBar(kind="turn", start=start, end=end, title=title, url="/s/x", lane=0)


def test_time_is_to_scale_without_the_pauses() -> None:
    """Two turns of the same length are equally wide, and the hour between them is written."""
    drawn = render_timeline([_make(0, 60), _make(3660, 3720)], lambda pause: f"{pause:.0f} ms")
    widths = re.findall(r'class="turn" x="([\d.]+)" y="24" width="([\d.]+)"', drawn)
    assert widths == [("12.0", "600.0"), ("658.0", "600.0")]
    assert ">3600000 ms</text>" in drawn


def test_lengths_of_pauses_do_not_overlap() -> None:
    """Of two neighbours the longer one is labelled; every pause has its length as a tooltip."""
    hour = 3600
    ends = [(0, 60), (hour, hour + 1), (4 * hour, 4 * hour + 1), (5 * hour, 5 * hour + 600)]
    drawn = render_timeline([_make(*each) for each in ends], lambda pause: f"{pause / 1000:.0f} s")
    assert re.findall(r'class="pause"[^>]*>([^<]+)<', drawn) == ["10799 s"]
    assert set(re.findall(r"V\d+\"><title>([^<]+)<", drawn)) == {"3540 s", "10799 s", "3599 s"}


def test_turns_say_when_they_began_where_there_is_room() -> None:
    """The first of a day with its date; turns that start right after another have no label."""
    day, minute = 86_400, 60
    bars = [_make(0, 60), _make(1, 2), _make(10 * minute, 11 * minute), _make(day, day + 60)]
    drawn = render_timeline(bars, str)
    assert re.findall(r'class="time"[^>]*>([^<]*)<', drawn) == [
        "1970-01-01 00:00",
        "00:10",
        "1970-01-02 00:00",
    ]


def test_titles_are_escaped() -> None:
    """A prompt cannot become markup."""
    drawn = render_timeline([_make(0, 1, "<script>")], str)
    assert "<title>&lt;script&gt;</title>" in drawn


def test_a_session_without_times_has_an_empty_drawing() -> None:
    """Without times there is nothing to draw, and no error."""
    assert render_timeline([], str).count("<rect") == 0


def test_the_page_has_a_row_per_turn_and_zooms(server: RunningServer) -> None:
    """Each prompt is a bar and a row; one turn alone has fewer bars."""
    whole = server.get(f"/s/{SESSION}/timeline").body.decode()
    rows = re.findall(r"timeline\?turn=(\d+)", whole)
    assert rows == [str(number) for number in range(1, len(rows) + 1)]
    assert whole.count('<rect class="turn" x=') == len(rows)
    one = server.get(f"/s/{SESSION}/timeline?turn=1").body.decode()
    assert one.count('<rect class="turn" x=') == 1
    assert server.get(f"/s/{SESSION}/timeline?turn=x").status == 422


def test_every_call_is_counted_in_its_turn(server: RunningServer) -> None:
    """The table has as many calls as the drawing has bars for them in the session's own lane."""
    page = server.get(f"/s/{SESSION}/timeline").body.decode()
    rows = re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)[1:]
    cells = [re.findall(r'<td class="figure">([^<]*)</td>', row) for row in rows]
    drawn = re.findall(r'<rect class="(?:call|change|failed|waiting)" x="[\d.]+" y="44"', page)
    assert sum(int(row[3] or 0) for row in cells) == len(drawn) > 0


def test_a_call_that_was_rejected_has_not_failed(server: RunningServer) -> None:
    """The table has no column for failures if there are none, as the outline has no tab."""
    outline = server.get(f"/api/sessions/{SESSION}/outline").json()["turns"]
    assert sum(turn["errors"] for turn in outline) == 0
    page = server.read(f"/s/{SESSION}/timeline")
    heads = re.findall(r'<th scope="col" class="figure">([^<]*)</th>', page)
    assert heads == ["#", "pause before", "time", "waited for you", "calls", "cost"]


def _list_calls(tmp_path: Path, **fields: Any) -> list[tuple[str, str]]:
    project = Project(tmp_path / "work")
    project.prompt("Try it")
    project.call("Bash", {"command": "make"}, {"stdout": "", "stderr": ""}, **fields)
    project.save(tmp_path / "claude")
    maker = TimelineMaker(open_session(SMALL, root=tmp_path / "claude"), "/s/x", Translator("en"))
    return [(bar.kind, bar.title) for bar in maker.list_bars(None) if bar.lane == 1]


@pytest.mark.parametrize("source", ["user_temporary", "user_permanent"])
def test_a_call_that_a_person_allowed_has_waited(tmp_path: Path, source: str) -> None:
    """The record says who allowed it, so its duration is an upper bound of the wait."""
    found = _list_calls(tmp_path, permissionDecision={"decision": "accept", "source": source})
    assert found == [("waiting", "Bash, success: waited for you ≤ 1 min 0 s")]


@pytest.mark.parametrize("fields", [{}, {"permissionDecision": {"source": "config"}}])
def test_a_call_that_nobody_was_asked_about_has_not(
    tmp_path: Path, fields: dict[str, object]
) -> None:
    """Neither one that a rule allowed, nor one of which nothing is recorded."""
    assert _list_calls(tmp_path, **fields) == [("call", "Bash, success")]


def test_lanes_are_used_again() -> None:
    """Subagents that run one after the other share a lane; those at the same time do not."""
    assert assign_lanes([(0, 10), (5, 15), (12, 20), None, (16, 18)]) == [0, 1, 0, 0, 1]
    assert max(assign_lanes([(0, 10)] * 40)) == MAX_LANES - 1
