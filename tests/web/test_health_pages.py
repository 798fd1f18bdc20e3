"""Health, search, the API and the page for users without sessions."""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from recollect.documents.health_report import DamagedRange, HealthReport
from recollect.web.openapi import describe_api
from recollect.web.pages.service_pages import list_findings, rate_health
from tests.web.addresses import SESSION
from tests.web.markup import find_links, find_texts
from tests.web.running import RunningServer, copy_demo, run_server

LEFT = "11111111-2222-3333-4444-555555555555"


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server on a directory with something of everything that is wrong."""
    folder = tmp_path_factory.mktemp("health")
    root = copy_demo(folder)
    transcript = next((root / "projects").glob(f"*/{SESSION}.jsonl"))
    with transcript.open("ab") as file:
        file.write(b'garbage\n{"type":"brand-new","uuid":"x"}\n')
    # 25 days before the moment that the server takes for now.
    os.utime(transcript, (1_794_571_200 - 25 * 86_400,) * 2)
    (root / "tasks" / LEFT).mkdir(parents=True)
    Path(root, "tasks", LEFT, "1.json").write_text("{}", encoding="utf-8")
    root.chmod(0o755)
    with run_server(folder, root, "--no-open") as running:
        running.wait_for(lambda: find_texts(running.get("/health").body, "table", class_="going"))
        yield running


def test_health_equals_the_report_of_doctor(broken: RunningServer) -> None:
    """Damage, format changes, permissions, pending deletions and leftover files."""
    page = broken.get("/health").body
    assert find_texts(page, "p", class_="verdict") == [
        "Some data could not be read. Everything else was."
    ]
    damaged = find_texts(page, "ul", class_="places")
    assert [text.partition(".jsonl")[2] for text in damaged] == [
        " offset 30,337, 8 bytes · not a record"
    ]
    cards = {text.split(" ", 1)[0]: text for text in find_texts(page, "section", class_="card")}
    assert cards["Drift"].endswith("Unknown record types brand-new 1")
    assert cards["Leftover"].endswith(f"tasks/{LEFT} tasks 1 2 bytes")
    assert find_texts(page, "p", class_="advice") == [
        f"Other users of this machine can read it. To restrict access: chmod 700 {broken.root}",
        "1 will be deleted within 7 days, 0 of them when Claude Code next starts.",
    ]
    assert find_links(page, "table", class_="going") == [f"/s/{SESSION}"]


def test_no_problems_are_reported_as_such(server: RunningServer) -> None:
    """If all files are intact, the page says so first."""
    assert find_texts(server.get("/health").body, "p", class_="verdict") == [
        "No problems: every byte was read and understood."
    ]


@pytest.mark.parametrize(
    ("report", "verdict"),
    [
        (HealthReport(), "well"),
        (HealthReport(unknown_types={"brand-new": 1}), "news"),
        (
            HealthReport(
                unknown_types={"brand-new": 1},
                damaged=(DamagedRange(file="a", offset=0, length=1, reason="no record"),),
            ),
            "trouble",
        ),
    ],
)
def test_verdicts(report: HealthReport, verdict: str) -> None:
    """Damage weighs more than news."""
    assert rate_health(report) == verdict


def test_findings_by_number() -> None:
    """The most frequent first, of whatever type."""
    assert list_findings({"user": {"b": 1, "a": 1}, "system": {"c": 3}}) == (
        ("system", "c", 3),
        ("user", "a", 1),
        ("user", "b", 1),
    )


def test_wrong_queries_are_pointed_at(server: RunningServer) -> None:
    """The message is on the page, with a caret below the column."""
    page = server.get(f"/search?q={quote('timeout is:eror')}").body
    assert find_texts(page, "div", class_="query-error") == [
        ("is: must be command, error, prompt, subagent, summary or thinking timeout is:eror ^")
    ]
    caret = page.decode().partition("<pre")[2].partition(">")[2].partition("</pre>")[0]
    assert caret == "timeout is:eror\n           ^"


def test_hits_can_be_walked_through(server: RunningServer) -> None:
    """Each hit is an item for the keyboard and leads to its message."""
    page = server.get("/search?q=release").body
    hits, links = find_texts(page, "li", data_item=""), find_links(page, "li", data_item="")
    assert len(hits) == len(links) > 0
    assert {server.get(link.partition("#")[0]).status for link in links} == {200}


def test_every_example_of_the_help_can_be_read(server: RunningServer) -> None:
    """Every example of the help is a valid query."""
    links = find_links(server.get("/search").body, "details", class_="help")
    assert len(links) > 20
    refused = [
        link for link in links if find_texts(server.get(link).body, "div", class_="query-error")
    ]
    assert refused == []


def test_every_address_of_the_api_has_its_card(server: RunningServer) -> None:
    """The page shows the document, and every document in it can be looked up."""
    page = server.get("/api").body
    assert find_texts(page, "section", class_="operation") != []
    titles = [text.split()[1] for text in find_texts(page, "section", class_="operation")]
    assert titles == list(describe_api()["paths"])
    for link in find_links(page, "p", class_="returns"):
        assert find_texts(page, "div", id=link.removeprefix("#")) != []


def test_nothing_found(tmp_path: Path) -> None:
    """Without sessions the page names what was looked at and how to see the demo."""
    root = tmp_path / "claude"
    (root / "projects").mkdir(parents=True)
    with run_server(tmp_path, root, "--no-open") as running:
        page = running.get("/").body
    assert find_texts(page, "section", class_="nothing")[0].split(" 1 ")[0].split("…")[-1] == (
        f"No sessions found These directories contain no sessions: {root} "
        "Use Claude Code once; its sessions appear here automatically. claude Copy "
        "Are your sessions elsewhere? Specify the directory: recollect serve --claude-dir DIR Copy "
        "Or try it with sample sessions: recollect serve --demo Copy "
        "Nothing was changed, and no data left this machine."
    )
