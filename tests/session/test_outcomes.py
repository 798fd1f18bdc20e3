"""The outcome of a tool call: by fields in new clients, by text in old ones."""

import pytest

from recollect.documents.kinds import RejectedBy, ToolStatus
from recollect.session.record_texts import iter_tool_results
from recollect.session.tool_calls import FAILED, INTERRUPTED, SUCCESS, Outcome, read_outcome
from tests.session.chains import result

BY_PERSON = Outcome(ToolStatus.REJECTED, RejectedBy.PERSON)
BY_RULE = Outcome(ToolStatus.REJECTED, RejectedBy.RULE)
BY_HOOK = Outcome(ToolStatus.REJECTED, RejectedBy.HOOK)

REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."
STOPPED = "[Request interrupted by user for tool use]"
HOOK = "PreToolUse:Bash hook error: [exit 2]: not today\n"
DENIED = "Permission to use Bash with command echo tick has been denied."
NOT_GRANTED = "Claude requested permissions to write to /p/a, but you haven't granted it yet."


def outcome_of(
    text: str, *, is_error: bool | None = True, was_interrupted: bool = False, **fields: object
) -> Outcome:
    """Return the outcome of a call whose result is `text` on a record with these fields."""
    record = result("a", "t1", text, None, is_error=is_error, **fields)
    (block,) = iter_tool_results(record.message.content if record.message else None)
    return read_outcome(record, block, was_interrupted=was_interrupted)


@pytest.mark.parametrize("is_error", [None, False])
def test_what_is_no_error_is_a_success(is_error: bool | None) -> None:
    """A missing error flag means success, whatever the text."""
    assert outcome_of(DENIED, is_error=is_error) == SUCCESS


@pytest.mark.parametrize(
    "text",
    [
        "Exit code 3\nout\nerr",
        "<tool_use_error>String to replace not found in file.</tool_use_error>",
        "File does not exist.",
        "err\n\nnpm hook error",
        "npm hook error: exit 1",
        "Permission to use the door",
        "Not that one.",
        "",
    ],
)
def test_an_error_without_a_reason_is_a_failure(text: str) -> None:
    """An error without a known cause is a failure, including hooks of other programs."""
    assert outcome_of(text) == FAILED


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (REFUSED, BY_PERSON),
        ("User rejected tool use", BY_PERSON),
        (DENIED, BY_RULE),
        (NOT_GRANTED, BY_RULE),
        (HOOK, BY_HOOK),
        ("Bash operation blocked by hook:\n- [exit 2]: not today\n", BY_HOOK),
        (f"Exit code 137\n{STOPPED}", INTERRUPTED),
        ("Exit code 137\n" + "much output\n" * 1_000 + STOPPED, INTERRUPTED),
        ("[Tool call interrupted: the session ended before its result]", INTERRUPTED),
    ],
)
def test_older_clients_say_it_in_words(text: str, expected: Outcome) -> None:
    """Without fields, the text of the result tells who rejected the call or that it stopped."""
    assert outcome_of(text) == expected


@pytest.mark.parametrize(
    ("text", "kind", "decision", "expected"),
    [
        ("Not that one.", "permission-rule", {"source": "user_reject"}, BY_PERSON),
        (REFUSED, "user-rejected", None, BY_PERSON),
        (DENIED, "permission-rule", {"source": "config", "reasonType": "rule"}, BY_RULE),
        (NOT_GRANTED, "user-rejected", {"source": "config"}, BY_RULE),
        (HOOK, "permission-rule", {"source": "hook", "reasonType": "hook"}, BY_HOOK),
        (HOOK, "permission-rule", None, BY_HOOK),
        ("No.", "a-newer-kind", None, BY_RULE),
        ("No.", None, {"source": None}, BY_RULE),
        ("It stopped.", "interrupted", None, INTERRUPTED),
    ],
)
def test_newer_clients_say_it_in_fields(
    text: str, kind: str | None, decision: dict[str, object] | None, expected: Outcome
) -> None:
    """The client's decision counts first, then its kind of denial, then the text."""
    rejection = decision and {"decision": "reject", **decision}
    found = outcome_of(text, toolDenialKind=kind, permissionDecision=rejection)
    assert found == expected


def test_a_tool_that_was_allowed_may_still_fail() -> None:
    """A granted permission does not determine how the call ended."""
    allowed = {"decision": "accept", "source": "config"}
    assert outcome_of("Exit code 1", permissionDecision=allowed) == FAILED


def test_a_stopped_tool_reads_like_a_refused_one() -> None:
    """Only a later record that names the message shows that the call was stopped."""
    assert outcome_of(REFUSED, toolDenialKind="user-rejected") == BY_PERSON
    assert outcome_of(REFUSED, toolDenialKind="user-rejected", was_interrupted=True) == INTERRUPTED
    assert outcome_of(DENIED, was_interrupted=True) == BY_RULE
    assert outcome_of("Exit code 1", was_interrupted=True) == FAILED


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"stdout": "half", "interrupted": True}, INTERRUPTED),
        ({"interrupted": True, "stdout": "x" * 1_000}, INTERRUPTED),
        ({"stdout": "all", "interrupted": False}, SUCCESS),
        ({"stdout": '"interrupted": true'}, SUCCESS),
        (["interrupted"], SUCCESS),
        ("interrupted", SUCCESS),
        (None, SUCCESS),
    ],
)
def test_a_command_may_be_stopped_without_an_error(given: object, expected: Outcome) -> None:
    """The structured result of a shell command shows it, in whichever field."""
    assert outcome_of("half", is_error=False, toolUseResult=given) == expected
