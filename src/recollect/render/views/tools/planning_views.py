"""Views of plans, todo and task lists, questions, findings, scheduled prompts and worktrees."""

from recollect.documents import turn_documents
from recollect.documents.kinds import ToolStatus
from recollect.quantities import format_count, format_duration
from recollect.records.tools import planning_tools
from recollect.records.tools.planning_tools import Question as Asked
from recollect.render.views import part_builders
from recollect.render.views.tools.tool_view import Case, ToolView, show_answer

_STATES = {
    "pending": turn_documents.CheckState.PENDING,
    "in_progress": turn_documents.CheckState.ACTIVE,
    "completed": turn_documents.CheckState.DONE,
    "cancelled": turn_documents.CheckState.DROPPED,
    "deleted": turn_documents.CheckState.DROPPED,
}


def describe_todos(case: Case) -> ToolView | None:
    """Describe the todo list after the call."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, planning_tools.TodoWriteInput):
        return None
    todos = result.new_todos if isinstance(result, planning_tools.TodoWriteResult) else wanted.todos
    active = next((todo for todo in todos if todo.status == "in_progress"), None)
    return ToolView(
        title=part_builders.take_line((active.active_form or active.content) if active else ""),
        summary=_count_done([todo.status for todo in todos]),
        input=show_todos(todos),
    )


def show_todos(todos: tuple[planning_tools.Todo, ...]) -> tuple[turn_documents.Part, ...]:
    """Return a todo list as a part."""
    return _show_list(tuple(map(_show_todo, todos)))


def show_tasks(tasks: tuple[planning_tools.Task, ...]) -> tuple[turn_documents.Part, ...]:
    """Return a task list as a part."""
    return _show_list(tuple(map(_show_task, tasks)))


def _count_done(states: list[str | None]) -> str:
    return f"{states.count('completed')} of {len(states)} done" if states else "empty list"


def _show_list(items: tuple[turn_documents.CheckItem, ...]) -> tuple[turn_documents.Part, ...]:
    return (turn_documents.Checklist(items),) if items else ()


def _show_todo(todo: planning_tools.Todo) -> turn_documents.CheckItem:
    return turn_documents.CheckItem(todo.content, _state_of(todo.status), todo.priority)


def _state_of(status: str | None) -> turn_documents.CheckState:
    return _STATES.get(status or "", turn_documents.CheckState.PENDING)


def describe_task_create(case: Case) -> ToolView | None:
    """Describe a new task."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, planning_tools.TaskCreateInput) or not wanted.subject:
        return None
    task = result.task if isinstance(result, planning_tools.TaskCreateResult) else None
    return ToolView(
        title=part_builders.take_line(wanted.subject),
        summary=f"task {task.id}" if task and task.id else part_builders.take_line(case.text),
        input=(
            turn_documents.Checklist(
                (
                    turn_documents.CheckItem(
                        wanted.subject, turn_documents.CheckState.PENDING, wanted.active_form
                    ),
                )
            ),
            *part_builders.show_prose(wanted.description),
            *part_builders.show_value(wanted.metadata),
        ),
    )


def describe_task_update(case: Case) -> ToolView | None:
    """Describe a change to a task."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, planning_tools.TaskUpdateInput) or not wanted.task_id:
        return None
    changed = (
        result
        if isinstance(result, planning_tools.TaskUpdateResult)
        else planning_tools.TaskUpdateResult()
    )
    return ToolView(
        title=part_builders.join_facts(f"task {wanted.task_id}", wanted.status, wanted.subject),
        summary=part_builders.take_line(changed.error or _name_change(changed)),
        input=(
            *part_builders.show_fields(
                ("status", wanted.status),
                ("subject", wanted.subject),
                ("active form", wanted.active_form),
                ("owner", wanted.owner),
                ("blocks", wanted.add_blocks),
                ("blocked by", wanted.add_blocked_by),
            ),
            *part_builders.show_prose(wanted.description),
            *part_builders.show_value(wanted.metadata),
        ),
        output=(turn_documents.Output(changed.error, is_error=True),) if changed.error else (),
    )


def _name_change(changed: planning_tools.TaskUpdateResult) -> str:
    change = changed.status_change
    if change and change.origin and change.target:
        return f"{change.origin} → {change.target}"
    return ", ".join(changed.updated_fields)


def describe_task_get(case: Case) -> ToolView | None:
    """Describe one task."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, planning_tools.TaskGetInput) or not wanted.task_id:
        return None
    task = result.task if isinstance(result, planning_tools.TaskGetResult) else None
    said = part_builders.show_plain(case.text)
    return ToolView(
        title=f"task {wanted.task_id}",
        summary=part_builders.take_line((task.subject or "") if task else case.text),
        output=(*_show_list((_show_task(task),)), *part_builders.show_prose(task.description))
        if task
        else said,
    )


