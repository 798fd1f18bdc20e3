"""check_files on the shared sample data, if it is available."""

from pathlib import Path

import pytest

from recollect.documents.health_report import HealthReport
from recollect.health.file_checks import check_files, list_inputs

SAMPLES = ("corpus", "real_cli")
# Written by hand into one sample, or cut out of a line that its owner's redactor broke.
KNOWN_ODDITIES = {"(no type)", "block/assistant", "block/user", "system/init"}


@pytest.fixture(scope="module", params=SAMPLES)
def report(shared: Path, request: pytest.FixtureRequest) -> HealthReport:
    """The report on one of the samples."""
    inputs = list_inputs([shared / str(request.param)])
    return check_files(inputs.sources, inputs.refused)


def test_every_byte_is_accounted_for(report: HealthReport) -> None:
    """No byte of real files is lost or counted twice."""
    assert report.files > 0
    assert report.accounted_bytes == report.byte_count


def test_every_type_is_known(report: HealthReport) -> None:
    """No record type that real clients wrote is unknown."""
    assert set(report.unknown_types) - KNOWN_ODDITIES == set()
