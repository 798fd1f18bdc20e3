"""Checkpoints of a session, against the known truth at every prompt."""

from collections import Counter
from pathlib import Path

import pytest

from recollect.library.opening import open_transcript
from recollect.locations import TranscriptKind, discover_root
from recollect.versions.backups import BackupDirectory
from recollect.versions.replay import Grade
from recollect.versions.session_checkpoints import build_checkpoints
from tests.versions.ground_truth import Client, play


@pytest.mark.parametrize("version", ["2.0.77", "2.1.112", "2.1.325"])
def test_certain_files_are_what_they_were_at_the_prompt(tmp_path: Path, version: str) -> None:
    """What a checkpoint knows for certain is true, and most of the rest is too."""
    client = Client(tmp_path, version, 7, with_backups=True)
    play(client)
    outcomes = Counter[str]()
    for transcript in discover_root(tmp_path).transcripts:
        if transcript.kind is not TranscriptKind.SESSION:
            continue
        session = open_transcript(transcript)
        found = build_checkpoints(session, BackupDirectory(tmp_path))
        assert [each.number for each in found.checkpoints] == list(range(1, 9))
        for checkpoint in found.checkpoints:
            prompt = session.turns[checkpoint.number - 1].messages[0].records[0].uuid or ""
            truth = client.truth.at_prompt[prompt]
            for state in checkpoint.files:
                text = state.version.text if state.version and state.exists else None
                if state.exists and text is None:
                    outcomes["unknown"] += 1
                    continue
                is_right = text == truth.get(state.path)
                is_certain = state.known in (Grade.EXACT, Grade.REPLAYED)
                outcomes[f"{'certain' if is_certain else 'other'} {is_right}"] += 1
    assert outcomes["certain True"] > 300
    assert outcomes["certain False"] == 0
    assert outcomes["other True"] > 2 * outcomes["other False"]
