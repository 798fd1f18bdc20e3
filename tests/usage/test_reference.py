"""Reports on real transcripts equal those of a slow reference implementation."""

import shutil
from pathlib import Path

import pytest

from recollect.documents.usage_groups import Group
from recollect.store.database import open_for_reading
from recollect.store.usage_queries import UsageQueries
from recollect.sync.index_access import find_transcripts
from recollect.sync.sync_engine import sync
from recollect.usage.explain import explain
from recollect.usage.ledger_access import UsageLedger, load_report
from recollect.usage.reports import UsageQuery, UsageReport
from recollect.usage.totals import Totals, add_up
from recollect.usage.zones import load_zone
from tests.usage import reference

VERSIONS = ("1.0.35", "1.0.128", "2.0.77", "2.1.112", "2.1.325")
ZONE = load_zone("Asia/Kolkata")


def open_all(data: Path, roots: list[Path]) -> tuple[UsageLedger, list[Path]]:
    """The ledger of some roots, and the transcripts in them."""
    transcripts = find_transcripts(roots)
    sync(data, transcripts)
    connection = open_for_reading(data)
    assert connection is not None
    ledger = UsageLedger(UsageQueries(connection), roots)
    assert ledger.problems == {}
    return ledger, [each.path for each in transcripts]


def report_by(ledger: UsageLedger, group: Group) -> UsageReport:
    """A report without filters."""
    question = UsageQuery(group=group, zone=ZONE, breakdown=True)
    return load_report(ledger, question)


def assert_all_groups(ledger: UsageLedger, expected: Totals) -> None:
    """Every group has the same total, and its rows add up to it."""
    for group in Group:
        report = report_by(ledger, group)
        assert (group, report.totals) == (group, expected)
        assert (group, add_up(row.totals for row in report.rows)) == (group, expected)


@pytest.mark.parametrize("version", VERSIONS)
def test_what_the_real_client_wrote(shared: Path, tmp_path: Path, version: str) -> None:
    """Resumes, forks, subagents and compactions of each version are counted once."""
    roots = [shared / "real_cli" / version / name for name in ("config", "config_tui")]
    if not all(root.is_dir() for root in roots):
        pytest.skip("no transcripts of this version beside the project")
    ledger, paths = open_all(tmp_path, roots)
    expected = reference.count(paths)
    assert expected.messages > 100
    assert_all_groups(ledger, expected)


@pytest.mark.parametrize("version", VERSIONS)
def test_explanations_come_to_the_reports(shared: Path, tmp_path: Path, version: str) -> None:
    """The lines that explain a session or a day add up to its row."""
    roots = [shared / "real_cli" / version / name for name in ("config", "config_tui")]
    if not all(root.is_dir() for root in roots):
        pytest.skip("no transcripts of this version beside the project")
    ledger, _ = open_all(tmp_path, roots)
    today = ZONE.find_day(0)
    assert today is not None
    for group in (Group.SESSION, Group.DAY):
        rows = report_by(ledger, group).rows
        explained = [explain(ledger, str(row.key), ZONE, today).totals for row in rows]
        assert explained == [row.totals for row in rows]


def test_what_others_published(shared: Path, tmp_path: Path) -> None:
    """Totals of transcripts published by many people equal those of the reference."""
    found = sorted((shared / "corpus").rglob("*.jsonl"))
    plain = [path for path in found if "_stream" not in path.parts and reference.is_plain(path)]
    if len(plain) < 50:
        pytest.skip("no published transcripts beside the project")
    root = tmp_path / "claude"
    for number, path in enumerate(plain):
        directory = root / "projects" / f"p{number}"
        directory.mkdir(parents=True)
        shutil.copyfile(path, directory / path.name)
    ledger, paths = open_all(tmp_path / "data", [root])
    expected = reference.count(paths)
    assert expected.messages > 1000
    assert_all_groups(ledger, expected)
