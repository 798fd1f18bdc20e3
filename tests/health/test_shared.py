"""The survey on sample data from elsewhere, when it lies beside the project."""

from pathlib import Path

import pytest

from recollect.health.report import Report
from recollect.health.sources import take_inventory
from recollect.health.survey import survey

SAMPLES = ("corpus", "real_cli")
# Written by hand into one sample, or cut out of a line that its owner's redactor broke.
KNOWN_ODDITIES = {"(no type)", "block/assistant", "block/user", "system/init"}


@pytest.fixture(scope="module", params=SAMPLES)
def report(shared: Path, request: pytest.FixtureRequest) -> Report:
    """The report on one of the samples."""
    inventory = take_inventory([shared / str(request.param)])
    return survey(inventory.sources, inventory.refused)


def test_every_byte_is_accounted_for(report: Report) -> None:
    """No byte of real files is lost or counted twice."""
    assert report.files > 0
    assert report.accounted_bytes == report.byte_count


def test_every_type_is_known(report: Report) -> None:
    """No record type that real clients wrote is unknown."""
    assert set(report.unknown_types) - KNOWN_ODDITIES == set()
