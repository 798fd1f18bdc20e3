"""A session as plain text, rendered as by `recollect show`, with times in UTC.

Separate from the other formats because it loads the terminal renderer.
"""

from collections.abc import Iterator
from datetime import UTC
from functools import partial
from itertools import groupby
from typing import Final

from recollect.documents.turn_documents import Step, SubagentReference, TextStep, ToolStep, TurnView
from recollect.export.export_content import ExportContent
from recollect.export.export_options import ExportOptions, Level, select_steps
from recollect.export.writing import Piece
from recollect.render.terminal import safe_line, terminal_turns
from recollect.render.terminal.canvas import Canvas, RenderOptions, ToolDetail, indent
from recollect.render.views.notice_runs import NoticeRun

COLUMNS: Final = 100
_MIN_COLUMNS: Final = 40
_NESTED: Final = "  | "


def iter_text(content: ExportContent, options: ExportOptions) -> Iterator[Piece]:
    """Yield the text piece by piece."""
    is_full = options.level is Level.FULL
    canvas = Canvas(
        RenderOptions(
            columns=COLUMNS,
            tools=ToolDetail.FULL if is_full else ToolDetail.BRIEF,
            thinking=is_full,
            zone=UTC,
            directory=content.metadata.cwd,
        )
    )
    yield "".join(f"{line}\n" for line in _list_head(content))
    for turn in content.turns:
        yield partial(_join_turn, select_steps(turn, options.level), canvas)
    for stray in content.strays:
        yield "\n" + "".join(f"{line.rstrip()}\n" for line in _render_child(stray, canvas, COLUMNS))
    for notice in content.notices:
        lines = terminal_turns.render_notice(notice, canvas, COLUMNS)
        yield "\n" + "".join(f"{line.rstrip()}\n" for line in lines)


def _join_turn(turn: TurnView, canvas: Canvas) -> str:
    return "\n" + "".join(
        f"{line.rstrip()}\n" for line in _render_plain_turn(turn, canvas, COLUMNS)
    )


def _list_head(content: ExportContent) -> list[str]:
    about = content.metadata
    named = (
        ("session", about.id),
        ("project", about.cwd),
        ("branch", about.git_branch),
        ("started", about.created),
        *content.facts,
    )
    facts = (f"{name}: {text}" for name, text in named if text)
    return [safe_line(line) for line in (content.title, *facts)]


def _render_plain_turn(turn: TurnView, canvas: Canvas, columns: int) -> Iterator[str]:
    yield from terminal_turns.render_turn_rule(turn, canvas, columns)
    yield from terminal_turns.render_prompt(turn, canvas, columns)
    for _, group in groupby(turn.steps, key=type):
        lines = list(_render_group(list(group), canvas, columns))
        if lines:
            yield ""
            yield from lines


def _render_group(steps: list[Step], canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield consecutive steps of one kind, with a blank line before each text but the first."""
    for number, step in enumerate(terminal_turns.fold_steps(steps, canvas)):
        if number and isinstance(step, TextStep):
            yield ""
        if isinstance(step, NoticeRun):
            yield from terminal_turns.render_run(step, canvas, columns)
            continue
        yield from terminal_turns.render_step(step, canvas, columns)
        for child in step.subagents if isinstance(step, ToolStep) else ():
            yield from _render_child(child, canvas, columns)


def _render_child(child: SubagentReference, canvas: Canvas, columns: int) -> Iterator[str]:
    name = child.agent_type or "subagent"
    about = child.description or child.agent_id
    yield safe_line(f"  -> {name}  {about}")
    room = max(columns - len(_NESTED), _MIN_COLUMNS)
    for turn in child.turns or () if canvas.options.is_full else ():
        yield from indent(_render_plain_turn(turn, canvas, room), _NESTED)
        yield _NESTED.rstrip()
