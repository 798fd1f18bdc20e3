"""Charts: bars in, SVG out, whatever the figures and the words are."""

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.documents.usage_groups import Group
from recollect.quantities import format_rate
from recollect.web.charts import (
    SERIES,
    Bar,
    Rule,
    Slice,
    find_ticks,
    render_columns,
    render_rows,
    render_share,
)
from recollect.web.pages.usage_page import lay_out, rule_months

HOSTILE = """</svg><script>alert("1")</script>&'"""
VALUES = st.floats(0, 1e9, allow_nan=False)
SLICES = st.lists(st.builds(Slice, st.integers(0, SERIES - 1), VALUES), max_size=4).map(tuple)


@st.composite
def charts(draw: st.DrawFn) -> tuple[list[str], list[Bar]]:
    """An axis, and bars at some of its slots."""
    size = draw(st.integers(1, 60))
    slots = draw(st.sets(st.integers(0, size - 1), max_size=10))
    bars = [
        Bar(label="a", title=HOSTILE, slices=draw(SLICES), is_open=draw(st.booleans()), slot=slot)
        for slot in sorted(slots)
    ]
    return [str(number) for number in range(size)], bars


def test_months_are_ruled() -> None:
    """Labels are only at the lines that start a month."""
    drawing = render_columns(["a", "b"], [], format_rate, "Cost", [Rule(1, "Nov <"), Rule(0, "")])
    assert [each.attrib["x1"] for each in ET.fromstring(drawing).iter("line")][-2:] == ["50%", "0%"]
    assert [each.text for each in ET.fromstring(drawing).iter("text")][-1] == "Nov <"


def test_the_name_of_the_last_month_stays_within_the_drawing() -> None:
    """At the right edge it is on the left of its rule."""
    days = [str(number) for number in range(100)]
    drawing = render_columns(days, [], format_rate, "Cost", [Rule(60, "Feb"), Rule(97, "Mar")])
    labels = [each.attrib for each in ET.fromstring(drawing).iter("text")][-2:]
    assert [(each["x"], each["text-anchor"]) for each in labels] == [
        ("60%", "start"),
        ("97%", "end"),
    ]


def test_a_long_range_keeps_its_time() -> None:
    """Days without usage take their space over years; months have lines, some with labels."""
    axis, slots = lay_out(["2023-11-30", "2026-11-13"], Group.DAY)
    assert (len(axis), slots) == (1080, {"2023-11-30": 0, "2026-11-13": 1079})
    rules = rule_months(axis, Group.DAY, [f"m{number}" for number in range(1, 13)])
    assert len(rules) == 36
    assert [rule.name for rule in rules if rule.name] == [
        f"m{number}" for number in (12, 3, 6, 9, 12, 3, 6, 9, 12, 3, 6, 9)
    ]
    weeks, _ = lay_out(["2026-W01", "2026-W20"], Group.WEEK)
    ruled = rule_months(weeks, Group.WEEK, "J F M A M".split())
    assert [(rule.slot, rule.name) for rule in ruled] == [
        (1, "2026"), (5, "F"), (9, "M"), (14, "A"), (18, "M"),
    ]  # fmt: skip
    assert rule_months(axis[:30], Group.DAY, []) == []


def _list_boxes(drawing: str) -> list[dict[str, str]]:
    return [each.attrib for each in ET.fromstring(drawing).iter("rect")]


def test_columns_are_drawn() -> None:
    """A column, one of which nothing is known, and the scale beside them."""
    bars = [
        Bar(label="a", title="a: $2", slices=(Slice(0, 2.0),), slot=0),
        Bar(label="c", title="c: unknown", is_open=True, slot=2),
    ]
    assert render_columns(["a", "b", "c"], bars, format_rate, "Cost") == (
        '<div class="columns"><svg class="drawing" width="50" height="236" aria-hidden="true">'
        '<text x="42" y="163.5" text-anchor="end">$0.5</text>'
        '<text x="42" y="117" text-anchor="end">$1</text>'
        '<text x="42" y="70.5" text-anchor="end">$1.5</text>'
        '<text x="42" y="24" text-anchor="end">$2</text></svg>'
        '<svg class="drawing" width="100%" height="236" role="img" aria-label="Cost"><defs>'
        '<pattern id="hatching" width="6" height="6" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><rect class="hatching-paper" width="6" height="6"/>'
        '<rect class="hatching-line" width="2.5" height="6"/></pattern></defs>'
        '<line class="grid" x1="0" x2="100%" y1="206" y2="206"/>'
        '<line class="grid" x1="0" x2="100%" y1="159.5" y2="159.5"/>'
        '<line class="grid" x1="0" x2="100%" y1="113" y2="113"/>'
        '<line class="grid" x1="0" x2="100%" y1="66.5" y2="66.5"/>'
        '<line class="grid" x1="0" x2="100%" y1="20" y2="20"/>'
        '<g class="column"><title>a: $2</title>'
        '<rect class="target" x="0%" y="0" width="33.333%" height="206"/>'
        '<rect class="series-0" x="14.167%" y="20" width="5%" height="186"/></g>'
        '<g class="column"><title>c: unknown</title>'
        '<rect class="target" x="66.667%" y="0" width="33.333%" height="206"/>'
        '<rect class="unknown" fill="url(#hatching)" x="80.833%" y="176" width="5%" height="30"/>'
        "</g>"
        '<text class="label" x="16.667%" y="226" text-anchor="middle">a</text>'
        '<text class="label minor" x="50%" y="226" text-anchor="middle">b</text>'
        '<text class="label" x="83.333%" y="226" text-anchor="middle">c</text></svg></div>'
    )


