"""Tests of recollect.health.file_checks and recollect.health.file_checks."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.documents.health_report import DamagedRange, FileLocation, HealthReport, RefusedFile
from recollect.errors import NothingFound
from recollect.health.file_checks import (
    MAX_DAMAGED,
    MAX_NAMES,
    InputFile,
    Inputs,
    check_files,
    count,
    list_inputs,
)
from recollect.reader.line_blocks import MAX_LINE
from recollect.render.terminal import display_path

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


def check_text(directory: Path, text: str | bytes, name: str = "a.jsonl") -> HealthReport:
    """The report on one file with this content."""
    path = directory / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return check_files(list_inputs([path]).sources)


def test_known_records_are_counted(tmp_path: Path) -> None:
    """A sound file gives counts by type and version, its dates, and nothing else."""
    text = PROMPT + ANSWER + "\n"
    assert check_text(tmp_path, text) == HealthReport(
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
    report = check_text(tmp_path, "\n".join(lines) + "\n")
    found = (report.types, report.unknown_types, report.unknown_fields, report.misfits)
    assert found == (
        {"user": 2, "brand-new": 1, "system/brand_new": 1},
        {"block/hologram": 1, "brand-new": 1, "system/brand_new": 1},
        {"user": {"new": 2}, "system/brand_new": {"x": 1}},
        {"user": {"message.content[].text": 1, "uuid": 1}},
    )
    assert (report.has_drift, report.is_complete) == (True, True)


def test_damage_is_listed_with_its_position(tmp_path: Path) -> None:
    """Each damaged region has file, offset, length and reason; salvaged records are counted."""
    cut = PROMPT[:-20] + "\n"
    report = check_text(tmp_path, PROMPT + "no json\n" + cut + ANSWER)
    assert report.damaged == (
        DamagedRange(file="a.jsonl", offset=len(PROMPT), length=8, reason="no record"),
        DamagedRange(file="a.jsonl", offset=len(PROMPT) + 8, length=len(cut), reason="cut short"),
    )
    assert (report.records, report.salvaged, report.is_complete) == (3, 1, False)
    assert report.accounted_bytes == report.byte_count


def test_records_that_share_a_line_are_salvaged(tmp_path: Path) -> None:
    """Two records on one line are both counted, and nothing is damaged."""
    report = check_text(tmp_path, PROMPT.strip() + ANSWER)
    assert (report.types, report.salvaged) == ({"assistant": 1, "user": 1}, 2)
    assert (report.damaged, report.is_complete) == ((), True)


def test_a_torn_line_is_not_damage(tmp_path: Path) -> None:
    """The client may be writing the last line right now."""
    report = check_text(tmp_path, PROMPT + ANSWER[:30])
    assert report.torn == (FileLocation(file="a.jsonl", offset=len(PROMPT), length=30),)
    assert (report.damaged, report.is_complete) == ((), True)


def test_an_oversized_line_is_listed(tmp_path: Path) -> None:
    """A line too long for memory is reported and counted, and the rest is read."""
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.write(PROMPT.encode())
        file.seek(MAX_LINE + 1, 1)
        file.write(b"\n" + ANSWER.encode())
    report = check_files(list_inputs([path]).sources)
    length = MAX_LINE + 2
    assert report.oversized == (FileLocation(file="a.jsonl", offset=len(PROMPT), length=length),)
    assert (report.records, report.accounted_bytes) == (2, path.stat().st_size)
    assert not report.is_complete


@pytest.mark.parametrize("text", ["", '{"type":"summary","summary":"x","leafUuid":"y"}\n\n'])
def test_leftovers_of_a_resume_are_empty_files(tmp_path: Path, text: str) -> None:
    """A file without bytes, or with only titles of other sessions, is not a session."""
    assert check_text(tmp_path, text).empty_files == 1


def test_a_file_of_damage_is_not_empty(tmp_path: Path) -> None:
    """Bytes that cannot be read are damage, not an empty file."""
    report = check_text(tmp_path, "no json\n")
    assert (report.empty_files, report.damaged_count) == (0, 1)


def test_streams_are_distinguished_from_transcripts(tmp_path: Path) -> None:
    """The output of a headless run is recognised; other text before it is damage."""
    report = check_text(tmp_path, "Warning: no login\n" + INIT + RESULT)
    assert (report.kinds, report.streams, report.types, report.versions) == (
        {"stream": 1},
        1,
        {"stream/result/success": 1, "stream/system/init": 1},
        {"2.0.77": 1},
    )
    assert (report.unknown_types, report.unknown_fields) == ({}, {})
    assert report.damaged == (
        DamagedRange(file="a.jsonl", offset=0, length=18, reason="no record"),
    )


@pytest.mark.parametrize("indent", [None, 2])
def test_output_as_one_array_is_read(tmp_path: Path, indent: int | None) -> None:
    """`--output-format json --verbose` prints one array, which may have been reformatted."""
    messages = [json.loads(INIT), json.loads(RESULT)]
    text = json.dumps(messages, indent=indent)
    report = check_text(tmp_path, text, "output.json")
    assert (report.streams, report.records, report.damaged) == (1, 2, ())
    assert (report.byte_count, report.accounted_bytes) == (len(text), len(text))


def test_output_as_one_object_is_read(tmp_path: Path) -> None:
    """`--output-format json` prints one result, which may have been reformatted."""
    report = check_text(tmp_path, json.dumps(json.loads(RESULT), indent=2), "output.json")
    assert (report.streams, report.types) == (1, {"stream/result/success": 1})


def test_formatted_json_of_another_kind_is_damage(tmp_path: Path) -> None:
    """A JSON file that is not output of a client has no records."""
    report = check_text(tmp_path, '{\n  "name": "x"\n}\n', "package.json")
    assert (report.streams, report.records, report.damaged_count) == (0, 0, 3)


def test_rows_of_a_workflow_journal_are_records(tmp_path: Path) -> None:
    """A journal is read like a transcript."""
    rows = '{"type":"launched"}\n{"type":"started","key":"v2:1","agentId":"a1"}\n'
    assert check_text(tmp_path, rows, "journal.jsonl").types == {"launched": 1, "started": 1}


def test_content_never_reaches_the_report(tmp_path: Path) -> None:
    """Text in keys, types, versions, times and values is counted but not shown."""
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
    report = check_text(tmp_path, "".join(f"{json.dumps(line)}\n" for line in lines) + secret)
    assert secret not in msgspec.json.encode(report).decode()
    assert (report.records, report.versions) == (7, {"(odd name)": 1})


def test_files_that_cannot_be_read_are_reported(tmp_path: Path) -> None:
    """A file that was deleted before it is read is reported; the others are still read."""
    sound = tmp_path / "a.jsonl"
    sound.write_text(PROMPT)
    sources = [
        InputFile(tmp_path / "gone.jsonl", "gone.jsonl", "session"),
        InputFile(sound, "a.jsonl", "session"),
    ]
    report = check_files(sources)
    reason = "cannot be accessed (No such file or directory)"
    assert report.refused == (RefusedFile(file="gone.jsonl", reason=reason, failed=True),)
    assert (report.files, report.records, report.is_complete) == (1, 1, False)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_links_are_not_followed(tmp_path: Path) -> None:
    """A file that was replaced by a link since it was found is not read."""
    target, link = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    target.write_text(PROMPT)
    link.symlink_to(target)
    report = check_files([InputFile(link, "b.jsonl", "session")])
    expected = RefusedFile(file="b.jsonl", reason="cannot be accessed", failed=True)
    assert (report.refused, report.files) == ((expected,), 0)


def test_the_number_of_names_is_limited() -> None:
    """A table stops growing, and names beyond its limit are still counted."""
    table: dict[str, int] = {}
    for number in range(MAX_NAMES + 5):
        count(table, f"name{number}")
    count(table, "name0")
    assert (len(table), sum(table.values())) == (MAX_NAMES + 1, MAX_NAMES + 6)
    assert (table["name0"], table["(other names)"]) == (2, 5)


@pytest.mark.slow
def test_the_number_of_damaged_ranges_is_limited(tmp_path: Path) -> None:
    """A file with damage on every line does not exhaust memory; all damage is counted."""
    report = check_text(tmp_path, "x\n" * (MAX_DAMAGED + 7))
    assert (len(report.damaged), report.damaged_omitted) == (MAX_DAMAGED, 7)
    assert report.damaged_count == MAX_DAMAGED + 7


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
    """The spans of any file's records add up to its size."""
    data = "".join(pieces).encode() + rest
    report = check_text(tmp_path_factory.mktemp("check_files"), data)
    assert (report.byte_count, report.accounted_bytes) == (len(data), len(data))
    assert report.records == sum(report.types.values())


