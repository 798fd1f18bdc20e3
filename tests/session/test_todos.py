"""The todo list and the task list over time."""

from pathlib import Path

import pytest

from recollect.records.tools.planning_tools import Todo
from recollect.session.tool_calls import FAILED, PENDING, Outcome, ToolCall, build_tool_calls
from recollect.session.tool_effects import TaskItem, TaskState, TodoState, build_tasks, build_todos
from tests.session.recordings import LATER, make_call, read_scenario

PLAN = {"content": "plan", "status": "in_progress", "activeForm": "Planning"}


def tasks_after(*calls: ToolCall) -> list[tuple[TaskItem, ...]]:
    """Return the task list after each of `calls` that changes it."""
    return [state.tasks for state in build_tasks(calls)]


def create(task_id: str, subject: str) -> ToolCall:
    """Return a call that creates a task."""
    return make_call(
        "TaskCreate",
        {"subject": subject, "description": f"{subject} it", "activeForm": f"{subject}ing"},
        {"task": {"id": task_id, "subject": subject}},
        call_id=f"create-{task_id}",
    )


def item(task_id: str, subject: str, **facts: object) -> TaskItem:
    """Return a task as created by `create`, with later changes."""
    known: dict[str, object] = {
        "id": task_id,
        "subject": subject,
        "description": f"{subject} it",
        "status": "pending",
        "active_form": f"{subject}ing",
    }
    return TaskItem(**{**known, **facts})  # type: ignore[arg-type]


def test_the_client_has_the_last_word_on_todos() -> None:
    """The list in the result counts; old clients add ids and priorities."""
    taken = {"content": "plan", "status": "in_progress", "priority": "high", "id": "1"}
    assert build_todos(
        [make_call("TodoWrite", {"todos": [PLAN]}, {"oldTodos": [], "newTodos": [taken]})]
    ) == (
        TodoState(
            call_id="t1",
            timestamp=LATER,
            items=(Todo(content="plan", status="in_progress", priority="high", id="1"),),
        ),
    )


def test_without_a_result_the_written_todos_count() -> None:
    """Without a structured result, the list is taken from the tool's input."""
    assert build_todos([make_call("TodoWrite", {"todos": [PLAN]})]) == (
        TodoState(
            call_id="t1",
            timestamp=LATER,
            items=(Todo(content="plan", status="in_progress", active_form="Planning"),),
        ),
    )


@pytest.mark.parametrize("outcome", [PENDING, FAILED])
def test_what_did_not_succeed_changes_no_list(outcome: Outcome) -> None:
    """Pending and failed calls leave both lists unchanged."""
    todo = make_call("TodoWrite", {"todos": [PLAN]}, outcome=outcome)
    task = make_call("TaskUpdate", {"taskId": "1", "status": "completed"}, outcome=outcome)
    assert (build_todos([todo]), build_tasks([task])) == ((), ())


def test_tasks_are_folded_over_the_calls() -> None:
    """Each call gives the state of all tasks, in order of creation."""
    done = make_call(
        "TaskUpdate",
        {"taskId": "1", "status": "completed", "owner": "ann"},
        {"success": True, "taskId": "1", "updatedFields": ["status", "owner"]},
        call_id="update",
    )
    assert build_tasks([create("1", "Plan"), create("2", "Build"), done]) == (
        TaskState(call_id="create-1", timestamp=LATER, tasks=(item("1", "Plan"),)),
        TaskState(
            call_id="create-2", timestamp=LATER, tasks=(item("1", "Plan"), item("2", "Build"))
        ),
        TaskState(
            call_id="update",
            timestamp=LATER,
            tasks=(item("1", "Plan", status="completed", owner="ann"), item("2", "Build")),
        ),
    )


