"""Plans, todo and task lists, questions to the user, findings, scheduled prompts and worktrees."""

from recollect.documents.kinds import ToolStatus
from recollect.documents.turn_documents import (
    CheckItem,
    Checklist,
    CheckState,
    Choice,
    Entry,
    Output,
    Part,
    Question,
)
from recollect.quantities import format_count, format_duration
from recollect.records.tools.planning_tools import (
    AskUserQuestionInput,
    AskUserQuestionResult,
    CronCreateInput,
    CronCreateResult,
    CronDeleteInput,
    CronJob,
    CronListInput,
    CronListResult,
    EnterPlanModeInput,
    EnterWorktreeInput,
    EnterWorktreeResult,
    ExitPlanModeInput,
    ExitPlanModeResult,
    ExitWorktreeInput,
    ExitWorktreeResult,
    Finding,
    ReportFindingsInput,
    ScheduleWakeupInput,
    ScheduleWakeupResult,
    Task,
    TaskCreateInput,
    TaskCreateResult,
    TaskGetInput,
    TaskGetResult,
    TaskListInput,
    TaskListResult,
    TaskUpdateInput,
    TaskUpdateResult,
    Todo,
    TodoWriteInput,
    TodoWriteResult,
)
from recollect.records.tools.planning_tools import Question as Asked
from recollect.render.views.part_builders import (
    join_facts,
    show_entries,
    show_fields,
    show_plain,
    show_prose,
    show_value,
    take_line,
)
from recollect.render.views.tools.tool_view import Case, ToolView, show_answer

_STATES = {
    "pending": CheckState.PENDING,
    "in_progress": CheckState.ACTIVE,
    "completed": CheckState.DONE,
    "cancelled": CheckState.DROPPED,
    "deleted": CheckState.DROPPED,
}


def describe_todos(case: Case) -> ToolView | None:
    """Describe the todo list after the call."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, TodoWriteInput):
        return None
    todos = result.new_todos if isinstance(result, TodoWriteResult) else wanted.todos
    active = next((todo for todo in todos if todo.status == "in_progress"), None)
    return ToolView(
        title=take_line((active.active_form or active.content) if active else ""),
        summary=_count_done([todo.status for todo in todos]),
        input=show_todos(todos),
    )


def show_todos(todos: tuple[Todo, ...]) -> tuple[Part, ...]:
    """Return a todo list as a part."""
    return _show_list(tuple(map(_show_todo, todos)))


def show_tasks(tasks: tuple[Task, ...]) -> tuple[Part, ...]:
    """Return a task list as a part."""
    return _show_list(tuple(map(_show_task, tasks)))


def _count_done(states: list[str | None]) -> str:
    return f"{states.count('completed')} of {len(states)} done" if states else "empty list"


def _show_list(items: tuple[CheckItem, ...]) -> tuple[Part, ...]:
    return (Checklist(items),) if items else ()


def _show_todo(todo: Todo) -> CheckItem:
    return CheckItem(todo.content, _state_of(todo.status), todo.priority)


def _state_of(status: str | None) -> CheckState:
    return _STATES.get(status or "", CheckState.PENDING)


def describe_task_create(case: Case) -> ToolView | None:
    """Describe a new task."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, TaskCreateInput) or not wanted.subject:
        return None
    task = result.task if isinstance(result, TaskCreateResult) else None
    return ToolView(
        title=take_line(wanted.subject),
        summary=f"task {task.id}" if task and task.id else take_line(case.text),
        input=(
            Checklist((CheckItem(wanted.subject, CheckState.PENDING, wanted.active_form),)),
            *show_prose(wanted.description),
            *show_value(wanted.metadata),
        ),
    )


