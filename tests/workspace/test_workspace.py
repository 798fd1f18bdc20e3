"""The workspace: the same result for every front end, whatever the state of the index."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.demo import CLAUDE_DIRECTORY
from recollect.errors import AmbiguousSession, NothingFound
from recollect.library.opening import open_session
from recollect.library.session_filters import SessionOrder, SessionQuery
from recollect.live.follow import FollowOptions
from recollect.live.live_events import Appended
from recollect.locations.place_names import PlaceName
from recollect.search.engine import SearchOptions
from recollect.store.data_directory import INDEX_NAME, find_text_path
from recollect.sync import load_figures
from recollect.workspace import searching
from recollect.workspace.maintenance import SyncOptions
from recollect.workspace.resources import NoSessions
from recollect.workspace.session_places import locate
from recollect.workspace.workspace import Workspace, open_workspace
from tests.library.claude_root import FIRST, SECOND, ClaudeRoot, prompt, reply, title

HARBOUR = "94791a87-9d13-410a-a632-25a9b25c1b45"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Open a workspace on the sample sessions."""
    data = tmp_path_factory.mktemp("workspace")
    with open_workspace(CLAUDE_DIRECTORY, data) as workspace:
        yield workspace


def test_hits_name_the_turn_that_they_land_in(demo: Workspace) -> None:
    """The number of a hit is the turn that its link shows; a title or a list has none."""
    hits = [
        hit
        for word in ("tide", "import", "cli", "harbour")
        for hit in demo.search(word, SearchOptions(per_session=50)).hits
        if not hit.is_subagent and hit.path.endswith(".jsonl")
    ]
    sessions = {hit.session_id: open_session(hit.session_id, root=CLAUDE_DIRECTORY) for hit in hits}
    wrong = []
    for hit in hits:
        name = PlaceName(hit.session_id, hit.link.partition("#")[2], offset=hit.offset)
        at = locate(sessions[hit.session_id], name, ()) if hit.part != "title" else None
        if hit.turn != (at and at.turn + 1):
            wrong.append((hit, at))
    assert (wrong, len(hits) > 20) == ([], True)


