"""`progress` and `saved_hook_context` records (clients 2.1.2 to about 2.1.97).

`agent_progress` contains a whole assistant message with usage, a copy from the subagent's own
transcript. It stays `Raw` here; only counting reads it, for subagents whose transcript was deleted.
"""

from msgspec import Raw, Struct, field

from recollect.records.conversation import RelayedUsage
from recollect.records.envelope import Chain


class ProgressData(Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", gc=False):
    """The inner object of a `progress` record."""


class OtherProgress(ProgressData, frozen=True, tag="<other>"):
    """An unknown kind, with its JSON."""

    kind: str | None = None
    raw: Raw = Raw()


class HookProgress(ProgressData, frozen=True, tag="hook_progress"):
    """A hook is running."""

    hook_event: str | None = None
    hook_name: str | None = None
    command: str | None = None
    prompt_text: str | None = None
    status_message: str | None = None


class ShellProgress(ProgressData, frozen=True):
    """Output of a running command."""

    output: str | None = None
    full_output: str | None = None
    elapsed_time_seconds: float | None = None
    total_lines: int | None = None
    total_bytes: int | None = None
    task_id: str | None = None
    timeout_ms: float | None = None


class BashProgress(ShellProgress, frozen=True, tag="bash_progress"):
    """A Bash command is running."""


class PowershellProgress(ShellProgress, frozen=True, tag="powershell_progress"):
    """A PowerShell command is running."""


class AgentProgress(ProgressData, frozen=True, tag="agent_progress"):
    """A message of a subagent."""

    agent_id: str | None = None
    prompt: str | None = None
    message: Raw = Raw()
    normalized_messages: Raw = Raw()
    resume: Raw = Raw()


class RelayedRecord(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The fields that counting needs of the record nested in an `agent_progress`."""

    type: str | None = None
    uuid: str | None = None
    timestamp: str | None = None
    request_id: str | None = None
    message: RelayedUsage | None = None


class AgentUsage(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The fields that counting needs of the `data` of an `agent_progress`."""

    type: str | None = None
    agent_id: str | None = None
    message: RelayedRecord | None = None


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
    """The client is waiting for a background task."""

    task_description: str | None = None
    task_type: str | None = None


class QueryUpdate(ProgressData, frozen=True, tag="query_update"):
    """A web search was started."""

    query: str | None = None


class SearchResultsReceived(ProgressData, frozen=True, tag="search_results_received"):
    """A web search returned."""

    query: str | None = None
    result_count: int | None = None


class ReplToolCall(ProgressData, frozen=True, tag="repl_tool_call"):
    """A tool was called from a program."""


class Progress(Chain, frozen=True, tag="progress"):
    """Progress of a running tool; it may be the parent of other records."""

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
    """Text that a hook gave to the model, saved for resuming."""

    content: tuple[str, ...] | str | None = None
    hook_name: str | None = None
    hook_event: str | None = None
    tool_use_id: str | None = field(default=None, name="toolUseID")
