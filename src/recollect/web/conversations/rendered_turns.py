"""The last turns of a conversation as rendered for its pages, so that only new steps are rendered.

A turn grows by a step with every record. Each step is rendered once, and again only when it
changes. A page sends its revision and receives the turns that have changed since, each from its
first changed step. A run of notices is one rendered step.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, takewhile
from operator import is_
from typing import Final

from markupsafe import Markup
from msgspec import Struct

from recollect.documents.turn_documents import NoticeStep, Step, TurnView
from recollect.render.html import html_turns
from recollect.render.views.notice_runs import NoticeRun, fold_notices

MAX_KEPT: Final = 64
"""Number of turns to keep; pages request the last 20."""

MAX_REVISIONS: Final = 256
"""Number of revisions of a turn to keep; a page with an earlier one receives the whole turn."""


class RenderedStep(Struct, frozen=True):
    """A step as HTML, and the facts about it for the page and its turn."""

    source: Step | NoticeRun
    html: Markup
    elements: int
    changes: html_turns.StepChanges


class Revision(Struct, frozen=True):
    """The number of a rendering that changed a turn, and the first changed step."""

    number: int
    first: int


class RenderedTurn(Struct, frozen=True):
    """A turn, its steps as HTML, and how they have changed."""

    view: TurnView
    steps: tuple[RenderedStep, ...]
    revisions: tuple[Revision, ...]

    @property
    def revision(self) -> int:
        """The revision in which any part of it last changed."""
        return self.revisions[-1].number

    def find_first_change(self, since: int) -> int:
        """Return the first step that has changed since a revision."""
        if since < self.revisions[0].number:
            return 0
        later = takewhile(lambda each: each.number > since, reversed(self.revisions))
        return min(each.first for each in later)


class RenderedTurns:
    """The turns rendered last; used by one thread at a time."""

    def __init__(self) -> None:
        self.revision = 0
        """Counts the renderings that differed from the one before."""
        self._turns: dict[int, RenderedTurn] = {}
        self._language = ""

    def render(
        self, views: Sequence[TurnView], frame: html_turns.Frame, since: int | None = None
    ) -> tuple[Markup, ...]:
        """Render the changes since a revision; all turns without one."""
        if since is None or since > self.revision:
            since = -1
        rendered = self._update(views, frame)
        return tuple(_render(turn, frame, since) for turn in rendered if turn.revision > since)

    def _update(self, views: Sequence[TurnView], frame: html_turns.Frame) -> list[RenderedTurn]:
        known = self._turns if frame.language == self._language else {}
        revision = self.revision + 1
        rendered = [_rerender(known.get(view.number), view, frame, revision) for view in views]
        if any(turn.revision == revision for turn in rendered):
            self.revision = revision
        newest = sorted({**known, **{turn.view.number: turn for turn in rendered}}.items())
        self._turns = dict(newest[-MAX_KEPT:])
        self._language = frame.language
        return rendered


def _rerender(
    known: RenderedTurn | None, view: TurnView, frame: html_turns.Frame, revision: int
) -> RenderedTurn:
    if known is None:
        steps = tuple(_render_step(step, frame) for step in fold_notices(view.steps))
        return RenderedTurn(view, steps, (Revision(revision, 0),))
    if known.view == view:
        return known
    same = _count_same(known.view.steps, view.steps)
    kept, covered = _find_kept(known.steps, same)
    rest = tuple(_iter_steps(known.steps[kept:], view.steps[covered:], frame))
    first = kept + _count_same(known.steps[kept:], rest)
    revisions = (*known.revisions[1 - MAX_REVISIONS :], Revision(revision, first))
    return RenderedTurn(view, known.steps[:kept] + rest, revisions)


def _find_kept(steps: Sequence[RenderedStep], same: int) -> tuple[int, int]:
    """Return how many rendered steps show only the first `same` steps, and how many those are.

    The last one is rendered again if it may become part of a run.
    """
    covered = list(accumulate(map(_count_steps, steps), initial=0))
    kept = bisect_right(covered, same) - 1
    if kept and isinstance(steps[kept - 1].source, NoticeStep | NoticeRun):
        kept -= 1
    return kept, covered[kept]


def _count_steps(step: RenderedStep) -> int:
    return len(step.source.notices) if isinstance(step.source, NoticeRun) else 1


def _count_same(before: Sequence[object], after: Sequence[object]) -> int:
    """Return how many items at the beginning are the same objects."""
    # Without a Python loop: nearly all steps of a long turn are unchanged.
    same = list(map(is_, before, after))
    return same.index(False) if False in same else len(same)


def _iter_steps(
    before: Sequence[RenderedStep], steps: Sequence[Step], frame: html_turns.Frame
) -> Iterator[RenderedStep]:
    for number, step in enumerate(fold_notices(steps)):
        is_known = number < len(before) and before[number].source == step
        yield before[number] if is_known else _render_step(step, frame)


def _render_step(step: Step | NoticeRun, frame: html_turns.Frame) -> RenderedStep:
    return RenderedStep(
        step,
        html_turns.render_step(step, frame),
        html_turns.count_elements(step),
        html_turns.count_step_changes(step),
    )


def _render(turn: RenderedTurn, frame: html_turns.Frame, since: int) -> Markup:
    first = turn.find_first_change(since)
    return html_turns.render_grown_turn(
        turn.view,
        frame,
        [each.html for each in turn.steps[first:]],
        kept=sum(each.elements for each in turn.steps[:first]),
        changes=html_turns.add_changes(each.changes for each in turn.steps),
    )
