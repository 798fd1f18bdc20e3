"""Tools that move the session into a git worktree and out of it."""

from recollect.records.tools.worktrees import (
    EnterWorktreeInput,
    EnterWorktreeResult,
    ExitWorktreeInput,
    ExitWorktreeResult,
)
from recollect.render.views.tools.view import Case, ToolView
from recollect.render.views.values import show_fields
from recollect.render.views.words import join_facts, take_line


def describe_enter(case: Case) -> ToolView | None:
    """A worktree that is entered."""
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
    """A worktree that is left."""
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
            ("files thrown away", back.discarded_files),
            ("commits thrown away", back.discarded_commits),
        ),
    )
