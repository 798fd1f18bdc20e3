"""Enumerations in documents, also used by the session model.

Separate from the documents, so that a command that prints a list need not load the classes of whole
conversations.
"""

from enum import IntEnum, StrEnum

from msgspec import Struct


class InputKind(StrEnum):
    """The origin of the input in a user record."""

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
    """The kind of a context; the second group is from claude-code-plus."""

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
    """The kind of a part of the context, with the names of Claude Code where possible."""

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
    """Something attached to the user's text: its kind, its text and its file."""

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
    """Who rejected a tool call."""

    PERSON = "person"
    RULE = "rule"
    HOOK = "hook"


class SubagentKind(StrEnum):
    """Where the records of a subagent are."""

    INLINE = "inline"
    FILE = "file"
    WORKFLOW = "workflow"


class SubagentOutcome(StrEnum):
    """How a subagent ended, as recorded in the session."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"


class FileAction(StrEnum):
    """The effect of a call on a file, intended or actual."""

    READ = "read"
    EDIT = "edit"
    CREATE = "create"
    UPDATE = "update"
    WRITE = "write"
    """A write that did not happen, so whether the file existed is unknown."""
    EDIT_NOTEBOOK = "edit_notebook"


class StatusKind(StrEnum):
    """The status of a session."""

    RUNNING = "running"
    WAITING_FOR_PERMISSION = "waiting_for_permission"
    WAITING_FOR_INPUT = "waiting_for_input"
    IDLE = "idle"
    ENDED = "ended"
    UNKNOWN = "unknown"


class TextKind(IntEnum):
    """The role of a text in its session."""

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
