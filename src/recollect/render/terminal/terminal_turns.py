"""Render a session as lines for a terminal: header, turns, prompts, steps and tool calls.

Lines are generated on demand: the first page of a session with ten thousand messages appears as
soon as its first turns are rendered.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import groupby

from rich.text import Text

from recollect.documents import turn_documents
from recollect.documents.kinds import Context, InputKind, ToolStatus
from recollect.quantities import format_count, format_duration, format_time
from recollect.records.tools.file_tools import FILE_TOOLS
from recollect.render.terminal import (
    POINTER,
    clip,
    measure,
    safe_line,
    safe_text,
    shorten,
    shorten_folder,
)
from recollect.render.terminal.canvas import (
    MIN_COLUMNS,
    Canvas,
    RenderOptions,
    ToolDetail,
    cut_lines,
    indent,
)
from recollect.render.terminal.terminal_parts import render_growth, render_part
from recollect.render.terminal.terminal_prose import render_diff, render_plain
from recollect.render.views import part_builders, turn_views, whole_calls
from recollect.render.views.notice_runs import NoticeRun, fold_notices
from recollect.session.session import Session
from recollect.session.subagents import Subagent
from recollect.session.times import parse_time

INDENT = "  "
BAR = "▌ "

_NOTICES = {
    turn_documents.NoticeKind.API_ERROR: ("!", "red"),
    turn_documents.NoticeKind.RETRY: ("!", "yellow"),
    turn_documents.NoticeKind.HOOK: ("◇", "dim"),
    turn_documents.NoticeKind.COMPACTION: ("─", "magenta"),
    turn_documents.NoticeKind.INTERRUPTION: ("■", "yellow"),
    turn_documents.NoticeKind.MODEL: ("◇", "dim"),
    turn_documents.NoticeKind.INFORMATION: ("◇", "dim"),
    turn_documents.NoticeKind.COMMAND_OUTPUT: ("◇", ""),
    turn_documents.NoticeKind.GAP: ("╌", "yellow"),
    turn_documents.NoticeKind.DAMAGE: ("▲", "red"),
    turn_documents.NoticeKind.UNKNOWN: ("?", "yellow"),
}


def render_text(step: turn_documents.TextStep, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield a text; a user's text between replies has the bar of a prompt."""
    colour = "dim" if step.kind is InputKind.TASK_NOTIFICATION else "cyan"
    margin = INDENT if step.role == "assistant" else canvas.styled(BAR, colour)
    for task in step.tasks:
        title = safe_line(task.title)
        line = Text.assemble(("→ ", "magenta"), title, (f"  turn {task.turn}", "dim"))
        yield from indent(canvas.wrap(line, columns - 2), margin)
    parts = () if step.repeats_answers and not canvas.options.is_full else step.parts
    for number, part in enumerate(parts):
        if number or step.tasks:
            yield margin.rstrip()
        yield from indent(render_part(part, canvas, columns - 2), margin)


def render_thinking(
    step: turn_documents.ThinkingStep, canvas: Canvas, columns: int
) -> Iterator[str]:
    """Yield thinking completely, or only its first line."""
    sign = canvas.styled("∴ ", "dim")
    room = columns - 2
    if canvas.options.thinking:
        text = step.text or "(thinking, not kept in the transcript)"
        yield from indent(render_plain(text, canvas, room, "dim italic"), sign, INDENT)
        return
    lines = safe_text(step.text).strip().splitlines()
    if lines:
        more = f"  {format_count(len(lines) - 1, 'more line')}" if len(lines) > 1 else ""
        first = Text(safe_line(lines[0]), "dim italic")
        first.truncate(max(room - measure(more), 1), overflow="ellipsis")
        yield sign + canvas.line(Text.assemble(first, (more, "dim")))


