"""The usage view gives what the full reader gives, only faster."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given

from recollect.reader.transcript_reader import read_transcript
from recollect.reader.usage_reader import read_usage
from recollect.records.conversation_records import Assistant, AssistantUsage
from recollect.records.token_usage import Usage
from tests.reader.test_transcript import FILES
from tests.samples import every_transcript

FIELDS = [name for name in AssistantUsage.__struct_fields__ if name not in ("type", "message")]


def called_tools(content: object) -> list[tuple[str, str]]:
    """Id and name of the tools that a message calls, by its blocks or by their heads."""
    blocks = content if isinstance(content, tuple) else ()
    return [(block.id, block.name) for block in blocks if getattr(block, "name", None)]


def usage_of(records: Iterable[Assistant | AssistantUsage]) -> list[tuple[object, ...]]:
    """Return the usage in replies."""
    return [
        (
            r.message.id,
            r.message.model,
            r.message.usage,
            called_tools(r.message.content),
            *(getattr(r, name) for name in FIELDS),
        )
        for r in records
        if r.message
    ]


def usage_of_full_read(path: Path, start: int = 0) -> list[tuple[object, ...]]:
    """Return what `read_usage` should return, by decoding whole records."""
    replies = (r for r in read_transcript(path, start) if isinstance(r, Assistant))
    return usage_of(r for r in replies if r.message and r.message.usage)


def usage_of_view(path: Path, start: int = 0) -> list[tuple[object, ...]]:
    """The same of the view."""
    return usage_of(read_usage(path, start))


@pytest.mark.parametrize("path", every_transcript(), ids=lambda path: path.stem)
def test_the_view_agrees_on_each_phenomenon(path: Path) -> None:
    """Damage of every kind is read alike both ways."""
    assert usage_of_view(path) == usage_of_full_read(path)


@given(FILES)
def test_the_view_agrees_on_any_bytes(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    """Both ways agree on whatever bytes, and from whatever record."""
    path = tmp_path_factory.mktemp("transcripts") / "t.jsonl"
    path.write_bytes(data)
    assert usage_of_view(path) == usage_of_full_read(path)
    for record in read_transcript(path):
        offset = record.span.offset if record.span else 0
        assert usage_of_view(path, offset) == usage_of_full_read(path, offset)


def test_the_view_agrees_on_real_transcripts(shared: Path) -> None:
    """In every sample file both ways find the same usage."""
    paths = [*shared.glob("corpus/**/*.jsonl"), *shared.glob("real_cli/*/config*/**/*.jsonl")]
    found = 0
    for path in paths:
        seen = usage_of_view(path)
        assert seen == usage_of_full_read(path), path
        found += len(seen)
    assert found > 3000


def test_a_last_line_that_breaks_off_is_completed_on_request(tmp_path: Path) -> None:
    """By default it is left for later, because more of it may come."""
    usage = '"usage":{"input_tokens":1,"output_tokens":2}'
    line = f'{{"type":"assistant","message":{{"id":"m",{usage}}},"uuid":"u","timestamp":"2026'
    path = tmp_path / "torn.jsonl"
    path.write_text(line, encoding="utf-8")
    assert list(read_usage(path)) == []
    (record,) = read_usage(path, completes_last=True)
    assert record.message is not None
    assert (record.message.id, record.message.usage) == (
        "m",
        Usage(input_tokens=1, output_tokens=2),
    )
