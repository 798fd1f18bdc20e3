"""Render parts and steps for tests, without colours by default."""

from recollect.documents.turn_documents import Part
from recollect.render.terminal.canvas import Canvas, RenderOptions
from recollect.render.terminal.terminal_parts import render_part

PLAIN = Canvas(RenderOptions())
COLOURED = Canvas(RenderOptions(is_coloured=True))


def render(part: Part, columns: int = 40, canvas: Canvas = PLAIN) -> list[str]:
    """Return the lines of a part."""
    return [line.rstrip() for line in render_part(part, canvas, columns)]
