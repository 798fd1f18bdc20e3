"""Tests of recollect.health.survey and of the counting behind it."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.health.report import DamagedPlace, Place, RefusedFile, Report
from recollect.health.sources import Source, take_inventory
from recollect.health.survey import survey
from recollect.health.tally import MOST_NAMES, MOST_PLACES, count
from recollect.reader import MAX_LINE

PROMPT = (
    '{"type":"user","uuid":"1","timestamp":"2026-03-01T10:00:00.000Z","version":"2.1.325",'
    '"message":{"role":"user","content":"hello"}}\n'
)
ANSWER = (
    '{"type":"assistant","uuid":"2","timestamp":"2026-03-01T10:00:05.000Z","version":"2.1.325",'
    '"message":{"role":"assistant","content":[{"type":"text","text":"hi"}]}}\n'
)
INIT = '{"type":"system","subtype":"init","session_id":"s","claude_code_version":"2.0.77"}\n'
RESULT = '{"type":"result","subtype":"success","session_id":"s","duration_ms":5}\n'


def survey_text(directory: Path, text: str | bytes, name: str = "a.jsonl") -> Report:
    """The report on one file with this content."""
    path = directory / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return survey(take_inventory([path]).sources)


def test_known_records_are_counted(tmp_path: Path) -> None:
    """A sound file gives counts by type and version, its dates, and nothing else."""
    text = PROMPT + ANSWER + "\n"
    assert survey_text(tmp_path, text) == Report(
        files=1,
        kinds={"session": 1},
        byte_count=len(text),
        accounted_bytes=len(text),
        records=2,
        blank=1,
        oldest="2026-03-01T10:00:00.000Z",
        newest="2026-03-01T10:00:05.000Z",
        types={"assistant": 1, "user": 1},
        versions={"2.1.325": 2},
    )


def test_drift_is_counted_by_type(tmp_path: Path) -> None:
    """Unknown types, fields, kinds and misfits are counted, and none of it is damage."""
    lines = (
        '{"type":"brand-new","x":1}',
        '{"type":"system","subtype":"brand_new","x":1}',
        '{"type":"user","new":1,"message":{"content":[{"type":"hologram"}]}}',
        '{"type":"user","new":2,"uuid":7,"message":{"content":[{"type":"text","text":[]}]}}',
    )
    report = survey_text(tmp_path, "\n".join(lines) + "\n")
    found = (report.types, report.unknown_types, report.unknown_fields, report.misfits)
    assert found == (
        {"user": 2, "brand-new": 1, "system/brand_new": 1},
        {"block/hologram": 1, "brand-new": 1, "system/brand_new": 1},
        {"user": {"new": 2}, "system/brand_new": {"x": 1}},
        {"user": {"message.content[].text": 1, "uuid": 1}},
    )
    assert (report.has_drift, report.is_complete) == (True, True)


def test_damage_is_listed_with_its_place(tmp_path: Path) -> None:
    """Each damaged stretch has file, offset, length and reason; salvaged records are counted."""
    cut = PROMPT[:-20] + "\n"
    report = survey_text(tmp_path, PROMPT + "no json\n" + cut + ANSWER)
    assert report.damaged == (
        DamagedPlace(file="a.jsonl", offset=len(PROMPT), length=8, reason="no record"),
        DamagedPlace(file="a.jsonl", offset=len(PROMPT) + 8, length=len(cut), reason="cut short"),
    )
    assert (report.records, report.salvaged, report.is_complete) == (3, 1, False)
    assert report.accounted_bytes == report.byte_count


def test_records_that_share_a_line_are_salvaged(tmp_path: Path) -> None:
    """Two records on one line are both counted, and nothing is damaged."""
    report = survey_text(tmp_path, PROMPT.strip() + ANSWER)
    assert (report.types, report.salvaged) == ({"assistant": 1, "user": 1}, 2)
    assert (report.damaged, report.is_complete) == ((), True)


def test_a_torn_line_is_no_damage(tmp_path: Path) -> None:
    """The client may be writing the last line right now."""
    report = survey_text(tmp_path, PROMPT + ANSWER[:30])
    assert report.torn == (Place(file="a.jsonl", offset=len(PROMPT), length=30),)
    assert (report.damaged, report.is_complete) == ((), True)


def test_an_oversized_line_is_listed(tmp_path: Path) -> None:
    """A line that does not fit into memory is named and counted, and the rest is read."""
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.write(PROMPT.encode())
        file.seek(MAX_LINE + 1, 1)
        file.write(b"\n" + ANSWER.encode())
    report = survey(take_inventory([path]).sources)
    length = MAX_LINE + 2
    assert report.oversized == (Place(file="a.jsonl", offset=len(PROMPT), length=length),)
    assert (report.records, report.accounted_bytes) == (2, path.stat().st_size)
    assert not report.is_complete


@pytest.mark.parametrize("text", ["", '{"type":"summary","summary":"x","leafUuid":"y"}\n\n'])
def test_leftovers_of_a_resume_are_empty_files(tmp_path: Path, text: str) -> None:
    """A file without bytes, or with nothing but titles of other sessions, is no session."""
    assert survey_text(tmp_path, text).empty_files == 1


def test_a_file_of_damage_is_not_empty(tmp_path: Path) -> None:
    """Bytes that cannot be read are a finding, not a leftover."""
    report = survey_text(tmp_path, "no json\n")
    assert (report.empty_files, report.damaged_count) == (0, 1)


def test_streams_are_told_from_transcripts(tmp_path: Path) -> None:
    """The output of a headless run is read as what it is; noise before it is damage."""
    report = survey_text(tmp_path, "Warning: no login\n" + INIT + RESULT)
    assert (report.kinds, report.streams, report.types, report.versions) == (
        {"stream": 1},
        1,
        {"stream/result/success": 1, "stream/system/init": 1},
        {"2.0.77": 1},
    )
    assert (report.unknown_types, report.unknown_fields) == ({}, {})
    assert report.damaged == (
        DamagedPlace(file="a.jsonl", offset=0, length=18, reason="no record"),
    )


@pytest.mark.parametrize("indent", [None, 2])
def test_output_as_one_array_is_read(tmp_path: Path, indent: int | None) -> None:
    """`--output-format json --verbose` prints one array, which somebody may have formatted."""
    messages = [json.loads(INIT), json.loads(RESULT)]
    text = json.dumps(messages, indent=indent)
    report = survey_text(tmp_path, text, "output.json")
    assert (report.streams, report.records, report.damaged) == (1, 2, ())
    assert (report.byte_count, report.accounted_bytes) == (len(text), len(text))


def test_output_as_one_object_is_read(tmp_path: Path) -> None:
    """`--output-format json` prints one result, which somebody may have formatted."""
    report = survey_text(tmp_path, json.dumps(json.loads(RESULT), indent=2), "output.json")
    assert (report.streams, report.types) == (1, {"stream/result/success": 1})


def test_formatted_json_of_another_kind_is_damage(tmp_path: Path) -> None:
    """A JSON file that is no output of a client has no records."""
    report = survey_text(tmp_path, '{\n  "name": "x"\n}\n', "package.json")
    assert (report.streams, report.records, report.damaged_count) == (0, 0, 3)


def test_rows_of_a_workflow_journal_are_records(tmp_path: Path) -> None:
    """A journal is read like a transcript."""
    rows = '{"type":"launched"}\n{"type":"started","key":"v2:1","agentId":"a1"}\n'
    assert survey_text(tmp_path, rows, "journal.jsonl").types == {"launched": 1, "started": 1}


def test_content_never_reaches_the_report(tmp_path: Path) -> None:
    """Words in keys, types, versions, times and values are counted but not repeated."""
    secret = "my secret words"
    lines = [
        {"type": secret, "uuid": secret},
        {"type": "user", secret: secret, "version": secret, "timestamp": secret},
        {
            "type": "user",
            "message": {secret: 1, "content": [{"type": secret}, {"type": "text", secret: 1}]},
        },
        {"type": "system", "subtype": secret, "content": secret},
        {"type": "attachment", "attachment": {"type": secret}},
        {"type": "progress", "data": {"type": secret}},
        {
            "type": "file-history-snapshot",
            "snapshot": {"trackedFileBackups": {secret: {secret: 1}}},
        },
    ]
    report = survey_text(tmp_path, "".join(f"{json.dumps(line)}\n" for line in lines) + secret)
    assert secret not in msgspec.json.encode(report).decode()
    assert (report.records, report.versions) == (7, {"(odd name)": 1})


def test_files_that_cannot_be_read_are_reported(tmp_path: Path) -> None:
    """A file that is gone by the time it is read is a finding; the others are read all the same."""
    sound = tmp_path / "a.jsonl"
    sound.write_text(PROMPT)
    sources = [
        Source(tmp_path / "gone.jsonl", "gone.jsonl", "session"),
        Source(sound, "a.jsonl", "session"),
    ]
    report = survey(sources)
    reason = "cannot be looked at (No such file or directory)"
    assert report.refused == (RefusedFile(file="gone.jsonl", reason=reason, failed=True),)
    assert (report.files, report.records, report.is_complete) == (1, 1, False)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_links_are_not_followed(tmp_path: Path) -> None:
    """A file that was replaced by a link since it was found is not read."""
    target, link = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    target.write_text(PROMPT)
    link.symlink_to(target)
    report = survey([Source(link, "b.jsonl", "session")])
    expected = RefusedFile(file="b.jsonl", reason="cannot be looked at", failed=True)
    assert (report.refused, report.files) == ((expected,), 0)


def test_the_number_of_names_is_limited() -> None:
    """A table stops growing, and what is beyond its limit is still counted."""
    table: dict[str, int] = {}
    for number in range(MOST_NAMES + 5):
        count(table, f"name{number}")
    count(table, "name0")
    assert (len(table), sum(table.values())) == (MOST_NAMES + 1, MOST_NAMES + 6)
    assert (table["name0"], table["(other names)"]) == (2, 5)


@pytest.mark.slow
def test_the_number_of_places_is_limited(tmp_path: Path) -> None:
    """A file with damage on every line cannot fill the memory; all of it is counted."""
    report = survey_text(tmp_path, "x\n" * (MOST_PLACES + 7))
    assert (len(report.damaged), report.damaged_omitted) == (MOST_PLACES, 7)
    assert report.damaged_count == MOST_PLACES + 7


PIECES = [
    PROMPT,
    ANSWER,
    "\n",
    "x\n",
    PROMPT[:40] + "\n",
    '{"type":"new"}\n',
    "\0\0" + ANSWER,
    "\r\n",
]


@given(st.lists(st.sampled_from(PIECES)), st.binary(max_size=20))
def test_every_byte_is_accounted_for(
    tmp_path_factory: pytest.TempPathFactory, pieces: Iterable[str], rest: bytes
) -> None:
    """Whatever a file holds, the spans of its records add up to its size."""
    data = "".join(pieces).encode() + rest
    report = survey_text(tmp_path_factory.mktemp("survey"), data)
    assert (report.byte_count, report.accounted_bytes) == (len(data), len(data))
    assert report.records == sum(report.types.values())
