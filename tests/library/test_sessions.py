"""Lists of sessions: order, projects, filters and pages."""

import os
from datetime import datetime
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import NothingFound, UsageError
from recollect.library.listings import (
    SessionContext,
    iter_by_activity,
    iter_sessions,
    list_sessions,
    list_transcripts,
)
from recollect.library.session_filters import SessionPage, SessionQuery
from tests.library.claude_root import (
    CWD,
    FIRST,
    PROJECT,
    SECOND,
    THIRD,
    ClaudeRoot,
    at,
    encode,
    prompt,
    seconds_of,
    title,
)
from tests.locations.trees import needs_pipes


def ids(root: ClaudeRoot, project: str | Path | None = None) -> list[str]:
    """Return the ids of the listed sessions."""
    return [listing.id for listing in iter_sessions(project, root=[root.path])]


def query_ids(root: ClaudeRoot, query: SessionQuery) -> list[str]:
    """Return the ids of the sessions that match a query."""
    return [listing.id for listing in list_sessions(None, query, root=[root.path]).sessions]


def morning(seconds: float) -> datetime:
    """Return a time of the same morning, without a zone."""
    return datetime.fromisoformat(at(seconds)).replace(tzinfo=None)


def test_the_last_active_comes_first(root: ClaudeRoot) -> None:
    """Sessions are ordered by their newest record, not by mtime."""
    root.session(FIRST, prompt("a", seconds=30), modified=100)
    root.session(SECOND, prompt("b", seconds=20), modified=300)
    root.session(THIRD, prompt("c", seconds=40), modified=200)
    assert ids(root) == [THIRD, FIRST, SECOND]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=8))
def test_the_lazy_order_is_the_order(
    tmp_path_factory: pytest.TempPathFactory, times: list[tuple[int, int]]
) -> None:
    """Lazy listing by activity equals reading everything and sorting."""
    root = ClaudeRoot(tmp_path_factory.mktemp("claude"))
    (root.path / "projects").mkdir()
    for number, (spoken, written) in enumerate(times):
        root.session(f"s{number}", prompt("a", seconds=spoken), modified=written)
    found = list(iter_sessions(root=[root.path]))
    assert found == sorted(found, key=lambda each: (-each.activity, each.path))
    assert len(found) == len(times)


def test_the_newest_is_known_without_reading_the_rest(root: ClaudeRoot) -> None:
    """Files older than the newest record are not opened."""
    root.session(FIRST, prompt("a", seconds=500), modified=600)
    root.session(SECOND, prompt("b", seconds=20), modified=30, project="-other")
    transcripts = list_transcripts(None, include_subagents=False, root=[root.path])
    root.session(SECOND, prompt("b", seconds=9999), modified=9999, project="-other")
    listings = islice(iter_by_activity(transcripts, SessionContext()), 1)
    assert [listing.id for listing in listings] == [FIRST]


def test_subagents_come_only_when_asked_for(root: ClaudeRoot) -> None:
    """They are listed only on request, for all client versions."""
    root.session(FIRST, prompt("a", seconds=9))
    root.agent(".", "a000001", prompt("b", seconds=8))
    root.agent(f"{FIRST}/subagents", "a000002", prompt("c", seconds=7))
    root.agent(f"{FIRST}/subagents/workflows/wf_1", "a000003", prompt("d", seconds=6))
    root.agent(".", "a000004", prompt("Warmup", seconds=5))
    everything = iter_sessions(include_subagents=True, root=[root.path])
    assert ids(root) == [FIRST]
    assert [each.agent_id for each in everything] == [None, "a000001", "a000002", "a000003"]


def test_several_roots_make_one_list(root: ClaudeRoot, tmp_path: Path) -> None:
    """The sessions of all roots are sorted together."""
    other = ClaudeRoot(tmp_path / "other")
    root.session(FIRST, prompt("a", seconds=1))
    other.session(SECOND, prompt("b", seconds=2))
    root.session(THIRD, prompt("c", seconds=3))
    found = iter_sessions(root=[root.path, other.path])
    assert [listing.id for listing in found] == [THIRD, SECOND, FIRST]


def test_the_environment_names_the_root(root: ClaudeRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a root it is Claude Code's, which has to exist."""
    root.session(FIRST, prompt("a"))
    with pytest.raises(NothingFound):
        iter_sessions()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(root.path))
    assert [listing.id for listing in iter_sessions()] == [FIRST]


@pytest.mark.parametrize("project", [PROJECT, CWD, Path(CWD), f"{CWD}/"])
def test_a_project_is_a_directory_or_its_name(root: ClaudeRoot, project: str | Path) -> None:
    """A project is named by its working directory or by the name below `projects`."""
    root.session(FIRST, prompt("a", seconds=2))
    root.session(SECOND, prompt("b", cwd="/home/mina/hill"), project="-home-mina-hill")
    assert ids(root, project) == [FIRST]


@pytest.mark.parametrize("project", [".", "./", "../pond", Path()])
def test_a_relative_path_starts_here(
    root: ClaudeRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, project: str | Path
) -> None:
    """A relative path is resolved against the current directory."""
    pond = tmp_path / "pond"
    pond.mkdir()
    monkeypatch.chdir(pond)
    root.session(FIRST, prompt("a", cwd=str(pond.resolve())), project="-anything")
    root.session(SECOND, prompt("b"))
    assert ids(root, project) == [FIRST]


def test_a_path_of_another_system_is_taken_as_it_is(root: ClaudeRoot) -> None:
    """Sessions from Windows are found by their path on any system, in either spelling."""
    root.session(FIRST, prompt("a", cwd="C:\\lake\\pond"), project="C--lake-pond")
    assert [ids(root, path) for path in ("C:\\lake\\pond", "c:/lake/pond")] == [[FIRST], [FIRST]]