def describe_task_update(case: Case) -> ToolView | None:
    """Describe a change of a task."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, TaskUpdateInput) or not wanted.task_id:
        return None
    changed = result if isinstance(result, TaskUpdateResult) else TaskUpdateResult()
    return ToolView(
        title=join_facts(f"task {wanted.task_id}", wanted.status, wanted.subject),
        summary=take_line(changed.error or _name_change(changed)),
        input=(
            *show_fields(
                ("status", wanted.status),
                ("subject", wanted.subject),
                ("active form", wanted.active_form),
                ("owner", wanted.owner),
                ("blocks", wanted.add_blocks),
                ("blocked by", wanted.add_blocked_by),
            ),
            *show_prose(wanted.description),
            *show_value(wanted.metadata),
        ),
        output=(Output(changed.error, is_error=True),) if changed.error else (),
    )


def _name_change(changed: TaskUpdateResult) -> str:
    change = changed.status_change
    if change and change.origin and change.target:
        return f"{change.origin} → {change.target}"
    return ", ".join(changed.updated_fields)


def describe_task_get(case: Case) -> ToolView | None:
    """Describe one task."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, TaskGetInput) or not wanted.task_id:
        return None
    task = result.task if isinstance(result, TaskGetResult) else None
    said = show_plain(case.text)
    return ToolView(
        title=f"task {wanted.task_id}",
        summary=take_line((task.subject or "") if task else case.text),
        output=(*_show_list((_show_task(task),)), *show_prose(task.description)) if task else said,
    )


def describe_task_list(case: Case) -> ToolView | None:
    """Describe all tasks."""
    if not isinstance(case.input, TaskListInput):
        return None
    if not isinstance(case.result, TaskListResult):
        lines = tuple(line for line in case.text.split("\n") if line.strip())
        return ToolView(
            summary=format_count(len(lines), "line"), output=show_entries(map(Entry, lines))
        )
    tasks = case.result.tasks
    return ToolView(
        summary=_count_done([task.status for task in tasks]),
        output=_show_list(tuple(map(_show_task, tasks))),
    )


def _show_task(task: Task) -> CheckItem:
    waits = f"blocked by {', '.join(task.blocked_by)}" if task.blocked_by else None
    note = join_facts(f"task {task.id}" if task.id else None, task.owner, waits)
    return CheckItem(task.subject or "", _state_of(task.status), note or None)


def describe_question(case: Case) -> ToolView | None:
    """Describe questions to the user, with the answers."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, AskUserQuestionInput) or not wanted.questions:
        return None
    answered = result if isinstance(result, AskUserQuestionResult) else AskUserQuestionResult()
    answers = {
        text: (answer,) if isinstance(answer, str) else answer
        for text, answer in {**wanted.answers, **answered.answers}.items()
    }
    chosen = [answer for asked in wanted.questions for answer in answers.get(asked.question, ())]
    notes = tuple((text, note.notes) for text, note in answered.annotations.items() if note.notes)
    said = () if answers else show_plain(case.text)
    return ToolView(
        title=take_line(wanted.questions[0].question),
        summary=take_line(", ".join(chosen) or answered.response or case.text),
        input=tuple(
            _show_question(asked, answers.get(asked.question)) for asked in wanted.questions
        ),
        output=(*show_prose(answered.response), *show_fields(*notes), *said),
    )


def _show_question(asked: Asked, answers: tuple[str, ...] | None) -> Question:
    """Return a question; an answer with several choices has them in one string."""
    given = answers or ()
    labels = {option.label for option in asked.options}
    picked = {*given, *(part for answer in given for part in answer.split(", "))}
    chosen = picked & labels
    return Question(
        text=asked.question,
        header=asked.header or "",
        choices=tuple(
            Choice(option.label, option.description or "", option.label in chosen)
            for option in asked.options
        ),
        answer=None if chosen or not given else ", ".join(given),
    )


def describe_plan(case: Case) -> ToolView | None:
    """Describe a plan for the user to approve, and the verdict."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, ExitPlanModeInput):
        return None
    approved = result if isinstance(result, ExitPlanModeResult) else ExitPlanModeResult()
    plan = approved.plan or wanted.plan or ""
    asked = tuple(
        (allowed.tool or "tool", allowed.prompt or "") for allowed in wanted.allowed_prompts
    )
    is_done = case.call.status is ToolStatus.SUCCESS
    verdict = "waiting for approval" if approved.awaiting_leader_approval else "approved"
    return ToolView(
        title=take_line(plan.lstrip("# ")),
        summary=join_facts(
            verdict if is_done else None,
            "changed by you" if approved.plan_was_edited else None,
        ),
        input=(
            *show_prose(plan),
            *show_fields(("plan file", approved.file_path or wanted.plan_file_path), *asked),
        ),
    )


