"""Tests of recollect.health.drift."""

import pytest
from msgspec import Struct

from recollect.health.drift import (
    Drift,
    find_drift,
    find_misfit_fields,
    is_time,
    name_message,
    name_record,
    safe_name,
    safe_version,
)
from recollect.records.attachments import Attachment
from recollect.records.conversation_records import Assistant, User
from recollect.records.decoding import decode_record
from recollect.records.state import FileHistorySnapshot
from recollect.records.stream.control import ControlRequest
from recollect.records.stream.message_decoding import decode_message
from recollect.records.stream.partial_messages import StreamEvent
from recollect.records.system_records import CompactBoundary, Progress


def test_a_known_line_has_none() -> None:
    """A line with only declared fields has no drift, whatever their values."""
    line = (
        b'{"type":"user","uuid":null,"message":{"role":"user","content":[{"type":"text"},"x"]}}\n'
    )
    assert find_drift(line, User) == Drift()


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ('{"type":"user","new":1}', "new"),
        ('{"type":"user","message":{"new":{}}}', "message.new"),
        (
            '{"type":"user","message":{"content":[{"type":"text","new":1}]}}',
            "message.content[text].new",
        ),
        (
            '{"message":{"content":[{"type":"tool_result","content":[{"type":"image","source":{"y":1}}]}]}}',
            "message.content[tool_result].content[image].source.y",
        ),
        ('{"type":"user","not a name":1}', "(odd name)"),
        ('{"type":"user","<span>":{}}', "(odd name)"),
    ],
)
def test_unknown_fields_are_named_by_their_path(line: str, path: str) -> None:
    """A field is found at any typed depth, and its path names the type of its block."""
    assert find_drift(line.encode(), User) == Drift(fields=(path,))


def test_fields_below_free_keys_are_found() -> None:
    """Keys that are data, such as file names, stay out of the path."""
    line = b'{"snapshot":{"trackedFileBackups":{"secret.txt":{"new":1}}}}'
    expected = Drift(fields=("snapshot.trackedFileBackups.*.new",))
    assert find_drift(line, FileHistorySnapshot) == expected


def test_a_subtype_has_fields_of_its_own() -> None:
    """A `system` record is compared with the class of its subtype."""
    line = b'{"type":"system","compactMetadata":{"trigger":"auto","new":1},"retryInMs":1}'
    expected = Drift(fields=("retryInMs", "compactMetadata.new"))
    assert find_drift(line, CompactBoundary) == expected


def test_opaque_fields_are_not_looked_into() -> None:
    """Inputs and results of tools are not checked."""
    line = b'{"type":"user","toolUseResult":{"new":1},"message":{"content":[]}}'
    assert find_drift(line, User) == Drift()


@pytest.mark.parametrize(
    ("line", "record", "kind"),
    [
        ('{"message":{"content":[{"type":"hologram","x":1}]}}', Assistant, "block/hologram"),
        ('{"message":{"content":[{"type":"<unknown>"}]}}', Assistant, "block/(odd name)"),
        ('{"message":{"content":[{"x":1},{"type":2}]}}', Assistant, "block/(no type)"),
        ('{"attachment":{"type":"hologram"}}', Attachment, "attachment/hologram"),
        ('{"data":{"type":"hologram"}}', Progress, "progress/hologram"),
        ('{"event":{"type":"hologram"}}', StreamEvent, "stream_event/hologram"),
    ],
)
def test_unknown_kinds_are_named(line: str, record: type[Assistant], kind: str) -> None:
    """A block, attachment or event of an unknown type is reported as a whole, not by field."""
    drift = find_drift(line.encode(), record)
    assert (drift.fields, set(drift.kinds)) == ((), {kind})


def test_kinds_known_by_name_are_not_drift() -> None:
    """An attachment that clients are known to write needs no class, nor does a control request."""
    assert find_drift(b'{"attachment":{"type":"diagnostics","x":1}}', Attachment) == Drift()
    assert find_drift(b'{"request":{"subtype":"get_usage","x":1}}', ControlRequest) == Drift()


def test_a_line_that_needs_repair_is_checked_too() -> None:
    """A lone surrogate or a NaN does not hide drift."""
    line = b'{"type":"user","new":NaN,"uuid":"\\ud83d"}'
    assert find_drift(line, User) == Drift(fields=("new",))


def test_a_broken_line_has_no_drift() -> None:
    """Text that is not JSON is damage, which is counted elsewhere."""
    assert find_drift(b'{"type":"user","message":{"rol', User) == Drift()


def test_excessive_nesting_is_survived() -> None:
    """Recursion follows the types, not the data."""
    line = b'{"new":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert find_drift(line, User) == Drift(fields=("new",))


def test_values_of_another_shape_are_named() -> None:
    """A declared field with a value of the wrong type is distinguished from an unknown one."""
    line = b'{"type":"user","uuid":7,"message":{"role":["user"]}}'
    assert find_misfit_fields(line, User) == ("uuid", "message.role")


def test_values_that_fit_are_not_named() -> None:
    """The usual case costs one decoding and finds nothing."""
    assert find_misfit_fields(b'{"type":"user","uuid":"7"}', User) == ()


@pytest.mark.parametrize("name", ["toolUseResult", "_meta", "session_id", "last-prompt", "x" * 64])
def test_identifiers_are_repeated(name: str) -> None:
    """A name that looks like an identifier is not content."""
    assert safe_name(name) == name


@pytest.mark.parametrize(
    "name", ["", "my secret", "/home/mina/x", "9lives", "x" * 65, "a.b", "密", "a\n", "<span>"]
)
def test_other_names_are_not_repeated(name: str) -> None:
    """Anything else may be content, and is only counted."""
    assert safe_name(name) == "(odd name)"


@pytest.mark.parametrize(
    ("version", "shown"),
    [("2.1.325", "2.1.325"), ("0.2.9-beta.1", "0.2.9-beta.1"), ("my laptop", "(odd name)")],
)
def test_versions_look_like_versions(version: str, shown: str) -> None:
    """A version is shown if it starts with three numbers."""
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
    """Only times that sort as text are used; a UTC offset would break that."""
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
def test_stream_messages_are_counted_separately(line: str, name: str) -> None:
    """A stream message is counted under `stream/`, since it has other fields."""
    assert name_message(_require(decode_message(line.encode()))) == name


def _require(value: Struct | None) -> Struct:
    assert value is not None
    return value
