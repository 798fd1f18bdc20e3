"""Attachments that tell the model where it is and what it may use."""

from msgspec import Raw, Struct

from recollect.records.attachments.kinds import AttachmentKind


class PromptSnapshot(AttachmentKind, frozen=True, tag="prompt_snapshot"):
    """The system prompt and tools of a request; large, and rarely of interest."""

    system_prompt: Raw = Raw()
    tools: Raw = Raw()
    inline_tools: Raw = Raw()
    cli_prefix: str | None = None
    reminder_fold: bool | None = None
    context_rendering: str | None = None
    echo_wire_tool_inputs: bool | None = None
    kept_reminders: bool | None = None
    system_turns: bool | None = None
    tool_change_header: bool | None = None


class Environment(AttachmentKind, frozen=True, tag="environment"):
    """Working directory, platform, shell."""

    snapshot: Raw = Raw()
    changes: Raw = Raw()


class ModelIdentity(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """What the model was told that it is."""

    model_id: str | None = None
    marketing_name: str | None = None
    knowledge_cutoff: str | None = None


class ModelKind(AttachmentKind, frozen=True, tag="model"):
    """Which model answers from here on."""

    identity: ModelIdentity | None = None
    text: str | None = None


class Date(AttachmentKind, frozen=True, tag="date"):
    """Today's date."""

    date: str | None = None


class DateChange(AttachmentKind, frozen=True, tag="date_change"):
    """A new day began."""

    new_date: str | None = None


class Instructions(AttachmentKind, frozen=True, tag="instructions"):
    """Instruction files that were loaded."""

    files: Raw = Raw()


class SessionContext(AttachmentKind, frozen=True, tag="session_context"):
    """State of git and the like at the start."""

    context: Raw = Raw()


class OutputStyle(AttachmentKind, frozen=True, tag="output_style"):
    """The chosen output style."""

    style: str | None = None


class SkillListing(AttachmentKind, frozen=True, tag="skill_listing"):
    """The skills that can be used."""

    content: str | None = None
    names: tuple[str, ...] | None = None
    digests: Raw = Raw()
    skill_count: int | None = None
    is_initial: bool | None = None


class InvokedSkills(AttachmentKind, frozen=True, tag="invoked_skills"):
    """Skills in use, restated after a compaction."""

    skills: Raw = Raw()


class AgentListingDelta(AttachmentKind, frozen=True, tag="agent_listing_delta"):
    """Kinds of subagents that came or went."""

    added_lines: tuple[str, ...] | None = None
    added_types: tuple[str, ...] | None = None
    removed_types: tuple[str, ...] | None = None
    built_in_types: tuple[str, ...] | None = None
    built_in_plugin_types: Raw = Raw()
    is_initial: bool | None = None
    show_concurrency_note: bool | None = None


class DeferredToolsDelta(AttachmentKind, frozen=True, tag="deferred_tools_delta"):
    """Tools that can be searched for, as they came or went."""

    added_lines: tuple[str, ...] | None = None
    added_names: tuple[str, ...] | None = None
    readded_names: tuple[str, ...] | None = None
    removed_names: tuple[str, ...] | None = None
    wire_hidden_names: Raw = Raw()
    failed_mcp_servers: Raw = Raw()
    needs_auth_mcp_servers: Raw = Raw()
    pending_mcp_servers: Raw = Raw()


class DeferredToolsRecord(AttachmentKind, frozen=True, tag="deferred_tools_record"):
    """Tools that a search made available."""

    entries: Raw = Raw()


class McpInstructionsDelta(AttachmentKind, frozen=True, tag="mcp_instructions_delta"):
    """Instructions of MCP servers that came or went."""

    added_blocks: Raw = Raw()
    added_names: tuple[str, ...] | None = None
    removed_names: tuple[str, ...] | None = None
