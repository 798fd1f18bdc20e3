"""Tools that run commands, and tools for background tasks."""

from msgspec import Raw, Struct, field

from recollect.records.tools.tool_values import ToolInput, ToolOutput

SHELL_TOOLS = frozenset({"Bash", "PowerShell"})
"""Tools that run a command."""


class ShellInput(ToolInput, frozen=True):
    """A command and how to run it; `timeout` is in milliseconds."""

    command: str = ""
    description: str | None = None
    timeout: float | None = None
    run_in_background: bool = False
    dangerously_disable_sandbox: bool = field(default=False, name="dangerouslyDisableSandbox")


class BashInput(ShellInput, frozen=True):
    """A Bash command."""


class PowerShellInput(ShellInput, frozen=True):
    """A PowerShell command."""


class GitCommit(Struct, frozen=True, kw_only=True, gc=False):
    """A commit that a command made, amended or picked."""

    sha: str | None = None
    kind: str | None = None
    branch: str | None = None


class GitPush(Struct, frozen=True, kw_only=True, gc=False):
    """A branch that a command pushed."""

    branch: str | None = None


class GitBranch(Struct, frozen=True, kw_only=True, gc=False):
    """A branch that a command merged or rebased."""

    ref: str | None = None
    action: str | None = None


class PullRequest(Struct, frozen=True, kw_only=True, gc=False):
    """A pull request that a command opened or changed."""

    number: int | None = None
    url: str | None = None
    action: str | None = None


class GitOperation(Struct, frozen=True, kw_only=True, gc=False):
    """What a command did to the git repository, if the client recognised it."""

    commit: GitCommit | None = None
    push: GitPush | None = None
    branch: GitBranch | None = None
    pr: PullRequest | None = None


class ShellResult(ToolOutput, frozen=True, rename="camel"):
    """Output of a successful command; a non-zero exit code is in a `TextResult`."""

    stdout: str = ""
    stderr: str = ""
    interrupted: bool = False
    is_image: bool = False
    no_output_expected: bool = False
    background_task_id: str | None = None
    backgrounded_by_user: bool = False
    assistant_auto_backgrounded: bool = False
    background_cwd_hint: str | None = None
    background_ends_with_final_response: bool = False
    timed_out_after_ms: float | None = None
    return_code_interpretation: str | None = None
    dangerously_disable_sandbox: bool = False
    persisted_output_path: str | None = None
    persisted_output_size: int | None = None
    raw_output_path: str | None = None
    stale_read_file_state_hint: str | None = None
    gh_rate_limit_hint: str | None = None
    git_operation: GitOperation | None = None
    structured_content: Raw = Raw()
    bash_edit_diff: Raw = Raw()


class BashOutputInput(ToolInput, frozen=True):
    """A request for output of a background command, before `TaskOutput` replaced it."""

    bash_id: str = ""
    filter: str | None = None


class BashOutputResult(ToolOutput, frozen=True, rename="camel"):
    """New output of a background command."""

    shell_id: str | None = None
    command: str | None = None
    status: str | None = None
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    stdout_lines: int | None = None
    stderr_lines: int | None = None
    timestamp: str | None = None
    filter_pattern: str | None = None


class KillShellInput(ToolInput, frozen=True):
    """A request to stop a background command, before `TaskStop` replaced it."""

    shell_id: str = ""


class KillShellResult(ToolOutput, frozen=True):
    """Whether the command was stopped; clients use different names for the id."""

    success: bool | None = None
    message: str | None = None
    shell_id: str | None = None
    shell_id_twin: str | None = field(default=None, name="shellId")


class TaskOutputInput(ToolInput, frozen=True):
    """A request for a background task's output; `AgentOutputTool` called the id `agentId`."""

    task_id: str = ""
    agent_id: str | None = field(default=None, name="agentId")
    block: bool | None = None
    timeout: float | None = None


class BackgroundTask(Struct, frozen=True, kw_only=True, gc=False):
    """A background command or subagent, and its output so far."""

    task_id: str | None = None
    task_type: str | None = None
    status: str | None = None
    description: str | None = None
    output: str | None = None
    exit_code: int | None = field(default=None, name="exitCode")
    prompt: str | None = None
    result: str | None = None
    error: str | None = None


class TaskOutputResult(ToolOutput, frozen=True):
    """The outcome of the request, and the task if there is one."""

    retrieval_status: str | None = None
    task: BackgroundTask | None = None


class TaskStopInput(ToolInput, frozen=True):
    """A request to stop a background task; `shell_id` is an older name of the id."""

    task_id: str | None = None
    shell_id: str | None = None


class TaskStopResult(ToolOutput, frozen=True):
    """The stopped task."""

    message: str | None = None
    task_id: str | None = None
    task_type: str | None = None
    command: str | None = None


class MonitorInput(ToolInput, frozen=True):
    """A command or a web socket whose output wakes the model."""

    description: str = ""
    timeout_ms: float | None = None
    command: str | None = None
    persistent: bool = False
    ws: Raw = Raw()


class MonitorResult(ToolOutput, frozen=True, rename="camel"):
    """The background task that monitors."""

    task_id: str | None = None
    timeout_ms: float | None = None
    persistent: bool = False
