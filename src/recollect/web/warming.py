"""Loads what the first page needs while nobody has asked for one yet.

Templates, Markdown and colours are loaded where they are first used, which is better done while the
browser is being opened. Other pages load theirs when they are asked for: somebody in a hurry would
wait for all of it.
"""

from recollect.records.decoding import decode_record
from recollect.render.html.conversation import Frame, render_turn
from recollect.render.views.turns import build_turn_views
from recollect.session.session import Session
from recollect.web.drawing import Drawing

_LINE = (
    b'{"type":"user","uuid":"a","message":{"role":"user","content":"```python\\nprint(1)\\n```"}}'
)


def warm_up(drawing: Drawing) -> None:
    """Draw a turn that nobody sees."""
    drawing.warm_up()
    record = decode_record(_LINE)
    session = Session([record] if record else ())
    for view in build_turn_views(session):
        render_turn(view, Frame(address=""))
