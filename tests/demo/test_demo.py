"""The demo data equals its generator's output, and resembles a real Claude directory."""

from pathlib import Path
from typing import TypeVar

import pytest

from recollect.demo import CLAUDE_DIRECTORY
from recollect.documents.health_report import HealthReport
from recollect.health.file_checks import check_files, list_inputs
from recollect.locations import Transcript, TranscriptKind, discover_root, encode_project_path
from recollect.locations.sidecars import find_subagent_meta, resolve_tool_result
from recollect.reader.transcript_reader import read_transcript
from recollect.records.blocks import ToolResult, ToolUse
from recollect.records.conversation_records import Assistant, User
from recollect.records.envelope import Chain, Record
from recollect.records.state import CostState
from recollect.records.tools import (
    TextResult,
    ToolOutput,
    UnknownInput,
    UnknownResult,
    parse_input,
    parse_result,
)
from recollect.records.tools.shell_tools import ShellResult
from tools.generate_demo import build, main

T = TypeVar("T")

MAX_BYTES = 400_000
PHENOMENA = {
    "ai-title",
    "attachment/queued_command",
    "cost-state",
    "custom-title",
    "file-history-delta",
    "queue-operation",
    "summary",
    "system/api_error",
    "system/compact_boundary",
}
TOOLS = {
    "Agent",
    "AskUserQuestion",
    "Bash",
    "Edit",
    "Grep",
    "Read",
    "Task",
    "TaskCreate",
    "TodoWrite",
    "WebSearch",
    "Write",
}
TRANSCRIPTS = discover_root(CLAUDE_DIRECTORY).transcripts


def files_below(root: Path) -> dict[str, bytes]:
    """Return every file of a directory with its content."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


def chain_of(transcript: Transcript) -> list[Chain]:
    """Return the chain records of a transcript."""
    return [record for record in read_transcript(transcript.path) if isinstance(record, Chain)]


def name_of(transcript: Transcript) -> str:
    """Return the test id of a transcript."""
    return transcript.path.name[:13]


def test_it_is_what_the_generator_writes(tmp_path: Path) -> None:
    """The committed files equal the generator's output byte for byte, and leftovers are removed."""
    (tmp_path / "leftover.jsonl").touch()
    main(tmp_path)
    assert files_below(tmp_path) == files_below(CLAUDE_DIRECTORY) == build()


def test_it_is_small() -> None:
    """It is part of every installation."""
    assert sum(map(len, build().values())) < MAX_BYTES


def test_all_of_it_is_known() -> None:
    """It has no unknown, damaged, torn, blank or empty records."""
    report = check_files(list_inputs([CLAUDE_DIRECTORY]).sources)
    assert report == HealthReport(
        files=10,
        kinds={"session": 8, "subagent": 2},
        byte_count=report.accounted_bytes,
        accounted_bytes=report.byte_count,
        records=report.records,
        oldest=report.oldest,
        newest=report.newest,
        types=report.types,
        versions=report.versions,
    )
    assert PHENOMENA - set(report.types) == set()
    assert set(report.versions) == {"1.0.128", "2.0.77", "2.1.325"}
    assert (report.oldest or "")[:4] == (report.newest or "")[:4] == "2026"


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=name_of)
def test_it_is_where_a_client_would_put_it(transcript: Transcript) -> None:
    """Directory, file name and session id agree with the records."""
    records = chain_of(transcript)
    assert {encode_project_path(record.cwd or "") for record in records} == {
        transcript.project_dir.name
    }
    if transcript.session_id is not None:
        assert {record.session_id for record in records} == {transcript.session_id}


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=name_of)
def test_parents_are_there(transcript: Transcript) -> None:
    """Every record has an earlier parent or is a root; ids are unique; times increase."""
    records = chain_of(transcript)
    seen: set[str | None] = {None}
    for record in records:
        assert record.parent_uuid in seen
        assert record.uuid not in seen
        seen.add(record.uuid)
    times = [record.timestamp for record in records if not record.is_sidechain]
    assert times == sorted(times, key=str)


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=name_of)
def test_every_call_has_its_result(transcript: Transcript) -> None:
    """Each tool call has one result, both of known types."""
    calls = {block.id: block for block in blocks_of(transcript, ToolUse)}
    results = [block.tool_use_id for block in blocks_of(transcript, ToolResult)]
    assert sorted(results) == sorted(calls)
    inputs = [parse_input(call.name, call.input) for call in calls.values()]
    assert [value for value in inputs if isinstance(value, UnknownInput)] == []
    outputs = [output for _, output in outputs_of(transcript)]
    assert [value for value in outputs if isinstance(value, UnknownResult)] == []


