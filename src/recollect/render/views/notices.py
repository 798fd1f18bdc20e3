"""Notices about what happened around the conversation: reports, hooks, compactions, damage;
and the records that are not part of it, with the reason.

Has the text for each kind of record that is not a message; other modules decide where it goes.
Texts in a hidden record still become a routine notice, unless `session.record_texts` has a reason
to leave them out; everything is in the records, and `raw` shows any of them. A kind of record that
is neither shown nor listed as hidden is a bug, and a test looks for it. State records, such as
titles and links, are routine notices where they change.
"""

from recollect.documents.kinds import InputKind
from recollect.documents.turn_documents import Code, Json, NoticeKind, NoticeStep, Output, Part
from recollect.quantities import format_count, format_duration
from recollect.records import attachment_kinds, system_records
from recollect.records.attachments import Attachment
from recollect.records.envelope import Chain, Damaged, Oversized, Record, StreamLine, Torn, Unknown
from recollect.render.views import part_builders
from recollect.render.views.timeline import Irregular, ModelSwitch, ReportEntry
from recollect.session import client_reports, hook_runs, turns

_LINE_EDGES = b"\xef\xbb\xbf\x00 \t\r\n"


def show_raw(data: bytes) -> Json:
    """Return the bytes of one line, indented if they are JSON."""
    return part_builders.show_json(data.strip(_LINE_EDGES))


_OUTCOMES = {
    hook_runs.HookOutcome.RUNNING: "is running",
    hook_runs.HookOutcome.FINISHED: "ran",
    hook_runs.HookOutcome.SUCCESS: "succeeded",
    hook_runs.HookOutcome.FAILED: "failed",
    hook_runs.HookOutcome.BLOCKED: "blocked",
    hook_runs.HookOutcome.STOPPED: "ended the turn",
    hook_runs.HookOutcome.CANCELLED: "was cancelled",
    hook_runs.HookOutcome.ADDED_CONTEXT: "added context",
    hook_runs.HookOutcome.MESSAGE: "has a message",
    hook_runs.HookOutcome.DECISION: "decided",
}
_ROUTINE = frozenset(
    {hook_runs.HookOutcome.RUNNING, hook_runs.HookOutcome.FINISHED, hook_runs.HookOutcome.SUCCESS}
)
_LOCAL_COMMAND = "local_command"
_HOOK_NAMES = frozenset({"async_hook_response_batch", "hook_deferred_tool"})


def make_report_notice(report: ReportEntry) -> NoticeStep:
    """Return a notice of something that the client or a hook reported."""
    match report:
        case hook_runs.HookRun():
            return _make_hook_notice(report)
        case client_reports.FailedRequest():
            return _make_retry_notice(report)
        case client_reports.ModelChange():
            return _make_fallback_notice(report)
        case client_reports.Recap():
            kind, title = NoticeKind.INFORMATION, "While you were away"
            return _make_notice(report, kind, title, part_builders.show_prose(report.text))
    return _make_client_notice(report)


def _make_notice(
    source: ReportEntry,
    kind: NoticeKind,
    title: str,
    parts: tuple[Part, ...],
    *,
    is_routine: bool = False,
) -> NoticeStep:
    return NoticeStep(
        uuid=source.uuid,
        kind=kind,
        title=title,
        parts=parts,
        timestamp=source.timestamp,
        is_routine=is_routine,
    )


def make_gap_notice(link: Chain) -> NoticeStep:
    """Return a notice that `link` has no known parent and is placed by file order."""
    return NoticeStep(
        uuid=None, kind=NoticeKind.GAP, title="A record is missing here", timestamp=link.timestamp
    )