def render_notice(step: turn_documents.NoticeStep, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield a notice: a rule for a compaction, a sign and a title for others."""
    title = safe_line(step.title)
    sign, style = _NOTICES[step.kind]
    if step.kind is turn_documents.NoticeKind.COMPACTION:
        yield from render_rule(title, canvas, columns, style)
    else:
        words = canvas.wrap(Text(title, style), columns - 2)
        yield from indent(words, canvas.styled(f"{sign} ", style), INDENT)
    for part in step.parts:
        lines = render_part(part, canvas, columns - 4)
        shown = lines if canvas.options.is_full else cut_lines(lines, canvas)
        yield from indent(shown, canvas.styled("  │ ", "dim"))


def fold_steps(
    steps: Sequence[turn_documents.Step],
    canvas: Canvas,
    marked: Container[str | None] = (),
) -> Iterable[turn_documents.Step | NoticeRun]:
    """Return the steps that are shown, with runs of notices folded unless nothing is left out.

    Marked steps are shown by themselves.
    """
    if canvas.options.is_full:
        return steps
    shown = (
        step
        for step in steps
        if not (isinstance(step, turn_documents.NoticeStep) and step.is_routine)
        or step.uuid in marked
    )
    return fold_notices(shown, marked)


def render_run(run: NoticeRun, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield the words of a run and how many notices it has, then each content once."""
    notice = turn_documents.NoticeStep(
        uuid=None,
        kind=run.kind,
        title=f"{run.words} {run.count}",
        parts=tuple(run.list_parts()),
    )
    yield from render_notice(notice, canvas, columns)


def render_rule(title: str, canvas: Canvas, columns: int, style: str) -> Iterator[str]:
    """Yield a rule with a title in it, or below it if there is no room."""
    if measure(title) > columns - 8:
        yield canvas.styled("╌" * columns, style)
        yield from canvas.wrap(Text(title, style), columns)
        return
    left = (columns - measure(title) - 2) // 2
    right = columns - measure(title) - 2 - left
    yield canvas.styled(f"{'╌' * left} {title} {'╌' * right}", style)


MARGIN = "  │ "
MARKED_MARGIN = "▏ "
MIN_TITLE_WIDTH = 12

_SIGNS = {
    ToolStatus.SUCCESS: ("✓", "green"),
    ToolStatus.FAILED: ("✗", "red"),
    ToolStatus.REJECTED: ("⊘", "yellow"),
    ToolStatus.INTERRUPTED: ("■", "yellow"),
    ToolStatus.PENDING: ("…", "dim"),
}
_BAD = (ToolStatus.FAILED, ToolStatus.REJECTED, ToolStatus.INTERRUPTED)


def render_call(call: turn_documents.ToolStep, canvas: Canvas, columns: int) -> Iterator[str]:
    """Render a tool call: a headline, then indented details as configured."""
    yield from _render_headline(call, canvas, columns)
    room = max(columns - measure(MARGIN), 1)
    iter_lines = _iter_full if canvas.options.is_full else _iter_brief
    yield from indent(iter_lines(call, canvas, room), canvas.styled(MARGIN, "dim"))


def render_call_count(
    calls: Sequence[turn_documents.ToolStep], canvas: Canvas, columns: int
) -> Iterator[str]:
    """Yield one line about several calls that are not shown."""
    names = Counter(safe_line(part_builders.name_tool(call)) for call in calls).most_common()
    failed = sum(call.status in _BAD for call in calls)
    words = part_builders.join_facts(
        format_count(len(calls), "tool call"),
        ", ".join(f"{name} {number}" if number > 1 else name for name, number in names),
        f"{failed:,} failed" if failed else None,
    )
    yield from indent(
        canvas.wrap(Text(words, "dim"), columns - 2), canvas.styled("● ", "dim"), "  "
    )


def _render_headline(call: turn_documents.ToolStep, canvas: Canvas, columns: int) -> Iterator[str]:
    sign, style = _SIGNS[call.status]
    name = safe_line(part_builders.name_tool(call))
    tail = Text.assemble((sign, style), (_describe_end(call, canvas.options), "dim"))
    title = safe_line(canvas.options.show_path(call.title))
    about = Text()
    if not canvas.options.is_full:
        room = max(columns - measure(name) - measure(tail.plain) - 6, MIN_TITLE_WIDTH)
        if call.description:
            about.append(clip(safe_line(call.description), room))
            room -= measure(about.plain) + 2
        fit = shorten_folder if call.tool in FILE_TOOLS else shorten
        title = fit(title, room) if room >= MIN_TITLE_WIDTH else ""
    about.append("  " if about and title else "").append(title, "dim" if about else "")
    line = Text.assemble((name, "bold"), "  ", about, "  " if about else "", tail)
    yield from indent(canvas.wrap(line, columns - 2), canvas.styled("● ", style), "  ")


def _describe_end(call: turn_documents.ToolStep, options: RenderOptions) -> str:
    took = format_duration(call.duration_ms) if call.duration_ms is not None else None
    summary = call.summary
    if call.subagents and call.status is ToolStatus.SUCCESS and not options.is_full:
        # The line of the subagent has the same figures, and from its own records.
        summary = ""
    if call.status is ToolStatus.FAILED and call.output and not options.is_full:
        # Why it failed is shown below, in more detail.
        summary = summary.partition(": ")[0]
    hooks = format_count(len(call.hooks), "hook") if call.hooks else None
    words = part_builders.join_facts(safe_line(summary), took, hooks)
    return f" {words}" if words else ""


def _iter_full(call: turn_documents.ToolStep, canvas: Canvas, columns: int) -> Iterator[str]:
    yield from _render_parts(call.input, call, canvas, columns)
    if call.input and call.output:
        yield canvas.styled("─" * min(columns, 20), "dim")
    yield from _render_parts(call.output, call, canvas, columns)
    for hook in call.hooks:
        yield from render_notice(hook, canvas, columns)


def _iter_brief(call: turn_documents.ToolStep, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield lists and questions completely, and the start of changes and failures."""
    for part in (*call.input, *call.output):
        if isinstance(part, turn_documents.Checklist | turn_documents.Question):
            yield from render_part(part, canvas, columns)
    if call.status in _BAD:
        yield from cut_lines(_render_parts(call.output, call, canvas, columns), canvas)
    elif any(isinstance(part, turn_documents.Diff) for part in call.input):
        changes = [part for part in call.input if isinstance(part, turn_documents.Diff)]
        yield from cut_lines(_render_parts(changes, call, canvas, columns), canvas)


def _render_parts(
    parts: Iterable[turn_documents.Part],
    call: turn_documents.ToolStep,
    canvas: Canvas,
    columns: int,
) -> Iterator[str]:
    for part in parts:
        if isinstance(part, turn_documents.Diff) and part.path == call.title:
            # The line above already names the file.
            yield from render_diff(part, canvas, columns)
        else:
            yield from render_part(part, canvas, columns)


_RULE = "─"
_UNNAMED = (None, InputKind.TYPED, InputKind.COMMAND, InputKind.SHELL)
_MIN_RULE_WIDTH = 4
_USUAL_MODE = "default"


def render_turn_rule(view: turn_documents.TurnView, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield the rule that starts a turn: its number, time, and figures."""
    label = part_builders.join_facts(
        format_time(parse_time(view.start), canvas.options.zone), *_list_labels(view)
    )
    line = Text.assemble(
        (f"{_RULE * 2} ", "dim"), (f"{view.number}", "bold cyan"), (f"  {label}".rstrip(), "dim")
    )
    room = columns - measure(line.plain)
    facts = _fit_facts(view, room - _MIN_RULE_WIDTH - 4)
    end = f" {facts} {_RULE}" if facts else ""
    fill = max(room - 1 - measure(end), _MIN_RULE_WIDTH)
    line.append(f" {_RULE * fill}{end}", "dim")
    yield from canvas.fold(line, columns)


def _list_labels(view: turn_documents.TurnView) -> Iterator[str]:
    if view.kind not in _UNNAMED:
        yield str(view.kind).replace("_", " ")
    if view.permission_mode not in (None, _USUAL_MODE):
        yield f"{safe_line(view.permission_mode or '')} mode"
    if not view.is_on_main_path:
        yield "abandoned"


def _fit_facts(view: turn_documents.TurnView, room: int) -> str:
    """Return as many facts about the turn as fit; the model is dropped first."""
    took = format_duration(view.active_ms) if view.active_ms else None
    tokens = format_count(view.tokens.total, "token") if view.tokens.total else None
    choices = (
        part_builders.join_facts(safe_line(view.model or ""), took, tokens),
        part_builders.join_facts(took, tokens),
        took or "",
    )
    return next((facts for facts in choices if measure(facts) <= room), "")


def render_prompt(view: turn_documents.TurnView, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield the prompt of a turn, with its contexts and images."""
    words = _join_words(view)
    if words:
        style = "bold" if view.is_by_person else ""
        lines = render_plain(words, canvas, columns - 2, style)
        shown = lines if view.is_by_person or canvas.options.is_full else cut_lines(lines, canvas)
        yield from indent(shown, canvas.styled(BAR, "cyan" if view.is_by_person else "dim"))
    for medium in view.media:
        yield from indent(render_part(medium, canvas, columns - 2), INDENT)
    for context in view.contexts:
        yield from render_context(context, canvas, columns)


def _join_words(view: turn_documents.TurnView) -> str:
    if view.command:
        return f"{view.command} {view.words}".rstrip()
    return f"! {view.words}" if view.kind is InputKind.SHELL else view.words


def render_context(context: Context, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield one line about a context of a prompt, or all of it if requested."""
    chip = f"+ {str(context.kind).replace('_', ' ')}"
    place = canvas.options.show_path(_show_place(context)) or part_builders.take_line(context.text)
    room = max(columns - measure(chip) - 4, 1)
    shown = shorten(safe_line(place), room)
    yield INDENT + canvas.line(Text.assemble((f"{chip}  ", "dim"), (shown, "blue")))
    if canvas.options.is_full and context.text:
        lines = render_plain(context.text, canvas, columns - 4, "dim")
        yield from indent(lines, canvas.styled("  │ ", "dim"))


def _show_place(context: Context) -> str:
    if context.path is None or context.first_line is None:
        return context.path or ""
    return f"{context.path}:{context.first_line}-{context.last_line}"


_NESTED = "  ┃ "


def render_turn(
    view: turn_documents.TurnView, session: Session, canvas: Canvas, columns: int
) -> Iterator[str]:
    """Yield the lines of one turn of `session`."""
    yield from render_turn_rule(view, canvas, columns)
    marked = _find_marked(view, canvas.options.at)
    if None in marked:
        yield from point_at(render_prompt(view, canvas.complete, columns - len(POINTER)), canvas)
    else:
        yield from render_prompt(view, canvas, columns)
    for _, group in groupby(view.steps, key=type):
        lines = list(_render_group(list(group), session, canvas, columns, marked))
        if lines:
            yield ""
            yield from lines
    if canvas.options.is_full and view.context_growth:
        yield ""
        yield from render_growth(view, canvas, columns)


def _find_marked(view: turn_documents.TurnView, at: str) -> frozenset[str | None]:
    """Return the uuids of the steps of a turn that are marked.

    A prompt, or a record without a step, is marked as None, as are steps without a uuid, which show
    the other contents of such a record.
    """
    if not at:
        return frozenset()
    return frozenset({None} if at in (view.uuid, f"turn-{view.number}") else {at})


def _render_group(
    steps: Sequence[turn_documents.Step],
    session: Session,
    canvas: Canvas,
    columns: int,
    marked: frozenset[str | None],
) -> Iterator[str]:
    """Yield consecutive steps of one kind, calls close together and texts apart."""
    calls = [step for step in steps if isinstance(step, turn_documents.ToolStep)]
    if calls and canvas.options.tools is ToolDetail.NONE:
        yield from render_call_count(calls, canvas, columns)
        for call in calls:
            yield from _render_subagents(call, session, canvas, columns)
        return
    for number, step in enumerate(fold_steps(steps, canvas, marked)):
        if number and isinstance(step, turn_documents.TextStep):
            yield ""
        if isinstance(step, NoticeRun):
            yield from render_run(step, canvas, columns)
        elif step.uuid in marked:
            whole = whole_calls.show_whole_call(step, session)
            lines = render_step(whole, canvas.complete, columns - len(POINTER))
            yield from point_at(lines, canvas)
        else:
            yield from render_step(step, canvas, columns)
        if isinstance(step, turn_documents.ToolStep):
            yield from _render_subagents(step, session, canvas, columns)


def point_at(lines: Iterable[str], canvas: Canvas) -> Iterator[str]:
    """Yield the lines of a marked item, with a margin that draws attention to it."""
    margin = canvas.styled(MARKED_MARGIN, "bold yellow")
    return indent(lines, canvas.styled(POINTER, "bold yellow"), margin)


def render_step(step: turn_documents.Step, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield the lines of one step, without the subagents that a call started."""
    match step:
        case turn_documents.TextStep():
            yield from render_text(step, canvas, columns)
        case turn_documents.ThinkingStep():
            yield from render_thinking(step, canvas, columns)
        case turn_documents.ToolStep():
            yield from render_call(step, canvas, columns)
        case turn_documents.NoticeStep() if canvas.options.is_full or not step.is_routine:
            yield from render_notice(step, canvas, columns)


def _render_subagents(
    call: turn_documents.ToolStep, session: Session, canvas: Canvas, columns: int
) -> Iterator[str]:
    outcomes = {each.agent_id: each.outcome for each in call.subagents}
    for subagent in session.find_subagents(call.call_id) if call.subagents else ():
        yield from render_subagent(subagent, canvas, columns, outcomes.get(subagent.agent_id))


def render_subagent(
    subagent: Subagent, canvas: Canvas, columns: int, outcome: str | None = None
) -> Iterator[str]:
    """Yield one line about a subagent, and below it everything it did if requested."""
    inner, metrics = subagent.session, subagent.session.metrics
    name = safe_line(subagent.agent_type or "subagent")
    facts = part_builders.join_facts(
        safe_line(subagent.description or ""),
        format_count(metrics.tool_calls, "tool call"),
        format_count(metrics.tokens.total, "token") if metrics.tokens.total else None,
        format_duration(metrics.duration_ms) if metrics.duration_ms else None,
        outcome,
    )
    line = Text.assemble((name, "bold magenta"), (f"  {facts}", "dim"))
    lines = canvas.wrap(line, max(columns - 4, MIN_COLUMNS))
    yield from indent(lines, canvas.styled("  ↳ ", "magenta"), "    ")
    only = canvas.options.agents.get(subagent.agent_id)
    if canvas.options.subagents or only is not None:
        room = max(columns - len(_NESTED), MIN_COLUMNS)
        margin = canvas.styled(_NESTED, "magenta")
        stop = None if only is None else only + 1
        for view in turn_views.build_turn_views(inner, start=only or 0, stop=stop):
            shown = whole_calls.show_whole_calls(view, inner) if canvas.options.is_full else view
            yield from indent(render_turn(shown, inner, canvas, room), margin)
            yield margin.rstrip()
