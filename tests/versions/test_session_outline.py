"""An expanded outline of a session equals the session itself."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest
from msgspec.structs import replace

from recollect.errors import UnreadableInput
from recollect.library.opening import open_transcript
from recollect.locations import Transcript, TranscriptKind, discover, discover_root
from recollect.versions.commit_links import make_outline
from recollect.versions.evidence import Cause, Evidence, Rename
from recollect.versions.recorded_evidence import BackupDirectory
from recollect.versions.session_evidence import collect_evidence
from recollect.versions.session_outline import (
    OutdatedOutline,
    decode_outline,
    encode_outline,
    expand_outline,
)
from tests.versions.ground_truth import Client, play


def _shorten(evidence: Iterable[Evidence]) -> list[Evidence]:
    """Leave out of causes what an outline does not keep."""
    return [
        replace(
            each,
            detail="",
            origin=replace(
                each.origin,
                uuid=(each.origin.uuid or "")[:8] or None,
                agent_id=None,
                call_id=None,
                tool=None,
                model=None,
                prompt="",
            ),
        )
        if isinstance(each, Cause)
        else each
        for each in evidence
    ]


def _split_by_path(evidence: Iterable[Evidence]) -> dict[str, list[Evidence]]:
    found: dict[str, list[Evidence]] = defaultdict(list)
    for each in evidence:
        found[each.path or ""].append(each)
    return found


def _assert_same(transcript: Transcript) -> int:
    """Compare all files of a session; return how many there are."""
    session = open_transcript(transcript)
    backups = BackupDirectory(transcript.root)
    outline = decode_outline(encode_outline(make_outline(session)))
    assert outline is not None
    recorded = _split_by_path(_shorten(collect_evidence(session, backups)))
    expanded = _split_by_path(_shorten(expand_outline(outline, lambda path: path, backups)))
    assert expanded == recorded
    return len(recorded)


@pytest.mark.parametrize("version", ["1.0.128", "2.0.77", "2.1.112", "2.1.325"])
def test_an_outline_expands_to_what_the_session_says(tmp_path: Path, version: str) -> None:
    """Everything that a session records about its files can be read through its outline."""
    client = Client(tmp_path, version, 5, with_backups=version > "2")
    play(client, sessions=1, prompts=4, steps=6)
    transcripts = discover_root(tmp_path).transcripts
    count = sum(_assert_same(each) for each in transcripts if each.kind is TranscriptKind.SESSION)
    assert count > 5


def test_only_the_wanted_file_is_read(tmp_path: Path) -> None:
    """Of other files there is nothing but what may have changed any file."""
    client = Client(tmp_path, "2.1.325", 6, with_backups=False)
    play(client, sessions=1, prompts=4, steps=6)
    (transcript,) = (
        each for each in discover_root(tmp_path).transcripts if each.kind is TranscriptKind.SESSION
    )
    session = open_transcript(transcript)
    path = next(
        each.path
        for each in collect_evidence(session)
        if each.path and not isinstance(each, Cause | Rename)
    )
    backups = BackupDirectory(tmp_path)
    found = expand_outline(
        make_outline(session), lambda each: each if each == path else None, backups
    )
    every = collect_evidence(session, backups)
    assert _shorten(found) == _shorten(
        each
        for each in every
        if each.path == path or (each.path is None and isinstance(each, Cause))
    )


def test_an_outline_of_lines_that_changed_is_not_used(tmp_path: Path) -> None:
    """A line with something else in it is noticed, not read as if it were the call."""
    client = Client(tmp_path, "2.1.325", 5, with_backups=False)
    play(client, sessions=1, prompts=2, steps=4)
    (transcript,) = (
        each for each in discover_root(tmp_path).transcripts if each.kind is TranscriptKind.SESSION
    )
    outline = make_outline(open_transcript(transcript))
    transcript.path.write_bytes(transcript.path.read_bytes().replace(b"toolu_", b"other_"))
    with pytest.raises(OutdatedOutline):
        expand_outline(outline, lambda path: path, BackupDirectory(tmp_path))


@pytest.mark.slow
def test_outlines_of_real_sessions_expand_to_what_they_say(shared: Path) -> None:
    """The same holds for real transcripts of all versions; the few others are read completely."""
    count = outdated = 0
    for base in (shared / "corpus", *sorted(shared.glob("real_cli/*/config*"))):
        for each in discover(base).transcripts:
            if each.kind is not TranscriptKind.SESSION or each.is_empty:
                continue
            try:
                count += _assert_same(each)
            except UnreadableInput:
                continue
            except OutdatedOutline:
                outdated += 1
    assert count > 300
    assert outdated <= 3
