"""Tests of recollect.cli.explain_text: an explanation as a person sees it."""

from decimal import Decimal

import click

from recollect.cli.explain_text import iter_explanation
from recollect.pricing import Price
from recollect.records.token_usage import Tokens
from recollect.render.terminal import measure
from recollect.store.usage_queries import Measures
from recollect.usage.explain import Explanation, Line, PriceUsed, Status
from recollect.usage.scopes import ScopeKind
from recollect.usage.totals import ClientCost, Totals
from recollect.usage.zones import load_zone

TEN = 1_794_738_030_000
FILE = "/c/projects/-w-app/11111111-1111-4111-8111-111111111111.jsonl"
OTHER = "/c/projects/-w-app/22222222-2222-4222-8222-222222222222.jsonl"


def line(status: Status, offset: int, note: str = "", cost: int | None = None) -> Line:
    """A line of the one message."""
    return Line(
        status=status,
        file=FILE,
        offset=offset,
        message_id="m",
        request_id="r",
        model="claude-opus-5-5",
        measures=Measures(Tokens(10, 81, 1_200, 300, 40), cost=cost, time=TEN),
        note=note,
    )


EXPLANATION = Explanation(
    kind=ScopeKind.SESSION,
    name="11111111-1111-4111-8111-111111111111",
    timezone="UTC",
    lines=(
        line(Status.COUNTED, 0, "usage of 1712", 3_400),
        line(Status.REPEAT, 1_712, "repeats 0"),
        line(Status.COPY, 3_424, f"copy of {OTHER}:0"),
        line(Status.SYNTHETIC, 5_136, "written by the client itself"),
    ),
    totals=Totals(10, 81, 1_200, 300, 40, 0, messages=1, cost=3_400, unpriced=0),
    prices=(
        PriceUsed(
            "claude-opus-5-5",
            Price(
                model="claude-opus-5-5",
                input=Decimal(4),
                output=Decimal(20),
                cache_read=Decimal("0.2"),
                cache_write_5m=Decimal(5),
            ),
        ),
    ),
    unread=((OTHER, "It was deleted."),),
    client=ClientCost(4_100, is_guess=True),
)


def draw(columns: int) -> list[str]:
    """The explanation without colours."""
    lines = iter_explanation(EXPLANATION, load_zone("UTC"), columns)
    return [click.unstyle(line) for line in lines]


def test_narrow() -> None:
    """With little room each line has its offset, what became of it, its tokens and its cost."""
    assert draw(80) == [
        "Usage of session 11111111-1111-4111-8111-111111111111. Costs are a list-price",
        "estimate, not a bill. Times are in UTC.",
        "",
        FILE,
        "  offset             tokens     cost",
        "       0  counted      1.6K  $0.0034  usage of 1712",
        "    1712  repeat       1.6K        -  repeats 0",
        "    3424  copy         1.6K        -  copy of /c/pro…2-8222-222222222222.jsonl:0",
        "    5136  synthetic    1.6K        -  written by the client itself",
        "",
        "Counted: 1 message, 10 input, 81 output, 340 cache write and 1,200 cache read",
        "tokens, $0.0034.",
        "Not counted: 1 repeated line, 1 copied message, 1 synthetic line.",
        "Claude Code's own total: $0.0041, partly at a fallback price, a difference of",
        "$0.0007. It includes calls that leave no message in a transcript, such as",
        "compactions and web searches, and those of the session this one was forked from.",
        "",
        "List prices in dollars per million tokens:",
        "  input  output  write 5m  write 1h  read",
        "      4      20         5         -   0.2    claude-opus-5-5",
        "Could not show the lines of",
        "/c/projects/-w-app/22222222-2222-4222-8222-222222222222.jsonl: It was deleted.",
    ]


def test_wide() -> None:
    """With more room there are times, models and each class of tokens."""
    day = "2026-11-15 10:20:30"
    figures = "claude-opus-5-5     10      81    340  1,200"
    assert draw(140)[3:6] == [
        f"  offset  time {' ' * 26} model            input  output  write   read     cost",
        f"       0  {day}  counted    {figures}  $0.0034  usage of 1712",
        f"    1712  {day}  repeat     {figures}        -  repeats 0",
    ]


def test_no_line_is_too_long() -> None:
    """From 60 columns on everything fits."""
    for columns in range(60, 201, 7):
        assert max(measure(text) for text in draw(columns)) <= columns