def describe_task_list(case: Case) -> ToolView | None:
    """Describe all tasks."""
    if not isinstance(case.input, planning_tools.TaskListInput):
        return None
    if not isinstance(case.result, planning_tools.TaskListResult):
        lines = tuple(line for line in case.text.split("\n") if line.strip())
        return ToolView(
            summary=format_count(len(lines), "line"),
            output=part_builders.show_entries(map(turn_documents.Entry, lines)),
        )
    tasks = case.result.tasks
    return ToolView(
        summary=_count_done([task.status for task in tasks]),
        output=_show_list(tuple(map(_show_task, tasks))),
    )


def _show_task(task: planning_tools.Task) -> turn_documents.CheckItem:
    waits = f"blocked by {', '.join(task.blocked_by)}" if task.blocked_by else None
    note = part_builders.join_facts(f"task {task.id}" if task.id else None, task.owner, waits)
    return turn_documents.CheckItem(task.subject or "", _state_of(task.status), note or None)


def describe_question(case: Case) -> ToolView | None:
    """Describe questions to the user, with the answers."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, planning_tools.AskUserQuestionInput) or not wanted.questions:
        return None
    answered = (
        result
        if isinstance(result, planning_tools.AskUserQuestionResult)
        else planning_tools.AskUserQuestionResult()
    )
    answers = {
        text: (answer,) if isinstance(answer, str) else answer
        for text, answer in {**wanted.answers, **answered.answers}.items()
    }
    chosen = [answer for asked in wanted.questions for answer in answers.get(asked.question, ())]
    notes = tuple((text, note.notes) for text, note in answered.annotations.items() if note.notes)
    said = () if answers else part_builders.show_plain(case.text)
    return ToolView(
        title=part_builders.take_line(wanted.questions[0].question),
        summary=part_builders.take_line(", ".join(chosen) or answered.response or case.text),
        input=tuple(
            _show_question(asked, answers.get(asked.question)) for asked in wanted.questions
        ),
        output=(
            *part_builders.show_prose(answered.response),
            *part_builders.show_fields(*notes),
            *said,
        ),
    )


def _show_question(asked: Asked, answers: tuple[str, ...] | None) -> turn_documents.Question:
    """Return a question with its answer; several choices are joined in one string."""
    given = answers or ()
    labels = {option.label for option in asked.options}
    picked = {*given, *(part for answer in given for part in answer.split(", "))}
    chosen = picked & labels
    return turn_documents.Question(
        text=asked.question,
        header=asked.header or "",
        choices=tuple(
            turn_documents.Choice(option.label, option.description or "", option.label in chosen)
            for option in asked.options
        ),
        answer=None if chosen or not given else ", ".join(given),
    )


def describe_plan(case: Case) -> ToolView | None:
    """Describe a plan for the user to approve, and the verdict."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, planning_tools.ExitPlanModeInput):
        return None
    approved = (
        result
        if isinstance(result, planning_tools.ExitPlanModeResult)
        else planning_tools.ExitPlanModeResult()
    )
    plan = approved.plan or wanted.plan or ""
    asked = tuple(
        (allowed.tool or "tool", allowed.prompt or "") for allowed in wanted.allowed_prompts
    )
    is_done = case.call.status is ToolStatus.SUCCESS
    verdict = "waiting for approval" if approved.awaiting_leader_approval else "approved"
    return ToolView(
        title=part_builders.take_line(plan.lstrip("# ")),
        summary=part_builders.join_facts(
            verdict if is_done else None,
            "changed by you" if approved.plan_was_edited else None,
        ),
        input=(
            *part_builders.show_prose(plan),
            *part_builders.show_fields(
                ("plan file", approved.file_path or wanted.plan_file_path), *asked
            ),
        ),
    )


def describe_plan_mode(case: Case) -> ToolView | None:
    """Describe the start of plan mode; the instructions to the model are always the same."""
    return (
        ToolView(title="plan mode")
        if isinstance(case.input, planning_tools.EnterPlanModeInput)
        else None
    )


