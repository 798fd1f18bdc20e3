"""Changes of files → the diffs that `recollect files --diff` prints."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from recollect.cli.files.text import describe_origin, describe_sum, show_path
from recollect.render.terminal.canvas import Canvas
from recollect.render.terminal.diffs import draw_diff, show_change
from recollect.render.terminal.look import Look
from recollect.render.terminal.parts import draw_part
from recollect.render.views.file_changes import Change
from recollect.render.views.parts import Diff


def iter_diffs(changes: Sequence[Change], look: Look, *, with_sessions: bool) -> Iterator[str]:
    """Yield each change as a diff below a line about it, and what they come to."""
    canvas = Canvas(look)
    for change in changes:
        title = Text.assemble(
            (show_path(change), "bold"),
            f"  {show_change(change.lines_added, change.lines_removed)}",
            (f"  {describe_origin(change, look, with_sessions=with_sessions)}", "dim"),
        )
        yield from canvas.wrap(title, look.columns)
        yield from map(str.rstrip, _draw(change, canvas))
        yield ""
    yield describe_sum(changes)


def _draw(change: Change, canvas: Canvas) -> Iterator[str]:
    for part in change.parts:
        if isinstance(part, Diff):
            yield from draw_diff(part, canvas, canvas.look.columns)
        else:
            yield from draw_part(part, canvas, canvas.look.columns)