def _make_hook_notice(run: hook_runs.HookRun) -> NoticeStep:
    said = run.text if run.text.strip() != run.stdout.strip() else ""
    streams = (Output(run.stdout), Output(run.stderr, is_error=run.outcome not in _ROUTINE))
    texts = (
        *part_builders.show_plain(said),
        *(stream for stream in streams if stream.text.strip()),
    )
    facts = part_builders.show_fields(
        ("command", run.command),
        ("exit code", run.exit_code),
        ("duration", None if run.duration_ms is None else format_duration(run.duration_ms)),
    )
    return _make_notice(
        run,
        NoticeKind.HOOK,
        f"{run.name or run.event or 'A'} hook {_OUTCOMES[run.outcome]}",
        (*texts, *facts),
        is_routine=run.outcome in _ROUTINE and not texts,
    )


def _make_retry_notice(failed: client_reports.FailedRequest) -> NoticeStep:
    status = "" if failed.status is None else f" with status {failed.status}"
    attempt = None if failed.retry_attempt is None else f"attempt {failed.retry_attempt}"
    if attempt and failed.max_retries is not None:
        attempt = f"{attempt} of {failed.max_retries}"
    wait = None if failed.retry_in_ms is None else f"next in {format_duration(failed.retry_in_ms)}"
    title = part_builders.join_facts(f"The request failed{status}", attempt, wait)
    return _make_notice(failed, NoticeKind.RETRY, title, part_builders.show_plain(failed.message))


def _make_fallback_notice(change: client_reports.ModelChange) -> NoticeStep:
    if change.fallback:
        title = name_switch(change.original, change.fallback)
    else:
        title = f"{change.original or 'The model'} did not respond, and neither did another model"
    parts = (
        *part_builders.show_plain(change.text),
        *part_builders.show_fields(("reason", change.trigger)),
    )
    return _make_notice(change, NoticeKind.MODEL, title, parts)


def name_switch(before: str | None, after: str) -> str:
    """Return the text for a change of the model."""
    return f"{before} → {after}" if before else f"Now {after}"


def make_switch_notice(switch: ModelSwitch, timestamp: str | None) -> NoticeStep:
    """Return a notice of a change of the model that only the next reply shows."""
    title = name_switch(switch.before, switch.after)
    return NoticeStep(uuid=None, kind=NoticeKind.MODEL, title=title, timestamp=timestamp)


def _make_client_notice(notice: client_reports.Notice) -> NoticeStep:
    if notice.subtype == _LOCAL_COMMAND:
        return _make_local_command_notice(notice)
    is_named = notice.subtype not in (None, "informational")
    title = (notice.subtype or "").replace("_", " ").capitalize() if is_named else ""
    level = part_builders.show_fields(
        ("level", notice.level if notice.level not in (None, "info") else None)
    )
    return _make_notice(
        notice,
        NoticeKind.INFORMATION,
        title or part_builders.take_line(notice.text) or "Empty notice",
        (*_show_more(notice.text, "" if title else part_builders.take_line(notice.text)), *level),
    )


def _show_more(text: str, title: str) -> tuple[Part, ...]:
    """Return `text`, unless the title has all of it."""
    return () if text.strip() == title else part_builders.show_plain(text)


def _make_local_command_notice(notice: client_reports.Notice) -> NoticeStep:
    """Return a notice of a command that the client ran itself, or of its output."""
    name = part_builders.find_inside(notice.text, "command-name")
    if name:
        arguments = part_builders.find_inside(notice.text, "command-args")
        title = f"{name} {arguments}".rstrip()
        return _make_notice(notice, NoticeKind.COMMAND_OUTPUT, title, ())
    return make_output_notice(notice.uuid, notice.text, notice.timestamp)


def make_output_notice(uuid: str | None, text: str, timestamp: str | None) -> NoticeStep:
    """Return a notice of the output of a command."""
    streams = (
        Output(part_builders.find_inside(text, f"{source}-{stream}"), is_error=stream == "stderr")
        for source in ("local-command", "bash")
        for stream in ("stdout", "stderr")
    )
    parts: tuple[Part, ...] = tuple(stream for stream in streams if stream.text.strip())
    if not parts and not text.lstrip().startswith(("<local-command-", "<bash-")):
        parts = (Output(text),) if text.strip() else ()
    title = "Output" if parts else "No output"
    return NoticeStep(
        uuid=uuid, kind=NoticeKind.COMMAND_OUTPUT, title=title, parts=parts, timestamp=timestamp
    )


