"""Write turns and their steps as Markdown, with as much of each as is wanted."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from recollect.documents.kinds import Context, InputKind, ToolStatus
from recollect.documents.turns import (
    NoticeStep,
    Step,
    SubagentReference,
    TextStep,
    ThinkingStep,
    ToolStep,
    TurnView,
)
from recollect.quantities import format_duration
from recollect.render.markdown.markdown_parts import ShowPicture, describe_picture, write_parts
from recollect.render.markdown.markdown_prose import (
    quote,
    write_block,
    write_code,
    write_prose,
    write_words,
)
from recollect.render.views.part_builders import join_facts, shorten_path

_MINUTES: Final = 16
"""Characters of a timestamp up to the minute."""


class MarkdownOptions(Struct, frozen=True, kw_only=True):
    """What to write."""

    replies: bool = True
    tools: bool = True
    everything: bool = True
    """Thinking, notices, contexts in full, and subagents."""
    directory: str | None = None
    """The session's directory: paths below it are relative."""
    show_picture: ShowPicture = describe_picture


def write_turn(turn: TurnView, options: MarkdownOptions, depth: int = 2) -> Iterator[str]:
    """Yield the blocks of a turn; `depth` is the level of its heading."""
    yield f"{'#' * depth} {_name_turn(turn)}"
    yield from _write_prompt(turn, options)
    if options.replies:
        for step in turn.steps:
            yield from write_step(step, options, depth)


def _name_turn(turn: TurnView) -> str:
    who = "You" if turn.is_by_person else str(turn.kind or "session").replace("_", " ")
    return join_facts(
        f"{turn.number}",
        who,
        write_words((turn.start or "")[:_MINUTES].replace("T", " ")),
        None if turn.is_on_main_path else "abandoned branch",
    )


def _write_prompt(turn: TurnView, options: MarkdownOptions) -> Iterator[str]:
    if turn.command:
        yield quote(write_code(f"{turn.command} {turn.words}".strip()))
    elif turn.kind is InputKind.SHELL:
        yield quote(write_code(f"! {turn.words}"))
    elif turn.words.strip():
        yield quote(write_prose(turn.words))
    for picture in write_parts(turn.media, options.show_picture):
        yield quote(picture)
    for context in turn.contexts:
        yield from _write_context(context, options)


def _write_context(context: Context, options: MarkdownOptions) -> Iterator[str]:
    place = shorten_path(context.path or "", options.directory)
    if place and context.first_line:
        place += f":{context.first_line}-{context.last_line or context.first_line}"
    label = f"*{write_words(str(context.kind).replace('_', ' '))}* {write_code(place)}"
    yield quote(label.rstrip())
    if options.everything and context.text.strip():
        yield quote(write_block(context.text, "text"))


def write_step(step: Step, options: MarkdownOptions, depth: int = 2) -> Iterator[str]:
    """Yield the blocks of a step; none if it is not wanted."""
    match step:
        case TextStep():
            for part in write_parts(step.parts, options.show_picture):
                yield part if step.role == "assistant" else quote(part)
        case ToolStep() if options.tools:
            yield from _write_call(step, options, depth)
        case ThinkingStep() if options.everything and step.text.strip():
            yield "*Thinking*"
            yield quote(write_prose(step.text))
        case NoticeStep() if options.everything:
            yield f"*{write_words(step.title)}*"
            yield from write_parts(step.parts, options.show_picture)


def name_call(call: ToolStep, directory: str | None = None) -> str:
    """Return one line about a tool call."""
    tool = f"{call.mcp_server}: {call.tool}" if call.mcp_server else call.tool
    took = format_duration(call.duration_ms) if call.duration_ms is not None else None
    status = None if call.status is ToolStatus.SUCCESS else call.status.value
    end = join_facts(status, write_words(call.summary), took)
    title = write_code(shorten_path(call.title, directory))
    return " ".join(piece for piece in (f"**{write_words(tool)}**", title, end) if piece)


def _write_call(call: ToolStep, options: MarkdownOptions, depth: int) -> Iterator[str]:
    yield name_call(call, options.directory)
    yield from write_parts(call.input, options.show_picture)
    yield from write_parts(call.output, options.show_picture)
    for child in call.subagents:
        yield from _write_subagent(child, options, depth)


def _write_subagent(
    child: SubagentReference, options: MarkdownOptions, depth: int
) -> Iterator[str]:
    name = write_words(child.agent_type or "subagent")
    about = write_words(child.description or child.agent_id)
    yield f"**Subagent {name}:** {about}"
    if options.everything:
        for turn in child.turns or ():
            yield quote("\n\n".join(write_turn(turn, options, min(depth + 1, 6))))
