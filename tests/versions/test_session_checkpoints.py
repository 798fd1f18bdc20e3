"""Checkpoints of a session, against the known truth at every prompt."""

from collections import Counter
from pathlib import Path

import pytest

from recollect.library.opening import open_transcript
from recollect.locations import TranscriptKind, discover_root
from recollect.versions.recorded_evidence import BackupDirectory
from recollect.versions.replay import Grade
from recollect.versions.session_checkpoints import build_checkpoints
from tests.versions.ground_truth import BASE, PROJECT, Client, File, SessionWriter, play

OLD, NEW = f"{PROJECT}/src/old.py", f"{PROJECT}/src/new.py"


@pytest.mark.parametrize("version", ["2.0.77", "2.1.112", "2.1.325"])
def test_certain_files_are_what_they_were_at_the_prompt(tmp_path: Path, version: str) -> None:
    """States from backups are always right, and at least nine in ten of the inferred ones."""
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
                is_certain = state.known is Grade.EXACT or not state.exists
                outcomes[f"{'certain' if is_certain else 'inferred'} {is_right}"] += 1
    assert outcomes["certain True"] > 300
    assert outcomes["certain False"] == 0
    assert outcomes["inferred True"] > 9 * outcomes["inferred False"]
    assert outcomes["unknown"] <= 30


def test_a_file_has_the_name_that_it_had_at_the_prompt(tmp_path: Path) -> None:
    """A checkpoint before a command that moved a file has it under its earlier name."""
    client = Client(tmp_path, "2.1.325", 7, with_backups=False)
    client.files[OLD] = File(["one_line = 1", "another_line = 2"], [BASE] * 2)
    writer = SessionWriter(client, 1)
    writer.prompt("Look around")
    writer.prompt("Move it")
    writer.rename(OLD, NEW)
    writer.edit(NEW)
    writer.prompt("Go on")
    writer.close()
    (transcript,) = discover_root(tmp_path).transcripts
    checkpoints = build_checkpoints(open_transcript(transcript)).checkpoints
    names = [[file.path for file in each.files] for each in checkpoints]
    assert names == [[OLD], [OLD], [NEW]]
    assert [file.known for each in checkpoints for file in each.files] == [Grade.INFERRED] * 3
