"""The outline of a session, one line for each turn, and the file changes of sessions, by time.

Changes of subagents belong to the session that started them. A fork or a resumed session repeats
the calls of the original, so each call is counted once, however many transcripts contain it.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import structs

from recollect.documents import file_versions, kinds, session_documents, turn_documents
from recollect.records.blocks import McpToolUse, ServerToolUseBlock, ToolUse
from recollect.records.tools import split_mcp_name
from recollect.render.views import message_steps, part_builders, task_reports, turn_views
from recollect.render.views.timeline import Timeline, build_timeline
from recollect.render.views.tools import describe_call
from recollect.session import facts, figures, times, tool_calls, turns
from recollect.session.context_growth import measure_context
from recollect.session.messages import Message
from recollect.session.session import Session


def build_outline(session: Session) -> tuple[session_documents.OutlineEntry, ...]:
    """Return one entry per turn, in order."""
    places = build_timeline(session)
    options = {uuid for branch in session.branches for uuid in branch.options}
    branched = {places.turn_of[uuid] for uuid in options if uuid in places.turn_of}
    backups = facts.count_backups(session.states)
    return tuple(
        structs.replace(
            _make_entry(session, turn, places, is_branch=turn.index in branched),
            backups=sum(backups.get(uuid, 0) for said in turn.messages[:1] for uuid in said.uuids),
        )
        for turn in session.turns
    )


def _make_entry(
    session: Session, turn: turns.Turn, places: Timeline, *, is_branch: bool
) -> session_documents.OutlineEntry:
    opener = turn_views.find_opener(turn)
    failures = tuple(_iter_failures(session, turn))
    return session_documents.OutlineEntry(
        number=turn.number,
        uuid=opener.records[0].uuid if opener else None,
        kind=turn.kind,
        line=_name_turn(turn),
        is_by_person=turn.is_by_person,
        is_on_main_path=turn.is_on_main_path,
        is_branch=is_branch,
        segment=turn_views.find_segment(turn, places),
        start=turn.start,
        tool_calls=sum(1 for _ in _iter_calls(session, *turn.messages)),
        errors=len(failures),
        failures=failures,
        trace=figures.trace_turn(session, turn),
        context_tokens=measure_context(turn_views.list_replies(turn)),
        subagents=_list_subagents(session, _iter_calls(session, *turn.messages)),
    )


def _name_turn(turn: turns.Turn) -> str:
    """Return what opened a turn, in one line; a prompt of only images and contexts has no words."""
    prompt = turn.prompt
    if prompt is None:
        return ""
    if prompt.kind is kinds.InputKind.COMPACTION_SUMMARY:
        return "The conversation was compacted"
    return part_builders.join_lines(
        message_steps.name_command(prompt) if prompt.command else turn_views.choose_words(prompt)
    )


def _iter_calls(session: Session, *messages: Message) -> Iterator[tool_calls.ToolCall]:
    calls = (
        session.find_tool_call(block.id)
        for said in messages
        if said.role == "assistant"
        for block in said.content
        if isinstance(block, ToolUse | ServerToolUseBlock | McpToolUse)
    )
    return (call for call in calls if call is not None)


def _iter_failures(
    session: Session, turn: turns.Turn
) -> Iterator[session_documents.OutlineFailure]:
    """Yield the failures of a turn, in the order of its messages."""
    for said in turn.messages:
        if said.failure is not None:
            text = part_builders.take_line(said.failure.text)
            yield session_documents.OutlineFailure(uuid=said.records[0].uuid, tool="", line=text)
        for call in _iter_calls(session, said):
            if call.status is kinds.ToolStatus.FAILED:
                yield _describe_failure(call, session.metadata.cwd)


def _describe_failure(
    call: tool_calls.ToolCall, directory: str | None
) -> session_documents.OutlineFailure:
    view = describe_call(call)
    _, tool = split_mcp_name(call.recorded_name) or ("", call.name)
    return session_documents.OutlineFailure(
        uuid=call.call_uuid,
        tool=part_builders.label_tool(tool, call.mcp_server),
        line=view.description or part_builders.shorten_path(view.title, directory) or view.summary,
    )


def list_changed_files(session: Session) -> tuple[session_documents.OutlineFile, ...]:
    """Return the files that a session changed, in the order of their first changes."""
    counts: dict[str, tuple[int, int]] = {}
    for change in list_changes([session], with_diff=False):
        added, removed = counts.get(change.path, (0, 0))
        counts[change.path] = (added + change.lines_added, removed + change.lines_removed)
    return tuple(
        session_documents.OutlineFile(
            path=part_builders.shorten_path(path, session.metadata.cwd),
            lines_added=added,
            lines_removed=removed,
        )
        for path, (added, removed) in counts.items()
    )


def _list_subagents(
    session: Session, calls: Iterable[tool_calls.ToolCall], above: frozenset[str] = frozenset()
) -> tuple[session_documents.OutlineSubagent, ...]:
    """Return the subagents that some calls started, each followed by its own subagents.

    Those `above` are left out: damaged records could make a subagent its own descendant.
    """
    timeline = build_timeline(session)
    return tuple(
        session_documents.OutlineSubagent(
            agent_id=child.agent_id,
            call_uuid=call.call_uuid,
            turn=timeline.turn_of.get(call.call_uuid or "", 0) + 1,
            agent_type=child.agent_type,
            description=child.description,
            outcome=task_reports.find_outcome(child, timeline.outcomes),
            tool_calls=len(child.session.tool_calls),
            subagents=_list_subagents(
                child.session, child.session.tool_calls, above | {child.agent_id}
            ),
        )
        for call in calls
        for child in timeline.subagents.get(call.id, ())
        if child.agent_id not in above
    )


def list_changes(
    sessions: Iterable[Session], *, with_diff: bool
) -> tuple[file_versions.FileChange, ...]:
    """Return the changes of `sessions` by time; a change without a time stays where it is."""
    found: dict[str, file_versions.FileChange] = {}
    for session in sessions:
        for change in _iter_changes(session, session, None, with_diff=with_diff):
            found.setdefault(change.call_id, change)
    return tuple(_sort(found.values()))


def describe_changes(changes: Sequence[file_versions.FileChange]) -> file_versions.FilesDocument:
    """Return a document that lists `changes`."""
    return file_versions.FilesDocument(
        files=len({change.path for change in changes}),
        lines_added=sum(change.lines_added for change in changes),
        lines_removed=sum(change.lines_removed for change in changes),
        changes=tuple(changes),
    )


def _iter_changes(
    session: Session, owner: Session, agent_id: str | None, *, with_diff: bool
) -> Iterator[file_versions.FileChange]:
    for event in session.files:
        call = session.find_tool_call(event.call_id)
        if not event.is_change or call is None:
            continue
        change = file_versions.FileChange(
            path=event.path,
            action=event.action,
            tool=call.name,
            timestamp=event.timestamp,
            lines_added=event.lines_added,
            lines_removed=event.lines_removed,
            session_id=owner.id,
            cwd=owner.metadata.cwd,
            agent_id=agent_id,
            call_id=event.call_id,
        )
        parts = describe_call(call).input if with_diff else ()
        yield structs.replace(
            change,
            diff=tuple(
                p for p in parts if isinstance(p, turn_documents.Diff | turn_documents.Code)
            ),
        )
    for child in session.subagents:
        yield from _iter_changes(child.session, owner, child.agent_id, with_diff=with_diff)


def _sort(changes: Iterable[file_versions.FileChange]) -> list[file_versions.FileChange]:
    """Sort by time; a change without a time stays after the one before it."""
    placed: list[tuple[float, file_versions.FileChange]] = []
    latest = 0.0
    for change in changes:
        moment = times.parse_time(change.timestamp)
        latest = moment.timestamp() if moment else latest
        placed.append((latest, change))
    return [change for _, change in sorted(placed, key=lambda pair: pair[0])]
