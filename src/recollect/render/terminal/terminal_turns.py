"""Render a session as lines for a terminal: header, turns, prompts, steps and tool calls.

Lines are made on demand: the first page of a session of ten thousand messages is there as soon as
its first turns are drawn.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich.text import Text

from recollect.documents.kinds import Context, InputKind, ToolStatus
from recollect.documents.turns import (
    Checklist,
    Diff,
    NoticeKind,
    NoticeStep,
    Part,
    Question,
    Step,
    TextStep,
    ThinkingStep,
    ToolStep,
    TurnView,
)
from recollect.quantities import (
    format_count,
    format_duration,
    format_time,
)
from recollect.render.terminal.canvas import (
    MIN_COLUMNS,
    Canvas,
    RenderOptions,
    ToolDetail,
    cut_lines,
    indent,
)
from recollect.render.terminal.prose import draw_plain
from recollect.render.terminal.safe_text import POINTER, measure, safe_text, shorten
from recollect.render.terminal.source_code import draw_diff
from recollect.render.terminal.terminal_parts import draw_part
from recollect.render.views.part_builders import join_facts, take_line
from recollect.render.views.turn_views import build_turn_views
from recollect.render.views.whole_calls import show_whole_call, show_whole_calls
from recollect.session.session import Session, Subagent
from recollect.session.times import parse_time

INDENT = "  "
BAR = "▌ "

_NOTICES = {
    NoticeKind.API_ERROR: ("!", "red"),
    NoticeKind.RETRY: ("!", "yellow"),
    NoticeKind.HOOK: ("◇", "dim"),
    NoticeKind.COMPACTION: ("─", "magenta"),
    NoticeKind.INTERRUPTION: ("■", "yellow"),
    NoticeKind.MODEL: ("◇", "dim"),
    NoticeKind.INFORMATION: ("◇", "dim"),
    NoticeKind.COMMAND_OUTPUT: ("◇", ""),
    NoticeKind.GAP: ("╌", "yellow"),
    NoticeKind.DAMAGE: ("▲", "red"),
    NoticeKind.UNKNOWN: ("?", "yellow"),
}


def draw_text(step: TextStep, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield a text; a user's text between replies has the bar of a prompt."""
    margin = INDENT if step.role == "assistant" else canvas.styled(BAR, "cyan")
    for number, part in enumerate(step.parts):
        if number:
            yield margin.rstrip()
        yield from indent(draw_part(part, canvas, columns - 2), margin)


