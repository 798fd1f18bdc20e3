"""The todo list and the task list over time.

`TodoWrite` has the whole list in each call; the `Task…` tools that replaced it change single
entries, so their list is accumulated here. Calls that did not succeed change nothing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from recollect.documents.kinds import ToolStatus
from recollect.records.tools.planning_tools import (
    Task,
    TaskCreateInput,
    TaskCreateResult,
    TaskListResult,
    TaskUpdateInput,
    TaskUpdateResult,
    Todo,
    TodoWriteInput,
    TodoWriteResult,
)
from recollect.session.tool_calls import ToolCall


class TodoState(Struct, frozen=True, kw_only=True):
    """The whole todo list after one call."""

    call_id: str
    timestamp: str | None
    items: tuple[Todo, ...]


class TaskItem(Struct, frozen=True, kw_only=True):
    """A task, as far as it is known from the calls so far."""

    id: str
    subject: str | None = None
    description: str | None = None
    status: str | None = None
    active_form: str | None = None
    owner: str | None = None
    blocks: tuple[str, ...] = ()
    blocked_by: tuple[str, ...] = ()


class TaskState(Struct, frozen=True, kw_only=True):
    """All tasks after one call, in the order in which they were created."""

    call_id: str
    timestamp: str | None
    tasks: tuple[TaskItem, ...]


Tasks = dict[str, TaskItem]

_CHANGEABLE = ("subject", "description", "status", "active_form", "owner")
_FIRST_STATUS = "pending"
_DELETED = "deleted"
_CREATED = re.compile(r"Task #(\S+) created")


def build_todos(tool_calls: Sequence[ToolCall]) -> tuple[TodoState, ...]:
    """Return the todo list after each `TodoWrite`."""
    return tuple(
        TodoState(call_id=call.id, timestamp=call.ended, items=_read_todos(call))
        for call in _iter_done(tool_calls, "TodoWrite")
    )


def _iter_done(calls: Iterable[ToolCall], *names: str) -> Iterator[ToolCall]:
    return (call for call in calls if call.name in names and call.status is ToolStatus.SUCCESS)


def _read_todos(call: ToolCall) -> tuple[Todo, ...]:
    """Return the list as the client accepted it, or else as the model wrote it."""
    result, wanted = call.result, call.input
    if isinstance(result, TodoWriteResult):
        return result.new_todos
    return wanted.todos if isinstance(wanted, TodoWriteInput) else ()


def build_tasks(tool_calls: Sequence[ToolCall]) -> tuple[TaskState, ...]:
    """Return the task list after each call that changes or lists it."""
    tasks: Tasks = {}
    states: list[TaskState] = []
    for call in _iter_done(tool_calls, "TaskCreate", "TaskUpdate", "TaskList"):
        changed = _apply(tasks, call)
        if changed is not None:
            tasks = changed
            known = tuple(tasks.values())
            states.append(TaskState(call_id=call.id, timestamp=call.ended, tasks=known))
    return tuple(states)


def _apply(tasks: Tasks, call: ToolCall) -> Tasks | None:
    """Return `tasks` after `call`; None if the call says nothing about them."""
    result = call.result
    if isinstance(result, TaskListResult):
        return {task.id: _merge(tasks.get(task.id), task) for task in result.tasks}
    match call.input:
        case TaskCreateInput() as wanted:
            return _create(tasks, wanted, call)
        case TaskUpdateInput() as wanted:
            has_failed = isinstance(result, TaskUpdateResult) and result.success is False
            return None if has_failed else _update(tasks, wanted)
    return None


def _merge(known: TaskItem | None, listed: Task) -> TaskItem:
    """Combine a listed task with what else is known of it."""
    known = known or TaskItem(id=listed.id)
    return replace(
        known,
        subject=listed.subject or known.subject,
        status=listed.status or known.status,
        owner=listed.owner,
        blocked_by=listed.blocked_by,
    )


def _create(tasks: Tasks, wanted: TaskCreateInput, call: ToolCall) -> Tasks | None:
    task_id = _find_id(call)
    if task_id is None:
        return None
    task = TaskItem(
        id=task_id,
        subject=wanted.subject,
        description=wanted.description,
        status=_FIRST_STATUS,
        active_form=wanted.active_form,
    )
    return {**tasks, task_id: task}


def _find_id(call: ToolCall) -> str | None:
    """Return the id that the client gave a task; in subagents it is only in the result's text."""
    result = call.result
    if isinstance(result, TaskCreateResult) and result.task is not None:
        return result.task.id or None
    named = _CREATED.match(call.text)
    return named[1] if named else None


def _update(tasks: Tasks, wanted: TaskUpdateInput) -> Tasks | None:
    task_id = wanted.task_id
    if not task_id:
        return None
    if wanted.status == _DELETED:
        return {key: task for key, task in tasks.items() if key != task_id}
    known = tasks.get(task_id) or TaskItem(id=task_id)
    said = {name: getattr(wanted, name) for name in _CHANGEABLE}
    changed = replace(known, **{name: text for name, text in said.items() if text is not None})
    updated = {**tasks, task_id: changed}
    for blocked in wanted.add_blocks or ():
        _block(updated, task_id, blocked)
    for blocker in wanted.add_blocked_by or ():
        _block(updated, blocker, task_id)
    return updated


def _block(tasks: Tasks, blocker: str, blocked: str) -> None:
    """Record on both tasks, if known, that one waits for the other."""
    if blocker in tasks and blocked not in tasks[blocker].blocks:
        tasks[blocker] = replace(tasks[blocker], blocks=(*tasks[blocker].blocks, blocked))
    if blocked in tasks and blocker not in tasks[blocked].blocked_by:
        tasks[blocked] = replace(tasks[blocked], blocked_by=(*tasks[blocked].blocked_by, blocker))
