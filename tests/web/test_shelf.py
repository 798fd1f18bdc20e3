"""The shelf: states that follow each other, each whole."""

from pathlib import Path

import pytest

from recollect.errors import NothingFound
from recollect.locations import Transcript, TranscriptKind
from recollect.store.listings import Listing
from recollect.usage.totals import Totals
from recollect.web.shelf import SessionUsage, Shelf, Update, find_session


def _make_transcript(
    name: str, *, project: str = "p", kind: TranscriptKind = TranscriptKind.SESSION
) -> Transcript:
    return Transcript(
        file=f"/x/{project}/{name}.jsonl",
        project_dir=Path(f"/x/{project}"),
        kind=kind,
        session_id=name if kind is TranscriptKind.SESSION else None,
        agent_id=None,
        run_id=None,
        size=1,
        mtime_ns=1,
        device=1,
        inode=1,
    )


def _make_listing(transcript: Transcript, activity: float, **values: object) -> Listing:
    return Listing(
        id=Path(transcript.file).stem,
        project=transcript.project_dir.name,
        path=transcript.file,
        size=1,
        modified=activity,
        activity=activity,
        **values,  # type: ignore[arg-type]
    )


def _put(shelf: Shelf, *pairs: tuple[Transcript, Listing]) -> None:
    shelf.apply(
        Update(
            transcripts=tuple(each for each, _ in pairs),
            listings=tuple((listing.path, listing) for _, listing in pairs),
        )
    )


def test_sessions_are_ordered_by_activity() -> None:
    """Whatever the order in which they were told, the newest comes first."""
    shelf = Shelf()
    for number, name in enumerate(("a", "c", "b")):
        transcript = _make_transcript(name)
        _put(shelf, (transcript, _make_listing(transcript, number)))
    assert [each.id for each in shelf.known.sessions] == ["b", "c", "a"]


def test_what_is_gone_is_forgotten() -> None:
    """A file that vanished takes its session along, and a file without a session has none."""
    shelf = Shelf()
    first, second = _make_transcript("a"), _make_transcript("b")
    _put(shelf, (first, _make_listing(first, 1)), (second, _make_listing(second, 2)))
    shelf.apply(Update(gone=(first.file,)))
    shelf.apply(Update(listings=((second.file, None),)))
    assert (shelf.known.sessions, set(shelf.known.transcripts)) == ((), {second.file})


def test_states_are_not_changed_afterwards() -> None:
    """Whoever holds a state goes on seeing that state."""
    shelf = Shelf()
    transcript = _make_transcript("a")
    _put(shelf, (transcript, _make_listing(transcript, 1)))
    before = shelf.known
    shelf.apply(Update(gone=(transcript.file,), usage={"a": SessionUsage(Totals(messages=1))}))
    assert ([each.id for each in before.sessions], dict(before.usage)) == (["a"], {})
    assert shelf.known.version == before.version + 1


def test_failure_is_told_until_it_is_over() -> None:
    """What is wrong with the index stands until an update without it."""
    shelf = Shelf()
    shelf.fail("lost")
    failures = [shelf.known.failure]
    shelf.apply(Update(is_searchable=True))
    assert [*failures, shelf.known.failure] == ["lost", None]


def test_sessions_are_found_with_their_subagents() -> None:
    """By id, with the flat files that say whose they are, and no others."""
    shelf = Shelf()
    main, other = _make_transcript("a"), _make_transcript("b")
    own = _make_transcript("agent-1", kind=TranscriptKind.SUBAGENT)
    foreign = _make_transcript("agent-2", kind=TranscriptKind.SUBAGENT)
    _put(
        shelf,
        (main, _make_listing(main, 1)),
        (other, _make_listing(other, 2)),
        (own, _make_listing(own, 3, is_subagent=True, parent_id="a")),
        (foreign, _make_listing(foreign, 4, is_subagent=True, parent_id="b")),
    )
    found = find_session(shelf.known, "a")
    assert (found.transcript, found.relatives) == (main, (own,))


def test_ids_in_two_projects_are_told_apart() -> None:
    """The newest by itself, any other by its project."""
    shelf = Shelf()
    first, second = _make_transcript("a", project="p"), _make_transcript("a", project="q")
    _put(shelf, (first, _make_listing(first, 1)), (second, _make_listing(second, 2)))
    assert find_session(shelf.known, "a").transcript == second
    assert find_session(shelf.known, "a", "p").transcript == first
    with pytest.raises(NothingFound):
        find_session(shelf.known, "a", "r")