def test_turns_of_a_large_file_are_not_counted_for_a_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search does not read long files for a number; it is included once they are counted."""
    root = ClaudeRoot(tmp_path / "claude")
    root.session(FIRST, prompt("alpha", uuid="u1"), reply("beta", uuid="u2", parentUuid="u1"))
    with open_workspace(root.path, tmp_path / "data") as workspace:
        monkeypatch.setattr(searching, "_MAX_COUNTED_BYTES", 10)
        (hit,) = workspace.search("beta").hits
        assert hit.turn is None
        load_figures(workspace.data_directory, workspace.find_transcripts())
        (hit,) = workspace.search("beta").hits
        assert hit.turn == 1


@pytest.mark.parametrize(
    "name",
    [HARBOUR, HARBOUR[:8], "Speed up the harbour import", "HARBOUR", "latest", "-1"],
)
def test_a_session_goes_by_many_names(demo: Workspace, name: str) -> None:
    """By its id, the start of it, its title, words of the title, and its age."""
    newest = demo.sessions(page_size=1).sessions[0]
    expected = newest.id if name in ("latest", "-1") else HARBOUR
    assert demo.open(name).id == expected


def test_a_path_needs_no_claude_directory(tmp_path: Path) -> None:
    """A file can be opened anywhere."""
    root = ClaudeRoot(tmp_path / "claude")
    path = root.session(FIRST, prompt("drain"))
    with open_workspace(tmp_path / "missing", tmp_path / "data") as workspace:
        assert workspace.open(str(path)).id == FIRST


def test_an_ambiguous_name_has_candidates(demo: Workspace) -> None:
    """The error lists what a user needs to choose."""
    with pytest.raises(AmbiguousSession) as raised:
        demo.find("the")
    candidates = raised.value.candidates
    assert len(candidates) > 1
    assert all(demo.find(each.name).file for each in candidates)


def test_an_opened_session_is_priced_like_that_of_the_library(demo: Workspace) -> None:
    """At list prices, unless the caller finds that too slow."""
    priced = open_session(HARBOUR, root=CLAUDE_DIRECTORY).metrics.list_price_usd
    assert priced is not None
    assert demo.open(HARBOUR).metrics.list_price_usd == priced
    assert demo.open(HARBOUR, with_prices=False).metrics.list_price_usd is None


def test_lists_reports_and_explanations_agree(demo: Workspace) -> None:
    """The cost of a session is the same figure everywhere."""
    listed = {each.id: each for each in demo.sessions(with_usage=True).sessions}
    rows = {row.key: row for row in demo.usage("session").rows}
    assert rows.keys() == listed.keys()
    for key, row in rows.items():
        assert (listed[key or ""].cost_usd, listed[key or ""].tokens) == (row.cost_usd, row.tokens)
        assert listed[key or ""].title == row.title
        totals = demo.explain(key or "").explanation.totals
        assert (totals.tokens, totals.messages) == (row.totals.tokens, row.totals.messages)


def test_every_group_adds_up_to_the_same(demo: Workspace) -> None:
    """The total is the same, however usage is grouped."""
    groups = ("day", "week", "month", "session", "project", "model", "branch", "version")
    totals = [demo.usage(group).report.totals for group in groups]
    assert totals == [totals[0]] * len(groups)
    for group in groups:
        assert sum(row.tokens for row in demo.usage(group).rows) == totals[0].tokens


def test_a_limit_cuts_rows_and_not_totals(demo: Workspace) -> None:
    """The number of omitted rows is included."""
    whole, cut = demo.usage("session"), demo.usage("session", limit=3)
    assert (len(cut.rows), cut.omitted_rows) == (3, len(whole.rows) - 3)
    assert cut.report.totals == whole.report.totals


@pytest.mark.parametrize("order", ["activity", "modified", "created", "size", "cost", "tokens"])
def test_sessions_can_be_sorted(demo: Workspace, order: SessionOrder) -> None:
    """Largest first, whatever the key."""
    found = demo.sessions(SessionQuery(order=order)).sessions
    keys: dict[str, list[float]] = {
        "activity": [each.activity for each in found],
        "modified": [each.modified for each in found],
        "created": [datetime.fromisoformat(each.created or "").timestamp() for each in found],
        "size": [each.size for each in found],
        "cost": [each.cost_usd or 0 for each in found],
        "tokens": [each.tokens or 0 for each in found],
    }
    assert keys[order] == sorted(keys[order], reverse=True)
    assert len(found) == 8


def test_pages_make_up_the_list(demo: Workspace) -> None:
    """Together, pages have every session exactly once."""
    whole = demo.sessions().sessions
    pages = [demo.sessions(page=number, page_size=3) for number in (1, 2, 3, 4)]
    assert [each for page in pages for each in page.sessions] == list(whole)
    assert [page.has_more for page in pages] == [True, True, False, False]


def test_a_tree_contains_each_session_once(demo: Workspace) -> None:
    """Subagents are below their session."""
    flat = demo.sessions(SessionQuery(include_subagents=True)).sessions
    trees = demo.sessions(as_tree=True).sessions
    below = [child for tree in trees for child in tree.children]
    assert {each.id for each in (*trees, *below)} == {each.id for each in flat}
    assert "subagent" in {each.relation for each in below}


def test_a_session_expires_by_the_settings_of_its_own_directory(tmp_path: Path) -> None:
    """Two Claude directories with different settings do not mix."""
    roots = [ClaudeRoot(tmp_path / name) for name in ("short", "long")]
    for root, name, days in zip(roots, (FIRST, SECOND), (10, 90), strict=True):
        root.session(name, prompt("drain"), reply("Done."))
        (root.path / "settings.json").write_text(json.dumps({"cleanupPeriodDays": days}))
    with open_workspace([root.path for root in roots], tmp_path / "data") as workspace:
        found = {each.id: each for each in workspace.sessions().sessions}
        settings = {path: each.days for path, each in workspace.retentions().items()}
    kept = {
        name: datetime.fromisoformat(each.expires or "")
        - datetime.fromtimestamp(int(each.modified), UTC)
        for name, each in found.items()
    }
    assert {name: each.days for name, each in kept.items()} == {FIRST: 10, SECOND: 90}
    assert settings == {str(root.path): each for root, each in zip(roots, (10, 90), strict=True)}


def test_a_damaged_index_is_rebuilt_and_asked_again(tmp_path: Path) -> None:
    """The query is repeated transparently."""
    root = ClaudeRoot(tmp_path / "claude")
    root.session(FIRST, prompt("drain the pond"), reply("Done."), title("Pond"))
    with open_workspace(root.path, tmp_path / "data") as workspace:
        hits, rows = workspace.search("pond").hits, workspace.usage("session").rows
        assert (len(hits), len(rows)) == (2, 1)
        for path in (tmp_path / "data" / INDEX_NAME, find_text_path(tmp_path / "data")):
            path.write_bytes(b"garbage" * 1000)
        assert workspace.search("pond").hits == hits
        assert workspace.usage("session").rows == rows


def test_an_index_that_cannot_be_written_costs_no_answer(tmp_path: Path) -> None:
    """The reason is part of the result."""
    root = ClaudeRoot(tmp_path / "claude")
    root.session(FIRST, prompt("drain the pond"), reply("Done."))
    (tmp_path / "data").write_text("a file where the directory should be")
    with open_workspace(root.path, tmp_path / "data") as workspace:
        answer = workspace.usage("session")
        assert ([row.key for row in answer.rows], answer.failure is None) == ([FIRST], False)
        assert [each.id for each in workspace.sessions(with_usage=True).sessions] == [FIRST]


def test_no_sessions_is_an_error_that_names_the_places(tmp_path: Path) -> None:
    """For any query."""
    (tmp_path / "claude" / "projects").mkdir(parents=True)
    with open_workspace(tmp_path / "claude", tmp_path / "data") as workspace:
        for ask in (
            lambda: workspace.find("latest"),
            workspace.usage,
            workspace.first_run_overview,
        ):
            with pytest.raises(NoSessions, match="No sessions yet"):
                ask()
        assert workspace.sessions().sessions == ()
    with open_workspace(tmp_path / "none") as workspace, pytest.raises(NothingFound):
        workspace.sessions()


def test_a_temporary_index_is_deleted() -> None:
    """It is not the one of the command line."""
    with open_workspace(CLAUDE_DIRECTORY, temporary=True) as workspace:
        assert len(workspace.search("tide").hits) > 0
        directory = workspace.data_directory
        assert (directory / INDEX_NAME).exists()
    assert not directory.exists()


def test_searching_says_whose_the_hits_are(demo: Workspace) -> None:
    """With the listing of each session."""
    answer = demo.search("harbour")
    assert {hit.session_id for hit in answer.hits} == set(answer.sessions)
    assert answer.sessions[HARBOUR].title == "Speed up the harbour import"


def test_following_a_session_gives_its_records(demo: Workspace) -> None:
    """From its start, until it is idle."""

    async def follow() -> int:
        options = FollowOptions(poll=True, until="end")
        async with aclosing(demo.follow(HARBOUR, options=options)) as events:
            found = [event async for event in events if isinstance(event, Appended)]
            return len([each for each in found if each.source.session_id == HARBOUR])

    path = Path(demo.find(HARBOUR).file)
    assert asyncio.run(follow()) >= len(path.read_bytes().splitlines())


def test_the_index_reports_its_status(tmp_path: Path) -> None:
    """Reading the status changes nothing."""
    with open_workspace(CLAUDE_DIRECTORY, tmp_path / "data") as workspace:
        before = workspace.index()
        done = workspace.index(SyncOptions(texts=True))
        after = workspace.index()
    assert (before.status.bytes, before.is_current) == (0, False)
    assert (done.files_read > 8, done.is_current, done.texts.is_current) == (True, True, True)
    assert (after.files_read, after.is_current) == (0, True)
