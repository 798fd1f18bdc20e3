"""Output of programs → HTML, its colours as classes: a page may hold no style of its own."""

from collections.abc import Iterator

from markupsafe import Markup, escape

from recollect.render.terminal.ansi import Ink, iter_runs

_PLAIN = Ink()
_EMPHASIS = ("bold", "dim", "italic", "underline", "strike", "reverse")


def render_output(text: str, *, is_error: bool = False) -> Markup:
    """A block of output; line ends of other systems count as our own."""
    runs = Markup().join(
        _render_run(run, ink) for run, ink in iter_runs(text.replace("\r\n", "\n"))
    )
    css_class = "output error" if is_error else "output"
    return Markup('<pre class="{}">{}</pre>').format(css_class, runs)


def _render_run(text: str, ink: Ink) -> Markup:
    if ink == _PLAIN:
        return escape(text)
    return Markup('<span class="{}">{}</span>').format(" ".join(_iter_classes(ink)), text)


def _iter_classes(ink: Ink) -> Iterator[str]:
    if ink.hue:
        yield f"ink-{ink.hue}"
    for name in _EMPHASIS:
        if getattr(ink, name):
            yield f"ink-{name}"
