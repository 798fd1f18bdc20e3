"""What opened a turn → a rule with its facts, the words behind a bar, and what came with them."""

from collections.abc import Iterator

from rich.text import Text

from recollect.render.terminal.canvas import Canvas, cut_lines, indent
from recollect.render.terminal.moments import show_moment
from recollect.render.terminal.parts import draw_part
from recollect.render.terminal.prose import draw_plain
from recollect.render.terminal.steps import BAR, INDENT
from recollect.render.terminal.text import measure, safe_text, shorten
from recollect.render.views.conversation import TurnView
from recollect.render.views.words import count_of, join_facts, take_line, time_of
from recollect.session.contexts import Context
from recollect.session.prompts import InputKind

_RULE = "─"
_UNNAMED = (None, InputKind.TYPED, InputKind.COMMAND, InputKind.SHELL)
_LEAST_RULE = 4
_USUAL_MODE = "default"


def draw_turn_rule(view: TurnView, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield the line that a turn begins with: its number, when it was, and what it took."""
    label = join_facts(show_moment(view.start, canvas.look.zone), *_list_labels(view))
    line = Text.assemble(
        (f"{_RULE * 2} ", "dim"), (f"{view.index + 1}", "bold cyan"), (f"  {label}".rstrip(), "dim")
    )
    room = columns - measure(line.plain)
    facts = _fit_facts(view, room - _LEAST_RULE - 4)
    end = f" {facts} {_RULE}" if facts else ""
    fill = max(room - 1 - measure(end), _LEAST_RULE)
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
    """As many facts about the turn as there is room for, the model being the first to go."""
    took = time_of(view.active_ms) if view.active_ms else None
    tokens = count_of(view.tokens.total, "token") if view.tokens.total else None
    model = safe_text(view.model or "", single_line=True)
    choices = (join_facts(model, took, tokens), join_facts(took, tokens), took or "")
    return next((facts for facts in choices if measure(facts) <= room), "")


def draw_prompt(view: TurnView, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield the words that opened a turn, with the contexts and pictures that came along."""
    words = _join_words(view)
    if words:
        style = "bold" if view.is_by_person else ""
        lines = draw_plain(words, canvas, columns - 2, style)
        shown = lines if view.is_by_person or canvas.look.is_full else cut_lines(lines, canvas)
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
    """Yield one line about what came with a prompt, and all of it where that is wanted."""
    chip = f"+ {str(context.kind).replace('_', ' ')}"
    place = canvas.look.show_path(_show_place(context)) or take_line(context.text)
    room = max(columns - measure(chip) - 4, 1)
    shown = shorten(safe_text(place, single_line=True), room)
    yield INDENT + canvas.line(Text.assemble((f"{chip}  ", "dim"), (shown, "blue")))
    if canvas.look.is_full and context.text:
        lines = draw_plain(context.text, canvas, columns - 4, "dim")
        yield from indent(lines, canvas.styled("  │ ", "dim"))


def _show_place(context: Context) -> str:
    if context.path is None or context.first_line is None:
        return context.path or ""
    return f"{context.path}:{context.first_line}-{context.last_line}"
