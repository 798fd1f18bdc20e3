"""A listing and the opened session tell the same, as far as the ends of a file can tell."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.errors import UnreadableInput
from recollect.library.ends import FIRST_READ, read_ends
from recollect.library.listings import SessionListing, read_listing
from recollect.library.opening import open_transcript
from recollect.library.origins import Surroundings
from recollect.locations import Transcript, discover
from recollect.locations.references import locate_file
from recollect.session.metadata import Metadata
from tests.library.claude_root import (
    FIRST,
    SECOND,
    ClaudeRoot,
    Line,
    call,
    prompt,
    reply,
    result,
    summary,
    title,
)

ALWAYS = ("id", "first_prompt", "first_prompt_time", "cwd", "git_branch", "version", "created")
SHOWN = (*ALWAYS, "title", "tag", "agent_id", "is_subagent", "modified", "size", "path", "project")


def disagreements(listing: SessionListing, metadata: Metadata) -> set[str]:
    """The fields of which the two tell different things."""
    return {name for name in SHOWN if getattr(listing, name) != getattr(metadata, name)}


def assert_agreement(transcript: Transcript, surroundings: Surroundings) -> None:
    """What a list shows of `transcript`, if it shows it, is what the opened session tells."""
    listing = read_listing(transcript, surroundings)
    if listing is None:
        return
    session = open_transcript(transcript)
    assert disagreements(listing, session.metadata) == set(), transcript.path
    if read_ends(transcript.path).is_whole:
        assert listing.message_count == session.metadata.message_count
        assert listing.last_active == session.metadata.last_active


@pytest.mark.slow
@pytest.mark.parametrize("version", ["1.0.35", "1.0.128", "2.0.77", "2.1.112", "2.1.325"])
@pytest.mark.parametrize("folder", ["config", "config_tui"])
def test_sessions_of_the_real_client_are_listed_as_they_are(
    shared: Path, version: str, folder: str
) -> None:
    """For every file that the client wrote, a listing tells what the opened session tells."""
    transcripts = discover(shared / "real_cli" / version / folder).transcripts
    assert len(transcripts) > 0
    surroundings = Surroundings()
    for transcript in transcripts:
        assert_agreement(transcript, surroundings)


@pytest.mark.slow
def test_published_sessions_are_listed_as_they_are(shared: Path) -> None:
    """The same holds for sessions that people published."""
    transcripts = discover(shared / "corpus").transcripts
    assert len(transcripts) > 100
    for transcript in transcripts:
        # A file that holds no record of Claude Code is no session.
        with suppress(UnreadableInput):
            assert_agreement(transcript, Surroundings())


def padded(line: Line, padding: int) -> Line:
    """The same line, longer by `padding` bytes that no reader looks at."""
    return {**line, "padding": "x" * padding}


def lines_of(kinds: list[tuple[str, int]]) -> list[Line]:
    """Lines of these kinds and paddings, each a little later than the one before."""
    made: list[Line] = []
    for number, (kind, padding) in enumerate(kinds):
        uuid, seconds = f"{kind}{number}", float(number)
        more = {"gitBranch": f"b{number}", "version": f"2.1.{number}", "cwd": f"/d{number % 2}"}
        line = {
            "prompt": prompt(f"words {number}", uuid=uuid, seconds=seconds, **more),
            "command": prompt(
                "<command-name>/model</command-name>", uuid=uuid, seconds=seconds, **more
            ),
            "meta": prompt("injected", uuid=uuid, seconds=seconds, isMeta=True, **more),
            "reply": reply("words", uuid=uuid, seconds=seconds, **more),
            "sidechain": reply("aside", uuid=uuid, seconds=seconds, isSidechain=True),
            "call": call("Bash", {}, uuid=uuid, call_id=uuid, timestamp="", **more),
            "result": result("ok", uuid=uuid, call_id=uuid, timestamp="", **more),
            "state": {"type": "mode", "mode": "normal"},
        }[kind]
        made.append(padded(line, padding))
    return made


KINDS = st.sampled_from(
    ["prompt", "command", "meta", "reply", "sidechain", "call", "result", "state"]
)
PADDINGS = st.sampled_from([0, 0, 100, FIRST_READ // 2, FIRST_READ, 3 * FIRST_READ])


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(KINDS, PADDINGS), min_size=1, max_size=12))
def test_long_lines_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[tuple[str, int]]
) -> None:
    """Wherever the long lines are, a listing finds what the opened session has."""
    root = ClaudeRoot(tmp_path_factory.mktemp("claude"))
    first = prompt("", uuid="start", seconds=-1, isMeta=True)
    path = root.session(FIRST, first, *lines_of(kinds), title("The end"))
    transcript = locate_file(path)
    listing = read_listing(transcript, Surroundings())
    assert listing is not None
    assert disagreements(listing, open_transcript(transcript).metadata) == set()


def test_a_title_in_the_middle_is_the_price_of_not_reading_it(root: ClaudeRoot) -> None:
    """The documented exception: a title that the client never repeated stands in no end."""
    filler = [padded(reply("words", uuid=f"a{number}"), FIRST_READ) for number in range(4)]
    lines = [prompt("drain"), *filler, title("Once"), *filler, reply("Done.", uuid="end")]
    transcript = locate_file(root.session(FIRST, *lines))
    listing = read_listing(transcript, Surroundings())
    assert listing is not None
    assert (listing.title, open_transcript(transcript).metadata.title) == ("drain", "Once")


def test_a_summary_from_elsewhere_is_seen_by_both(root: ClaudeRoot) -> None:
    """A title in another file counts in lists and in opened sessions alike."""
    root.session(SECOND, summary("The pond", "a1"))
    transcript = locate_file(root.session(FIRST, prompt("drain"), reply("Done.")))
    listing = read_listing(transcript, Surroundings())
    assert listing is not None
    assert listing.title == open_transcript(transcript).metadata.title == "The pond"
