"""References to sessions, and how they are resolved."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import AmbiguousSession, Candidate, NothingFound, UnreadableInput
from recollect.library.listings import locate_session
from recollect.locations.references import locate_file
from tests.library.claude_root import (
    CWD,
    FIRST,
    PROJECT,
    SECOND,
    THIRD,
    ClaudeRoot,
    prompt,
    seconds_of,
    summary,
    title,
)
from tests.locations.hostile_names import HOSTILE_NAMES

ALIKE = "1111aaaa-0000-4000-8000-000000000000"


@pytest.fixture
def filled(root: ClaudeRoot) -> ClaudeRoot:
    """Three sessions, two of which start alike, and a subagent."""
    root.session(FIRST, prompt("a", seconds=3), title("Drain the pond"))
    root.session(SECOND, prompt("b", seconds=2), title("Fill the pond"))
    root.session(ALIKE, prompt("c", seconds=1), title("pond"))
    root.agent(f"{FIRST}/subagents", "a1b2c3d4", prompt("look"))
    return root


def find(root: ClaudeRoot, ref: str) -> str:
    """Return the name of the file that `ref` resolves to."""
    return locate_session(ref, root=[root.path]).path.stem


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        (FIRST, FIRST),
        ("2222", SECOND),
        ("1111a", ALIKE),
        ("a1b2c3d4", "agent-a1b2c3d4"),
        ("agent-a1b2c3d4", "agent-a1b2c3d4"),
        ("a1b2", "agent-a1b2c3d4"),
        ("Drain the pond", FIRST),
        ("drain THE pond ", FIRST),
        ("pond", ALIKE),
        ("fill", SECOND),
        ("latest", FIRST),
        ("-1", FIRST),
        ("-2", SECOND),
        ("-3", ALIKE),
    ],
)
def test_a_session_has_many_names(filled: ClaudeRoot, ref: str, expected: str) -> None:
    """An id or its start, an agent id, a title or a part of one, or a count from the newest."""
    assert find(filled, ref) == expected


@pytest.mark.parametrize("ref", ["222", "5555", "drought", "-4", "-0", "--1", "", " ", "b2c3"])
def test_what_names_nothing_finds_nothing(filled: ClaudeRoot, ref: str) -> None:
    """The message says what was searched for and where."""
    with pytest.raises(NothingFound) as caught:
        find(filled, ref)
    assert str(filled.path / "projects") in str(caught.value).splitlines()[1].strip()
    assert not isinstance(caught.value, AmbiguousSession)


@pytest.mark.parametrize(
    ("count", "found"), [(1, "Found only 1 session in"), (3, "Found only 3 sessions in")]
)
def test_counting_back_too_far_names_the_number_of_sessions(
    root: ClaudeRoot, count: int, found: str
) -> None:
    """The message has the number of sessions that there are to count back from."""
    for number in range(count):
        root.session(f"{number}{FIRST[1:]}", prompt("a", seconds=number))
    with pytest.raises(NothingFound) as caught:
        find(root, "-9")
    assert str(caught.value).startswith(found)


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        ("1111", [(FIRST, "Drain the pond", seconds_of(3)), (ALIKE, "pond", seconds_of(1))]),
        (
            "the pond",
            [(FIRST, "Drain the pond", seconds_of(3)), (SECOND, "Fill the pond", seconds_of(2))],
        ),
    ],
)
def test_what_names_several_is_refused(
    filled: ClaudeRoot, ref: str, expected: list[tuple[str, str, float]]
) -> None:
    """The error lists every matching session with its details."""
    with pytest.raises(AmbiguousSession) as caught:
        find(filled, ref)
    candidates = tuple(Candidate(name, title, CWD, active) for name, title, active in expected)
    assert (caught.value.candidates, caught.value.exit_code) == (candidates, 3)


def test_an_ambiguous_name_lists_the_candidates(filled: ClaudeRoot) -> None:
    """A line of the message can be copied to retry."""
    with pytest.raises(AmbiguousSession) as caught:
        find(filled, "1111")
    moment = f"{datetime.fromtimestamp(seconds_of(0), UTC).astimezone():%Y-%m-%d %H:%M}"
    assert str(caught.value).splitlines() == [
        "'1111' matches 2 sessions. Use one of these names:",
        f"  {FIRST}  {moment}  pond",
        "    Drain the pond",
        f"  {ALIKE}  {moment}  pond",
        "    pond",
    ]


def test_many_candidates_are_cut_short() -> None:
    """The message has few candidates, with shortened titles and projects."""
    error = AmbiguousSession(
        "x", [Candidate(f"s{number}", "word " * 50, "/w/" + "a\n" * 50) for number in range(30)]
    )
    lines = str(error).splitlines()
    assert (len(lines), lines[-1], len(error.candidates)) == (42, "  and 10 more", 30)
    assert lines[1:3] == ["  s0  " + "a " * 9 + "a…", "    " + "word " * 13 + "word…"]


@pytest.mark.parametrize(
    ("project", "shown"),
    [
        ("/home/mina/tidepool", "  s  tidepool"),
        ("/home/mina/tidepool/", "  s  tidepool"),
        (r"C:\Users\mina\tidepool", "  s  tidepool"),
        ("-home-mina-tidepool", "  s  -home-mina-tidepool"),
        ("/", "  s  /"),
        (None, "  s"),
    ],
)
def test_a_candidate_is_shown_as_far_as_it_is_known(project: str | None, shown: str) -> None:
    """A project is shown by the last part of its path; unknown values are left out."""
    assert str(AmbiguousSession("x", [Candidate("s", project=project)])).splitlines()[1:] == [shown]


def test_one_id_in_two_projects_is_distinguished_by_its_path(root: ClaudeRoot) -> None:
    """A session whose id is in two projects has to be specified by its path."""
    paths = [root.session(FIRST, prompt("a"), project=name) for name in ("-one", "-two")]
    with pytest.raises(AmbiguousSession) as caught:
        find(root, FIRST)
    assert [each.name for each in caught.value.candidates] == [str(path) for path in paths]


def test_leftovers_do_not_make_a_name_ambiguous(root: ClaudeRoot) -> None:
    """Empty files and files with only summaries do not count as matches."""
    root.session(FIRST, prompt("a"))
    root.write(f"projects/{PROJECT}/{ALIKE}.jsonl", b"")
    root.session("1111bbbb", summary("Elsewhere", "zz"))
    assert find(root, "1111") == FIRST


def test_a_title_may_look_like_a_file(root: ClaudeRoot) -> None:
    """A reference that ends in .jsonl is a title if there is no such file."""
    root.session(FIRST, prompt("a"), title("fix data.jsonl"))
    assert find(root, "fix data.jsonl") == FIRST


@pytest.mark.parametrize(
    "ref",
    [
        *HOSTILE_NAMES,
        f"../{PROJECT}/{FIRST}",
        f"{PROJECT}/{FIRST}",
        "../../secret",
        "../../secret.jsonl",
        f"{FIRST}/../../../secret",
        f"{FIRST}/subagents/agent-a1b2c3d4",
        f"{FIRST}\0",
        "*",
        "1111*",
        "....",
        "x" * 5000,
        "-" + "1" * 5000,
    ],
)
def test_a_hostile_name_finds_nothing(filled: ClaudeRoot, ref: str) -> None:
    """A reference is only compared, never joined to a path."""
    filled.write("secret.jsonl", b"{}")
    filled.write("secret", b"{}")
    with pytest.raises(NothingFound):
        find(filled, ref)


@given(st.text(max_size=12))
def test_no_name_leads_out_of_the_root(tmp_path_factory: pytest.TempPathFactory, ref: str) -> None:
    """Whatever the reference, the result is below the root."""
    root = ClaudeRoot(tmp_path_factory.mktemp("claude"))
    path = root.session(THIRD, prompt("a"))
    try:
        found = locate_session(ref, root=[root.path]).path
    except NothingFound:
        return
    assert found == path


def test_a_file_is_located_by_its_path(filled: ClaudeRoot, tmp_path: Path) -> None:
    """A path gives its file, even through a link that the user named."""
    path = filled.path / "projects" / PROJECT / f"{FIRST}.jsonl"
    (tmp_path / "mine.jsonl").symlink_to(path)
    assert [locate_file(each).path for each in (path, tmp_path / "mine.jsonl")] == [path, path]


def test_a_directory_is_no_transcript(filled: ClaudeRoot) -> None:
    """A directory is refused with a hint."""
    with pytest.raises(UnreadableInput) as caught:
        locate_file(filled.path)
    assert str(caught.value) == (
        f"{filled.path} is a directory. Specify one of the .jsonl files in it."
    )


def test_a_path_to_nothing_finds_nothing(tmp_path: Path) -> None:
    """A missing file is not found, rather than unreadable."""
    with pytest.raises(NothingFound):
        locate_file(tmp_path / "nowhere.jsonl")
