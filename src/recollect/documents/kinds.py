"""The closed sets of values in documents, which the session model uses as well.

They are apart from the documents, so that a command that prints a list need not load the shapes of
whole conversations.
"""

from enum import IntEnum, StrEnum

from msgspec import Struct


class InputKind(StrEnum):
    """Where the input of a user record comes from."""

    TYPED = "typed"
    QUEUED = "queued"
    UNSENT = "unsent"
    SDK = "sdk"
    COMMAND = "command"
    SHELL = "shell"
    IDE_SELECTION = "ide_selection"
    IDE_OPENED_FILE = "ide_opened_file"
    TASK_NOTIFICATION = "task_notification"
    COMPACTION_SUMMARY = "compaction_summary"
    TEAMMATE = "teammate"
    CHANNEL = "channel"
    AUTOMATIC = "automatic"
    SUBAGENT_TASK = "subagent_task"
    WARMUP = "warmup"
    TOOL_RESULT = "tool_result"
    COMMAND_OUTPUT = "command_output"
    SHELL_OUTPUT = "shell_output"
    INTERRUPTION = "interruption"
    INJECTED = "injected"


class ContextKind(StrEnum):
    """What a context is; the second group is that of claude-code-plus."""

    IDE_SELECTION = "ide_selection"
    IDE_OPENED_FILE = "ide_opened_file"
    IDE_DIAGNOSTICS = "ide_diagnostics"
    REMINDER = "reminder"
    PASTED = "pasted"
    HOOK = "hook"

    FILE = "file"
    WEB = "web"
    FOLDER = "folder"
    SYMBOL = "symbol"
    TERMINAL = "terminal"
    PROBLEMS = "problems"
    GIT = "git"
    SELECTION = "selection"
    WORKSPACE = "workspace"


class ContextPartKind(StrEnum):
    """What a part of the context is, in the words of Claude Code where it has one."""

    PROMPT = "prompt"
    TOOL = "tool"
    SUBAGENTS = "subagents"
    REPLY = "reply"
    THINKING = "thinking"
    FILES = "files"
    REMINDERS = "reminders"
    SUMMARY = "summary"
    SYSTEM_PROMPT = "system_prompt"
    MEMORY_FILES = "memory_files"
    SKILLS = "skills"
    CUSTOM_AGENTS = "custom_agents"
    MCP_TOOLS = "mcp_tools"
    COMPACTION = "compaction"
    REMOVED = "removed"
    UNRECORDED = "unrecorded"


class Context(Struct, frozen=True):
    """Something added to the user's text: its kind, its text, and the file it is about."""

    kind: ContextKind
    text: str
    path: str | None = None
    first_line: int | None = None
    last_line: int | None = None


class ToolStatus(StrEnum):
    """The outcome of a tool call so far."""

    PENDING = "pending"
    SUCCESS = "success"
    FAILED = "failed"
    REJECTED = "rejected"
    INTERRUPTED = "interrupted"


class RejectedBy(StrEnum):
    """Who did not let a tool run."""

    PERSON = "person"
    RULE = "rule"
    HOOK = "hook"


class SubagentKind(StrEnum):
    """Where the records of a subagent are."""

    INLINE = "inline"
    FILE = "file"
    WORKFLOW = "workflow"


class SubagentOutcome(StrEnum):
    """How the work of a subagent ended, as far as the session says."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"


class FileAction(StrEnum):
    """What a call did to a file, or would have done."""

    READ = "read"
    EDIT = "edit"
    CREATE = "create"
    UPDATE = "update"
    WRITE = "write"
    """A write that was never made, so whether the file existed is unknown."""
    EDIT_NOTEBOOK = "edit_notebook"


class StatusKind(StrEnum):
    """What a session is doing."""

    RUNNING = "running"
    WAITING_FOR_PERMISSION = "waiting_for_permission"
    WAITING_FOR_INPUT = "waiting_for_input"
    IDLE = "idle"
    ENDED = "ended"
    UNKNOWN = "unknown"


class TextKind(IntEnum):
    """What a text is in its session."""

    PROMPT = 1
    COMMAND = 2
    REPLY = 3
    THINKING = 4
    TOOL_INPUT = 5
    TOOL_RESULT = 6
    SUMMARY = 7
    TITLE = 8
    NOTICE = 9
    OTHER = 10
    QUEUED = 11