@pytest.mark.parametrize(("highest", "anchor"), [(0, "start"), (2, "end")])
def test_the_peak_is_named(highest: int, anchor: str) -> None:
    """Beside the highest column, on the side with more room; two columns need no name."""
    bars = [
        Bar(
            label=f"<{at}>", title="", shown="$9", slices=(Slice(0, float(at == highest)),), slot=at
        )
        for at in range(3)
    ]
    drawing = render_columns(["a", "b", "c"], bars, format_rate, "Cost")
    (named,) = re.findall(r'<text class="peak"[^>]* text-anchor="(\w+)">([^<]+)<', drawing)
    assert named == (anchor, f"&lt;{highest}&gt;, $9")
    assert "peak" not in render_columns(["a", "b"], bars[:2], format_rate, "Cost")


def test_the_average_is_a_line() -> None:
    """It ends at the last slot, and has a point only where it bends."""
    axis = [str(at) for at in range(8)]
    bars = [Bar(label="a", title="a", slices=(Slice(0, 2.0),), slot=0)]
    average = [2.0, 0.0, 0.0, 0.0, 1.0]
    drawing = render_columns(axis, bars, format_rate, "Cost", average=average)
    (inner,) = (each for each in ET.fromstring(drawing).iter("svg") if "viewBox" in each.attrib)
    assert inner.attrib["viewBox"] == "0 0 8 236"
    assert [each.attrib["points"] for each in inner.iter("polyline")] == [
        "3.5,20 4.5,206 6.5,206 7.5,113"
    ]
    assert "polyline" not in render_columns(axis, bars, format_rate, "Cost")


@given(charts())
def test_columns_stay_within_the_drawing(chart: tuple[list[str], list[Bar]]) -> None:
    """Any figures give well-formed SVG without style or script, and no box of negative size."""
    axis, bars = chart
    drawing = ET.fromstring(render_columns(axis, bars, format_rate, HOSTILE))
    tags = {each.tag for each in drawing.iter()}
    assert tags <= {
        "div", "svg", "defs", "pattern", "rect", "line", "g", "title", "text"
    }  # fmt: skip
    for each in drawing.iter():
        assert not {"style", "onclick", "href"} & set(each.attrib)
    for column in drawing.iter("g"):
        for box in column.iter("rect"):
            left, width = (float(box.attrib[name].rstrip("%")) for name in ("x", "width"))
            top, height = (float(box.attrib[name]) for name in ("y", "height"))
            assert (left >= 0, left + width <= 100.01, top >= 0, height >= 0) == (True,) * 4
            assert top + height <= 206.01


@given(st.lists(st.builds(Bar, label=st.just("a"), title=st.just("b"), slices=SLICES), max_size=8))
def test_rows_fill_the_width_at_most(bars: list[Bar]) -> None:
    """The largest bar is as wide as the drawing, and none is wider."""
    widths = [
        sum(float(box.attrib["width"].rstrip("%")) for box in row.iter("rect"))
        for row in ET.fromstring(render_rows(bars, "all")).iter("g")
    ]
    assert len(widths) == len(bars)
    assert all(width <= 100.1 for width in widths)
    largest = max((bar.value for bar in bars), default=0)
    assert largest < 1 or max(widths) == pytest.approx(100, abs=0.1)


def test_unknown_is_never_nothing() -> None:
    """Bars without a value are hatched, and partly known ones are hatched above the known part."""
    bars = [
        Bar(label="none", title="", is_open=True),
        Bar(label="part", title="", slices=(Slice(1, 5),), is_open=True),
        Bar(label="all", title="", slices=(Slice(0, 10),)),
    ]
    boxes = [box for box in _list_boxes(render_rows(bars, "")) if "x" in box]
    assert [(box["class"], box["x"], box["width"]) for box in boxes] == [
        ("unknown", "0%", "12%"),
        ("series-1", "0%", "50%"),
        ("unknown", "50%", "3%"),
        ("series-0", "0%", "100%"),
    ]


@pytest.mark.parametrize(
    ("value", "most", "box"),
    [
        (5, 10, {"class": "series-0", "width": "50%", "height": "8", "rx": "2"}),
        (0, 0, {"class": "series-0", "width": "0%", "height": "8", "rx": "2"}),
        (None, 10, {"class": "no-share", "width": "100%", "height": "8", "rx": "2"}),
    ],
)
def test_shares(value: float | None, most: float, box: dict[str, str]) -> None:
    """A row's bar is as long as its share of the largest; an unknown one looks different."""
    assert _list_boxes(render_share(value, most)) == [box]


@given(st.floats(1e-9, 1e15))
def test_ticks_reach_the_largest_value(most: float) -> None:
    """A handful of rising values from nothing to just above the largest."""
    ticks = find_ticks(most)
    assert ticks[0] == 0
    assert ticks[-2] < most <= ticks[-1]
    assert len(ticks) <= 6
    assert sorted(ticks) == ticks


def test_ticks_are_round() -> None:
    """People can add them up."""
    assert [find_ticks(most) for most in (0, 3, 0.06, 730_000)] == [
        [0, 1],
        [0, 1, 2, 3],
        pytest.approx([0, 0.02, 0.04, 0.06]),
        [0, 200_000, 400_000, 600_000, 800_000],
    ]
