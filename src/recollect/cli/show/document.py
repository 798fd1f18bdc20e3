"""What `recollect show --json` prints: turns with their steps, as data and unescaped.

The parts are those that every way out draws. A subagent is a session of its own and stands here by
its name; with `--subagents` its turns are in it.
"""

from msgspec import Struct, structs

from recollect.cli.show.parts import PartEntry, describe_parts
from recollect.records.tokens import Tokens
from recollect.render.views.conversation import (
    Called,
    Noted,
    NoticeKind,
    Said,
    Step,
    Thought,
    TurnView,
)
from recollect.render.views.turns import build_turn_views
from recollect.session.contexts import Context
from recollect.session.metadata import Metadata
from recollect.session.outcomes import RejectedBy, ToolStatus
from recollect.session.prompts import InputKind
from recollect.session.session import Subagent
from recollect.session.subagents import SubagentKind

SCHEMA = "recollect.show/1"


class SaidStep(Struct, frozen=True, kw_only=True, tag="Said"):
    """What the model, or somebody in the middle of a turn, said."""

    uuid: str | None
    message_id: str
    role: str
    parts: tuple[PartEntry, ...]
    model: str | None
    timestamp: str | None
    contexts: tuple[Context, ...]


class NotedStep(Struct, frozen=True, kw_only=True, tag="Noted"):
    """Something that happened around the conversation."""

    uuid: str | None
    kind: NoticeKind
    title: str
    parts: tuple[PartEntry, ...]
    timestamp: str | None
    is_routine: bool


class CalledStep(Struct, frozen=True, kw_only=True, tag="Called"):
    """A call of a tool, with what went in, what came out and whom it started."""

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


StepEntry = SaidStep | Thought | CalledStep | NotedStep


class TurnEntry(Struct, frozen=True, kw_only=True):
    """One turn: what opened it, and what happened until the next."""

    number: int
    """Counted from 1 through the whole file."""
    uuid: str | None
    kind: InputKind | None
    is_by_person: bool
    is_on_main_path: bool
    segment: int
    """Which stretch between compactions it lies in, from 1."""
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
    """None unless they were asked for."""


class ShowDocument(Struct, frozen=True, kw_only=True):
    """What `--json` prints."""

    schema: str = SCHEMA
    session: Metadata
    turns: tuple[TurnEntry, ...]


class ShowHead(Struct, frozen=True, kw_only=True):
    """The first line of `--json-lines`; each further one is a turn."""

    schema: str = SCHEMA
    session: Metadata


def describe_turn(view: TurnView, *, subagents: bool, prompts: bool = False) -> TurnEntry:
    """A turn as the document has it, its steps left out if only `prompts` are wanted."""
    fields = structs.asdict(view)
    steps, index, segment, _ = (fields.pop(key) for key in ("steps", "index", "segment", "uuids"))
    shown = () if prompts else tuple(_describe_step(step, subagents=subagents) for step in steps)
    fields["media"] = describe_parts(view.media)
    return TurnEntry(**fields, number=index + 1, segment=segment + 1, steps=shown)


def _describe_step(step: Step, *, subagents: bool) -> StepEntry:
    fields = structs.asdict(step)
    match step:
        case Said():
            return SaidStep(**{**fields, "parts": describe_parts(step.parts)})
        case Noted():
            return NotedStep(**{**fields, "parts": describe_parts(step.parts)})
        case Called():
            fields["input"] = describe_parts(step.input)
            fields["output"] = describe_parts(step.output)
            children = (describe_subagent(each, subagents=subagents) for each in step.subagents)
            return CalledStep(**{**fields, "subagents": tuple(children)})
    return step


def describe_subagent(subagent: Subagent, *, subagents: bool) -> SubagentEntry:
    """A subagent by its name, with its turns if they are wanted."""
    views = build_turn_views(subagent.session) if subagents else None
    return SubagentEntry(
        agent_id=subagent.agent_id,
        kind=subagent.kind,
        agent_type=subagent.agent_type,
        description=subagent.description,
        turns=None if views is None else tuple(describe_turn(v, subagents=True) for v in views),
    )