def draw_thinking(step: ThinkingStep, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield thinking completely, or only its first line."""
    sign = canvas.styled("∴ ", "dim")
    room = columns - 2
    if canvas.options.thinking:
        text = step.text or "(a thought of which only the signature was kept)"
        yield from indent(draw_plain(text, canvas, room, "dim italic"), sign, INDENT)
        return
    lines = safe_text(step.text).strip().splitlines()
    if lines:
        more = f"  {format_count(len(lines) - 1, 'more line')}" if len(lines) > 1 else ""
        first = Text(safe_text(lines[0], single_line=True), "dim italic")
        first.truncate(max(room - measure(more), 1), overflow="ellipsis")
        yield sign + canvas.line(Text.assemble(first, (more, "dim")))


def draw_notice(step: NoticeStep, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield a notice: a rule for a compaction, a sign and a title for others."""
    title = safe_text(step.title, single_line=True)
    sign, style = _NOTICES[step.kind]
    if step.kind is NoticeKind.COMPACTION:
        yield from draw_rule(title, canvas, columns, style)
    else:
        words = canvas.wrap(Text(title, style), columns - 2)
        yield from indent(words, canvas.styled(f"{sign} ", style), INDENT)
    for part in step.parts:
        lines = draw_part(part, canvas, columns - 4)
        shown = lines if canvas.options.is_full else cut_lines(lines, canvas)
        yield from indent(shown, canvas.styled("  │ ", "dim"))


def draw_rule(title: str, canvas: Canvas, columns: int, style: str) -> Iterator[str]:
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


def draw_call(call: ToolStep, canvas: Canvas, columns: int) -> Iterator[str]:
    """Render a tool call: a headline, then indented details as configured."""
    yield from _draw_headline(call, canvas, columns)
    room = max(columns - measure(MARGIN), 1)
    lines = (
        _iter_full(call, canvas, room)
        if canvas.options.is_full
        else _iter_brief(call, canvas, room)
    )
    yield from indent(lines, canvas.styled(MARGIN, "dim"))


def draw_call_count(calls: Sequence[ToolStep], canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield one line about several calls that are not shown."""
    names = Counter(_name_of(call) for call in calls).most_common()
    failed = sum(call.status in _BAD for call in calls)
    words = join_facts(
        format_count(len(calls), "tool call"),
        ", ".join(f"{name} {number}" if number > 1 else name for name, number in names),
        f"{failed:,} failed" if failed else None,
    )
    yield from indent(
        canvas.wrap(Text(words, "dim"), columns - 2), canvas.styled("● ", "dim"), "  "
    )


def _draw_headline(call: ToolStep, canvas: Canvas, columns: int) -> Iterator[str]:
    sign, style = _SIGNS[call.status]
    name = _name_of(call)
    tail = Text.assemble((sign, style), (_describe_end(call, canvas.options), "dim"))
    title = safe_text(canvas.options.show_path(call.title), single_line=True)
    if not canvas.options.is_full:
        room = columns - measure(name) - measure(tail.plain) - 6
        title = shorten(title, max(room, MIN_TITLE_WIDTH))
    line = Text.assemble((name, "bold"), "  ", title, "  " if title else "", tail)
    yield from indent(canvas.wrap(line, columns - 2), canvas.styled("● ", style), "  ")


def _name_of(call: ToolStep) -> str:
    name = f"{call.mcp_server}: {call.tool}" if call.mcp_server else call.tool
    return safe_text(name, single_line=True)


def _describe_end(call: ToolStep, options: RenderOptions) -> str:
    took = format_duration(call.duration_ms) if call.duration_ms is not None else None
    summary = call.summary
    if call.status is ToolStatus.FAILED and call.output and not options.is_full:
        # Why it failed is shown below, in more detail.
        summary = summary.partition(": ")[0]
    words = join_facts(safe_text(summary, single_line=True), took)
    return f" {words}" if words else ""


def _iter_full(call: ToolStep, canvas: Canvas, columns: int) -> Iterator[str]:
    yield from _draw_parts(call.input, call, canvas, columns)
    if call.input and call.output:
        yield canvas.styled("─" * min(columns, 20), "dim")
    yield from _draw_parts(call.output, call, canvas, columns)


def _iter_brief(call: ToolStep, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield lists and questions completely, and the start of changes and failures."""
    for part in (*call.input, *call.output):
        if isinstance(part, Checklist | Question):
            yield from draw_part(part, canvas, columns)
    if call.status in _BAD:
        failure = _draw_parts(call.output, call, canvas, columns)
        yield from cut_lines(failure, canvas)
    elif any(isinstance(part, Diff) for part in call.input):
        changes = [part for part in call.input if isinstance(part, Diff)]
        yield from cut_lines(_draw_parts(changes, call, canvas, columns), canvas)


def _draw_parts(
    parts: Iterable[Part], call: ToolStep, canvas: Canvas, columns: int
) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Diff) and part.path == call.title:
            # The line above already names the file.
            yield from draw_diff(part, canvas, columns)
        else:
            yield from draw_part(part, canvas, columns)


_RULE = "─"
_UNNAMED = (None, InputKind.TYPED, InputKind.COMMAND, InputKind.SHELL)
_MIN_RULE_WIDTH = 4
_USUAL_MODE = "default"


def draw_turn_rule(view: TurnView, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield the rule that starts a turn: its number, time, and figures."""
    label = join_facts(
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


def _list_labels(view: TurnView) -> Iterator[str]:
    if view.kind not in _UNNAMED:
        yield str(view.kind).replace("_", " ")
    if view.permission_mode not in (None, _USUAL_MODE):
        yield f"{safe_text(view.permission_mode or '', single_line=True)} mode"
    if not view.is_on_main_path:
        yield "left behind"


def _fit_facts(view: TurnView, room: int) -> str:
    """Return as many facts about the turn as fit; the model is dropped first."""
    took = format_duration(view.active_ms) if view.active_ms else None
    tokens = format_count(view.tokens.total, "token") if view.tokens.total else None
    model = safe_text(view.model or "", single_line=True)
    choices = (join_facts(model, took, tokens), join_facts(took, tokens), took or "")
    return next((facts for facts in choices if measure(facts) <= room), "")


def draw_prompt(view: TurnView, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield the prompt of a turn, with its contexts and images."""
    words = _join_words(view)
    if words:
        style = "bold" if view.is_by_person else ""
        lines = draw_plain(words, canvas, columns - 2, style)
        shown = lines if view.is_by_person or canvas.options.is_full else cut_lines(lines, canvas)
        yield from indent(shown, canvas.styled(BAR, "cyan" if view.is_by_person else "dim"))
    for medium in view.media:
        yield from indent(draw_part(medium, canvas, columns - 2), INDENT)
    for context in view.contexts:
        yield from draw_context(context, canvas, columns)


def _join_words(view: TurnView) -> str:
    if view.command:
        return f"{view.command} {view.words}".rstrip()
    return f"! {view.words}" if view.kind is InputKind.SHELL else view.words


def draw_context(context: Context, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield one line about a context of a prompt, or all of it if requested."""
    chip = f"+ {str(context.kind).replace('_', ' ')}"
    place = canvas.options.show_path(_show_place(context)) or take_line(context.text)
    room = max(columns - measure(chip) - 4, 1)
    shown = shorten(safe_text(place, single_line=True), room)
    yield INDENT + canvas.line(Text.assemble((f"{chip}  ", "dim"), (shown, "blue")))
    if canvas.options.is_full and context.text:
        lines = draw_plain(context.text, canvas, columns - 4, "dim")
        yield from indent(lines, canvas.styled("  │ ", "dim"))


def _show_place(context: Context) -> str:
    if context.path is None or context.first_line is None:
        return context.path or ""
    return f"{context.path}:{context.first_line}-{context.last_line}"


_NESTED = "  ┃ "


def draw_turn(view: TurnView, session: Session, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield the lines of one turn of `session`."""
    yield from draw_turn_rule(view, canvas, columns)
    marked = _find_marked(view, canvas.options.at)
    if None in marked:
        yield from point_at(draw_prompt(view, canvas.complete, columns - len(POINTER)), canvas)
    else:
        yield from draw_prompt(view, canvas, columns)
    for _, group in groupby(view.steps, key=type):
        lines = list(_draw_group(list(group), session, canvas, columns, marked))
        if lines:
            yield ""
            yield from lines


def _find_marked(view: TurnView, at: str) -> frozenset[str | None]:
    """Return the uuids of the steps of a turn that are marked.

    A prompt, or a record that no step shows, is marked as None: as are steps without a uuid, which
    say what else there is in such a record.
    """
    if not at:
        return frozenset()
    return frozenset({None} if at in (view.uuid, f"turn-{view.number}") else {at})


def _draw_group(
    steps: Sequence[Step],
    session: Session,
    canvas: Canvas,
    columns: int,
    marked: frozenset[str | None],
) -> Iterator[str]:
    """Yield consecutive steps of one kind: calls close together, texts apart."""
    calls = [step for step in steps if isinstance(step, ToolStep)]
    if calls and canvas.options.tools is ToolDetail.NONE:
        yield from draw_call_count(calls, canvas, columns)
        for call in calls:
            yield from _draw_subagents(call, session, canvas, columns)
        return
    for number, step in enumerate(steps):
        if number and isinstance(step, TextStep):
            yield ""
        if step.uuid in marked:
            whole = show_whole_call(step, session)
            lines = draw_step(whole, canvas.complete, columns - len(POINTER))
            yield from point_at(lines, canvas)
        else:
            yield from draw_step(step, canvas, columns)
        if isinstance(step, ToolStep):
            yield from _draw_subagents(step, session, canvas, columns)


def point_at(lines: Iterable[str], canvas: Canvas) -> Iterator[str]:
    """Yield the lines of what is marked, with a margin that leads the eye to it."""
    margin = canvas.styled(MARKED_MARGIN, "bold yellow")
    return indent(lines, canvas.styled(POINTER, "bold yellow"), margin)


def draw_step(step: Step, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield the lines of one step, without the subagents that a call started."""
    match step:
        case TextStep():
            yield from draw_text(step, canvas, columns)
        case ThinkingStep():
            yield from draw_thinking(step, canvas, columns)
        case ToolStep():
            yield from draw_call(step, canvas, columns)
        case NoticeStep() if canvas.options.is_full or not step.is_routine:
            yield from draw_notice(step, canvas, columns)


def _draw_subagents(
    call: ToolStep, session: Session, canvas: Canvas, columns: int
) -> Iterator[str]:
    for subagent in session.find_subagents(call.call_id) if call.subagents else ():
        yield from draw_subagent(subagent, canvas, columns)


def draw_subagent(subagent: Subagent, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield one line about a subagent, and below it everything it did if requested."""
    metrics = subagent.session.metrics
    name = safe_text(subagent.agent_type or "subagent", single_line=True)
    facts = join_facts(
        safe_text(subagent.description or "", single_line=True),
        format_count(metrics.tool_calls, "tool call"),
        format_duration(metrics.duration_ms) if metrics.duration_ms else None,
    )
    line = Text.assemble(("  ↳ ", "magenta"), (name, "bold magenta"), (f"  {facts}", "dim"))
    yield from canvas.fold(line, columns)
    only = canvas.options.agents.get(subagent.agent_id)
    if canvas.options.subagents or only is not None:
        room = max(columns - len(_NESTED), MIN_COLUMNS)
        margin = canvas.styled(_NESTED, "magenta")
        stop = None if only is None else only + 1
        for view in build_turn_views(subagent.session, start=only or 0, stop=stop):
            shown = show_whole_calls(view, subagent.session) if canvas.options.is_full else view
            yield from indent(draw_turn(shown, subagent.session, canvas, room), margin)
            yield margin.rstrip()