def make_compaction_notice(
    uuid: str | None, segment: turns.Segment | None, summary: str, timestamp: str | None
) -> NoticeStep:
    """Return a notice of a compaction, with the summary that replaced everything before it."""
    opened = segment or turns.Segment(index=0, first_uuid=None, last_uuid=None, record_count=0)
    how = {"auto": "automatically", "manual": "by command"}.get(opened.trigger or "")
    before, after = opened.tokens_before, opened.tokens_after
    tokens = None if before is None else format_count(before, "token")
    return NoticeStep(
        uuid=uuid,
        kind=NoticeKind.COMPACTION,
        title=part_builders.join_facts(
            "The conversation was compacted",
            how,
            tokens if after is None else f"{tokens or 'unknown'} → {after:,}",
            None if opened.duration_ms is None else format_duration(opened.duration_ms),
        ),
        parts=part_builders.show_prose(summary),
        timestamp=timestamp,
    )


def make_irregular_notice(record: Irregular) -> NoticeStep:
    """Return a notice of data that is not a record, or not a known one."""
    if isinstance(record, StreamLine):
        title = " ".join(filter(None, ("Stream message", record.record_type, record.subtype)))
        return _make_record_notice(
            record, NoticeKind.UNKNOWN, title, (part_builders.show_json(record.raw),)
        )
    if isinstance(record, Unknown):
        title = f"Unknown record {record.record_type or ''}".rstrip()
        return _make_record_notice(
            record, NoticeKind.UNKNOWN, title, (part_builders.show_json(record.raw),)
        )
    return _make_record_notice(record, NoticeKind.DAMAGE, _name_damage(record), _show_span(record))


def _name_damage(record: Damaged | Torn | Oversized) -> str:
    match record:
        case Torn():
            return "The last line is incomplete"
        case Oversized():
            return "Line too long to show"
    return f"Damaged line: {record.reason}" if record.reason else "Damaged line"


def _show_span(record: Record) -> tuple[Part, ...]:
    if record.span is None:
        return ()
    return part_builders.show_fields(("offset", record.span.offset), ("bytes", record.span.length))


def _make_record_notice(
    record: Record, kind: NoticeKind, title: str, parts: tuple[Part, ...]
) -> NoticeStep:
    return NoticeStep(
        uuid=getattr(record, "uuid", None),
        kind=kind,
        title=title,
        parts=parts,
        timestamp=getattr(record, "timestamp", None),
    )


def make_record_notice(record: Record) -> NoticeStep | None:
    """Return a notice of a record without a report; None if there is nothing to show."""
    match record:
        case Unknown():
            return make_irregular_notice(record)
        case system_records.MicrocompactBoundary(microcompact_metadata=facts):
            title = _name_microcompaction(facts or system_records.MicrocompactMetadata())
            return _make_record_notice(record, NoticeKind.COMPACTION, title, ())
        case system_records.Progress(data=system_records.OtherProgress(kind=kind, raw=raw)):
            title = f"Unknown progress record {kind or ''}".rstrip()
            return _make_record_notice(
                record, NoticeKind.UNKNOWN, title, (part_builders.show_json(raw),)
            )
        case Attachment():
            return _make_attachment_notice(record)
    return None


def _name_microcompaction(facts: system_records.MicrocompactMetadata) -> str:
    cleared = len(facts.compacted_tool_ids)
    saved = facts.tokens_saved
    return part_builders.join_facts(
        "Old tool results were cleared",
        format_count(cleared, "result") if cleared else None,
        None if saved is None else f"{format_count(saved, 'token')} saved",
    )