def describe_plan_mode(case: Case) -> ToolView | None:
    """Describe the start of plan mode; the instructions to the model are always the same."""
    return ToolView(title="plan mode") if isinstance(case.input, EnterPlanModeInput) else None


def describe_findings(case: Case) -> ToolView | None:
    """Describe the findings of a review."""
    wanted = case.input
    if not isinstance(wanted, ReportFindingsInput):
        return None
    return ToolView(
        title=format_count(len(wanted.findings), "finding"),
        summary=wanted.level or "",
        input=show_entries(map(_show_finding, wanted.findings)),
    )


def _show_finding(finding: Finding) -> Entry:
    note = join_facts(finding.category, finding.verdict, finding.outcome, finding.failure_scenario)
    text = finding.summary or finding.short_summary or ""
    return Entry(text, path=finding.file, line=finding.line, note=note or None)


def describe_cron_create(case: Case) -> ToolView | None:
    """Describe a scheduled prompt."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, CronCreateInput) or not wanted.cron:
        return None
    made = result if isinstance(result, CronCreateResult) else CronCreateResult()
    return ToolView(
        title=wanted.cron,
        summary=join_facts(made.human_schedule, f"job {made.id}" if made.id else None),
        input=(
            *show_prose(wanted.prompt),
            *show_fields(("recurring", wanted.recurring), ("durable", wanted.durable)),
        ),
    )


def describe_cron_delete(case: Case) -> ToolView | None:
    """Describe the end of a scheduled job."""
    wanted = case.input
    if not isinstance(wanted, CronDeleteInput) or not wanted.id:
        return None
    return ToolView(title=wanted.id, summary="ended")


def describe_cron_list(case: Case) -> ToolView | None:
    """Describe all scheduled jobs."""
    if not isinstance(case.input, CronListInput):
        return None
    if not isinstance(case.result, CronListResult):
        return ToolView(output=show_answer(case))
    jobs = case.result.jobs
    return ToolView(
        summary=format_count(len(jobs), "job"), output=show_entries(map(_show_job, jobs))
    )


def _show_job(job: CronJob) -> Entry:
    when = job.human_schedule or job.cron
    return Entry(job.prompt or job.id, note=join_facts(job.id, when) or None)


def describe_wakeup(case: Case) -> ToolView | None:
    """Describe a prompt to be sent once, after a while."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, ScheduleWakeupInput):
        return None
    delay = wanted.delay_seconds
    set_for = result if isinstance(result, ScheduleWakeupResult) else ScheduleWakeupResult()
    clamped = set_for.clamped_delay_seconds if set_for.was_clamped else None
    return ToolView(
        title=join_facts(
            "stop" if wanted.stop else None,
            None if delay is None else f"in {format_duration(delay * 1000)}",
            take_line(wanted.reason or ""),
        ),
        summary=join_facts(
            "stopped" if set_for.stopped else None,
            None if clamped is None else f"set to {format_duration(clamped * 1000)}",
        ),
        input=show_prose(wanted.prompt),
    )


def describe_enter(case: Case) -> ToolView | None:
    """Describe entering a worktree."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, EnterWorktreeInput):
        return None
    there = result if isinstance(result, EnterWorktreeResult) else EnterWorktreeResult()
    return ToolView(
        title=wanted.name or wanted.path or there.worktree_path or "",
        summary=take_line(there.message or case.text),
        output=show_fields(("path", there.worktree_path), ("branch", there.worktree_branch)),
    )


def describe_exit(case: Case) -> ToolView | None:
    """Describe leaving a worktree."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, ExitWorktreeInput):
        return None
    back = result if isinstance(result, ExitWorktreeResult) else ExitWorktreeResult()
    return ToolView(
        title=join_facts(wanted.action or back.action, back.worktree_path),
        summary=take_line(back.message or case.text),
        output=show_fields(
            ("back in", back.restored_cwd or back.original_cwd),
            ("branch", back.worktree_branch),
            ("files discarded", back.discarded_files),
            ("commits discarded", back.discarded_commits),
        ),
    )
