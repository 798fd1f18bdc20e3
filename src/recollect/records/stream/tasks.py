"""`system` messages about hooks and background tasks; none is in a transcript."""

from msgspec import Raw, Struct

from recollect.records.stream.system import SystemMessage


class HookStarted(SystemMessage, frozen=True):
    """A hook runs."""

    hook_id: str | None = None
    hook_name: str | None = None
    hook_event: str | None = None


class HookProgress(HookStarted, frozen=True):
    """What a hook printed so far."""

    stdout: str | None = None
    stderr: str | None = None
    output: str | None = None


class HookResponse(HookProgress, frozen=True):
    """A hook ended."""

    exit_code: int | None = None
    outcome: str | None = None


class TaskUsage(Struct, frozen=True, kw_only=True, gc=False):
    """What a task took so far."""

    total_tokens: int | None = None
    tool_uses: int | None = None
    duration_ms: float | None = None


class TaskMessage(SystemMessage, frozen=True):
    """Something about a task: a subagent, a command in the background, a workflow, …"""

    task_id: str | None = None
    run_id: str | None = None
    tool_use_id: str | None = None


class TaskStarted(TaskMessage, frozen=True):
    """A task began."""

    description: str | None = None
    task_type: str | None = None
    subagent_type: str | None = None
    workflow_name: str | None = None
    prompt: str | None = None
    is_backgrounded: bool | None = None
    spawn_depth: int | None = None
    parent_task_id: str | None = None
    skip_transcript: bool = False
    ambient: bool = False


class TaskProgress(TaskMessage, frozen=True):
    """A task goes on."""

    description: str | None = None
    subagent_type: str | None = None
    usage: TaskUsage | None = None
    last_tool_name: str | None = None
    summary: str | None = None
    workflow_progress: Raw = Raw()


class TaskPatch(Struct, frozen=True, kw_only=True, gc=False):
    """The facts about a task that changed."""

    status: str | None = None
    description: str | None = None
    end_time: float | None = None
    total_paused_ms: float | None = None
    error: str | None = None
    is_backgrounded: bool | None = None


class TaskUpdated(TaskMessage, frozen=True):
    """Facts about a task changed."""

    patch: TaskPatch | None = None


class TaskNotification(TaskMessage, frozen=True):
    """A task ended."""

    status: str | None = None
    reason: str | None = None
    output_file: str | None = None
    summary: str | None = None
    usage: TaskUsage | None = None
    resource_links: Raw = Raw()
    skip_transcript: bool = False
    ambient: bool = False


class BackgroundTask(Struct, frozen=True, kw_only=True, gc=False):
    """A task that runs in the background."""

    task_id: str | None = None
    run_id: str | None = None
    task_type: str | None = None
    description: str | None = None
    subagent_type: str | None = None
    ambient: bool = False


class BackgroundTasksChanged(SystemMessage, frozen=True):
    """The tasks in the background, all of them, after a change."""

    tasks: tuple[BackgroundTask, ...] = ()
