"""Tests of recollect.health.drift."""

import pytest

from recollect.health.drift import Drift, find_drift, find_misfit_fields
from recollect.records.attachments import Attachment
from recollect.records.conversation import Assistant, User
from recollect.records.progress import Progress
from recollect.records.state import FileHistorySnapshot
from recollect.records.stream.control import ControlRequest
from recollect.records.stream.events import StreamEvent
from recollect.records.system import CompactBoundary


def test_a_known_line_has_none() -> None:
    """A line with nothing but declared fields is no news, whatever their values."""
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
    """A field is found at any depth that has types, and its path tells which block it stands in."""
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
    """What a tool was given or gave back is its own affair."""
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
    """A block, attachment or event of an unknown type is news as a whole, not field by field."""
    drift = find_drift(line.encode(), record)
    assert (drift.fields, set(drift.kinds)) == ((), {kind})


def test_kinds_known_by_name_are_no_news() -> None:
    """An attachment that clients are known to write needs no class, nor does a control request."""
    assert find_drift(b'{"attachment":{"type":"diagnostics","x":1}}', Attachment) == Drift()
    assert find_drift(b'{"request":{"subtype":"get_usage","x":1}}', ControlRequest) == Drift()


def test_a_line_that_needs_repair_is_looked_at_too() -> None:
    """A lone surrogate or a NaN hides no news."""
    line = b'{"type":"user","new":NaN,"uuid":"\\ud83d"}'
    assert find_drift(line, User) == Drift(fields=("new",))


def test_a_broken_line_has_no_drift() -> None:
    """What is no JSON is damage, which is counted elsewhere."""
    assert find_drift(b'{"type":"user","message":{"rol', User) == Drift()


def test_nesting_without_end_is_survived() -> None:
    """Recursion follows the types and never the data."""
    line = b'{"new":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert find_drift(line, User) == Drift(fields=("new",))


def test_values_of_another_shape_are_named() -> None:
    """A declared field whose value does not fit is told apart from an unknown one."""
    line = b'{"type":"user","uuid":7,"message":{"role":["user"]}}'
    assert find_misfit_fields(line, User) == ("uuid", "message.role")


def test_values_that_fit_are_not_named() -> None:
    """The usual case costs one decoding and finds nothing."""
    assert find_misfit_fields(b'{"type":"user","uuid":"7"}', User) == ()
