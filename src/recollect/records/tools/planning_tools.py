"""Tools for plans, to-do lists, tasks, questions, findings, schedules and git worktrees."""

from msgspec import Raw, Struct, field

from recollect.records.tools.tool_values import ToolInput, ToolOutput

ASKING_TOOLS = frozenset({"AskUserQuestion", "ExitPlanMode"})
"""Tools that ask the user a question, and do nothing but wait for the answer."""


class Todo(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """One entry of a to-do list; `id` and `priority` are of clients 1.0.x."""

    content: str = ""
    status: str | None = None
    active_form: str | None = None
    id: str | None = None
    priority: str | None = None


class TodoWriteInput(ToolInput, frozen=True):
    """The complete new list."""

    todos: tuple[Todo, ...] = ()


class TodoWriteResult(ToolOutput, frozen=True, rename="camel"):
    """The list before and after."""

    old_todos: tuple[Todo, ...] = ()
    new_todos: tuple[Todo, ...] = ()
    verification_nudge_needed: bool = False


class TodoReadInput(ToolInput, frozen=True):
    """A call that needs no input."""


class TaskCreateInput(ToolInput, frozen=True, rename="camel"):
    """A task to add to the list."""

    subject: str = ""
    description: str | None = None
    active_form: str | None = None
    metadata: Raw = Raw()


class TaskGetInput(ToolInput, frozen=True, rename="camel"):
    """A task to look up."""

    task_id: str = ""


class TaskListInput(ToolInput, frozen=True):
    """A call that needs no input."""


class TaskUpdateInput(ToolInput, frozen=True, rename="camel"):
    """What to change about a task; the rest is None."""

    task_id: str = ""
    status: str | None = None
    subject: str | None = None
    description: str | None = None
    active_form: str | None = None
    owner: str | None = None
    add_blocks: tuple[str, ...] | None = None
    add_blocked_by: tuple[str, ...] | None = None
    metadata: Raw = Raw()


class Task(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """An entry of the task list; which fields are set depends on the tool."""

    id: str = ""
    subject: str | None = None
    description: str | None = None
    status: str | None = None
    owner: str | None = None
    blocks: tuple[str, ...] = ()
    blocked_by: tuple[str, ...] = ()


class TaskCreateResult(ToolOutput, frozen=True):
    """The task that was added."""

    task: Task | None = None


class TaskGetResult(ToolOutput, frozen=True):
    """The task; None if there is no such task."""

    task: Task | None = None


class TaskListResult(ToolOutput, frozen=True):
    """All tasks."""

    tasks: tuple[Task, ...] = ()


class StatusChange(Struct, frozen=True, kw_only=True, gc=False):
    """A task's status before and after."""

    origin: str | None = field(default=None, name="from")
    target: str | None = field(default=None, name="to")


class TaskUpdateResult(ToolOutput, frozen=True, rename="camel"):
    """What changed about a task, or why nothing did."""

    success: bool | None = None
    task_id: str | None = None
    updated_fields: tuple[str, ...] = ()
    status_change: StatusChange | None = None
    error: str | None = None
    verification_nudge_needed: bool = False


class Option(Struct, frozen=True, kw_only=True, gc=False):
    """One of the offered answers."""

    label: str = ""
    description: str | None = None
    preview: str | None = None


class Question(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """A question with the offered answers."""

    question: str = ""
    header: str | None = None
    options: tuple[Option, ...] = ()
    multi_select: bool = False


class Annotation(Struct, frozen=True, kw_only=True, gc=False):
    """What the user added to an answer."""

    preview: str | None = None
    notes: str | None = None


class AskUserQuestionInput(ToolInput, frozen=True):
    """Questions for the user; a client may write the answers back into the input."""

    questions: tuple[Question, ...] = ()
    answers: dict[str, str | tuple[str, ...]] = {}
    annotations: dict[str, Annotation] = {}
    metadata: Raw = Raw()


class AskUserQuestionResult(ToolOutput, frozen=True, rename="camel"):
    """The user's answers, by the text of the question."""

    questions: tuple[Question, ...] = ()
    answers: dict[str, str | tuple[str, ...]] = {}
    annotations: dict[str, Annotation] = {}
    response: str | None = None
    afk_timeout_ms: float | None = None


class AllowedPrompt(Struct, frozen=True, kw_only=True, gc=False):
    """A permission that the plan asks for."""

    tool: str | None = None
    prompt: str | None = None


class EnterPlanModeInput(ToolInput, frozen=True):
    """A call that needs no input."""


class EnterPlanModeResult(ToolOutput, frozen=True):
    """Instructions about plan mode for the model."""

    message: str | None = None


class ExitPlanModeInput(ToolInput, frozen=True, rename="camel"):
    """A plan for the user to approve; newer clients keep its text in a file."""

    plan: str | None = None
    plan_file_path: str | None = None
    allowed_prompts: tuple[AllowedPrompt, ...] = ()


class ExitPlanModeResult(ToolOutput, frozen=True, rename="camel"):
    """The approved plan."""

    plan: str | None = None
    is_agent: bool = False
    file_path: str | None = None
    plan_was_edited: bool = False
    has_task_tool: bool = False
    awaiting_leader_approval: bool = False
    request_id: str | None = None


class Finding(Struct, frozen=True, kw_only=True, gc=False):
    """One finding of a review."""

    file: str | None = None
    line: int | None = None
    summary: str | None = None
    short_summary: str | None = None
    failure_scenario: str | None = None
    category: str | None = None
    verdict: str | None = None
    outcome: str | None = None


class ReportFindingsInput(ToolInput, frozen=True):
    """The findings of a review."""

    level: str | None = None
    findings: tuple[Finding, ...] = ()


class ReportFindingsResult(ToolOutput, frozen=True):
    """The findings as shown."""

    count: int | None = None
    level: str | None = None
    findings: tuple[Finding, ...] = ()


class CronCreateInput(ToolInput, frozen=True):
    """A prompt to run on a schedule."""

    cron: str = ""
    prompt: str = ""
    recurring: bool | None = None
    durable: bool | None = None


class CronCreateResult(ToolOutput, frozen=True, rename="camel"):
    """The created job; `next_fire_at` is in milliseconds since 1970."""

    id: str = ""
    human_schedule: str | None = None
    recurring: bool | None = None
    durable: bool | None = None
    next_fire_at: float | None = None


class CronDeleteInput(ToolInput, frozen=True):
    """A job to delete."""

    id: str = ""


class CronDeleteResult(ToolOutput, frozen=True):
    """The deleted job."""

    id: str = ""


class CronListInput(ToolInput, frozen=True):
    """A call that needs no input."""


class CronJob(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """One job and its prompt."""

    id: str = ""
    cron: str | None = None
    human_schedule: str | None = None
    prompt: str | None = None
    recurring: bool | None = None
    durable: bool | None = None
    next_fire_at: float | None = None


class CronListResult(ToolOutput, frozen=True):
    """All jobs."""

    jobs: tuple[CronJob, ...] = ()


class ScheduleWakeupInput(ToolInput, frozen=True, rename="camel"):
    """A prompt to run once after a delay, or a cancellation with `stop`."""

    delay_seconds: float | None = None
    reason: str | None = None
    prompt: str | None = None
    stop: bool = False
    noop: bool = False


class ScheduleWakeupResult(ToolOutput, frozen=True, rename="camel"):
    """When it will run; `scheduled_for` is in milliseconds since 1970."""

    scheduled_for: float | None = None
    clamped_delay_seconds: float | None = None
    was_clamped: bool = False
    stopped: bool = False
    cancelled_wakeups: int | None = None


class EnterWorktreeInput(ToolInput, frozen=True):
    """A new worktree by name, or an existing one by path."""

    name: str | None = None
    path: str | None = None


class EnterWorktreeResult(ToolOutput, frozen=True, rename="camel"):
    """Where the session is now."""

    worktree_path: str | None = None
    worktree_branch: str | None = None
    message: str | None = None


class ExitWorktreeInput(ToolInput, frozen=True):
    """Whether to keep or remove the worktree."""

    action: str = ""
    discard_changes: bool = False


class ExitWorktreeResult(ToolOutput, frozen=True, rename="camel"):
    """The directory that the session returned to, and what was discarded."""

    action: str | None = None
    original_cwd: str | None = None
    original_cwd_missing: bool = False
    restored_cwd: str | None = None
    worktree_path: str | None = None
    worktree_branch: str | None = None
    tmux_session_name: str | None = None
    discarded_files: int | None = None
    discarded_commits: int | None = None
    message: str | None = None
