"""A session → the lines that `recollect show` prints."""

from collections.abc import Iterator, Sequence

from recollect.cli.show.selection import list_alternatives
from recollect.render.terminal.canvas import Canvas
from recollect.render.terminal.heads import draw_head
from recollect.render.terminal.look import Look
from recollect.render.terminal.prompts import draw_prompt, draw_turn_rule
from recollect.render.terminal.turns import draw_subagent, draw_turn
from recollect.render.views.conversation import TurnView
from recollect.render.views.turns import build_turn_views
from recollect.session.session import Session


def iter_session(
    session: Session,
    turns: Sequence[int],
    look: Look,
    *,
    is_whole: bool,
    prompts_only: bool,
) -> Iterator[str]:
    """Yield the lines of `turns`, below a head if that is all there is to see of the session."""
    canvas = Canvas(look)
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
    columns = canvas.look.columns
    if is_whole:
        yield from draw_head(session, canvas, columns)
        yield ""
    views = (
        view for turn in turns for view in build_turn_views(session, start=turn, stop=turn + 1)
    )
    for view in views:
        yield from _draw_fork(session, view, canvas)
        if prompts_only:
            yield from draw_turn_rule(view, canvas, columns)
            yield from draw_prompt(view, canvas, columns)
        else:
            yield from draw_turn(view, canvas, columns)
        yield ""
    if is_whole and not prompts_only:
        yield from _draw_strays(session, canvas)


def _iter_views(session: Session, turns: Sequence[int]) -> Iterator[TurnView]:
    for index in turns:
        yield from build_turn_views(session, start=index, stop=index + 1)


def _draw_fork(session: Session, view: TurnView, canvas: Canvas) -> Iterator[str]:
    """Yield a line about each other way that the conversation went before this turn."""
    own = set(view.uuids)
    numbers = {uuid: number for number, uuid in enumerate(list_alternatives(session), start=1)}
    for branch in session.branches:
        if branch.chosen in own:
            ways = [f"--branch {numbers[each]}" for each in branch.options if each in numbers]
            yield canvas.styled(
                f"├─ Taken up again here. What was left behind: {', '.join(ways)}", "yellow"
            )


def _draw_strays(session: Session, canvas: Canvas) -> Iterator[str]:
    """Yield the subagents of which nobody knows which call started them."""
    strays = [each for each in session.subagents if each.call is None and not each.is_warmup]
    if strays:
        yield canvas.styled("Subagents that no call here started", "bold")
    for each in strays:
        yield from draw_subagent(each, canvas, canvas.look.columns)
