"""docs/doctor.md matches the report, field by field."""

import re
from pathlib import Path

import msgspec

from recollect.documents.health_report import DamagedRange, FileLocation, HealthReport, RefusedFile
from recollect.health.file_checks import MAX_DAMAGED
from recollect.reader import transcript_reader
from recollect.reader.line_blocks import MAX_LINE
from tests.docs.documented import fields_of, names
from tests.process import RunRecollect

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "doctor.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| (`.+?`) \| [a-z ]+ \| (.+) \|$", PAGE, flags=re.MULTILINE))


def test_every_field_is_documented() -> None:
    """The table has all fields of the report, in order."""
    documented = [name for cell in ROWS for name in names(cell)]
    assert documented == fields_of(HealthReport)


def test_fields_of_lists_are_documented() -> None:
    """The entries of each list have the fields in the table."""
    assert [names(ROWS[f"`{name}`"]) for name in ("damaged", "torn", "oversized", "refused")] == [
        fields_of(DamagedRange),
        fields_of(FileLocation),
        fields_of(FileLocation),
        fields_of(RefusedFile),
    ]


def test_the_schema_is_named() -> None:
    """The page has the current version of the schema."""
    assert names(ROWS["`schema`"]) == [HealthReport().schema]


def test_limits_are_those_of_the_code() -> None:
    """Numbers on the page equal those in the code."""
    assert f"beyond the first {MAX_DAMAGED:,}," in ROWS["`damaged_omitted`"]
    assert f"more than {MAX_LINE // 2**20} MB," in ROWS["`oversized`"]


def test_reasons_are_those_of_the_reader() -> None:
    """Every reason of a damaged region is explained."""
    explained = names(PAGE[PAGE.index("`reason` of a damaged region") :])[1:]
    assert explained == [
        transcript_reader.NO_RECORD,
        transcript_reader.CUT_SHORT,
        transcript_reader.NUL_BYTES,
    ]


def test_options_are_documented(run_recollect: RunRecollect) -> None:
    """Every option of the command is on the page."""
    shown = set(re.findall(r"--[a-z-]+", run_recollect("doctor", "--help").stdout))
    assert shown - set(re.findall(r"--[a-z-]+", PAGE)) == {"--help"}


def test_the_program_prints_the_documented_fields(run_recollect: RunRecollect) -> None:
    """The output of `--json` has the documented fields."""
    printed = run_recollect("doctor", "--demo", "--json").stdout
    assert list(msgspec.json.decode(printed)) == fields_of(HealthReport)
