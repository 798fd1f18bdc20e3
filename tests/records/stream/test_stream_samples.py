"""Streams of the real client and of others: nothing unknown, and the transcripts agree.

`real_cli/VERSION/scenarios.json` says which transcripts each run touched; its output lies in
`real_cli/VERSION/stream`. The stream of 1.0.35 has no uuids, so there is nothing to join there.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from recollect.records.blocks import Content, Text
from recollect.records.decoding import decode_record
from recollect.records.envelope import Chain
from recollect.records.stream.conversion import _is_missing, merge, to_record
from recollect.records.stream.message_decoding import (
    StreamMessage,
    decode_message,
    decode_output,
    looks_like_stream,
)
from recollect.records.stream.stream_messages import UnknownMessage

PLAIN_TEXT = "hello_text.jsonl"
"""Runs with `--output-format text`: they print an answer and no message."""

JOINED = {"1.0.128": 281, "2.0.77": 319, "2.1.112": 340, "2.1.325": 407}
"""Messages whose record is in a transcript of the same run."""

TEXT_IN_A_BLOCK = {
    "1.0.128": {"auto_midturn", "auto_turn2", "slash_tool"},
    "2.0.77": {
        "agent_worktree",
        "auto_midturn",
        "auto_turn2",
        "send_message",
        "subagent",
        "subagent_fails",
        "subagent_fg",
        "subagent_nested",
        "subagents_parallel",
    },
    "2.1.112": {
        "agent_worktree",
        "auto_midturn",
        "auto_turn2",
        "send_message",
        "subagent",
        "subagent_fails",
        "subagent_fg",
        "subagent_nested",
        "subagents_parallel",
    },
    "2.1.325": {
        "auto_midturn",
        "auto_turn2",
        "empty",
        "max_tokens",
        "refusal",
        "send_message",
        "subagent_fg",
    },
}
"""Runs in which the stream has a text block where the transcript has the bare text: summaries, and
prompts that a subagent or the client itself was given."""

ANOTHER_RECORD = {
    ("2.1.112", "slash_context", "Assistant", "LocalCommand"),
    ("2.1.112", "slash_cost", "Assistant", "LocalCommand"),
    ("2.1.112", "sj_queued", "User", "Attachment"),
}
"""Output of local commands, which that version does not mark, and a prompt that was queued."""

LESS_DETAIL = {"permission_decision", "compact_metadata"}
PLACEHOLDERS = {"message.usage", "message.stop_reason"}


class Pair(NamedTuple):
    """A record from the stream and the same one from the transcript."""

    run: str
    streamed: Chain
    written: Chain


def _stream_files(shared: Path) -> list[Path]:
    found = [*shared.glob("real_cli/*/stream/*.jsonl"), *shared.glob("corpus/_stream/**/*.jsonl")]
    return sorted(path for path in found if path.name != PLAIN_TEXT)


def _transcripts(shared: Path) -> list[Path]:
    found = [*shared.glob("real_cli/*/config*/**/*.jsonl"), *shared.glob("corpus/**/*.jsonl")]
    return sorted(path for path in found if "_stream" not in path.parts)


def _lines(paths: Iterable[Path]) -> Iterator[bytes]:
    for path in paths:
        yield from filter(bytes.strip, path.read_bytes().split(b"\n"))


def _pairs(root: Path) -> Iterator[Pair]:
    for run in json.loads((root / "scenarios.json").read_text(encoding="utf-8")):
        written = _written(root / "config", run["touched"])
        output = (root / "stream" / f"{run['name']}.jsonl").read_bytes()
        for record in map(to_record, decode_output(output)):
            if isinstance(record, Chain) and record.uuid in written:
                yield Pair(run["name"], record, written[record.uuid])


def _written(config: Path, touched: list[str]) -> dict[str | None, Chain]:
    paths = [config / name for name in touched if name.endswith(".jsonl")]
    records = map(decode_record, _lines(path for path in paths if path.is_file()))
    return {record.uuid: record for record in records if isinstance(record, Chain) and record.uuid}


def _unwrap(content: Content) -> Content:
    if content is not None and len(content) == 1 and isinstance(content[0], Text):
        return content[0].text
    return content


def _contradictions(said: msgspec.Struct, written: msgspec.Struct, path: str = "") -> Iterator[str]:
    """Return the fields that both have with different values."""
    for name in said.__struct_fields__:
        mine, other = getattr(said, name), getattr(written, name)
        if _is_missing(mine) or mine is False or mine == other or name in {"span", "content"}:
            continue
        if name == "message":
            yield from _contradictions(mine, other, "message.")
        else:
            yield path + name


def _undeclared(parsed: object, value: object, path: str) -> Iterator[str]:
    """Return names in `parsed` for which the type of `value` has no field."""
    if isinstance(value, msgspec.Struct) and isinstance(parsed, dict):
        fields = {info.encode_name: info.name for info in msgspec.structs.fields(value)}
        for key in parsed.keys() - {value.__struct_config__.tag_field}:
            if key not in fields:
                yield f"{path}.{key}"
            else:
                yield from _undeclared(parsed[key], getattr(value, fields[key]), f"{path}.{key}")
    elif isinstance(value, tuple) and isinstance(parsed, list):
        for part, item in zip(parsed, value, strict=True):
            yield from _undeclared(part, item, f"{path}[]")
    elif isinstance(value, dict) and isinstance(parsed, dict):
        for key, item in value.items():
            yield from _undeclared(parsed[key], item, f"{path}.*")


def _parse(data: bytes) -> Iterator[object]:
    for line in filter(bytes.strip, data.split(b"\n")):
        parsed = json.loads(line)
        yield from parsed if isinstance(parsed, list) else [parsed]


def test_every_line_of_every_stream_is_a_known_message(shared: Path) -> None:
    """No message in the samples is unknown, and no line is skipped."""
    messages: list[StreamMessage] = []
    expected = 0
    for path in _stream_files(shared):
        data = path.read_bytes()
        messages += decode_output(data)
        expected += sum(1 for _ in _parse(data))
    unknown = Counter(one.kind for one in messages if isinstance(one, UnknownMessage))
    assert unknown == Counter()
    assert len(messages) == expected > 4000


def test_no_field_of_any_stream_is_undeclared(shared: Path) -> None:
    """Every name in the samples, at any depth that has types, is a field."""
    missing: Counter[str] = Counter()
    for path in _stream_files(shared):
        data = path.read_bytes()
        for parsed, message in zip(_parse(data), decode_output(data), strict=True):
            missing.update(_undeclared(parsed, message, type(message).__name__))
    assert missing == Counter()


def test_plain_text_output_has_no_message(shared: Path) -> None:
    """The reply of a run in text format is not JSON, and the reader reports it."""
    paths = sorted(shared.glob(f"real_cli/*/stream/{PLAIN_TEXT}"))
    assert [decode_message(path.read_bytes()) for path in paths] == [None] * 5


def test_a_log_around_indented_messages_is_not_mistaken_for_them(shared: Path) -> None:
    """A wrapper's log with pretty-printed messages contains no message on a single line."""
    paths = sorted(shared.glob("corpus/_stream/**/*.txt"))
    assert {type(decode_message(line)) for line in _lines(paths)} == {type(None), UnknownMessage}


