"""Render a session as lines for a terminal: header, turns, and what is stored beside it.

Lines are generated as they are printed, so the first page of a long session appears immediately.
"""

from collections.abc import Iterator, Sequence

from recollect.documents import session_documents, turn_documents
from recollect.render.terminal import terminal_turns
from recollect.render.terminal.canvas import Canvas, RenderOptions
from recollect.render.terminal.terminal_parts import render_head
from recollect.render.views import record_notices, turn_views, whole_calls
from recollect.session.branches import list_abandoned
from recollect.session.session import Session


def render_session(
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
    for view in turn_views.iter_turn_views(session, turns):
        yield from _render_fork(session, view, canvas)
        whole = whole_calls.show_whole_calls(view, session) if canvas.options.is_full else view
        shown = turn_views.keep_prompts(whole) if prompts_only else whole
        yield from terminal_turns.render_turn(shown, session, canvas, columns)
        yield ""
    if is_whole and not prompts_only:
        yield from _render_strays(session, canvas)
        for notice in record_notices.load_sidecar_notices(session):
            yield from terminal_turns.render_notice(notice, canvas, columns)
            yield ""


def _render_fork(session: Session, view: turn_documents.TurnView, canvas: Canvas) -> Iterator[str]:
    """Yield a line about each branch that was abandoned before this turn."""
    own = set(view.uuids)
    forks = [branch for branch in session.contents.branches if branch.chosen in own]
    if not forks:
        return
    others = list_abandoned(session.contents.branches)
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