def describe_findings(case: Case) -> ToolView | None:
    """Describe the findings of a review."""
    wanted = case.input
    if not isinstance(wanted, planning_tools.ReportFindingsInput):
        return None
    return ToolView(
        title=format_count(len(wanted.findings), "finding"),
        summary=wanted.level or "",
        input=part_builders.show_entries(map(_show_finding, wanted.findings)),
    )


def _show_finding(finding: planning_tools.Finding) -> turn_documents.Entry:
    note = part_builders.join_facts(
        finding.category, finding.verdict, finding.outcome, finding.failure_scenario
    )
    text = finding.summary or finding.short_summary or ""
    return turn_documents.Entry(text, path=finding.file, line=finding.line, note=note or None)


def describe_cron_create(case: Case) -> ToolView | None:
    """Describe a scheduled prompt."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, planning_tools.CronCreateInput) or not wanted.cron:
        return None
    made = (
        result
        if isinstance(result, planning_tools.CronCreateResult)
        else planning_tools.CronCreateResult()
    )
    return ToolView(
        title=wanted.cron,
        summary=part_builders.join_facts(
            made.human_schedule, f"job {made.id}" if made.id else None
        ),
        input=(
            *part_builders.show_prose(wanted.prompt),
            *part_builders.show_fields(
                ("recurring", wanted.recurring), ("durable", wanted.durable)
            ),
        ),
    )


def describe_cron_delete(case: Case) -> ToolView | None:
    """Describe the deletion of a scheduled job."""
    wanted = case.input
    if not isinstance(wanted, planning_tools.CronDeleteInput) or not wanted.id:
        return None
    return ToolView(title=wanted.id, summary="ended")


def describe_cron_list(case: Case) -> ToolView | None:
    """Describe all scheduled jobs."""
    if not isinstance(case.input, planning_tools.CronListInput):
        return None
    if not isinstance(case.result, planning_tools.CronListResult):
        return ToolView(output=show_answer(case))
    jobs = case.result.jobs
    return ToolView(
        summary=format_count(len(jobs), "job"),
        output=part_builders.show_entries(map(_show_job, jobs)),
    )


def _show_job(job: planning_tools.CronJob) -> turn_documents.Entry:
    when = job.human_schedule or job.cron
    return turn_documents.Entry(
        job.prompt or job.id, note=part_builders.join_facts(job.id, when) or None
    )


def describe_wakeup(case: Case) -> ToolView | None:
    """Describe a prompt to be sent once, after a delay."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, planning_tools.ScheduleWakeupInput):
        return None
    delay = wanted.delay_seconds
    set_for = (
        result
        if isinstance(result, planning_tools.ScheduleWakeupResult)
        else planning_tools.ScheduleWakeupResult()
    )
    clamped = set_for.clamped_delay_seconds if set_for.was_clamped else None
    return ToolView(
        title=part_builders.join_facts(
            "stop" if wanted.stop else None,
            None if delay is None else f"in {format_duration(delay * 1000)}",
            part_builders.take_line(wanted.reason or ""),
        ),
        summary=part_builders.join_facts(
            "stopped" if set_for.stopped else None,
            None if clamped is None else f"set to {format_duration(clamped * 1000)}",
        ),
        input=part_builders.show_prose(wanted.prompt),
    )


def describe_enter(case: Case) -> ToolView | None:
    """Describe entering a worktree."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, planning_tools.EnterWorktreeInput):
        return None
    there = (
        result
        if isinstance(result, planning_tools.EnterWorktreeResult)
        else planning_tools.EnterWorktreeResult()
    )
    return ToolView(
        title=wanted.name or wanted.path or there.worktree_path or "",
        summary=part_builders.take_line(there.message or case.text),
        output=part_builders.show_fields(
            ("path", there.worktree_path), ("branch", there.worktree_branch)
        ),
    )


def describe_exit(case: Case) -> ToolView | None:
    """Describe leaving a worktree."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, planning_tools.ExitWorktreeInput):
        return None
    back = (
        result
        if isinstance(result, planning_tools.ExitWorktreeResult)
        else planning_tools.ExitWorktreeResult()
    )
    return ToolView(
        title=part_builders.join_facts(wanted.action or back.action, back.worktree_path),
        summary=part_builders.take_line(back.message or case.text),
        output=part_builders.show_fields(
            ("back in", back.restored_cwd or back.original_cwd),
            ("branch", back.worktree_branch),
            ("files discarded", back.discarded_files),
            ("commits discarded", back.discarded_commits),
        ),
    )
