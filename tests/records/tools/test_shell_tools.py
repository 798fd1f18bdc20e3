"""Commands and background tasks: one literal per tool, with the whole value that it gives."""

import pytest
from msgspec import Raw

from recollect.records.tools import ToolInput, ToolOutput, parse_input, parse_result
from recollect.records.tools.shell_tools import (
    BackgroundTask,
    BashInput,
    BashOutputInput,
    BashOutputResult,
    GitBranch,
    GitCommit,
    GitOperation,
    GitPush,
    KillShellInput,
    KillShellResult,
    MonitorInput,
    MonitorResult,
    PowerShellInput,
    PullRequest,
    ShellResult,
    TaskOutputInput,
    TaskOutputResult,
    TaskStopInput,
    TaskStopResult,
)

INPUTS: list[tuple[str, bytes, ToolInput]] = [
    (
        "Bash",
        (
            b'{"command":"ls","description":"List","timeout":5000,"run_in_background":true,'
            b'"dangerouslyDisableSandbox":true}'
        ),
        BashInput(
            command="ls",
            description="List",
            timeout=5000,
            run_in_background=True,
            dangerously_disable_sandbox=True,
        ),
    ),
    ("PowerShell", b'{"command":"dir"}', PowerShellInput(command="dir")),
    (
        "BashOutput",
        b'{"bash_id":"b1","filter":"err"}',
        BashOutputInput(bash_id="b1", filter="err"),
    ),
    ("KillShell", b'{"shell_id":"b1"}', KillShellInput(shell_id="b1")),
    ("KillBash", b'{"shell_id":"b1"}', KillShellInput(shell_id="b1")),
    (
        "TaskOutput",
        b'{"task_id":"t1","block":true,"timeout":30000}',
        TaskOutputInput(task_id="t1", block=True, timeout=30000),
    ),
    (
        "AgentOutputTool",
        b'{"agentId":"a1","block":false}',
        TaskOutputInput(agent_id="a1", block=False),
    ),
    ("TaskStop", b'{"task_id":"t1"}', TaskStopInput(task_id="t1")),
    (
        "Monitor",
        b'{"description":"CI","timeout_ms":9,"command":"poll","persistent":true}',
        MonitorInput(description="CI", timeout_ms=9, command="poll", persistent=True),
    ),
]

RESULTS: list[tuple[str, bytes, ToolOutput]] = [
    (
        "Bash",
        (
            b'{"stdout":"out","stderr":"err","interrupted":true,"isImage":true,'
            b'"noOutputExpected":true,"backgroundTaskId":"t1","persistedOutputPath":"/p",'
            b'"persistedOutputSize":3,"returnCodeInterpretation":"none","timedOutAfterMs":7}'
        ),
        ShellResult(
            stdout="out",
            stderr="err",
            interrupted=True,
            is_image=True,
            no_output_expected=True,
            background_task_id="t1",
            persisted_output_path="/p",
            persisted_output_size=3,
            return_code_interpretation="none",
            timed_out_after_ms=7,
        ),
    ),
    (
        "Bash",
        (
            b'{"stdout":"","stderr":"","interrupted":false,"gitOperation":{'
            b'"commit":{"sha":"a1","kind":"committed","branch":"main"},"push":{"branch":"main"},'
            b'"branch":{"ref":"topic","action":"merged"},'
            b'"pr":{"number":7,"url":"https://example.org/7","action":"created"}}}'
        ),
        ShellResult(
            git_operation=GitOperation(
                commit=GitCommit(sha="a1", kind="committed", branch="main"),
                push=GitPush(branch="main"),
                branch=GitBranch(ref="topic", action="merged"),
                pr=PullRequest(number=7, url="https://example.org/7", action="created"),
            )
        ),
    ),
    ("PowerShell", b'{"stdout":"out","stderr":""}', ShellResult(stdout="out")),
    (
        "BashOutput",
        (
            b'{"shellId":"b1","command":"make","status":"completed","exitCode":0,"stdout":"o",'
            b'"stderr":"e","stdoutLines":1,"stderrLines":1,"timestamp":"2025-01-01T00:00:00.000Z",'
            b'"filterPattern":"x"}'
        ),
        BashOutputResult(
            shell_id="b1",
            command="make",
            status="completed",
            exit_code=0,
            stdout="o",
            stderr="e",
            stdout_lines=1,
            stderr_lines=1,
            timestamp="2025-01-01T00:00:00.000Z",
            filter_pattern="x",
        ),
    ),
    (
        "KillShell",
        b'{"message":"gone","shell_id":"b1"}',
        KillShellResult(message="gone", shell_id="b1"),
    ),
    (
        "KillBash",
        b'{"success":true,"shellId":"b1"}',
        KillShellResult(success=True, shell_id_twin="b1"),
    ),
    (
        "TaskOutput",
        (
            b'{"retrieval_status":"success","task":{"task_id":"t1","task_type":"local_bash",'
            b'"status":"completed","description":"Build","output":"ok","exitCode":0}}'
        ),
        TaskOutputResult(
            retrieval_status="success",
            task=BackgroundTask(
                task_id="t1",
                task_type="local_bash",
                status="completed",
                description="Build",
                output="ok",
                exit_code=0,
            ),
        ),
    ),
    (
        "TaskStop",
        b'{"message":"stopped","task_id":"t1","task_type":"local_bash","command":"sleep 9"}',
        TaskStopResult(message="stopped", task_id="t1", task_type="local_bash", command="sleep 9"),
    ),
    (
        "Monitor",
        b'{"taskId":"t1","timeoutMs":5,"persistent":true}',
        MonitorResult(task_id="t1", timeout_ms=5, persistent=True),
    ),
]


@pytest.mark.parametrize(("name", "text", "expected"), INPUTS)
def test_shell_inputs_are_typed(name: str, text: bytes, expected: ToolInput) -> None:
    """The input of each shell tool has a class."""
    assert parse_input(name, Raw(text)) == expected


@pytest.mark.parametrize(("name", "text", "expected"), RESULTS)
def test_shell_results_are_typed(name: str, text: bytes, expected: ToolOutput) -> None:
    """The result of each shell tool has a class."""
    assert parse_result(name, Raw(text)) == expected


def test_a_renamed_tool_may_answer_in_the_shape_of_its_successor() -> None:
    """A `BashOutput` result in the form of `TaskOutput` is read as such."""
    assert parse_result("BashOutput", Raw(b'{"retrieval_status":"timeout"}')) == TaskOutputResult(
        retrieval_status="timeout"
    )


def test_structured_output_of_a_command_stays_raw() -> None:
    """Parts of a shell result that have no fixed shape are kept as JSON text."""
    result = parse_result("Bash", Raw(b'{"structuredContent":[1],"bashEditDiff":{"a":2}}'))
    assert result == ShellResult(structured_content=Raw(b"[1]"), bash_edit_diff=Raw(b'{"a":2}'))
