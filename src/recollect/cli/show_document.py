"""The JSON document of `recollect show`: turns with their steps and parts.

Parts are those that the terminal and the web app render, except for patches, whose field names are
the client's and are translated here. A subagent is included by name, and with its turns if
`--subagents` is given.
"""

from collections.abc import Iterable

from msgspec import Struct, structs

from recollect.records.tools.file_tools import PatchHunk
from recollect.records.usage import Tokens
from recollect.render.views.parts import (
    Checklist,
    Code,
    Diff,
    Entries,
    Fields,
    Json,
    NoticeKind,
    NoticeStep,
    Output,
    Part,
    Picture,
    Plain,
    Prose,
    Question,
    Step,
    TextStep,
    ThinkingStep,
    ToolStep,
    TurnView,
)
from recollect.render.views.turn_views import build_turn_views
from recollect.render.views.whole_calls import show_whole_calls
from recollect.session.metadata import Metadata
from recollect.session.prompt_contexts import Context
from recollect.session.prompts import InputKind
from recollect.session.session import Subagent
from recollect.session.subagents import SubagentKind
from recollect.session.tool_calls import RejectedBy, ToolStatus


class HunkEntry(Struct, frozen=True, kw_only=True):
    """A hunk of a patch; each line starts with a space, `+`, `-` or a backslash."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[str, ...]


class DiffEntry(Struct, frozen=True, kw_only=True, tag="Diff"):
    """A change to one file."""

    path: str | None
    hunks: tuple[HunkEntry, ...]
    is_new_file: bool
    is_fragment: bool
    """Whether line numbers refer to the compared text instead of the file."""


PartEntry = (
    Prose
    | Plain
    | Code
    | Output
    | DiffEntry
    | Checklist
    | Entries
    | Fields
    | Question
    | Picture
    | Json
)


def describe_parts(parts: Iterable[Part]) -> tuple[PartEntry, ...]:
    """Convert parts to document entries."""
    return tuple(describe_diff(part) if isinstance(part, Diff) else part for part in parts)


def describe_diff(part: Diff) -> DiffEntry:
    """Convert a diff to a document entry."""
    return DiffEntry(
        path=part.path,
        hunks=tuple(map(_describe_hunk, part.hunks)),
        is_new_file=part.is_new_file,
        is_fragment=part.is_fragment,
    )


def _describe_hunk(hunk: PatchHunk) -> HunkEntry:
    return HunkEntry(
        old_start=hunk.old_start,
        old_lines=hunk.old_lines,
        new_start=hunk.new_start,
        new_lines=hunk.new_lines,
        lines=hunk.lines,
    )


SCHEMA = "recollect.show/1"


class TextStepEntry(Struct, frozen=True, kw_only=True, tag="Said"):
    """Text from the model, or from the user in the middle of a turn."""

    uuid: str | None
    message_id: str
    role: str
    parts: tuple[PartEntry, ...]
    model: str | None
    timestamp: str | None
    contexts: tuple[Context, ...]


class NoticeStepEntry(Struct, frozen=True, kw_only=True, tag="Noted"):
    """A notice about something around the conversation."""

    uuid: str | None
    kind: NoticeKind
    title: str
    parts: tuple[PartEntry, ...]
    timestamp: str | None
    is_routine: bool


class ToolStepEntry(Struct, frozen=True, kw_only=True, tag="Called"):
    """A tool call with its input, its output and the subagents it started."""

    uuid: str | None
    message_id: str
    call_id: str
    tool: str
    mcp_server: str | None
    title: str
    summary: str
    status: ToolStatus
    rejected_by: RejectedBy | None
    is_lost: bool
    duration_ms: float | None
    timestamp: str | None
    input: tuple[PartEntry, ...]
    output: tuple[PartEntry, ...]
    subagents: "tuple[SubagentEntry, ...]"
    result_uuid: str | None


StepEntry = TextStepEntry | ThinkingStep | ToolStepEntry | NoticeStepEntry


class TurnEntry(Struct, frozen=True, kw_only=True):
    """One turn: its prompt and everything until the next one."""

    number: int
    """Counted from 1 through the whole file."""
    uuid: str | None
    kind: InputKind | None
    is_by_person: bool
    is_on_main_path: bool
    segment: int
    """The number of compactions before it."""
    words: str
    command: str | None
    contexts: tuple[Context, ...]
    media: tuple[PartEntry, ...]
    steps: tuple[StepEntry, ...]
    tokens: Tokens
    model: str | None
    start: str | None
    end: str | None
    active_ms: float | None
    permission_mode: str | None


class SubagentEntry(Struct, frozen=True, kw_only=True):
    """A session that a call started."""

    agent_id: str
    kind: SubagentKind
    agent_type: str | None
    description: str | None
    turns: tuple[TurnEntry, ...] | None = None
    """None unless requested."""


class ShowDocument(Struct, frozen=True, kw_only=True):
    """The document of `--json`."""

    schema: str = SCHEMA
    session: Metadata
    turns: tuple[TurnEntry, ...]


class ShowHead(Struct, frozen=True, kw_only=True):
    """The first line of `--json-lines`; each of the others is a turn."""

    schema: str = SCHEMA
    session: Metadata


def describe_turn(view: TurnView, *, subagents: bool, prompts: bool = False) -> TurnEntry:
    """Convert a turn to a document entry, without steps if only `prompts` are wanted."""
    fields = structs.asdict(view)
    steps, index, _ = (fields.pop(key) for key in ("steps", "index", "uuids"))
    shown = () if prompts else tuple(_describe_step(step, subagents=subagents) for step in steps)
    fields["media"] = describe_parts(view.media)
    return TurnEntry(**fields, number=index + 1, steps=shown)


def _describe_step(step: Step, *, subagents: bool) -> StepEntry:
    fields = structs.asdict(step)
    match step:
        case TextStep():
            return TextStepEntry(**{**fields, "parts": describe_parts(step.parts)})
        case NoticeStep():
            return NoticeStepEntry(**{**fields, "parts": describe_parts(step.parts)})
        case ToolStep():
            fields["input"] = describe_parts(step.input)
            fields["output"] = describe_parts(step.output)
            children = (describe_subagent(each, subagents=subagents) for each in step.subagents)
            return ToolStepEntry(**{**fields, "subagents": tuple(children)})
    return step


def describe_subagent(subagent: Subagent, *, subagents: bool) -> SubagentEntry:
    """Convert a subagent to a document entry, with its turns if `subagents` is set."""
    session = subagent.session
    views = build_turn_views(session) if subagents else None
    return SubagentEntry(
        agent_id=subagent.agent_id,
        kind=subagent.kind,
        agent_type=subagent.agent_type,
        description=subagent.description,
        turns=None
        if views is None
        else tuple(
            describe_turn(show_whole_calls(view, session), subagents=True) for view in views
        ),
    )
