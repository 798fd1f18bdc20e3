"""docs/doctor.md describes the report as it is, field by field."""

import re
from pathlib import Path

import msgspec

from recollect.health.report import DamagedPlace, Place, RefusedFile, Report
from recollect.health.tally import MOST_PLACES
from recollect.reader import MAX_LINE, salvage
from tests.process import RunRecollect

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "doctor.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| (`.+?`) \| [a-z ]+ \| (.+) \|$", PAGE, flags=re.MULTILINE))


def names(text: str) -> list[str]:
    """The names in code font."""
    return re.findall(r"`([^`]+)`", text)


def fields_of(struct: type[msgspec.Struct]) -> list[str]:
    """The names that a struct has in JSON."""
    return [info.encode_name for info in msgspec.structs.fields(struct)]


def test_every_field_is_documented() -> None:
    """The table has the fields of the report, all of them and in their order."""
    documented = [name for cell in ROWS for name in names(cell)]
    assert documented == fields_of(Report)


def test_fields_of_lists_are_documented() -> None:
    """The entries of each list have the fields that the table gives them."""
    assert [names(ROWS[f"`{name}`"]) for name in ("damaged", "torn", "oversized", "refused")] == [
        fields_of(DamagedPlace),
        fields_of(Place),
        fields_of(Place),
        fields_of(RefusedFile),
    ]


def test_the_schema_is_named() -> None:
    """The page is about the version that the program writes."""
    assert names(ROWS["`schema`"]) == [Report().schema]


def test_limits_are_those_of_the_code() -> None:
    """Numbers in the text are the ones that apply."""
    assert f"beyond the first {MOST_PLACES:,}," in ROWS["`damaged_omitted`"]
    assert f"more than {MAX_LINE // 2**20} MB," in ROWS["`oversized`"]


def test_reasons_are_those_of_the_reader() -> None:
    """Each reason that a damaged stretch can have is explained."""
    explained = names(PAGE[PAGE.index("`reason` of a damaged stretch") :])[1:]
    assert explained == [salvage.NO_RECORD, salvage.CUT_SHORT, salvage.NUL_BYTES]


def test_options_are_documented(run_recollect: RunRecollect) -> None:
    """Every option of the command stands on the page."""
    shown = set(re.findall(r"--[a-z-]+", run_recollect("doctor", "--help").stdout))
    assert shown - set(re.findall(r"--[a-z-]+", PAGE)) == {"--help"}


def test_the_program_prints_the_documented_fields(run_recollect: RunRecollect) -> None:
    """What `--json` prints is a report of this shape."""
    printed = run_recollect("doctor", "--demo", "--json").stdout
    assert list(msgspec.json.decode(printed)) == fields_of(Report)
