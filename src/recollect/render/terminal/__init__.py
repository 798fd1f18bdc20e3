"""Session → lines of a terminal, with nothing in them that a terminal would obey.

Making text safe costs nothing to import; what draws loads rich, and only commands that draw
import it.
"""

from recollect.render.terminal.text import ESCAPE_SIGN, clip, measure, safe_text, shorten

__all__ = ["ESCAPE_SIGN", "clip", "measure", "safe_text", "shorten"]
