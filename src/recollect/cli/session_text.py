"""A session as lines for a terminal: all of it, a place with its context, or an outline.

Lines are generated as they are printed, so the first page of a long session appears immediately.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace
from rich.text import Span, Text

from recollect.cli.terminal_output import GAP, count_table_columns, pad
from recollect.documents import kinds, session_documents, turn_documents
from recollect.library.sidecar_files import load_session_lists
from recollect.lineage import Relation
from recollect.locations.place_names import LISTS
from recollect.quantities import format_count, format_time
from recollect.render.terminal import POINTER, clip, measure, safe_text, terminal_turns
from recollect.render.terminal.canvas import Canvas, RenderOptions
from recollect.render.terminal.terminal_parts import render_head
from recollect.render.views import overview, part_builders, record_notices, turn_views, whole_calls
from recollect.session.session import Session
from recollect.session.times import parse_time
from recollect.workspace import session_places, thread_parts, turn_selection


def iter_session(
    session: Session,
    turns: Sequence[int],
    render_options: RenderOptions,
    *,
    is_whole: bool,
    prompts_only: bool,
    shares: session_documents.TokenShares | None = None,
) -> Iterator[str]:
    """Yield the lines of `turns`, with a header if the whole session is shown."""
    canvas = Canvas(render_options)
    if is_whole:
        for line in (*render_head(session, canvas, render_options.columns, shares), ""):
            yield line.rstrip()
    for line in _iter_all(session, turns, canvas, is_whole=is_whole, prompts_only=prompts_only):
        yield line.rstrip()


def _iter_all(
    session: Session,
    turns: Sequence[int],
    canvas: Canvas,
    *,
    is_whole: bool,
    prompts_only: bool,
) -> Iterator[str]:
    columns = canvas.options.columns
    for view in iter_views(session, turns, is_full=canvas.options.is_full):
        yield from _render_fork(session, view, canvas)
        shown = turn_views.keep_prompts(view) if prompts_only else view
        yield from terminal_turns.render_turn(shown, session, canvas, columns)
        yield ""
    if is_whole and not prompts_only:
        yield from _render_strays(session, canvas)
        for notice in record_notices.list_sidecar_notices(
            load_session_lists(session), session.contents.metadata.id
        ):
            yield from terminal_turns.render_notice(notice, canvas, columns)
            yield ""


def iter_views(
    session: Session, turns: Sequence[int], *, is_full: bool
) -> Iterator[turn_documents.TurnView]:
    """Yield the views of `turns`, with everything in their calls if `is_full`."""
    for index in turns:
        for view in turn_views.build_turn_views(session, start=index, stop=index + 1):
            yield whole_calls.show_whole_calls(view, session) if is_full else view


def _render_fork(session: Session, view: turn_documents.TurnView, canvas: Canvas) -> Iterator[str]:
    """Yield a line about each branch that was abandoned before this turn."""
    own = set(view.uuids)
    forks = [branch for branch in session.contents.branches if branch.chosen in own]
    if not forks:
        return
    others = turn_selection.list_alternatives(session)
    numbers = {uuid: number for number, uuid in enumerate(others, start=1)}
    for fork in forks:
        options = [f"--branch {numbers[each]}" for each in fork.options if each in numbers]
        yield canvas.styled(f"├─ Rewound to here. Abandoned: {', '.join(options)}", "yellow")


def _render_strays(session: Session, canvas: Canvas) -> Iterator[str]:
    """Yield the subagents without a known call."""
    strays = [
        each for each in session.contents.subagents if each.call is None and not each.is_warmup
    ]
    if strays:
        yield canvas.styled("Subagents not started by a call in this session", "bold")
    for each in strays:
        yield from terminal_turns.render_subagent(each, canvas, canvas.options.columns)


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
    yield from iter_session(session, shown, options, is_whole=False, prompts_only=False)
    canvas = Canvas(options)
    if at.anchor == LISTS:
        for notice in record_notices.list_sidecar_notices(
            load_session_lists(session), session.contents.metadata.id
        ):
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
        title = clip(safe_text(facts, single_line=True), max(render_options.columns - 8, 8))
        yield from terminal_turns.render_rule(title, canvas, render_options.columns, "bold")
        yield ""
        if outline:
            yield from iter_outline(part.session, part.turns, render_options)
            yield ""
        else:
            yield from iter_session(
                part.session, part.turns, render_options, is_whole=False, prompts_only=prompts_only
            )


class _OutlineRow(NamedTuple):
    """A prompt or a subagent: number, time, calls and failures, subject and outcome."""

    cells: tuple[str, str, str, str]
    line: Text
    outcome: str = ""


_CELL_STYLES = ("cyan", "cyan", "dim", "red")


def iter_outline(
    session: Session, turns: Sequence[int], render_options: RenderOptions
) -> Iterator[str]:
    """Yield one line for each prompt: its number, time, outcome and text.

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
    yield _OutlineRow(
        (str(entry.number), when, _count_calls(entry.tool_calls), failed),
        Text(
            safe_text(entry.line, single_line=True),
            style if entry.is_on_main_path else "dim strike",
        ),
    )
    yield from _list_agents(entry.subagents, "")


def _list_agents(
    subagents: Sequence[session_documents.OutlineSubagent], indent: str
) -> Iterator[_OutlineRow]:
    """Yield a row for each subagent, with its own below it."""
    for each in subagents:
        name = safe_text(each.agent_type or "subagent", single_line=True)
        about = safe_text(each.description or each.agent_id, single_line=True)
        head = f"{indent}↳ {name}"
        yield _OutlineRow(
            ("", "", _count_calls(each.tool_calls), ""),
            Text(f"{head}  {about}", spans=[Span(0, len(head), "magenta")]),
            each.outcome or "",
        )
        yield from _list_agents(each.subagents, f"{indent}  ")


def _count_calls(count: int) -> str:
    """Return a count whose digits line up with those of others."""
    return f"{format_count(count, 'call'):<{len(f'{count:,} calls')}}" if count else ""
