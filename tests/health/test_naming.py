"""Tests of recollect.health.naming."""

import pytest
from msgspec import Struct

from recollect.health.naming import is_time, name_message, name_record, safe_name, safe_version
from recollect.records.decoding import decode_record
from recollect.records.stream.decoding import decode_message


@pytest.mark.parametrize("name", ["toolUseResult", "_meta", "session_id", "last-prompt", "x" * 64])
def test_identifiers_are_repeated(name: str) -> None:
    """A name that could be one in a program is no content."""
    assert safe_name(name) == name


@pytest.mark.parametrize(
    "name", ["", "my secret", "/home/mina/x", "9lives", "x" * 65, "a.b", "密", "a\n", "<span>"]
)
def test_other_names_are_not_repeated(name: str) -> None:
    """Anything else may be somebody's words, and is only counted."""
    assert safe_name(name) == "(odd name)"


@pytest.mark.parametrize(
    ("version", "shown"),
    [("2.1.325", "2.1.325"), ("0.2.9-beta.1", "0.2.9-beta.1"), ("my laptop", "(odd name)")],
)
def test_versions_look_like_versions(version: str, shown: str) -> None:
    """A version is repeated if it begins with three numbers."""
    assert safe_version(version) == shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-15T18:19:31.010Z", True),
        ("2026-11-15T18:19:31Z", True),
        ("2026-11-15", False),
        ("2026-11-15T18:19:31+01:00", False),
        ("tomorrow", False),
    ],
)
def test_times_are_those_that_clients_write(text: str, expected: bool) -> None:
    """Only times whose text order is their order count; a zone would break that."""
    assert is_time(text) is expected


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ('{"type":"user"}', "user"),
        ('{"type":"last-prompt"}', "last-prompt"),
        ('{"type":"system"}', "system"),
        ('{"type":"system","subtype":"turn_duration"}', "system/turn_duration"),
        ('{"type":"system","subtype":"brand_new"}', "system/brand_new"),
        ('{"type":"system","subtype":"a b"}', "system/(odd name)"),
        ('{"type":"attachment","attachment":{"type":"date"}}', "attachment/date"),
        ('{"type":"attachment","attachment":{"type":"diagnostics"}}', "attachment/diagnostics"),
        ('{"type":"attachment","attachment":{"type":"brand_new"}}', "attachment/brand_new"),
        ('{"type":"attachment"}', "attachment"),
        ('{"type":"progress","data":{"type":"hook_progress"}}', "progress/hook_progress"),
        ('{"type":"brand-new"}', "brand-new"),
        ('{"type":"brand new"}', "(odd name)"),
        ('{"no":"type"}', "(no type)"),
        ("42", "(no type)"),
    ],
)
def test_records_are_counted_by_type_and_kind(line: str, name: str) -> None:
    """A record is counted under its type, with its subtype or kind where it has one."""
    assert name_record(_require(decode_record(line.encode()))) == name


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ('{"type":"assistant","session_id":"s"}', "stream/assistant"),
        ('{"type":"system","subtype":"init","session_id":"s"}', "stream/system/init"),
        ('{"type":"system","subtype":"brand_new"}', "stream/system/brand_new"),
        ('{"type":"result","subtype":"success"}', "stream/result/success"),
        ('{"type":"brand_new"}', "stream/brand_new"),
        ("{}", "stream/(no type)"),
    ],
)
def test_stream_messages_are_counted_apart(line: str, name: str) -> None:
    """A message of a stream is counted under `stream/`, since its fields are others."""
    assert name_message(_require(decode_message(line.encode()))) == name


def _require(value: Struct | None) -> Struct:
    assert value is not None
    return value
