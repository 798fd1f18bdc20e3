"""Parts of sessions as lines for a terminal: a place with its context, a thread, an outline.

Lines are generated as they are printed, so the first page of a long session appears immediately.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace
from rich.text import Span, Text

from recollect.cli.terminal_output import GAP, count_table_columns, pad
from recollect.documents import kinds, session_documents
from recollect.lineage import Relation
from recollect.locations.place_names import LISTS
from recollect.quantities import format_count, format_short_number, format_time
from recollect.render.terminal import POINTER, clip, measure, safe_line, terminal_turns
from recollect.render.terminal.canvas import Canvas, RenderOptions
from recollect.render.terminal.terminal_session import render_session
from recollect.render.views import overview, part_builders, record_notices
from recollect.session.session import Session
from recollect.session.times import parse_time
from recollect.workspace import session_places, thread_parts


def iter_place(
    session: Session,
    turns: Sequence[int],
    at: session_places.RecordLocation,
    render_options: RenderOptions,
) -> Iterator[str]:
    """Yield the lines of `turns` with a place marked, expanded down to its subagent."""
    agents: dict[str, int] = {}
    inner = at
    while inner.inside is not None:
        agents[inner.agent_id] = inner.inside.turn
        inner = inner.inside
    options = replace(render_options, at=inner.anchor, agents=agents)
    is_stray = bool(at.agent_id) and not at.anchor
    shown = () if is_stray else turns
    yield from render_session(session, shown, options, is_whole=False, prompts_only=False)
    canvas = Canvas(options)
    if at.anchor == LISTS:
        for notice in record_notices.load_sidecar_notices(session):
            lines = terminal_turns.render_notice(
                notice, canvas.complete, options.columns - len(POINTER)
            )
            yield from terminal_turns.point_at(lines, canvas)
            yield ""
    if is_stray:
        for child in session.contents.subagents:
            if child.agent_id == at.agent_id:
                yield from terminal_turns.render_subagent(child, canvas, options.columns)


_JOINTS = {
    Relation.FORK: "Resumed as a fork",
    Relation.CONTINUATION: "Continued in a new session",
    Relation.CLEAR: "Cleared; a new session",
}


def iter_thread(
    parts: Sequence[thread_parts.OpenedPart],
    render_options: RenderOptions,
    outline: bool,
    prompts_only: bool,
) -> Iterator[str]:
    """Yield the lines of sessions that continue each other, each after a rule that names it."""
    canvas = Canvas(render_options)
    for number, part in enumerate(parts, start=1):
        metadata = part.session.contents.metadata
        joint = _JOINTS.get(part.relation) if part.relation else None
        facts = part_builders.join_facts(
            f"{number} of {len(parts)}", joint, metadata.id[:8], metadata.title
        )
        title = clip(safe_line(facts), max(render_options.columns - 8, 8))
        yield from terminal_turns.render_rule(title, canvas, render_options.columns, "bold")
        yield ""
        if outline:
            yield from iter_outline(part.session, part.turns, render_options)
            yield ""
        else:
            yield from render_session(
                part.session, part.turns, render_options, is_whole=False, prompts_only=prompts_only
            )


class _OutlineRow(NamedTuple):
    """A prompt or a subagent: number, time, calls, failures and context, subject and outcome."""

    cells: tuple[str, str, str, str, str]
    line: Text
    outcome: str = ""


_CELL_STYLES = ("cyan", "cyan", "dim", "red", "dim")
_MIN_COLUMNS_FOR_CONTEXT = 100


def iter_outline(
    session: Session, turns: Sequence[int], render_options: RenderOptions
) -> Iterator[str]:
    """Yield one line for each prompt: its number, time, outcome, context and text.

    Like the lines of a table, they are not cut in a pipe or a file.
    """
    options = replace(render_options, columns=count_table_columns())
    canvas = Canvas(options)
    wanted = set(turns)
    entries = [
        each for each in overview.build_outline(session) if each.number - 1 in wanted and each.line
    ]
    rows = [row for entry in entries for row in _list_rows(entry, options)]
    widths = [
        max(map(measure, column)) for column in zip(*(row.cells for row in rows), strict=True)
    ]
    for row in rows:
        head = Text.assemble(
            *(
                (pad(cell, width, ">") + GAP, style)
                for cell, width, style in zip(row.cells, widths, _CELL_STYLES, strict=True)
                if width
            )
        )
        tail = f"{GAP}{row.outcome}" if row.outcome else ""
        room = options.columns - measure(head.plain) - measure(tail)
        row.line.plain = clip(row.line.plain, max(room, 8))
        style = "red" if row.outcome == kinds.SubagentOutcome.FAILED else "dim"
        yield canvas.line(Text.assemble(head, row.line, (tail, style))).rstrip()


def _list_rows(
    entry: session_documents.OutlineEntry, options: RenderOptions
) -> Iterator[_OutlineRow]:
    """Yield the row of a prompt, and those of its subagents below it."""
    when = format_time(parse_time(entry.start), options.zone)
    failed = f"{entry.errors:,} failed" if entry.errors else ""
    style = "bold" if entry.is_by_person else "dim"
    has_context = entry.context_tokens and options.columns >= _MIN_COLUMNS_FOR_CONTEXT
    context = f"context {format_short_number(entry.context_tokens):>5}" if has_context else ""
    yield _OutlineRow(
        (str(entry.number), when, _count_calls(entry.tool_calls), failed, context),
        Text(
            safe_line(entry.line),
            style if entry.is_on_main_path else "dim strike",
        ),
    )
    yield from _list_agents(entry.subagents, "")


def _list_agents(
    subagents: Sequence[session_documents.OutlineSubagent], indent: str
) -> Iterator[_OutlineRow]:
    """Yield a row for each subagent, with its own below it."""
    for each in subagents:
        name = safe_line(each.agent_type or "subagent")
        about = safe_line(each.description or each.agent_id)
        head = f"{indent}↳ {name}"
        yield _OutlineRow(
            ("", "", _count_calls(each.tool_calls), "", ""),
            Text(f"{head}  {about}", spans=[Span(0, len(head), "magenta")]),
            each.outcome or "",
        )
        yield from _list_agents(each.subagents, f"{indent}  ")


def _count_calls(count: int) -> str:
    """Return a count, padded so that the digits of several counts line up."""
    return f"{format_count(count, 'call'):<{len(f'{count:,} calls')}}" if count else ""
