"""Tests of recollect.cli.commands.doctor_command: the report as a person sees it."""

import pytest

from recollect.cli.commands.doctor_command import describe_verdict, iter_report
from recollect.documents.health_report import DamagedRange, FileLocation, HealthReport, RefusedFile
from recollect.render.terminal import measure

FILE = "projects/-home-mina-projects-tidepool/01234567-89ab-4cde-8f01-23456789abcd.jsonl"
TROUBLED = HealthReport(
    files=1205,
    kinds={"session": 1200, "workflow-agent": 4, "stream": 1},
    streams=1,
    empty_files=2,
    byte_count=34_901_738,
    accounted_bytes=34_901_738,
    records=13_957,
    salvaged=3,
    blank=8,
    oldest="2026-01-05T20:05:47.000Z",
    newest="2026-11-12T06:00:03.000Z",
    types={f"type-{number}": 100 - number for number in range(14)},
    versions={"2.1.325": 900, "2.0.77": 7},
    unknown_types={"brand-new": 3},
    unknown_fields={"user": {"new": 12, "message.newer": 1}, "system/api_error": {"other": 2}},
    misfits={"user": {"uuid": 1}},
    damaged=(
        DamagedRange(file=FILE, offset=828, length=1, reason="no record"),
        DamagedRange(file=FILE, offset=140_864, length=25_415, reason="cut short"),
    ),
    damaged_omitted=10,
    torn=(FileLocation(file="a.jsonl", offset=9, length=70),),
    oversized=(FileLocation(file="b.jsonl", offset=0, length=70_000_000),),
    refused=(
        RefusedFile(
            file="c.jsonl",
            reason="symbolic link to outside the directory",
            failed=False,
        ),
    ),
)
SHOWN = """\
Recollect doctor: ~/.claude

Contents
  Files                1,205
    sessions           1,200
    workflow agents        4
    streams                1  output of headless runs
  Size               34.9 MB  every byte accounted for
  Records             13,957  from 2026-01-05 to 2026-11-12
  Empty files              2  no bytes, or only titles of other sessions
  Blank lines              8  harmless

Record types
  100  type-0
   99  type-1
   98  type-2
   97  type-3
   96  type-4
   95  type-5
   94  type-6
   93  type-7
   92  type-8
   91  type-9
   90  type-10
   89  type-11
  … and 2 more types

Claude Code versions
  900  2.1.325
    7  2.0.77

Drift
  Types unknown to this version:
    3  brand-new
  Unknown fields:
    12  user              new
     2  system/api_error  other
     1  user              message.newer
  Fields with an unexpected value:
    1  user  uuid

Damage
  12 damaged regions:
    projects/-home-mina-pro…ool/01234567-89ab-4cde-8f01-23456789abcd.jsonl
          at 828        1 byte  no record
      at 140,864  25,415 bytes  cut short
  Records salvaged from damaged lines: 3
  Lines too long to read:
    b.jsonl
      at 0  70.0 MB
  Incomplete last lines:
    a.jsonl
      at 9  70 bytes
  Found but not read:
    c.jsonl
      symbolic link to outside the directory

Not everything could be read: 12 damaged regions, 1 oversized line. The
rest is fine.
"""


def test_the_whole_report() -> None:
    """Every section is printed, and long lists are cut with a note."""
    assert "\n".join(iter_report(TROUBLED, "~/.claude", 74)) + "\n" == SHOWN


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_no_line_is_too_long(columns: int) -> None:
    """The report fits terminals of every width."""
    lines = list(iter_report(TROUBLED, "~/.claude", columns))
    assert [line for line in lines if measure(line) > columns] == []


def test_nothing_to_report() -> None:
    """An empty report still says that there are no problems."""
    assert list(iter_report(HealthReport(files=1, kinds={"session": 1}), "x.jsonl", 80))[7:] == [
        "",
        "Record types",
        "  None.",
        "",
        "Claude Code versions",
        "  None.",
        "",
        "Drift",
        "  None: all types and fields are known.",
        "",
        "Damage",
        "  None.",
        "",
        "No problems: 1 file, every byte read and understood.",
    ]


@pytest.mark.parametrize(
    ("report", "verdict"),
    [
        (HealthReport(files=2), "No problems: 2 files, every byte read and understood."),
        (
            HealthReport(files=2, torn=(FileLocation(file="x", offset=0, length=1),)),
            "No problems: 2 files, every byte read and understood except 1 incomplete last line.",
        ),
        (
            HealthReport(files=2, unknown_types={"new": 1}),
            "Everything could be read, but some of it is new to this version. Nothing is lost.",
        ),
        (
            HealthReport(
                damaged_omitted=1, refused=(RefusedFile(file="x", reason="y", failed=True),)
            ),
            "Not everything could be read: 1 damaged region, 1 unreadable file. The rest is fine.",
        ),
    ],
)
def test_the_verdict_is_one_sentence(report: HealthReport, verdict: str) -> None:
    """The last line says whether any action is needed."""
    assert describe_verdict(report) == verdict
