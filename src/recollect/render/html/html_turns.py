"""Turns and their steps → HTML, by the templates beside this module.

What opens behind a tool call is left out unless it is asked for: a page of a long session would
be fifty times its size otherwise. The call's line says where the rest is.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from markupsafe import Markup
from msgspec import Struct

from recollect.documents.turns import ToolStep, TurnView
from recollect.quantities import format_duration
from recollect.render.html.html_code import show_text
from recollect.render.html.html_parts import render_parts
from recollect.render.html.markdown import render_markdown

if TYPE_CHECKING:
    from jinja2 import Environment


def say_in_english(words: str) -> str:
    """The words of the templates as they stand: they are English."""
    return words


class Frame(Struct, frozen=True, kw_only=True):
    """What the page around a conversation decides."""

    address: str
    """Where the session lies in the page's site; what is left out lies below it."""
    query: str = ""
    """What follows the address of whatever lies below it, such as `?project=…`."""
    translate: Callable[[str], str] = say_in_english
    language: str = "en"
    """Of units, such as those of a duration."""
    is_whole: bool = False
    """Whether what opens behind a call is in the page itself, not fetched when it is opened."""
    show_cost: Callable[[TurnView], str] | None = None
    """What a turn cost, in words; prices are not known here."""


def render_turn(turn: TurnView, frame: Frame) -> Markup:
    """A turn with all of its steps."""
    return _render("turn.html", turn=turn, frame=frame)


def render_call(call: ToolStep, frame: Frame) -> Markup:
    """What opens behind the line of a call."""
    return _render("call.html", call=call, frame=frame)


def _render(template: str, **values: object) -> Markup:
    # Autoescape is on in every template, and nothing else makes text safe.
    return Markup(_environment().get_template(template).render(values))  # noqa: S704


@lru_cache(maxsize=1)
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined  # 80 ms

    environment = Environment(
        loader=PackageLoader("recollect.render.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        kind=lambda step: type(step).__name__,
        markdown=render_markdown,
        parts=render_parts,
        duration=format_duration,
        text=show_text,
    )
    return environment
