"""Compare the results of the two readers for a session, and find the known differences."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tests.sdk.cases import Case
from tests.sdk.listed_differences import FIELDS, LISTED_DIFFERENCES, ListedDifference
from tests.sdk.message_differences import MESSAGE_DIFFERENCES, Loaded, MessageDifference

Difference = ListedDifference | MessageDifference

DIFFERENCES: tuple[Difference, ...] = (*LISTED_DIFFERENCES, *MESSAGE_DIFFERENCES)


class Verdict(NamedTuple):
    """The result of comparing one field of one session.

    `unexplained` has both values if no known difference explains them.
    """

    session: str
    field: str
    known: tuple[Difference, ...] = ()
    unexplained: tuple[object, object] | None = None

    @property
    def is_equal(self) -> bool:
        """Return whether both readers give the same value."""
        return not self.known and self.unexplained is None


def judge_all(cases: Iterable[Case]) -> list[Verdict]:
    """Compare everything that both readers return."""
    return [verdict for case in cases for verdict in _judge(case)]


def _judge(case: Case) -> Iterator[Verdict]:
    yield _judge_field(case, "listed")
    if case.official.listed is not None and case.is_listed:
        yield from (_judge_field(case, name) for name in FIELDS if name != "listed")
    yield _judge_messages(case)


def _judge_field(case: Case, name: str) -> Verdict:
    official, ours = FIELDS[name].official(case), FIELDS[name].ours(case)
    if official == ours:
        return Verdict(case.path.name, name)
    for difference in LISTED_DIFFERENCES:
        if difference.field == name and difference.explains(case):
            return Verdict(case.path.name, name, (difference,))
    return Verdict(case.path.name, name, unexplained=(official, ours))


def _judge_messages(case: Case) -> Verdict:
    ours = tuple(record.uuid or "" for record in case.session.resume_chain)
    loaded = Loaded(case.official.messages, ours)
    known: list[Difference] = []
    for difference in MESSAGE_DIFFERENCES:
        if loaded.official == loaded.ours:
            break
        left = difference.take_away(case, loaded)
        known += [difference] if left != loaded else []
        loaded = left
    unexplained = None if loaded.official == loaded.ours else (loaded.official, loaded.ours)
    return Verdict(case.path.name, "messages", tuple(known), unexplained)
