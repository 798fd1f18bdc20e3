"""State records: facts about the session that are no link of the conversation.

The client appends the same facts again at every resume, flush and end; which of them counts is
for the session to say.
"""

from msgspec import Raw, Struct, field

from recollect.records.blocks import Content
from recollect.records.envelope import Record


class State(Record, frozen=True):
    """A record without `uuid`; most have the session's id and some a time."""

    session_id: str | None = None
    timestamp: str | None = None


class Summary(State, frozen=True, tag="summary"):
    """A title for the session that holds `leaf_uuid`, which is usually not this one."""

    summary: str | None = None
    leaf_uuid: str | None = None


class QueueOperation(State, frozen=True, tag="queue-operation"):
    """A prompt entered or left the queue."""

    operation: str | None = None
    content: Content = None
    reason: str | None = None
    command_uuid: str | None = None
    delivery_id: str | None = None


class FileBackup(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """A copy of a file before the client changed it; no name means that the file did not exist."""

    backup_file_name: str | None = None
    version: int | None = None
    backup_time: str | None = None
    real_parent_dir: str | None = None


class Snapshot(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The backups that belong to one prompt, by path."""

    message_id: str | None = None
    tracked_file_backups: dict[str, FileBackup] = {}
    timestamp: str | None = None


class FileHistorySnapshot(State, frozen=True, tag="file-history-snapshot"):
    """The state of the tracked files when a prompt came."""

    message_id: str | None = None
    snapshot: Snapshot | None = None
    is_snapshot_update: bool = False


class FileHistoryDelta(State, frozen=True, tag="file-history-delta"):
    """A file that a turn touched for the first time."""

    message_id: str | None = None
    snapshot_message_id: str | None = None
    tracking_path: str | None = None
    backup: FileBackup | None = None


class CustomTitle(State, frozen=True, tag="custom-title"):
    """The title that the person gave."""

    custom_title: str | None = None


class AiTitle(State, frozen=True, tag="ai-title"):
    """The title that a model gave."""

    ai_title: str | None = None


class Tag(State, frozen=True, tag="tag"):
    """A label; empty clears it."""

    tag: str | None = None


class LastPrompt(State, frozen=True, tag="last-prompt"):
    """The newest prompt and the live end of the conversation."""

    last_prompt: str | None = None
    leaf_uuid: str | None = None
    explicit: bool = False
    rewound: bool = False


class AgentName(State, frozen=True, tag="agent-name"):
    """The session's name as an agent."""

    agent_name: str | None = None


class AgentColor(State, frozen=True, tag="agent-color"):
    """The session's colour."""

    agent_color: str | None = None


class AgentSetting(State, frozen=True, tag="agent-setting"):
    """The agent definition that the session runs."""

    agent_setting: str | None = None


class Mode(State, frozen=True, tag="mode"):
    """`normal` or `coordinator`."""

    mode: str | None = None


class PermissionMode(State, frozen=True, tag="permission-mode"):
    """What may be done without asking."""

    permission_mode: str | None = None


class WorktreeSession(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The git worktree that a session works in."""

    original_cwd: str | None = None
    pre_enter_original_cwd: str | None = None
    worktree_path: str | None = None
    worktree_name: str | None = None
    worktree_branch: str | None = None
    original_branch: str | None = None
    original_head_commit: str | None = None
    session_id: str | None = None
    entered_existing: bool | None = None
    extension_root: str | None = None


class WorktreeState(State, frozen=True, tag="worktree-state"):
    """A worktree was entered; null means that it was left."""

    worktree_session: WorktreeSession | None = None


class PrLink(State, frozen=True, tag="pr-link"):
    """A pull request of the session; `timestamp` is that of the flush."""

    pr_number: int | None = None
    pr_url: str | None = None
    pr_repository: str | None = None


class Relocated(State, frozen=True, tag="relocated"):
    """The session moved to another directory."""

    relocated_cwd: str | None = None


class ContinuedIn(State, frozen=True, tag="continued-in"):
    """The session goes on in another file."""

    continued_in_session_id: str | None = None


class Replacement(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """A text that stands in for a tool result from now on."""

    kind: str | None = None
    tool_use_id: str | None = None
    replacement: Content = None


class ContentReplacement(State, frozen=True, tag="content-replacement"):
    """Tool results that were replaced after the fact."""

    agent_id: str | None = None
    replacements: tuple[Replacement, ...] = ()


class ForkContextRef(State, frozen=True, tag="fork-context-ref"):
    """Where a forked agent's inherited context lies."""

    agent_id: str | None = None
    parent_session_id: str | None = None
    parent_last_uuid: str | None = None
    context_length: int | None = None


class BridgeSession(State, frozen=True, tag="bridge-session"):
    """The remote twin of the session."""

    bridge_session_id: str | None = None
    last_sequence_num: int | None = None
    owner_account_uuid: str | None = None
    owner_organization_uuid: str | None = None


class FrameLink(State, frozen=True, tag="frame-link"):
    """A page that the session published."""

    path: str | None = None
    frame_url: str | None = None
    title: str | None = None
    artifact_count: int | None = None


class ModelUsage(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """The client's own running total for one model."""

    input_tokens: int = 0
    output_tokens: int = 0
    thinking_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_creation_ephemeral_5m_input_tokens: int = field(
        default=0, name="cacheCreationEphemeral5mInputTokens"
    )
    cache_creation_ephemeral_1h_input_tokens: int = field(
        default=0, name="cacheCreationEphemeral1hInputTokens"
    )
    web_search_requests: int = 0
    cost_usd: float | None = field(default=None, name="costUSD")
    context_window: int | None = None
    max_output_tokens: int | None = None
    canonical_model: str | None = None
    provider: str | None = None
    cost_basis: str | None = None


class CostState(State, frozen=True, tag="cost-state"):
    """The client's own cumulative figures, those of the sessions it descends from included."""

    total_cost_usd: float | None = field(default=None, name="totalCostUSD")
    total_api_duration: float | None = field(default=None, name="totalAPIDuration")
    total_api_duration_without_retries: float | None = field(
        default=None, name="totalAPIDurationWithoutRetries"
    )
    total_tool_duration: float | None = None
    total_lines_added: int | None = None
    total_lines_removed: int | None = None
    total_duration: float | None = None
    start_time: float | None = None
    model_usage: dict[str, ModelUsage] = {}
    has_unknown_model_cost: bool | None = None


class ToolsUsed(State, frozen=True, tag="tools-used"):
    """Names of the tools that were used so far."""

    tools: tuple[str, ...] = ()


class AtisLatch(State, frozen=True, tag="atis-latch"):
    """A switch of the client; meaning unknown."""

    atis: str | None = None


class IsolationLatch(State, frozen=True, tag="isolation-latch"):
    """A switch of the client; meaning unknown."""

    side: str | None = None


class MemoryMode(State, frozen=True, tag="memory-mode"):
    """Whether memory is used from a record on."""

    mode: str | None = None
    after_uuid: str | None = None


class HistorySuppression(State, frozen=True, tag="history-suppression"):
    """Why prompts are kept out of the prompt history."""

    cause: str | None = None
    ts: str | None = None


class EndedByModel(State, frozen=True, tag="ended-by-model"):
    """The model ended the conversation."""


class SpeculationAccept(State, frozen=True, tag="speculation-accept"):
    """A suggested continuation was taken."""

    time_saved_ms: float | None = None


class ArtifactCommentMonitor(State, frozen=True, tag="artifact-comment-monitor"):
    """Comments on published pages that are watched."""

    v: int | None = None
    artifacts: Raw = Raw()


class ArtifactAutoreactLedger(State, frozen=True, tag="artifact-autoreact-ledger"):
    """Comments on published pages that were acted on."""

    v: int | None = None
    account_uuid: str | None = None
    artifacts: Raw = Raw()


class DevMods(State, frozen=True, tag="dev-mods"):
    """A folder of modifications for developers of the client."""

    folder: str | None = None


class ObserverRef(State, frozen=True, tag="observer-ref"):
    """Another session watches this one."""


class AttributionSnapshot(State, frozen=True, tag="attribution-snapshot"):
    """Which lines of the work are whose."""

    message_id: str | None = None


class MarbleOrigamiCommit(State, frozen=True, tag="marble-origami-commit"):
    """Part of an experiment inside the client."""


class MarbleOrigamiSnapshot(State, frozen=True, tag="marble-origami-snapshot"):
    """Part of an experiment inside the client."""


class MarbleOrigamiReset(State, frozen=True, tag="marble-origami-reset"):
    """Part of an experiment inside the client."""


class AgentMetadata(State, frozen=True, tag="agent_metadata"):
    """A subagent's sidecar, as stores of the SDK keep it."""

    agent_id: str | None = None
    agent_type: str | None = None


class ApiRequestShape(State, frozen=True, tag="api-request-shape"):
    """System prompt and tools that several requests share."""

    agent_id: str | None = None
    shape_hash: str | None = None
    version: str | None = None
    shape: Raw = Raw()


class ApiRequestBlob(State, frozen=True, tag="api-request-blob"):
    """One message of a request: not a turn, whatever role it has."""

    agent_id: str | None = None
    hash: str | None = None
    message: Raw = Raw()


class ApiRequest(State, frozen=True, tag="api-request"):
    """One request: which messages of the one before it kept, and which followed."""

    agent_id: str | None = None
    id: str | None = None
    version: str | None = None
    query_source: str | None = None
    shape_hash: str | None = None
    params: Raw = Raw()
    base: str | None = None
    keep: int | None = None
    tail: tuple[str, ...] = ()
    cache_control: Raw = Raw()
    request_digest: str | None = None
