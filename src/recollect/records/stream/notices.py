"""`system` messages that tell a program around the client what changed; none is in a transcript."""

from msgspec import Raw, Struct

from recollect.records.stream.system import SystemMessage


class Notification(SystemMessage, frozen=True):
    """A short text to show for a while."""

    key: str | None = None
    text: str | None = None
    priority: str | None = None
    color: str | None = None
    timeout_ms: float | None = None


class Memory(Struct, frozen=True, kw_only=True, gc=False):
    """A memory file that was taken into account."""

    path: str | None = None
    scope: str | None = None
    content: str | None = None


class MemoryRecall(SystemMessage, frozen=True):
    """Memories were taken into account."""

    mode: str | None = None
    memories: tuple[Memory, ...] = ()


class PersistedFile(Struct, frozen=True, kw_only=True, gc=False):
    """A file that was uploaded, or the error that prevented it."""

    filename: str | None = None
    file_id: str | None = None
    error: str | None = None


class FilesPersisted(SystemMessage, frozen=True):
    """Files were uploaded."""

    files: tuple[PersistedFile, ...] = ()
    failed: tuple[PersistedFile, ...] = ()
    processed_at: str | None = None


class ElicitationComplete(SystemMessage, frozen=True):
    """An MCP server got the answer that it had asked the person for."""

    mcp_server_name: str | None = None
    elicitation_id: str | None = None


class PluginInstall(SystemMessage, frozen=True):
    """A plugin is being installed."""

    status: str | None = None
    name: str | None = None
    error: str | None = None


class CommandsChanged(SystemMessage, frozen=True):
    """The slash commands, all of them, after a change."""

    commands: Raw = Raw()


class SessionStateChanged(SystemMessage, frozen=True):
    """The client is `idle`, `running`, or waits for the person (`requires_action`)."""

    state: str | None = None


class SessionTitleChanged(SystemMessage, frozen=True):
    """The session has another title."""

    title: str | None = None


class WorkerShuttingDown(SystemMessage, frozen=True):
    """The client is about to stop."""

    reason: str | None = None


class MirrorKey(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """Which transcript a mirror was to receive."""

    project_key: str | None = None
    session_id: str | None = None
    subpath: str | None = None


class MirrorError(SystemMessage, frozen=True):
    """Lines of a transcript did not reach their mirror."""

    error: str | None = None
    key: MirrorKey | None = None


class SessionWritesLost(SystemMessage, frozen=True):
    """Lines could not be written to the transcript: what the stream said may not be in the file."""

    error: Raw = Raw()


class ControlRequestProgress(SystemMessage, frozen=True):
    """A control request takes its time."""

    request_id: str | None = None
    status: str | None = None
    attempt: int | None = None
    max_retries: int | None = None
    retry_delay_ms: float | None = None
    error_status: int | None = None
