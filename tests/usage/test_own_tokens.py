"""Sessions and reports agree on a session's own tokens, without those copied into a fork."""

from pathlib import Path

import pytest

from recollect.documents.usage_groups import Group
from recollect.library.opening import open_transcript
from recollect.store.database import open_for_reading
from recollect.store.usage_queries import UsageQueries
from recollect.sync.index_access import find_transcripts
from recollect.sync.sync_engine import sync
from recollect.usage.ledger_access import UsageLedger, load_rows
from recollect.usage.reports import UsageQuery, make_report
from recollect.usage.zones import load_zone

FORKS = [
    ("2.1.325", "e696496a-4802-4fb1-9784-0bb2a9587685", 3_004, 8_749),
    ("1.0.35", "042f9b5d", 392, 331),
]


@pytest.mark.slow
@pytest.mark.parametrize(("version", "name", "own", "copied"), FORKS)
def test_copies_by_the_real_client(
    shared: Path, tmp_path: Path, version: str, name: str, own: int, copied: int
) -> None:
    """Tokens of the opened session equal those in the report by session."""
    root = shared / "real_cli" / version / "config"
    transcripts = find_transcripts([root])
    (transcript,) = [each for each in transcripts if each.path.stem.startswith(name)]
    metrics = open_transcript(transcript).metrics
    sync(tmp_path, transcripts)
    connection = open_for_reading(tmp_path)
    assert connection is not None
    question = UsageQuery(group=Group.SESSION, zone=load_zone("UTC"))
    report = make_report(
        load_rows(UsageLedger(UsageQueries(connection), [root]), question), question
    )
    (row,) = [row for row in report.rows if (row.key or "").startswith(name)]
    assert (metrics.tokens.total, row.totals.tokens) == (own, own)
    assert metrics.copied_tokens.total == copied
