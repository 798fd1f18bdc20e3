"""The heat map of a year and the bars of a week."""

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from recollect.web.charts import (
    HeatMapWords,
    find_thresholds,
    render_heat_map,
    render_months,
    render_week,
)
from tests.web.markup import find_texts

LAST = date(2026, 11, 13)
WORDS = HeatMapWords(
    label="Activity & more",
    months="Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(),
    weekdays="Mon Tue Wed Thu Fri Sat Sun".split(),
    describe=lambda day: f"<{day}>",
    url=lambda day: f"/sessions?since={day}",
)


def test_a_day_with_activity_is_a_link() -> None:
    """It has its figure, escaped; other days are drawn without a link."""
    picture = render_heat_map({LAST: 2.0, date(2026, 11, 9): 0.0}, LAST, 2, WORDS)
    assert str(picture) == (
        '<svg class="heat" viewBox="0 0 58 115" role="group" aria-label="Activity &amp; more">'
        '<text x="30" y="11">Nov</text>'
        '<text x="0" y="27">Mon</text><text x="0" y="55">Wed</text><text x="0" y="83">Fri</text>'
        + "".join(
            f'<rect class="heat-0" x="{x}" y="{y}" width="12" height="12"/>'
            for x, y in [(30, 17 + 14 * at) for at in range(7)]
            + [(44, 17 + 14 * at) for at in range(4)]
        )
        + '<a href="/sessions?since=2026-11-13" tabindex="-1" aria-label="&lt;2026-11-13&gt;">'
        "<title>&lt;2026-11-13&gt;</title>"
        '<rect class="heat-4" x="44" y="73" width="12" height="12"/></a>'
        '<rect class="today" x="44" y="73" width="12" height="12"/></svg>'
    )


@given(st.lists(st.floats(0.01, 1e6), min_size=1, max_size=60))
def test_every_value_has_a_level(values: list[float]) -> None:
    """Levels rise with the value, from 1 to 4."""
    days = {LAST - timedelta(days=at): value for at, value in enumerate(values)}
    picture = render_heat_map(days, LAST, 53, WORDS).encode()
    assert len(find_texts(picture, "a", href="")) == len(values)
    thresholds = find_thresholds(values)
    assert thresholds == sorted(thresholds)
    assert len(thresholds) == 3


def test_a_week_is_drawn_before_the_last() -> None:
    """Bars share one scale; a day without anything has no height."""
    assert str(render_week([1, 0], [2])) == (
        '<svg class="week" width="105" height="31" aria-hidden="true"><path d="M0 30.5h105"/>'
        '<rect class="previous" x="0" y="2.0" width="12" height="28.0"/>'
        '<rect class="current" x="3" y="16.0" width="6" height="14.0"/>'
        '<rect class="current" x="18" y="30.0" width="6" height="0.0"/></svg>'
    )


def test_months_without_results_keep_their_place() -> None:
    """From the oldest to the newest, at most two years of them; each bar leads to its results."""
    counts = {"2026-11": 4, "2026-02": 2, "2023-01": 9}
    picture = render_months(counts, {month: f"/search?q=a&m={month}" for month in counts})
    assert str(picture) == (
        '<svg class="months" viewBox="0 0 24 32" preserveAspectRatio="none" width="100%" '
        'height="32" aria-hidden="true"><path d="M0 30.5h24"/>'
        '<a href="/search?q=a&amp;m=2026-11" tabindex="-1"><title>2026-11: 4</title>'
        '<rect class="room" x="23" width="1" height="32"/>'
        '<rect class="bar" x="23.1" y="2" width="0.8" height="28"/></a>'
        '<a href="/search?q=a&amp;m=2026-02" tabindex="-1"><title>2026-02: 2</title>'
        '<rect class="room" x="14" width="1" height="32"/>'
        '<rect class="bar" x="14.1" y="16" width="0.8" height="14"/></a></svg>'
    )
