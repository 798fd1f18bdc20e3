"""docs/usage.md matches the command and its JSON."""

import json
import re
from pathlib import Path

from recollect.documents.usage_groups import Group
from recollect.usage.causes import Cause
from recollect.usage.explain import Status
from recollect.usage.reports import ReportOrder
from tests.docs.documented import names
from tests.process import RunRecollect

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "usage.md").read_text(encoding="utf-8")
REPORT, _, OTHERS = PAGE[PAGE.index("## JSON") :].partition("`cause` prints another object")
CAUSES, _, EXPLANATION = OTHERS.partition("`explain` prints another object")


def first_cells(text: str) -> list[str]:
    """Return the names in the first column of all tables."""
    rows = re.findall(r"^\| (`.+?) \|", text, flags=re.MULTILINE)
    return [name for cell in rows for name in names(cell)]


def test_every_option_is_documented(run_recollect: RunRecollect) -> None:
    """Each option in the help is on the page."""
    shown = set(re.findall(r"--[a-z-]+", run_recollect("usage", "--help").stdout))
    assert shown - set(re.findall(r"--[a-z-]+", PAGE)) == {"--help"}


def test_every_group_order_and_status_is_documented() -> None:
    """The tables have all values that the program accepts and prints."""
    groups = PAGE[PAGE.index("## Groups") : PAGE.index("## Options")]
    statuses = PAGE[PAGE.index("## `recollect usage explain`") : PAGE.index("## Cost by cause")]
    causes = PAGE[PAGE.index("## Cost by cause") : PAGE.index("## Exit codes")]
    assert first_cells(causes) == [cause.value for cause in Cause]
    assert first_cells(groups) == [group.value for group in Group]
    assert sorted(first_cells(statuses)) == sorted(status.value for status in Status)
    assert [order.value for order in ReportOrder if f"`{order.value}`" not in PAGE] == []


def test_the_fields_of_a_report_are_documented(run_recollect: RunRecollect) -> None:
    """The output of `--json` has exactly the fields in the tables."""
    report = json.loads(run_recollect("usage", "--demo", "--json").stdout)
    documented = first_cells(REPORT)
    figures = list(report["totals"])
    assert documented == [*report, "current_block", *figures]
    assert [sorted(row) for row in report["rows"]] == [sorted(["key", *figures])] * 8


def test_what_groups_add_is_documented(run_recollect: RunRecollect) -> None:
    """Fields that only some rows have are named below the tables."""
    words = {
        "session": ("--client-cost", "--breakdown"),
        "block": (),
    }
    for group, options in words.items():
        report = json.loads(run_recollect("usage", group, *options, "--demo", "--json").stdout)
        added = {name for row in report["rows"] for name in row}
        assert added - set(names(REPORT)) == set()


def test_the_fields_of_causes_are_documented(run_recollect: RunRecollect) -> None:
    """The output of `cause --json` has the fields in its table, lists included."""
    printed = json.loads(run_recollect("usage", "cause", "other", "--demo", "--json").stdout)
    assert first_cells(CAUSES) == list(printed)
    inner = {*printed["rows"][0], *printed["caused"][0]}
    assert inner - set(names(CAUSES)) == set()


def test_the_fields_of_an_explanation_are_documented(run_recollect: RunRecollect) -> None:
    """The output of `explain --json` has the fields in its table, lists included."""
    printed = run_recollect("usage", "explain", "7aa5fa93", "--demo", "--json").stdout
    explanation = json.loads(printed)
    assert first_cells(EXPLANATION) == list(explanation)
    inner = {*explanation["lines"][0], *explanation["prices"][0], *explanation["client"]}
    assert inner - set(names(REPORT) + names(EXPLANATION)) == set()


def test_the_schemas_are_named(run_recollect: RunRecollect) -> None:
    """The page has the current versions of the schemas."""
    for words in ((), ("explain", "7aa5fa93")):
        document = json.loads(run_recollect("usage", *words, "--demo", "--json").stdout)
        assert f"`{document['schema']}`" in PAGE