def test_one_directory_may_hold_several_projects(root: ClaudeRoot) -> None:
    """Paths that share an encoded name are distinguished by their records."""
    root.session(FIRST, prompt("a", cwd="/home/mina.pond"))
    root.session(SECOND, prompt("b", cwd="/home/mina/pond"))
    root.session(THIRD, {"type": "mode", "mode": "normal"})
    assert sorted(ids(root, "/home/mina.pond")) == [FIRST, THIRD]
    assert sorted(ids(root, PROJECT)) == [FIRST, SECOND, THIRD]


def test_a_project_without_sessions_is_empty(root: ClaudeRoot) -> None:
    """A project without sessions gives an empty list."""
    root.session(FIRST, prompt("a"))
    assert (ids(root, "-nowhere"), ids(root, "/nowhere"), ids(root, "../..")) == ([], [], [])


def test_pages_cut_a_list(root: ClaudeRoot) -> None:
    """A page has its sessions, the total, and whether there are more."""
    names = [f"s{number}" for number in range(5)]
    for number, name in enumerate(names):
        root.session(name, prompt("a", seconds=-number))
    everything = tuple(iter_sessions(root=[root.path]))
    pages = [list_sessions(page=page, page_size=2, root=[root.path]) for page in (1, 2, 3, 4)]
    assert [page.sessions for page in pages] == [
        everything[:2],
        everything[2:4],
        everything[4:],
        (),
    ]
    assert [(page.total, page.has_more) for page in pages] == [
        (5, True),
        (5, True),
        (5, False),
        (5, False),
    ]


def test_an_empty_list_has_a_page(root: ClaudeRoot) -> None:
    """Without sessions there is one empty page."""
    page = list_sessions(root=[root.path])
    assert page == SessionPage(sessions=(), total=0, page=1, page_size=20)
    assert not page.has_more


@pytest.mark.parametrize(("page", "size"), [(0, 20), (-1, 20), (1, 0)])
def test_pages_are_counted_from_one(root: ClaudeRoot, page: int, size: int) -> None:
    """An invalid page number is an error."""
    with pytest.raises(UsageError):
        list_sessions(page=page, page_size=size, root=[root.path])


def test_text_is_in_the_title_or_the_prompt(root: ClaudeRoot) -> None:
    """Both are searched, ignoring case."""
    root.session(FIRST, prompt("Drain it", seconds=3), title("The pond"))
    root.session(SECOND, prompt("Fill the POND", seconds=2), title("Water"))
    root.session(THIRD, prompt("Leave it", seconds=1))
    assert query_ids(root, SessionQuery(text="pond")) == [FIRST, SECOND]
    assert query_ids(root, SessionQuery(text="pond fill")) == [SECOND]
    assert query_ids(root, SessionQuery(text="pond leave")) == []


def test_a_stretch_of_time_is_one_in_which_the_session_was_under_way(root: ClaudeRoot) -> None:
    """`since` and `until` keep sessions that were active in between, wherever they started."""
    root.session(FIRST, prompt("a", seconds=10), prompt("b", uuid="u2", seconds=40))
    root.session(SECOND, prompt("c", seconds=20))
    root.session(THIRD, prompt("d", seconds=30))
    assert query_ids(root, SessionQuery(since=morning(25))) == [FIRST, THIRD]
    assert query_ids(root, SessionQuery(until=morning(25))) == [FIRST, SECOND]
    assert query_ids(root, SessionQuery(since=morning(15), until=morning(15))) == [FIRST]


def test_a_list_may_be_ordered_otherwise(root: ClaudeRoot) -> None:
    """Sessions can be ordered by mtime and by start time."""
    lines = prompt("a", seconds=10), prompt("b", uuid="u2", seconds=40)
    root.session(FIRST, *lines, modified=100)
    root.session(SECOND, prompt("c", seconds=20), modified=300)
    root.session(THIRD, prompt("d", seconds=30), modified=200)
    assert query_ids(root, SessionQuery(order="activity")) == [FIRST, THIRD, SECOND]
    assert query_ids(root, SessionQuery(order="modified")) == [SECOND, THIRD, FIRST]
    assert query_ids(root, SessionQuery(order="created")) == [THIRD, SECOND, FIRST]


def test_an_order_that_does_not_exist_is_refused(root: ClaudeRoot) -> None:
    """An unknown order is an error."""
    with pytest.raises(UsageError):
        list_sessions(None, SessionQuery(order="cost"), root=[root.path])


@needs_pipes
def test_a_pipe_among_the_sessions_does_not_stop_the_list(root: ClaudeRoot) -> None:
    """Anything but a regular file is skipped without blocking."""
    root.session(FIRST, prompt("a"))
    os.mkfifo(root.path / "projects" / PROJECT / f"{SECOND}.jsonl")
    assert ids(root) == [FIRST]


def test_a_linked_project_is_listed_once(root: ClaudeRoot) -> None:
    """A project that can be reached by two names is listed once."""
    root.session(FIRST, prompt("a"))
    (root.path / "projects" / "-moved").symlink_to(root.path / "projects" / PROJECT)
    assert ids(root) == [FIRST]


def test_a_time_is_a_number_too(root: ClaudeRoot) -> None:
    """Listings have Unix timestamps to sort by."""
    root.write(f"projects/{PROJECT}/{FIRST}.jsonl", encode([prompt("a", seconds=7)]))
    (listing,) = iter_sessions(root=[root.path])
    assert listing.activity == seconds_of(7)
