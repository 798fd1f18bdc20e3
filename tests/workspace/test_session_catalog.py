"""The catalog: a sequence of immutable snapshots."""

from pathlib import Path

import pytest

from recollect.documents.session_listing import SessionListing, SessionUsage
from recollect.errors import NothingFound
from recollect.health.retention import Retention
from recollect.locations import Transcript, TranscriptKind
from recollect.workspace.session_catalog import SessionCatalog, Update, find_session
from recollect.workspace.session_queries import complete_listing


def _make_transcript(
    name: str, *, project: str = "p", kind: TranscriptKind = TranscriptKind.SESSION
) -> Transcript:
    return Transcript(
        file=f"/x/{project}/{name}.jsonl",
        project_dir=Path(f"/x/{project}"),
        project=project,
        kind=kind,
        session_id=name if kind is TranscriptKind.SESSION else None,
        agent_id=None,
        run_id=None,
        size=1,
        mtime_ns=1,
        device=1,
        inode=1,
        name=name,
        root=None,
    )


def _make_listing(transcript: Transcript, activity: float, **values: object) -> SessionListing:
    return SessionListing(
        id=Path(transcript.file).stem,
        project=transcript.project_dir.name,
        path=transcript.file,
        size=1,
        modified=activity,
        activity=activity,
        **values,  # type: ignore[arg-type]
    )


def _put(catalog: SessionCatalog, *pairs: tuple[Transcript, SessionListing]) -> None:
    catalog.apply(
        Update(
            transcripts=tuple(each for each, _ in pairs),
            listings=tuple((listing.path, listing) for _, listing in pairs),
        )
    )


def test_sessions_are_ordered_by_activity() -> None:
    """The newest comes first, in whatever order updates arrive."""
    catalog = SessionCatalog()
    for number, name in enumerate(("a", "c", "b")):
        transcript = _make_transcript(name)
        _put(catalog, (transcript, _make_listing(transcript, number)))
    assert [each.id for each in catalog.snapshot.sessions] == ["b", "c", "a"]


def test_what_is_gone_is_forgotten() -> None:
    """A deleted file removes its session, and a file without a session has none."""
    catalog = SessionCatalog()
    first, second = _make_transcript("a"), _make_transcript("b")
    _put(catalog, (first, _make_listing(first, 1)), (second, _make_listing(second, 2)))
    catalog.apply(Update(gone=(first.file,)))
    catalog.apply(Update(listings=((second.file, None),)))
    assert (catalog.snapshot.sessions, set(catalog.snapshot.transcripts)) == ((), {second.file})


def test_states_are_not_changed_afterwards() -> None:
    """A snapshot does not change after it was taken."""
    catalog = SessionCatalog()
    transcript = _make_transcript("a")
    _put(catalog, (transcript, _make_listing(transcript, 1)))
    before = catalog.snapshot
    catalog.apply(Update(gone=(transcript.file,), usage={"a": SessionUsage(replies=1)}))
    assert ([each.id for each in before.sessions], dict(before.present.usage)) == (["a"], {})
    assert catalog.snapshot.version == before.version + 1


def test_failure_is_reported_until_it_is_over() -> None:
    """A problem with the index is reported until an update without one."""
    catalog = SessionCatalog()
    catalog.fail("lost")
    failures = [catalog.snapshot.failure]
    catalog.apply(Update(is_searchable=True))
    assert [*failures, catalog.snapshot.failure] == ["lost", None]


def test_sessions_are_found_with_their_subagents() -> None:
    """By id, with the flat files that name it, and no others."""
    catalog = SessionCatalog()
    main, other = _make_transcript("a"), _make_transcript("b")
    own = _make_transcript("agent-1", kind=TranscriptKind.SUBAGENT)
    foreign = _make_transcript("agent-2", kind=TranscriptKind.SUBAGENT)
    _put(
        catalog,
        (main, _make_listing(main, 1)),
        (other, _make_listing(other, 2)),
        (own, _make_listing(own, 3, is_subagent=True, parent_id="a")),
        (foreign, _make_listing(foreign, 4, is_subagent=True, parent_id="b")),
    )
    found = find_session(catalog.snapshot, "a")
    assert (found.transcript, found.relatives) == (main, (own,))


def test_ids_in_two_projects_are_distinguished() -> None:
    """Without a project, the newest is found."""
    catalog = SessionCatalog()
    first, second = _make_transcript("a", project="p"), _make_transcript("a", project="q")
    _put(catalog, (first, _make_listing(first, 1)), (second, _make_listing(second, 2)))
    assert find_session(catalog.snapshot, "a").transcript == second
    assert find_session(catalog.snapshot, "a", "p").transcript == first
    with pytest.raises(NothingFound):
        find_session(catalog.snapshot, "a", "r")


def test_a_session_is_deleted_by_the_rule_of_its_own_root() -> None:
    """With several Claude directories, each has its own retention."""
    catalog = SessionCatalog()
    transcript = _make_transcript("a")
    _put(catalog, (transcript, _make_listing(transcript, 0)))
    catalog.apply(Update(retentions={"/x": Retention(days=90), "/y": Retention(days=1)}))
    known = catalog.snapshot
    row = complete_listing(known.sessions[0], known.present)
    assert row.expires == "1970-04-01T00:00:00+00:00"
