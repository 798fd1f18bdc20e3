"""Renders parts and steps for tests: without colours, unless they are what the test is about."""

from recollect.documents.turn_documents import Part
from recollect.render.terminal.canvas import Canvas, RenderOptions
from recollect.render.terminal.terminal_parts import render_part

PLAIN = Canvas(RenderOptions())
COLOURED = Canvas(RenderOptions(is_coloured=True))


def render(part: Part, columns: int = 40, canvas: Canvas = PLAIN) -> list[str]:
    """The lines of a part."""
    return [line.rstrip() for line in render_part(part, canvas, columns)]
