"""Text → HTML text: escaped, and with nothing hidden in it.

Characters that reorder or hide text mislead a reader of a page just as they do on a terminal, so
they are shown by name here too.
"""

from markupsafe import Markup, escape

from recollect.render.terminal import safe_text


def show_text(text: str) -> Markup:
    """`text` to stand between tags or in a quoted attribute."""
    return escape(safe_text(text))


def show_block(text: str, css_class: str) -> Markup:
    """`text` with its own line ends, in a block of class `css_class`."""
    return Markup('<pre class="{}">{}</pre>').format(css_class, show_text(text))
