"""`progress` and `saved_hook_context` records (clients 2.1.2 to about 2.1.97).

`agent_progress` nests a whole assistant message with usage: it repeats what the subagent's own
transcript says and must never be counted, so it stays `Raw` here.
"""

from msgspec import Raw, Struct, field

from recollect.records.envelope import Chain


class ProgressData(Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", gc=False):
    """The inner object of a `progress` record."""


class OtherProgress(ProgressData, frozen=True, tag="<other>"):
    """A kind that is not known here, with all that was in it."""

    kind: str | None = None
    raw: Raw = Raw()


class HookProgress(ProgressData, frozen=True, tag="hook_progress"):
    """A hook runs."""

    hook_event: str | None = None
    hook_name: str | None = None
    command: str | None = None
    prompt_text: str | None = None
    status_message: str | None = None


class ShellProgress(ProgressData, frozen=True):
    """Output of a command that still runs."""

    output: str | None = None
    full_output: str | None = None
    elapsed_time_seconds: float | None = None
    total_lines: int | None = None
    total_bytes: int | None = None
    task_id: str | None = None
    timeout_ms: float | None = None


class BashProgress(ShellProgress, frozen=True, tag="bash_progress"):
    """A Bash command runs."""


class PowershellProgress(ShellProgress, frozen=True, tag="powershell_progress"):
    """A PowerShell command runs."""


class AgentProgress(ProgressData, frozen=True, tag="agent_progress"):
    """A subagent said something."""

    agent_id: str | None = None
    prompt: str | None = None
    message: Raw = Raw()
    normalized_messages: Raw = Raw()
    resume: Raw = Raw()


class McpProgress(ProgressData, frozen=True, tag="mcp_progress"):
    """An MCP tool started, ended or failed."""

    status: str | None = None
    server_name: str | None = None
    tool_name: str | None = None
    elapsed_time_ms: float | None = None
    progress: float | None = None
    total: float | None = None
    progress_message: str | None = None


class WaitingForTask(ProgressData, frozen=True, tag="waiting_for_task"):
    """The client waits for a background task."""

    task_description: str | None = None
    task_type: str | None = None


class QueryUpdate(ProgressData, frozen=True, tag="query_update"):
    """A web search was started."""

    query: str | None = None


class SearchResultsReceived(ProgressData, frozen=True, tag="search_results_received"):
    """A web search came back."""

    query: str | None = None
    result_count: int | None = None


class ReplToolCall(ProgressData, frozen=True, tag="repl_tool_call"):
    """A tool was called from within a program."""


class Progress(Chain, frozen=True, tag="progress"):
    """A sign of life of a running tool; other records may hang on it."""

    data: (
        HookProgress
        | BashProgress
        | PowershellProgress
        | AgentProgress
        | McpProgress
        | WaitingForTask
        | QueryUpdate
        | SearchResultsReceived
        | ReplToolCall
        | OtherProgress
        | None
    ) = None
    tool_use_id: str | None = field(default=None, name="toolUseID")
    parent_tool_use_id: str | None = field(default=None, name="parentToolUseID")


class SavedHookContext(Chain, frozen=True, tag="saved_hook_context"):
    """Text that a hook gave the model, kept for a resume."""

    content: tuple[str, ...] | str | None = None
    hook_name: str | None = None
    hook_event: str | None = None
    tool_use_id: str | None = field(default=None, name="toolUseID")
