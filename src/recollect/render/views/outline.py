"""A session at a glance: its prompts, one line each, with figures that need no price table."""

from msgspec import Struct

from recollect.records.blocks import McpToolUse, ServerToolUseBlock, ToolUse
from recollect.render.views.inputs import name_command
from recollect.render.views.places import Places, find_places
from recollect.render.views.turns import choose_words, find_opener, find_segment
from recollect.render.views.words import take_line
from recollect.session.outcomes import ToolStatus
from recollect.session.prompts import InputKind
from recollect.session.session import Session
from recollect.session.turns import Turn


class OutlineEntry(Struct, frozen=True, kw_only=True):
    """One turn as a line of the outline."""

    index: int
    uuid: str | None
    """That of the prompt's record, as in the turn's view."""
    kind: InputKind | None
    line: str
    """The first line of what opened it."""
    is_by_person: bool
    is_on_main_path: bool
    is_branch: bool
    """Whether it is one of several continuations of the same place."""
    segment: int
    start: str | None
    tool_calls: int
    errors: int
    """Failed tool calls and API failures."""


def build_outline(session: Session) -> tuple[OutlineEntry, ...]:
    """One entry per turn, in order."""
    places = find_places(session)
    options = {uuid for branch in session.branches for uuid in branch.options}
    branched = {places.turn_of[uuid] for uuid in options if uuid in places.turn_of}
    return tuple(
        _make_entry(session, turn, places, is_branch=turn.index in branched)
        for turn in session.turns
    )


def _make_entry(session: Session, turn: Turn, places: Places, *, is_branch: bool) -> OutlineEntry:
    opener = find_opener(turn)
    statuses = _list_statuses(session, turn)
    failures = sum(said.failure is not None for said in turn.messages)
    return OutlineEntry(
        index=turn.index,
        uuid=opener.records[0].uuid if opener else None,
        kind=turn.kind,
        line=_name_turn(turn),
        is_by_person=turn.is_by_person,
        is_on_main_path=turn.is_on_main_path,
        is_branch=is_branch,
        segment=find_segment(turn, places),
        start=turn.start,
        tool_calls=len(statuses),
        errors=statuses.count(ToolStatus.FAILED) + failures,
    )


def _name_turn(turn: Turn) -> str:
    """What opened a turn in one line; pictures and contexts alone have no words."""
    prompt = turn.prompt
    if prompt is None:
        return ""
    if prompt.kind is InputKind.COMPACTION_SUMMARY:
        return "The conversation was compacted"
    return take_line(name_command(prompt) if prompt.command else choose_words(prompt))


def _list_statuses(session: Session, turn: Turn) -> list[ToolStatus]:
    calls = (
        session.find_tool_call(block.id)
        for said in turn.messages
        if said.role == "assistant"
        for block in said.content
        if isinstance(block, ToolUse | ServerToolUseBlock | McpToolUse)
    )
    return [call.status for call in calls if call is not None]