SESSION = "00000000-0000-4000-8000-000000000001"


def add(root: Path, *names: str) -> list[Path]:
    """Make empty files below a root."""
    paths = [root / name for name in names]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return paths


def names_of(inputs: Inputs) -> list[tuple[str, str]]:
    """Return the names of files in the report, and their kinds."""
    return [(source.name, source.kind) for source in inputs.sources]


def test_a_root_is_read_as_such(tmp_path: Path) -> None:
    """Transcripts of a Claude directory are read, and names are relative to it."""
    add(
        tmp_path,
        "history.jsonl",
        f"projects/p/{SESSION}.jsonl",
        f"projects/p/{SESSION}/subagents/agent-a1.jsonl",
        f"projects/p/{SESSION}/subagents/workflows/wf_1/agent-a2.jsonl",
        f"projects/p/{SESSION}/subagents/workflows/wf_1/journal.jsonl",
    )
    assert names_of(list_inputs([tmp_path])) == [
        (f"projects/p/{SESSION}.jsonl", "session"),
        (f"projects/p/{SESSION}/subagents/agent-a1.jsonl", "subagent"),
        (f"projects/p/{SESSION}/subagents/workflows/wf_1/agent-a2.jsonl", "workflow-agent"),
        (f"projects/p/{SESSION}/subagents/workflows/wf_1/journal.jsonl", "workflow-journal"),
    ]