def test_it_shows_the_tools() -> None:
    """The common tools occur, with failed and rejected calls."""
    calls = [call for found in TRANSCRIPTS for call in blocks_of(found, ToolUse)]
    assert TOOLS - {call.name for call in calls} == set()
    outputs = [output for found in TRANSCRIPTS for _, output in outputs_of(found)]
    texts = [output.text for output in outputs if isinstance(output, TextResult)]
    assert len([text for text in texts if text.startswith("Error: Exit code 1")]) == 2
    assert texts.count("User rejected tool use") == 1


def test_a_prompt_was_taken_back() -> None:
    """One record is followed by two prompts, as after a rewind."""
    prompts = [
        record.parent_uuid
        for found in TRANSCRIPTS
        for record in chain_of(found)
        if isinstance(record, User) and record.prompt_source == "typed"
    ]
    assert len(prompts) - len(set(prompts) - {None}) - prompts.count(None) == 1


def test_subagents_of_each_era_are_there() -> None:
    """One is in its session's file, one beside it, one below it with a sidecar."""
    agents = [found for found in TRANSCRIPTS if found.kind is TranscriptKind.SUBAGENT]
    assert [found.session_id is None for found in agents] == [False, True]
    assert [find_subagent_meta(found) is not None for found in agents] == [True, False]
    inline = [
        found
        for found in TRANSCRIPTS
        if len({record.is_sidechain for record in chain_of(found)}) > 1
    ]
    assert [chain_of(found)[0].version for found in inline] == ["1.0.128"]


def test_spilled_output_can_be_found() -> None:
    """The output is at the recorded path and has the recorded size."""
    (found,) = [
        (transcript, output)
        for transcript in TRANSCRIPTS
        for transcript, output in outputs_of(transcript)
        if isinstance(output, ShellResult) and output.persisted_output_path
    ]
    path = resolve_tool_result(found[0], found[1].persisted_output_path or "")
    assert path is not None
    assert path.stat().st_size == found[1].persisted_output_size


def test_costs_add_up() -> None:
    """The client's totals equal those of the records, except for calls that leave no record."""
    output = dict.fromkeys(("records", "cost-state"), 0)
    for found in TRANSCRIPTS:
        for record in read_transcript(found.path):
            output["cost-state"] += _stated_output(record)
        if chain_of(found)[0].version == "2.1.325":
            output["records"] += _counted_output(found)
    unseen = 160 + 412
    assert output["cost-state"] == output["records"] + unseen


def _stated_output(record: Record) -> int:
    if not isinstance(record, CostState):
        return 0
    return sum(usage.output_tokens for usage in record.model_usage.values())


def _counted_output(transcript: Transcript) -> int:
    messages = {
        record.message.id: record.message.usage.output_tokens
        for record in chain_of(transcript)
        if isinstance(record, Assistant) and record.message and record.message.usage
    }
    return sum(messages.values())


def blocks_of(transcript: Transcript, kind: type[T]) -> list[T]:
    """Return the content blocks of one type."""
    return [
        block
        for record in chain_of(transcript)
        if isinstance(record, User | Assistant) and record.message
        for block in record.message.content or ()
        if isinstance(block, kind)
    ]


def outputs_of(transcript: Transcript) -> list[tuple[Transcript, ToolOutput]]:
    """Return the structured results of tool calls."""
    names = {block.id: block.name for block in blocks_of(transcript, ToolUse)}
    return [
        (transcript, parse_result(names[block.tool_use_id], record.tool_use_result))
        for record in chain_of(transcript)
        if isinstance(record, User) and bytes(record.tool_use_result)
        for block in (record.message.content if record.message else None) or ()
        if isinstance(block, ToolResult)
    ]
