"""Notices of the files beside a session: its todo lists, its tasks and its plan.

These files hold only the last state and belong to no turn, so they are shown after the last one.
"""

from collections.abc import Iterator

from recollect.documents.turns import NoticeKind, NoticeStep, Part
from recollect.library.sidecar_files import SessionSidecars, TodoFile
from recollect.render.views.part_builders import show_fields, show_prose
from recollect.render.views.tools.planning_views import show_tasks, show_todos

TODOS = "Todo list"
TASKS = "Tasks"
PLAN = "Plan"


def list_sidecar_notices(sidecars: SessionSidecars, session_id: str) -> tuple[NoticeStep, ...]:
    """Return a notice for each todo list, for the tasks and for the plan of a session."""
    return tuple(_iter_notices(sidecars, session_id))


def _iter_notices(sidecars: SessionSidecars, session_id: str) -> Iterator[NoticeStep]:
    for file in sidecars.todos:
        yield _make_notice(_name_todos(file, session_id), show_todos(file.todos))
    if sidecars.tasks:
        described = ((task.subject or task.id, task.description) for task in sidecars.tasks)
        parts = (*show_tasks(sidecars.tasks), *show_fields(*described))
        yield _make_notice(TASKS, parts)
    if sidecars.plan:
        yield _make_notice(PLAN, show_prose(sidecars.plan))


def _name_todos(file: TodoFile, session_id: str) -> str:
    is_own = file.agent_id in ("", session_id)
    return TODOS if is_own else f"{TODOS} of agent {file.agent_id}"


def _make_notice(title: str, parts: tuple[Part, ...]) -> NoticeStep:
    return NoticeStep(uuid=None, kind=NoticeKind.INFORMATION, title=title, parts=parts)