def _make_attachment_notice(record: Attachment) -> NoticeStep | None:
    kind = NoticeKind.INFORMATION
    match record.attachment:
        case attachment_kinds.EditedTextFile(filename=path, snippet=snippet):
            title = f"Changed outside the session: {path or 'a file'}"
            parts: tuple[Part, ...] = (Code(snippet, path=path),) if snippet else ()
        case attachment_kinds.EditedImageFile(filename=path):
            title, parts = f"Changed outside the session: {path or 'a picture'}", ()
        case attachment_kinds.MaxTurnsReached(max_turns=limit):
            title, parts = f"Stopped at the limit of {limit or 'its'} turns", ()
        case attachment_kinds.StructuredOutput(data=data):
            title, parts = "Structured output", (part_builders.show_json(data),)
        case attachment_kinds.OtherAttachment() as other:
            return _make_unknown_notice(record, other)
        case _:
            return None
    return _make_record_notice(record, kind, title, parts)


def _make_unknown_notice(
    record: Attachment, other: attachment_kinds.OtherAttachment
) -> NoticeStep | None:
    """Return a notice of an attachment whose kind is unknown, or known only by name."""
    if other.kind in HIDDEN_ATTACHMENT_NAMES:
        return None
    kind = NoticeKind.HOOK if other.kind in _HOOK_NAMES else NoticeKind.UNKNOWN
    title = f"Attachment {other.kind or ''}".rstrip()
    return _make_record_notice(record, kind, title, (part_builders.show_json(other.raw),))


HIDDEN_SYSTEM: tuple[type[system_records.System], ...] = (
    system_records.FileSnapshot,
    system_records.TurnDuration,
)
"""Bookkeeping; how long a turn took is a figure of its view."""

HIDDEN_ATTACHMENTS: tuple[type[attachment_kinds.AttachmentKind], ...] = (
    attachment_kinds.AgentListingDelta,
    attachment_kinds.AutoMode,
    attachment_kinds.BudgetUsd,
    attachment_kinds.CommandPermissions,
    attachment_kinds.Date,
    attachment_kinds.DateChange,
    attachment_kinds.DeferredToolsDelta,
    attachment_kinds.DeferredToolsRecord,
    attachment_kinds.Environment,
    attachment_kinds.Instructions,
    attachment_kinds.InvokedSkills,
    attachment_kinds.McpInstructionsDelta,
    attachment_kinds.ModelKind,
    attachment_kinds.OutputStyle,
    attachment_kinds.PlanKind,
    attachment_kinds.PromptSnapshot,
    attachment_kinds.RemoteSessionChange,
    attachment_kinds.SessionContext,
    attachment_kinds.SilentTurnReminder,
    attachment_kinds.SkillListing,
    attachment_kinds.TaskReminder,
    attachment_kinds.TodoReminder,
    attachment_kinds.TotalTokensReminder,
)
"""Context for the model: where it is, what it may use, what it should not forget."""

HIDDEN_ATTACHMENT_NAMES = frozenset(
    """
    account_memory_recall agent_mention auto_mode_exit bash_output_audience_note batching_reminder
    batching_reminder_sent companion_intro context_tip credential_org critical_system_reminder
    dynamic_skill fork_briefing hook_plugin_listing language mcp_dropped_tools_delta memory_update
    nested_memory output_style_instructions output_token_usage read_truncation_notice
    relevant_memories session_settings skill_mention team_context thinking_drop thinking_stripped
    token_usage ultra_effort_enter ultra_effort_exit ultrathink_effort withheld_memory
    workflow_keyword_request
    """.split()
)
"""The same, for kinds that are only known by name."""

HIDDEN_PROGRESS: tuple[type[system_records.ProgressData], ...] = (
    system_records.AgentProgress,
    system_records.HookProgress,
    system_records.McpProgress,
    system_records.QueryUpdate,
    system_records.ReplToolCall,
    system_records.SearchResultsReceived,
    system_records.ShellProgress,
    system_records.WaitingForTask,
)
"""Progress of a tool, whose result has everything; a hook's are shown as its run."""

HIDDEN_INPUTS = frozenset({InputKind.INJECTED, InputKind.TOOL_RESULT, InputKind.WARMUP})
"""Texts that clients inject, and results, which are shown with their calls; images and the user's
text in such a record are shown."""
