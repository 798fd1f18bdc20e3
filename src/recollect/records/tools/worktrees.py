"""Tools that move the session into a git worktree and out of it."""

from recollect.records.tools.values import ToolInput, ToolOutput


class EnterWorktreeInput(ToolInput, frozen=True):
    """A worktree to make by name, or one that exists by path."""

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
    """Where the session went back to, and what was thrown away."""

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
