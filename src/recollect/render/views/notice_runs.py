"""Runs of notices that say the same, such as retries of a request or hooks of one event.

A renderer shows a run as one line with the number of notices. JSON and tables have all steps.
"""

from collections.abc import Container, Iterable, Iterator
from itertools import groupby

from msgspec import Struct

from recollect.documents.turn_documents import NoticeKind, NoticeStep, Part, Step
from recollect.render.views.part_builders import FACT_SEPARATOR


class NoticeRun(Struct, frozen=True):
    """Two or more consecutive notices of one kind with the same words."""

    notices: tuple[NoticeStep, ...]

    @property
    def kind(self) -> NoticeKind:
        """The kind of all of them."""
        return self.notices[0].kind

    @property
    def words(self) -> str:
        """Their title, without the facts in which they differ, such as the number of an attempt."""
        return split_title(self.notices[0])[0]

    @property
    def count(self) -> str:
        """The number of notices, as shown after the text."""
        return f"\N{MULTIPLICATION SIGN}{len(self.notices):,}"

    def list_facts(self) -> list[str]:
        """Return the facts after the words of each title that has some."""
        return [facts for each in self.notices if (facts := split_title(each)[1])]

    def list_parts(self) -> list[Part]:
        """Return the contents of all notices, each once."""
        return list(dict.fromkeys(part for each in self.notices for part in each.parts))


def fold_notices(
    steps: Iterable[Step], apart: Container[str | None] = ()
) -> Iterator[Step | NoticeRun]:
    """Yield steps in order, with notices that repeat the one before as a run.

    Steps with the uuids in `apart` are never part of a run.
    """

    def name_run(step: Step) -> tuple[NoticeKind, str] | None:
        if isinstance(step, NoticeStep) and step.uuid not in apart:
            return (step.kind, split_title(step)[0])
        return None

    for key, group in groupby(steps, key=name_run):
        members = tuple(group)
        notices = tuple(each for each in members if isinstance(each, NoticeStep))
        if key is not None and len(notices) > 1:
            yield NoticeRun(notices)
        else:
            yield from members


def split_title(notice: NoticeStep) -> tuple[str, str]:
    """Return the words of a title and the facts after them."""
    words, _, facts = notice.title.partition(FACT_SEPARATOR)
    return words, facts
