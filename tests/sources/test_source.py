"""Sessions are the same whatever source holds their files."""

import pytest

from recollect.demo import CLAUDE_DIRECTORY
from recollect.library.listings import SessionContext, read_listing
from recollect.library.opening import (
    IncrementalSession,
    find_subagent_files,
    open_transcript,
    read_first_part,
)
from recollect.locations import Transcript, TranscriptKind, discover_root
from recollect.locations.transcript_files import name_of
from recollect.reader import read_span, read_transcript
from recollect.session.session import Session
from recollect.sources.source import DIRECTORY, Source
from tests.sources.memory import BASE, MemorySource

ON_DISK = discover_root(CLAUDE_DIRECTORY).transcripts


@pytest.fixture(scope="module")
def source() -> MemorySource:
    """The demo's files, under names that are no paths on this disk."""
    assert not BASE.exists()
    return MemorySource(CLAUDE_DIRECTORY)


def find_in(source: MemorySource, transcript: Transcript) -> Transcript:
    """The same transcript in memory."""
    name = str(BASE / transcript.path.relative_to(CLAUDE_DIRECTORY))
    return next(each for each in source.transcripts if each.file == name)


def summarize(session: Session) -> tuple[object, ...]:
    """What a session says, without the names of its files."""
    return (
        [turn.words for turn in session.turns],
        (session.metrics.tokens, session.metrics.duration_ms, session.metrics.tool_calls),
        session.metadata.title,
        [(call.id, call.status) for call in session.tool_calls],
        [(each.agent_id, each.meta, summarize(each.session)) for each in session.subagents],
    )


@pytest.mark.parametrize("transcript", ON_DISK, ids=name_of)
def test_a_session_opens_from_memory(transcript: Transcript, source: MemorySource) -> None:
    """With its subagents and what the small files beside them say."""
    held = find_in(source, transcript)
    opened = open_transcript(held, source=source)
    assert summarize(opened) == summarize(open_transcript(transcript))


@pytest.mark.parametrize("transcript", ON_DISK, ids=name_of)
def test_a_session_catches_up_from_memory(transcript: Transcript, source: MemorySource) -> None:
    """However much of it was there at first."""
    held = find_in(source, transcript)
    whole = source.files[held.file]
    growing = IncrementalSession(source)
    relatives: tuple[Transcript, ...] = ()
    if held.kind is TranscriptKind.SESSION:
        relatives = find_subagent_files(held.project_dir, name_of(held), source)
    for size in (len(whole) // 3, whole.rfind(b"\n", 0, -1) + 1):
        source.files[held.file] = whole[:size]
        growing.catch_up(held._replace(size=size), relatives)
    source.files[held.file] = whole
    session = growing.catch_up(held, relatives)
    fresh = Session(read_transcript(held.file, source=source))
    assert [turn.words for turn in session.turns] == [turn.words for turn in fresh.turns]
    assert len(session.subagents) == len(open_transcript(held, source=source).subagents)


def test_records_are_read_back_by_their_spans(source: MemorySource) -> None:
    """The spans of a transcript in memory are those of its bytes."""
    for held in source.transcripts:
        spans = [each.span for each in read_transcript(held.file, source=source) if each.span]
        assert b"".join(read_span(span, source) for span in spans) == source.files[held.file]
        part = read_first_part(held, source=source)
        assert part.is_whole == (len(source.files[held.file]) <= 3 * 512 * 1024)


def test_lists_describe_what_is_in_memory(source: MemorySource) -> None:
    """Titles that are in other files of the project included."""
    sources: tuple[tuple[Source, tuple[Transcript, ...]], ...] = (
        (DIRECTORY, ON_DISK),
        (source, source.transcripts),
    )
    titles = []
    for each, transcripts in sources:
        context = SessionContext(each)
        found = [read_listing(transcript, context) for transcript in transcripts]
        titles.append([(listing.id, listing.title) for listing in found if listing])
    assert titles[0] == titles[1]
