"""Render turns and their steps as HTML, with the templates beside this module.

The details of a tool call are left out unless requested: the page of a long session would be fifty
times as large. The line of the call has a link to them.
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
    """Return the text of the templates unchanged: it is English."""
    return words


class Frame(Struct, frozen=True, kw_only=True):
    """What the page around a conversation determines."""

    address: str
    """Path of the session on the site; details are at paths below it."""
    query: str = ""
    """Query string for those paths, such as `?project=…`."""
    translate: Callable[[str], str] = say_in_english
    language: str = "en"
    """The language of units, such as those of a duration."""
    is_whole: bool = False
    """Whether the details of calls are in the page itself, not fetched when they are opened."""
    show_cost: Callable[[TurnView], str] | None = None
    """Formats the cost of a turn; prices are not known here."""


def render_turn(turn: TurnView, frame: Frame) -> Markup:
    """Render a turn with all of its steps."""
    return _render("turn.html", turn=turn, frame=frame)


def render_call(call: ToolStep, frame: Frame) -> Markup:
    """Render the details of a call."""
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