def test_any_directory_is_searched_to_the_bottom(tmp_path: Path) -> None:
    """Other directories are searched for transcripts at any depth."""
    add(tmp_path, "deep/down/a.jsonl", "b.jsonl", "notes.txt")
    expected = [("b.jsonl", "session"), ("deep/down/a.jsonl", "session")]
    assert names_of(list_inputs([tmp_path])) == expected


def test_a_single_file_is_called_by_its_name(tmp_path: Path) -> None:
    """A file may have any name if it is given explicitly."""
    (path,) = add(tmp_path, "output.txt")
    assert list_inputs([path]) == Inputs((InputFile(path, "output.txt", "session"),), ())


def test_several_paths_are_distinguished(tmp_path: Path) -> None:
    """With several paths, names start with the path they are from, with the home as `~`."""
    home = tmp_path / "home"
    add(home / ".claude" / "projects" / "p", "a.jsonl")
    add(tmp_path / "other" / "projects" / "p", "a.jsonl")
    places = [home / ".claude", tmp_path / "other"]
    assert names_of(list_inputs(places, {"HOME": str(home)})) == [
        ("~/.claude/projects/p/a.jsonl", "session"),
        (f"{tmp_path}/other/projects/p/a.jsonl", "session"),
    ]


def test_a_file_is_read_once(tmp_path: Path) -> None:
    """A file below two paths is counted under the first."""
    (path,) = add(tmp_path, "projects/p/a.jsonl")
    inputs = list_inputs([tmp_path, tmp_path / "projects", path], {"HOME": str(tmp_path)})
    assert names_of(inputs) == [("~/projects/p/a.jsonl", "session")]


def test_the_home_is_hidden_in_project_names_too(tmp_path: Path) -> None:
    """Claude Code writes the home into directory names; a report does not repeat it."""
    add(tmp_path, "projects/-home-mina-app/a.jsonl", "projects/-home-minare/a.jsonl")
    assert names_of(list_inputs([tmp_path], {"HOME": "/home/mina"})) == [
        ("projects/~-app/a.jsonl", "session"),
        ("projects/-home-minare/a.jsonl", "session"),
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
def test_hostile_names_are_made_safe(tmp_path: Path) -> None:
    """A file name cannot control the terminal, break a line or make the JSON invalid."""
    add(tmp_path, "\x1b]0;title\x07\n.jsonl", "\udcff.jsonl")
    assert names_of(list_inputs([tmp_path])) == [
        ("␛]0;title\u2039U+0007\u203a\u2039U+000A\u203a.jsonl", "session"),
        ("\u2039U+DCFF\u203a.jsonl", "session"),
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_skipped_files_are_listed(tmp_path: Path) -> None:
    """A link out of the directory is listed, its target is not."""
    root, secret = tmp_path / "root", tmp_path / "secret.jsonl"
    add(root, "a.jsonl")
    secret.touch()
    (root / "b.jsonl").symlink_to(secret)
    reason = "symbolic link to outside the directory"
    refused = RefusedFile(file="b.jsonl", reason=reason, failed=False)
    assert list_inputs([root]).refused == (refused,)


def test_a_missing_path_is_an_error(tmp_path: Path) -> None:
    """A path that does not exist is an error of the request."""
    with pytest.raises(NothingFound):
        list_inputs([tmp_path / "missing"])


def test_paths_are_shown_without_the_home(tmp_path: Path) -> None:
    """A path below the home starts with `~`, others are unchanged."""
    environment = {"HOME": str(tmp_path)}
    places = [tmp_path / ".claude", tmp_path, Path("elsewhere\x1b")]
    shown = [display_path(place, environment) for place in places]
    assert shown == ["~/.claude", "~", "elsewhere␛"]