def test_blocking_is_noted_on_both_tasks() -> None:
    """Both the blocked and the blocking task name the other, once."""
    wait = make_call("TaskUpdate", {"taskId": "2", "addBlockedBy": ["1", "9"]})
    hold = make_call("TaskUpdate", {"taskId": "1", "addBlocks": ["2"]})
    assert tasks_after(create("1", "Plan"), create("2", "Build"), wait, hold)[-1] == (
        item("1", "Plan", blocks=("2",)),
        item("2", "Build", blocked_by=("1", "9")),
    )


def test_a_deleted_task_is_gone() -> None:
    """The status `deleted` removes a task from the list."""
    delete = make_call("TaskUpdate", {"taskId": "1", "status": "deleted"})
    assert tasks_after(create("1", "Plan"), create("2", "Build"), delete)[-1] == (
        item("2", "Build"),
    )


def test_a_list_corrects_what_was_known() -> None:
    """A listing has all tasks, also of other sessions, and known details are kept."""
    listed = make_call(
        "TaskList",
        {},
        {
            "tasks": [
                {"id": "2", "subject": "Build", "status": "in_progress", "blockedBy": ["3"]},
                {"id": "3", "subject": "Test", "status": "pending", "blockedBy": []},
            ]
        },
    )
    assert tasks_after(create("1", "Plan"), create("2", "Build"), listed)[-1] == (
        item("2", "Build", status="in_progress", blocked_by=("3",)),
        TaskItem(id="3", subject="Test", status="pending"),
    )


def test_an_update_that_was_refused_says_nothing() -> None:
    """A result without success changes nothing, although the call did not fail."""
    refused = make_call(
        "TaskUpdate",
        {"taskId": "7", "status": "completed"},
        {"success": False, "taskId": "7", "error": "Task not found"},
    )
    assert build_tasks([refused]) == ()


def test_a_task_made_elsewhere_is_known_from_its_update() -> None:
    """Updating a task of another session adds it."""
    update = make_call("TaskUpdate", {"taskId": "7", "status": "completed"})
    assert tasks_after(update) == [(TaskItem(id="7", status="completed"),)]


@pytest.mark.parametrize(
    ("text", "tasks"),
    [
        (
            "Task #4 created successfully: Plan",
            [(TaskItem(id="4", subject="P", status="pending"),)],
        ),
        ("no id in these words", []),
    ],
)
def test_without_a_result_the_words_name_the_task(
    text: str, tasks: list[tuple[TaskItem, ...]]
) -> None:
    """Without a structured result, the id is read from the text of the result."""
    assert tasks_after(make_call("TaskCreate", {"subject": "P"}, text=text)) == tasks


STEPS = [
    ["in_progress", "pending", "pending"],
    ["completed", "in_progress", "pending"],
    ["completed", "completed", "completed"],
]


@pytest.mark.parametrize(
    ("version", "steps"),
    [
        ("1.0.35", [STEPS[0], STEPS[2]]),
        ("1.0.128", STEPS),
        ("2.0.77", STEPS),
        ("2.1.112", STEPS),
    ],
)
def test_todos_scenario(shared: Path, version: str, steps: list[list[str]]) -> None:
    """With `TodoWrite`, a list of three entries is completed step by step."""
    calls, _ = build_tool_calls(read_scenario(shared, version, "todos").chain)
    states = build_todos(calls)
    contents = {tuple(todo.content for todo in state.items) for state in states}
    assert contents == {("plan", "build", "test")}
    assert [[todo.status for todo in state.items] for state in states] == steps
    assert build_tasks(calls) == ()


def test_tasks_scenario(shared: Path) -> None:
    """With the task tools, two tasks are created and one is completed."""
    calls, _ = build_tool_calls(read_scenario(shared, "2.1.325", "todos").chain)
    states = [[(task.id, task.status) for task in state.tasks] for state in build_tasks(calls)]
    assert states == [
        [("1", "pending")],
        [("1", "pending"), ("2", "pending")],
        [("1", "in_progress"), ("2", "pending")],
        [("1", "completed"), ("2", "pending")],
        [("1", "completed"), ("2", "pending")],
    ]
    assert build_todos(calls) == ()
