"""Versions of the files in real transcripts, against everything that is recorded elsewhere."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.errors import UnreadableInput
from recollect.library.opening import open_transcript
from recollect.locations import Transcript, TranscriptKind, discover
from recollect.versions.evidence import Cause, Evidence, Rename, Sighting
from recollect.versions.recorded_evidence import BackupDirectory
from recollect.versions.replay import CheckedPrediction, Grade, replay
from recollect.versions.session_evidence import collect_evidence


def _iter_transcripts(shared: Path) -> Iterator[Transcript]:
    for base in (shared / "corpus", *sorted(shared.glob("real_cli/*/config*"))):
        for each in discover(base).transcripts:
            is_stream = "_stream" in each.path.parts
            if each.kind is TranscriptKind.SESSION and not each.is_empty and not is_stream:
                yield each


@pytest.fixture(scope="module")
def sessions(shared: Path) -> list[tuple[Evidence, ...]]:
    """Return the evidence about files in each session."""
    found = []
    for each in _iter_transcripts(shared):
        try:
            session = open_transcript(each)
        except UnreadableInput:
            # Some samples are not transcripts.
            continue
        found.append(collect_evidence(session, backups=BackupDirectory(each.root)))
    return found


def _list_paths(evidence: tuple[Evidence, ...]) -> set[str]:
    return {each.path for each in evidence if not isinstance(each, Cause | Rename)}


def test_every_backup_is_reachable(sessions: list[tuple[Evidence, ...]]) -> None:
    """Each file-history backup is the content of some version of its file."""
    count = 0
    for evidence in sessions:
        for path in _list_paths(evidence):
            texts = {version.text for version in replay(path, evidence).versions}
            for each in evidence:
                if isinstance(each, Sighting) and each.backup and each.path == path:
                    count += 1
                    assert each.text in texts
    assert count >= 19


def test_predictions_agree_with_what_is_recorded_next(
    sessions: list[tuple[Evidence, ...]],
) -> None:
    """Replayed content is always what the next whole content says.

    Content that was certain may change outside; then some cause is always known.
    """
    checks: list[CheckedPrediction] = []
    for evidence in sessions:
        for path in _list_paths(evidence):
            checks += replay(path, evidence).checks
    replayed = [check for check in checks if check.predicted is Grade.REPLAYED]
    assert len(replayed) >= 130
    assert [check for check in replayed if not check.agrees] == []
    changed = [check for check in checks if not check.agrees]
    assert all(check.causes for check in changed)
    assert len(changed) <= 5
