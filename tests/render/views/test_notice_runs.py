"""Tests of recollect.render.views.notice_runs, and of the runs of real sessions."""

from pathlib import Path

from recollect.documents.turn_documents import (
    Fields,
    NoticeKind,
    NoticeStep,
    Plain,
    Prose,
    Step,
    TextStep,
)
from recollect.library.opening import open_session
from recollect.render.views.notice_runs import NoticeRun, fold_notices
from recollect.render.views.turn_views import build_turn_views

TEXT = TextStep(uuid="t", message_id="m", role="assistant", parts=(Prose("Done"),))


def _make_notice(uuid: str, title: str, kind: NoticeKind = NoticeKind.RETRY) -> NoticeStep:
    return NoticeStep(uuid=uuid, kind=kind, title=title)


def test_notices_with_the_same_words_are_a_run() -> None:
    """Details after the text may differ; text and kind may not, and notices must be adjacent."""
    failed, again, third = (
        _make_notice(str(number), f"The request failed · attempt {number} of 10")
        for number in range(3)
    )
    other = _make_notice("o", "The request failed with status 529")
    hook = _make_notice("h", "The request failed", NoticeKind.HOOK)
    steps: tuple[Step, ...] = (failed, again, other, hook, TEXT, TEXT, third)
    run = NoticeRun((failed, again))
    assert [*fold_notices(steps)] == [run, other, hook, TEXT, TEXT, third]
    assert (run.kind, run.words, run.count) == (NoticeKind.RETRY, "The request failed", "×2")
    assert run.list_facts() == ["attempt 0 of 10", "attempt 1 of 10"]


def test_a_step_can_be_kept_apart() -> None:
    """The target of a link stays separate, between the runs before and after it."""
    steps = [_make_notice(str(number), "Stop hook succeeded") for number in range(5)]
    assert [*fold_notices(steps, {"2"})] == [
        NoticeRun((steps[0], steps[1])),
        steps[2],
        NoticeRun((steps[3], steps[4])),
    ]


def test_contents_are_listed_once() -> None:
    """Equal parts of several notices are one part of the run."""
    refused, limited = Plain("Connection refused"), Fields((("status", "529"),))
    run = NoticeRun(
        tuple(
            NoticeStep(uuid=None, kind=NoticeKind.RETRY, title="Failed", parts=parts)
            for parts in ((refused,), (refused, limited), (), (limited,))
        )
    )
    assert run.list_parts() == [refused, limited]


def test_the_summaries_of_a_session_are_a_run(shared: Path) -> None:
    """A transcript that starts with 13 summaries of other sessions shows one line for them."""
    (path,) = (shared / "corpus").rglob("343e3472*.jsonl")
    view = build_turn_views(open_session(path), stop=1)[0]
    runs = [each for each in fold_notices(view.steps) if isinstance(each, NoticeRun)]
    assert [(each.words, each.count) for each in runs][:2] == [
        ("Summary of a session", "×13"),
        ("Summary of a session", "×5"),
    ]
