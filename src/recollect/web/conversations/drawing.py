"""The last turns of a conversation as its pages have them, so that only what is new is drawn.

A turn grows by a step with every record. Each step is drawn once, and again only when it changes.
A page says which revision it has, and is sent the turns that changed since, each from its first
step that changed.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from markupsafe import Markup
from msgspec import Struct

from recollect.documents.turns import Step, TurnView
from recollect.render.html.html_turns import Frame, count_elements, render_grown_turn, render_step
from recollect.render.views.message_steps import CallSteps
from recollect.render.views.turn_views import build_turn_views
from recollect.session.session import Session

MAX_KEPT: Final = 64
"""How many turns are kept; pages ask for the last 20."""


class DrawnStep(Struct, frozen=True):
    """A step as HTML, and the revision in which it became that."""

    step: Step
    html: Markup
    revision: int


class DrawnTurn(Struct, frozen=True):
    """A turn, its steps as HTML, and the revision in which anything of it last changed."""

    view: TurnView
    steps: tuple[DrawnStep, ...]
    revision: int


class Drawing:
    """The turns that were drawn last; used by one thread at a time."""

    def __init__(self) -> None:
        self.revision = 0
        """Counts the drawings that differed from the one before."""
        self._turns: dict[int, DrawnTurn] = {}
        self._calls = CallSteps()
        self._language = ""

    def draw(
        self, session: Session, frame: Frame, turns: range, since: int | None = None
    ) -> tuple[Markup, ...]:
        """Draw what has changed since a revision in turns, given by index; all if there is none."""
        if since is None or since > self.revision:
            since = -1
        start, stop = turns.start, turns.stop
        views = build_turn_views(session, start=start, stop=stop, calls=self._calls)
        drawn = self._update(views, frame)
        return tuple(_render(turn, frame, since) for turn in drawn if turn.revision > since)

    def _update(self, views: Sequence[TurnView], frame: Frame) -> list[DrawnTurn]:
        known = self._turns if frame.language == self._language else {}
        revision = self.revision + 1
        drawn = [_redraw(known.get(view.number), view, frame, revision) for view in views]
        if any(turn.revision == revision for turn in drawn):
            self.revision = revision
        newest = sorted({**known, **{turn.view.number: turn for turn in drawn}}.items())
        self._turns = dict(newest[-MAX_KEPT:])
        self._language = frame.language
        return drawn


def _redraw(known: DrawnTurn | None, view: TurnView, frame: Frame, revision: int) -> DrawnTurn:
    if known is not None and known.view == view:
        return known
    before = known.steps if known else ()
    steps = tuple(_iter_steps(before, view.steps, frame, revision))
    return DrawnTurn(view, steps, revision)


def _iter_steps(
    before: Sequence[DrawnStep], steps: Sequence[Step], frame: Frame, revision: int
) -> Iterator[DrawnStep]:
    for number, step in enumerate(steps):
        known = before[number] if number < len(before) else None
        if known is not None and known.step == step:
            yield known
        else:
            yield DrawnStep(step, render_step(step, frame), revision)


def _render(turn: DrawnTurn, frame: Frame, since: int) -> Markup:
    changed = (number for number, each in enumerate(turn.steps) if each.revision > since)
    first = next(changed, len(turn.steps))
    kept = sum(count_elements(each.step) for each in turn.steps[:first])
    fresh = [each.html for each in turn.steps[first:]]
    return render_grown_turn(turn.view, frame, fresh, kept=kept)
