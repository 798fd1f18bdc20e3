"""The steps of a turn that are no tool calls: what was said, thought and noted."""

from collections.abc import Iterator

from rich.text import Text

from recollect.render.terminal.canvas import Canvas, cut_lines, indent
from recollect.render.terminal.parts import draw_part
from recollect.render.terminal.prose import draw_plain
from recollect.render.terminal.text import measure, safe_text
from recollect.render.views.conversation import Noted, NoticeKind, Said, Thought
from recollect.render.views.words import count_of

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
    NoticeKind.DAMAGE: ("▲", "red"),
    NoticeKind.UNKNOWN: ("?", "yellow"),
}


def draw_said(step: Said, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield what was said; what a person said in between has the bar of a prompt."""
    margin = INDENT if step.role == "assistant" else canvas.styled(BAR, "cyan")
    for number, part in enumerate(step.parts):
        if number:
            yield margin.rstrip()
        yield from indent(draw_part(part, canvas, columns - 2), margin)


def draw_thought(step: Thought, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield a thought whole, or folded to its first line."""
    sign = canvas.styled("∴ ", "dim")
    room = columns - 2
    if canvas.look.thinking:
        text = step.text or "(a thought of which only the signature was kept)"
        yield from indent(draw_plain(text, canvas, room, "dim italic"), sign, INDENT)
        return
    lines = safe_text(step.text).strip().splitlines()
    if lines:
        more = f"  {count_of(len(lines) - 1, 'more line')}" if len(lines) > 1 else ""
        first = Text(safe_text(lines[0], single_line=True), "dim italic")
        first.truncate(max(room - measure(more), 1), overflow="ellipsis")
        yield sign + canvas.line(Text.assemble(first, (more, "dim")))


def draw_notice(step: Noted, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield a notice: a line across for a compaction, a sign and a title for others."""
    title = safe_text(step.title, single_line=True)
    sign, style = _NOTICES[step.kind]
    if step.kind is NoticeKind.COMPACTION:
        yield from draw_rule(title, canvas, columns, style)
    else:
        words = canvas.wrap(Text(title, style), columns - 2)
        yield from indent(words, canvas.styled(f"{sign} ", style), INDENT)
    for part in step.parts:
        lines = draw_part(part, canvas, columns - 4)
        shown = lines if canvas.look.is_full else cut_lines(lines, canvas)
        yield from indent(shown, canvas.styled("  │ ", "dim"))


def draw_rule(title: str, canvas: Canvas, columns: int, style: str) -> Iterator[str]:
    """Yield a line across with a title in it, which is below it where there is no room."""
    if measure(title) > columns - 8:
        yield canvas.styled("╌" * columns, style)
        yield from canvas.wrap(Text(title, style), columns)
        return
    left = (columns - measure(title) - 2) // 2
    right = columns - measure(title) - 2 - left
    yield canvas.styled(f"{'╌' * left} {title} {'╌' * right}", style)
