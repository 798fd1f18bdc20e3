"""The timeline of a session: to scale while something happens, and the same figures in a table."""

import re

from recollect.web.timeline_drawing import TimelineBar, draw_timeline
from tests.web.addresses import SESSION
from tests.web.running import RunningServer


def _make(start: float, end: float, title: str = "") -> TimelineBar:
    return TimelineBar(kind="turn", start=start, end=end, title=title, address="/s/x", lane=0)


def test_time_is_to_scale_without_the_pauses() -> None:
    """Two turns of the same length are equally wide, and the hour between them is written."""
    drawn = draw_timeline([_make(0, 60), _make(3660, 3720)], lambda pause: f"{pause:.0f} ms")
    widths = re.findall(r'class="turn" x="([\d.]+)" y="24" width="([\d.]+)"', drawn)
    assert widths == [("12.0", "600.0"), ("658.0", "600.0")]
    assert ">3600000 ms</text>" in drawn


def test_titles_are_escaped() -> None:
    """A prompt cannot become markup."""
    drawn = draw_timeline([_make(0, 1, "<script>")], str)
    assert "<title>&lt;script&gt;</title>" in drawn


def test_a_session_without_times_has_an_empty_drawing() -> None:
    """Nothing to draw is no error."""
    assert draw_timeline([], str).count("<rect") == 0


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
    drawn = re.findall(r'<rect class="(?:call|change|failed)" x="[\d.]+" y="44"', page)
    assert sum(int(row[2] or 0) for row in cells) == len(drawn) > 0
