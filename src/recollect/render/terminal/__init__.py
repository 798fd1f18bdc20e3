"""Sessions as lines for a terminal, with nothing in them that a terminal would execute.

Making text safe costs nothing to import; drawing loads rich, and only commands that draw import it.
"""

from recollect.render.terminal.safe_text import (
    ESCAPE_SIGN,
    POINTER,
    clip,
    measure,
    restore_text,
    safe_text,
    shorten,
)

__all__ = ["ESCAPE_SIGN", "POINTER", "clip", "measure", "restore_text", "safe_text", "shorten"]
