"""What is brought level by reading files: what sessions used, and which words they hold.

Needs most of the program; the list of sessions, which comes first, does not.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from recollect.locations import Transcript
from recollect.search.engine import RECIPE
from recollect.store.usage_queries import Ledger
from recollect.sync.texts import index_texts
from recollect.usage.groups import Group
from recollect.usage.loading import load_rows, open_books
from recollect.usage.opening import ask_ledger
from recollect.usage.reports import Question, make_report
from recollect.usage.zones import load_zone
from recollect.web.shelf import SessionUsage

TEXT_SECONDS: Final = 2.0
"""How long texts are indexed before files are looked at again."""


def count_usage(
    data_directory: Path, transcripts: Sequence[Transcript], roots: Sequence[Path]
) -> tuple[dict[str, SessionUsage], str | None]:
    """What each session used, and what is wrong with the index if anything is."""
    return ask_ledger(data_directory, transcripts, partial(_add_up, roots))


def index_some(data_directory: Path, transcripts: Sequence[Transcript]) -> bool:
    """Make texts searchable for a while; whether all of them are."""
    return index_texts(data_directory, RECIPE, transcripts, seconds=TEXT_SECONDS)


def _add_up(roots: Sequence[Path], ledger: Ledger) -> dict[str, SessionUsage]:
    question = Question(group=Group.SESSION, zone=load_zone("UTC"), breakdown=True)
    report = make_report(load_rows(open_books(ledger, roots), question), question)
    return {
        row.key: SessionUsage(row.totals, tuple(each.key for each in row.models if each.key))
        for row in report.rows
        if row.key is not None
    }
