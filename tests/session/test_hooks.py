"""Hook runs and their outcomes."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from recollect.session.hook_runs import HookOutcome, HookRun, build_hooks
from tests.session.recordings import LATER, NOON, make_log, read_scenario

SAID = {"type": "assistant", "uuid": "said", "message": {"id": "m1", "content": "done"}}


def hooks_of(*lines: Mapping[str, object]) -> tuple[HookRun, ...]:
    """Return the hooks in these lines, numbered by uuid."""
    log = make_log(*({"uuid": str(n), "timestamp": NOON, **line} for n, line in enumerate(lines)))
    return build_hooks(log.chain)


def attachment(kind: str, **fields: object) -> dict[str, object]:
    """A record of a hook of the tool call `t1`."""
    about = {"type": kind, "hookName": "PreToolUse:Bash", "hookEvent": "PreToolUse"}
    return {"type": "attachment", "attachment": {**about, "toolUseID": "t1", **fields}}


def progress(command: str, event: str = "PreToolUse", call: str = "t1") -> dict[str, object]:
    """Return the record of a running hook."""
    data = {"type": "hook_progress", "hookEvent": event, "hookName": event, "command": command}
    return {"type": "progress", "toolUseID": call, "parentToolUseID": call, "data": data}


def summary(*commands: str, **fields: object) -> dict[str, object]:
    """The summary of the hooks of a stopped turn `s1`, each of which took five milliseconds."""
    infos = [{"command": command, "durationMs": 5} for command in commands]
    about = {"type": "system", "subtype": "stop_hook_summary", "toolUseID": "s1"}
    return {**about, "hookCount": len(infos), "hookInfos": infos, **fields}


def run(outcome: HookOutcome, **facts: object) -> HookRun:
    """A run from the record `0` of a hook of the tool call `t1`."""
    known: dict[str, object] = {
        "event": "PreToolUse",
        "name": "PreToolUse:Bash",
        "outcome": outcome,
        "tool_use_id": "t1",
        "uuid": "0",
        "timestamp": NOON,
    }
    return HookRun(**{**known, **facts})  # type: ignore[arg-type]


def stop(outcome: HookOutcome, command: str | None = "a", **facts: object) -> HookRun:
    """A run from the record `0`, a summary."""
    known: dict[str, object] = {"event": "Stop", "name": "Stop", "tool_use_id": "s1"}
    return run(outcome, **{**known, "command": command, **facts})


ATTACHMENTS: list[tuple[dict[str, object], HookRun]] = [
    (
        attachment(
            "hook_success",
            content="fine",
            stdout="fine\n",
            stderr="hm",
            exitCode=0,
            command="check",
            durationMs=12,
        ),
        run(
            HookOutcome.SUCCESS,
            command="check",
            exit_code=0,
            duration_ms=12,
            text="fine",
            stdout="fine\n",
            stderr="hm",
        ),
    ),
    (
        attachment(
            "hook_blocking_error", blockingError={"blockingError": "no", "command": "check"}
        ),
        run(HookOutcome.BLOCKED, command="check", text="no"),
    ),
    (
        attachment("hook_non_blocking_error", stderr="oh", exitCode=1, command="check"),
        run(HookOutcome.FAILED, command="check", exit_code=1, stderr="oh"),
    ),
    (
        attachment("hook_error_during_execution", content="cannot run", command="check"),
        run(HookOutcome.FAILED, command="check", text="cannot run"),
    ),
    (attachment("hook_cancelled", command="check"), run(HookOutcome.CANCELLED, command="check")),
    (
        attachment("hook_stopped_continuation", message="enough"),
        run(HookOutcome.STOPPED, text="enough"),
    ),
    (
        attachment("hook_additional_context", content=["one", "two"]),
        run(HookOutcome.ADDED_CONTEXT, text="one\ntwo"),
    ),
    (attachment("hook_system_message", content="hello"), run(HookOutcome.MESSAGE, text="hello")),
    (
        attachment("hook_permission_decision", decision="allow"),
        run(HookOutcome.DECISION, text="allow"),
    ),
    (
        attachment("async_hook_response", response={"systemMessage": "later"}, exitCode=0),
        run(HookOutcome.SUCCESS, exit_code=0, text="later"),
    ),
    (
        attachment("async_hook_response", response={}, exitCode=1),
        run(HookOutcome.FAILED, exit_code=1),
    ),
]


@pytest.mark.parametrize(("line", "expected"), ATTACHMENTS)
def test_an_attachment_is_about_one_hook(line: dict[str, object], expected: HookRun) -> None:
    """Each kind of hook attachment gives its outcome and its text."""
    assert hooks_of(line) == (expected,)


def test_remarks_are_not_runs() -> None:
    """Messages of a hook are kept separate from its runs, so that runs can be counted."""
    kinds = ("hook_success", "hook_additional_context", "hook_system_message", "hook_cancelled")
    found = hooks_of(*(attachment(kind) for kind in kinds))
    assert [hook.is_remark for hook in found] == [False, True, True, False]


@pytest.mark.parametrize("content", ["keep this", ["keep this"]])
def test_saved_context_is_what_a_hook_added(content: object) -> None:
    """Context that was saved for a resume was added by a hook."""
    line = {"type": "saved_hook_context", "hookEvent": "SessionStart", "hookName": "SessionStart"}
    assert hooks_of({**line, "toolUseID": "s1", "content": content}) == (
        run(
            HookOutcome.ADDED_CONTEXT,
            event="SessionStart",
            name="SessionStart",
            tool_use_id="s1",
            text="keep this",
        ),
    )


def test_a_hook_runs_until_the_next_message() -> None:
    """A start at the end of the file is a running hook; after a reply it has ended."""
    started = run(HookOutcome.RUNNING, name="PreToolUse", command="check")
    finished = run(HookOutcome.FINISHED, name="PreToolUse", command="check")
    assert hooks_of(progress("check")) == (started,)
    assert hooks_of(progress("check"), SAID) == (finished,)


def test_a_start_and_its_result_are_one_run() -> None:
    """The result replaces the start, even if there were messages in between."""
    result = attachment("hook_success", command="check", exitCode=0)
    assert hooks_of(progress("check"), SAID, {**result, "timestamp": LATER}) == (
        run(
            HookOutcome.SUCCESS,
            name="PreToolUse",
            command="check",
            exit_code=0,
            uuid="2",
            timestamp=LATER,
        ),
    )


@pytest.mark.parametrize(
    "start",
    [
        progress("another"),
        progress("check", event="PostToolUse"),
        progress("check", call="t2"),
    ],
)
def test_a_result_of_another_run_is_another_run(start: dict[str, object]) -> None:
    """Runs of another command, another event or another call stay apart."""
    result = attachment("hook_success", command="check")
    assert [hook.outcome for hook in hooks_of(start, result)] == [
        HookOutcome.RUNNING,
        HookOutcome.SUCCESS,
    ]


def test_one_command_may_run_twice() -> None:
    """Two hooks with the same command are two runs, each with its result."""
    result = attachment("hook_success", command="check")
    hooks = hooks_of(progress("check"), progress("check"), result)
    assert [hook.outcome for hook in hooks] == [HookOutcome.SUCCESS, HookOutcome.RUNNING]


def test_a_summary_names_each_hook_of_a_stop() -> None:
    """Every line of a summary is a run, even of the same command."""
    assert hooks_of(summary("a", "b", "b")) == tuple(
        stop(HookOutcome.SUCCESS, command, duration_ms=5) for command in ("a", "b", "b")
    )


def test_a_summary_repeats_what_was_seen() -> None:
    """A start or result that is also in a summary is the same run."""
    success = attachment(
        "hook_success", hookEvent="Stop", hookName="Stop", toolUseID="s1", command="b", exitCode=0
    )
    hooks = hooks_of(progress("a", event="Stop", call="s1"), success, summary("b", "a", "c"))
    assert hooks == (
        stop(HookOutcome.SUCCESS, "a", duration_ms=5, uuid="2"),
        stop(HookOutcome.SUCCESS, "b", duration_ms=5, exit_code=0, uuid="1"),
        stop(HookOutcome.SUCCESS, "c", duration_ms=5, uuid="2"),
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (summary("a", hookErrors=["no"]), [(HookOutcome.FAILED, "no")]),
        (
            summary("a", preventedContinuation=True, stopReason="enough"),
            [(HookOutcome.STOPPED, "enough")],
        ),
        (
            summary("a", "b", hookErrors=["[b]: no"]),
            [(HookOutcome.FINISHED, ""), (HookOutcome.FAILED, "[b]: no")],
        ),
        (
            summary("a", "b", preventedContinuation=True, stopReason="enough"),
            [(HookOutcome.FINISHED, ""), (HookOutcome.FINISHED, "")],
        ),
    ],
)
def test_trouble_is_laid_to_whom_it_belongs(
    line: dict[str, object], expected: list[tuple[HookOutcome, str]]
) -> None:
    """Errors of a summary go to the only hook, or to the one that they quote."""
    assert [(hook.outcome, hook.text) for hook in hooks_of(line)] == expected


def test_context_of_a_summary_is_reported_once() -> None:
    """Context from a hook summary is listed, unless an attachment already has it."""
    said = attachment(
        "hook_additional_context", hookEvent="Stop", hookName="Stop", toolUseID="s1", content="one"
    )
    assert hooks_of(said, summary(hookAdditionalContext=["one", "two"])) == (
        stop(HookOutcome.ADDED_CONTEXT, None, text="one"),
        stop(HookOutcome.ADDED_CONTEXT, None, text="two", uuid="1"),
    )


SCENARIO = [
    ("SessionStart", "echo context from a SessionStart hook", "success"),
    ("UserPromptSubmit", "echo context from a UserPromptSubmit hook", "success"),
    ("PreToolUse", "echo pre; exit 0", "success"),
    ("PostToolUse", "echo 'post hook is unhappy' >&2; exit 2", "blocked"),
    ("Stop", "exit 0", "success"),
]


@pytest.mark.parametrize(
    ("version", "expected"), [("2.1.112", SCENARIO[:4]), ("2.1.325", SCENARIO)]
)
def test_hooks_scenario(shared: Path, version: str, expected: list[tuple[str, str, str]]) -> None:
    """The real client's hooks are listed with their commands; only newer clients record a stop."""
    hooks = build_hooks(read_scenario(shared, version, "hooks").chain)
    assert [(hook.event, hook.command, hook.outcome.value) for hook in hooks] == expected


@pytest.mark.parametrize("version", ["1.0.128", "2.0.77"])
def test_clients_without_hook_records(shared: Path, version: str) -> None:
    """Old clients recorded no hooks, so none are listed."""
    assert build_hooks(read_scenario(shared, version, "hooks").chain) == ()
