"""Our sessions equal those of the official reader, except for documented differences."""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from recollect.library.opening import open_session
from tests.samples import TRANSCRIPTS, every_transcript
from tests.sdk.cases import gather_cases
from tests.sdk.judging import DIFFERENCES, Verdict, judge_all
from tests.sdk.listed_differences import FIELDS
from tests.sdk.official import ask_officially
from tests.sdk.rare import RARE, SESSION_ID, Rare, write_session
from tests.sdk.sources import iter_recorded_roots, lay_out, list_samples

pytestmark = pytest.mark.sdk

PAGE = Path(__file__).resolve().parents[2] / "docs" / "dev" / "official-reader.md"


@cache
def judge_recordings(shared: Path) -> list[Verdict]:
    """Compare the recordings of real clients."""
    return [
        found for root in iter_recorded_roots(shared) for found in judge_all(gather_cases(root))
    ]


@cache
def judge_samples(shared: Path) -> list[Verdict]:
    """Compare sessions from elsewhere."""
    with lay_out(list_samples(shared), shared / "corpus") as root:
        return judge_all(gather_cases(root))


@cache
def judge_transcripts() -> list[Verdict]:
    """Compare our own small transcripts."""
    with lay_out(every_transcript(), TRANSCRIPTS) as root:
        return judge_all(gather_cases(root))


def list_unexplained(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Return the differences without an explanation."""
    return [verdict for verdict in verdicts if verdict.unexplained is not None]


def test_recordings_differ_only_as_listed(shared: Path) -> None:
    """Every session that a real client wrote is the same for both readers, or differs as listed."""
    assert list_unexplained(judge_recordings(shared)) == []


def test_samples_differ_only_as_listed(shared: Path) -> None:
    """Every session from elsewhere is the same for both readers, or differs as listed."""
    assert list_unexplained(judge_samples(shared)) == []


def test_own_transcripts_differ_only_as_listed() -> None:
    """Every small transcript, the damaged ones too, is the same for both, or differs as listed."""
    assert list_unexplained(judge_transcripts()) == []


@pytest.mark.parametrize("rare", RARE, ids=lambda rare: rare.official)
def test_rare_sessions_differ_as_documented(rare: Rare, tmp_path: Path) -> None:
    """For kinds of sessions that no sample has, both results are fixed in the tests."""
    path = write_session(tmp_path, rare)
    official = ask_officially(tmp_path, [SESSION_ID])[SESSION_ID]
    session = open_session(path)
    loaded = tuple(record.uuid for record in session.resume_chain)
    assert official.listed is not None
    assert (official.listed.title, official.messages) == rare.official_answers
    assert (session.metadata.title, loaded) == rare.our_answers


def test_no_difference_is_listed_in_vain(shared: Path) -> None:
    """Each documented difference still occurs somewhere; others are removed from the list."""
    seen = [*judge_recordings(shared), *judge_samples(shared), *judge_transcripts()]
    known = {difference for verdict in seen for difference in verdict.known}
    assert [difference for difference in DIFFERENCES if difference not in known] == []


def test_the_page_is_complete(shared: Path) -> None:
    """The tables of the page equal the current counts, which the message prints."""
    sources = (judge_recordings(shared), judge_samples(shared))
    tables = [_draw_fields(*sources), _draw_differences(*sources), _draw_rare()]
    page = PAGE.read_text(encoding="utf-8")
    outdated = [table for table in tables if table not in page]
    assert outdated == [], "\n".join(outdated)


def _draw_fields(*sources: list[Verdict]) -> str:
    """Return a table of fields: how many sessions were compared, and how many are equal."""
    rows = ["| | recordings | equal | samples | equal |", "|---|---:|---:|---:|---:|"]
    for name in (*FIELDS, "messages"):
        cells = [name]
        for verdicts in sources:
            found = [verdict for verdict in verdicts if verdict.field == name]
            cells += [str(len(found)), str(sum(verdict.is_equal for verdict in found))]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _draw_differences(*sources: list[Verdict]) -> str:
    counts = [Counter(known for verdict in found for known in verdict.known) for found in sources]
    rows = ["| | the official reader | ours | recordings | samples |", "|---|---|---|---:|---:|"]
    rows += [
        f"| {each.field} | {each.official} | {each.ours} | {counts[0][each]} | {counts[1][each]} |"
        for each in DIFFERENCES
    ]
    return "\n".join(rows) + "\n"


def _draw_rare() -> str:
    rows = ["| the official reader | ours |", "|---|---|"]
    return "\n".join([*rows, *(f"| {rare.official} | {rare.ours} |" for rare in RARE)]) + "\n"
