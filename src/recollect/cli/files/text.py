"""Changes of files → the list that `recollect files` prints."""

from collections.abc import Iterator, Sequence

import click

from recollect.cli.colours import faint, strong
from recollect.cli.session_labels import label_id
from recollect.cli.tables import GAP, pad, plural
from recollect.render.terminal import measure, safe_text, shorten
from recollect.render.terminal.look import Look
from recollect.render.terminal.moments import show_moment
from recollect.render.views.file_changes import Change
from recollect.session.files import FileAction

_LEAST_PATH = 16


def iter_list(changes: Sequence[Change], look: Look, *, with_sessions: bool) -> Iterator[str]:
    """Yield one line per change, and what they come to."""
    rows = [_make_cells(change, look, with_sessions=with_sessions) for change in changes]
    widths = [max(map(measure, column)) for column in zip(*rows, strict=True)]
    room = look.columns - sum(widths) - len(GAP) * len(widths)
    sides = "<" * (len(widths) - 2) + ">>"
    for change, row in zip(changes, rows, strict=True):
        cells = [pad(*cell) for cell in zip(row, widths, sides, strict=True)]
        path = shorten(show_path(change), max(room, _LEAST_PATH))
        yield GAP.join([*_paint(cells), path]).rstrip()
    yield ""
    yield describe_sum(changes)


def describe_origin(change: Change, look: Look, *, with_sessions: bool) -> str:
    """When, by what and in which session a change was made."""
    when, *names, _, _ = _make_cells(change, look, with_sessions=with_sessions)
    return GAP.join([when, *names])


def describe_sum(changes: Sequence[Change]) -> str:
    """How many changes there are, and what they come to."""
    files = len({change.path for change in changes})
    added = sum(change.lines_added for change in changes)
    removed = sum(change.lines_removed for change in changes)
    counts = f"{plural(len(changes), 'change')} in {plural(files, 'file')}"
    return strong(f"{counts}, +{added:,} -{removed:,} lines")


def show_path(change: Change) -> str:
    """The file, from the session's directory if it lies there, and whether it is a new one."""
    path = Look(directory=change.cwd).show_path(change.path)
    shown = safe_text(path, single_line=True)
    return f"{shown} (new)" if change.action is FileAction.CREATE else shown


def _make_cells(change: Change, look: Look, *, with_sessions: bool) -> list[str]:
    tool = f"{change.tool}, subagent" if change.agent_id else change.tool
    session = [label_id(change.session_id)]
    return [
        show_moment(change.timestamp, look.zone),
        *(session if with_sessions else []),
        safe_text(tool, single_line=True),
        f"+{change.lines_added:,}",
        f"-{change.lines_removed:,}",
    ]


def _paint(cells: Sequence[str]) -> list[str]:
    *names, added, removed = cells
    signs = [click.style(added, fg="green"), click.style(removed, fg="red")]
    return [*map(faint, names), *signs]