def test_streams_and_transcripts_are_distinguished(shared: Path) -> None:
    """Every line of every sample is recognised correctly."""
    lines = {
        True: list(_lines(_stream_files(shared))),
        False: list(_lines(_transcripts(shared))),
    }
    mistaken = {
        is_stream: [line[:80] for line in found if looks_like_stream(line) is not is_stream]
        for is_stream, found in lines.items()
    }
    assert mistaken == {True: [], False: []}
    assert all(len(found) > 4000 for found in lines.values())


@pytest.mark.parametrize("version", JOINED)
def test_stream_and_transcript_have_the_same_content(shared: Path, version: str) -> None:
    """Records with the same uuid in stream and transcript have the same content."""
    pairs = list(_pairs(shared / "real_cli" / version))
    assert len(pairs) == JOINED[version]
    assert {
        (version, pair.run, type(pair.streamed).__name__, type(pair.written).__name__)
        for pair in pairs
        if type(pair.streamed) is not type(pair.written)
    } == {exception for exception in ANOTHER_RECORD if exception[0] == version}
    contents = [
        (pair.run, streamed.content, written.content)
        for pair in pairs
        if (streamed := getattr(pair.streamed, "message", None)) is not None
        and (written := getattr(pair.written, "message", None)) is not None
    ]
    assert {run for run, said, wrote in contents if said != wrote} == TEXT_IN_A_BLOCK[version]
    assert [run for run, said, wrote in contents if _unwrap(said) != _unwrap(wrote)] == []


@pytest.mark.parametrize("version", JOINED)
def test_stream_and_transcript_do_not_contradict_each_other(shared: Path, version: str) -> None:
    """A converted message differs only where the stream has less, and merging changes nothing."""
    pairs = [
        pair
        for pair in _pairs(shared / "real_cli" / version)
        if type(pair.streamed) is type(pair.written)
    ]
    found = {name for pair in pairs for name in _contradictions(pair.streamed, pair.written)}
    assert found <= LESS_DETAIL | PLACEHOLDERS
    for pair in pairs:
        merged = merge(pair.written, pair.streamed)
        assert set(_contradictions(pair.written, merged)) == set()


def test_the_oldest_stream_has_no_uuids(shared: Path) -> None:
    """Version 1.0.35 gives records that cannot be joined."""
    paths = sorted((shared / "real_cli" / "1.0.35" / "stream").glob("*.jsonl"))
    messages = [message for path in paths for message in decode_output(path.read_bytes())]
    assert {message.uuid for message in messages} == {None}
