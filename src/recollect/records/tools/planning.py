"""Tools for plans, to-do lists, tasks, questions to the user and findings."""

from msgspec import Raw, Struct, field

from recollect.records.tools.values import ToolInput, ToolOutput


class Todo(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """One entry of a to-do list; `id` and `priority` are of clients 1.0.x."""

    content: str = ""
    status: str | None = None
    active_form: str | None = None
    id: str | None = None
    priority: str | None = None


class TodoWriteInput(ToolInput, frozen=True):
    """The whole list as it shall be."""

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
    """An entry of the task list, as far as the tool in question tells it."""

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
    """The task, or None when there is no such task."""

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
    """Something that the plan asks leave to do."""

    tool: str | None = None
    prompt: str | None = None


class EnterPlanModeInput(ToolInput, frozen=True):
    """A call that needs no input."""


class EnterPlanModeResult(ToolOutput, frozen=True):
    """What the model was told about plan mode."""

    message: str | None = None


class ExitPlanModeInput(ToolInput, frozen=True, rename="camel"):
    """A plan for the user to approve; newer clients keep its text in a file."""

    plan: str | None = None
    plan_file_path: str | None = None
    allowed_prompts: tuple[AllowedPrompt, ...] = ()


class ExitPlanModeResult(ToolOutput, frozen=True, rename="camel"):
    """The plan as it was approved."""

    plan: str | None = None
    is_agent: bool = False
    file_path: str | None = None
    plan_was_edited: bool = False
    has_task_tool: bool = False
    awaiting_leader_approval: bool = False
    request_id: str | None = None


class Finding(Struct, frozen=True, kw_only=True, gc=False):
    """One thing that a review found."""

    file: str | None = None
    line: int | None = None
    summary: str | None = None
    short_summary: str | None = None
    failure_scenario: str | None = None
    category: str | None = None
    verdict: str | None = None
    outcome: str | None = None


class ReportFindingsInput(ToolInput, frozen=True):
    """What a review found."""

    level: str | None = None
    findings: tuple[Finding, ...] = ()


class ReportFindingsResult(ToolOutput, frozen=True):
    """The findings as they were shown."""

    count: int | None = None
    level: str | None = None
    findings: tuple[Finding, ...] = ()
