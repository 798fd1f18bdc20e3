"""A listing agrees with the opened session."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.documents.session_listing import Metadata, SessionListing
from recollect.errors import UnreadableInput
from recollect.library.listings import SessionContext, read_listing
from recollect.library.opening import open_transcript
from recollect.library.transcript_ends import FIRST_READ, read_head_and_tail
from recollect.locations import Transcript, discover
from recollect.locations.references import locate_file
from tests.library.claude_root import (
    FIRST,
    SECOND,
    ClaudeRoot,
    Line,
    call,
    encode,
    prompt,
    reply,
    result,
    summary,
    title,
)

ALWAYS = ("id", "first_prompt", "first_prompt_time", "cwd", "git_branch", "version", "created")
SHOWN = (*ALWAYS, "title", "tag", "agent_id", "is_subagent", "modified", "size", "path", "project")


def disagreements(listing: SessionListing, metadata: Metadata) -> set[str]:
    """Return the fields in which the two differ."""
    return {name for name in SHOWN if getattr(listing, name) != getattr(metadata, name)}


def assert_agreement(transcript: Transcript, context: SessionContext) -> None:
    """Assert that a list shows `transcript` as the opened session does, if at all."""
    listing = read_listing(transcript, context)
    if listing is None:
        return
    session = open_transcript(transcript)
    assert disagreements(listing, session.metadata) == set(), transcript.path
    if read_head_and_tail(transcript.path).is_whole:
        assert listing.message_count == session.metadata.message_count
        assert listing.last_active == session.metadata.last_active


@pytest.mark.slow
@pytest.mark.parametrize("version", ["1.0.35", "1.0.128", "2.0.77", "2.1.112", "2.1.325"])
@pytest.mark.parametrize("folder", ["config", "config_tui"])
def test_sessions_of_the_real_client_are_listed_as_they_are(
    shared: Path, version: str, folder: str
) -> None:
    """For every file of the real client, the listing agrees with the open session."""
    transcripts = discover(shared / "real_cli" / version / folder).transcripts
    assert len(transcripts) > 0
    context = SessionContext()
    for transcript in transcripts:
        assert_agreement(transcript, context)


@pytest.mark.slow
def test_published_sessions_are_listed_as_they_are(shared: Path) -> None:
    """The same holds for published sessions."""
    transcripts = discover(shared / "corpus").transcripts
    assert len(transcripts) > 100
    for transcript in transcripts:
        # A file that holds no record of Claude Code is no session.
        with suppress(UnreadableInput):
            assert_agreement(transcript, SessionContext())


def padded(line: Line, padding: int) -> Line:
    """Return the line, longer by `padding` bytes that are ignored."""
    return {**line, "padding": "x" * padding}


def lines_of(kinds: list[tuple[str, int]]) -> list[Line]:
    """Return lines of these kinds and paddings, each a little later than the one before."""
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
            "task": prompt(
                "<task-notification>done</task-notification>", uuid=uuid, seconds=seconds, **more
            ),
            "request": prompt(
                f"<command-message>fix</command-message>\n<command-name>/fix</command-name>"
                f"<command-args>{number}</command-args>",
                uuid=uuid,
                seconds=seconds,
                **more,
            ),
            "title": title(f"title {number}"),
            "ai-title": {"type": "ai-title", "aiTitle": f"named {number}"},
            "last-prompt": {"type": "last-prompt", "lastPrompt": f"asked {number}"},
            "tag": {"type": "tag", "tag": f"tag {number}"},
            "summary": summary(f"about {number}", f"reply{number - 1}"),
        }[kind]
        made.append(padded(line, padding))
    return made


KINDS = st.sampled_from(
    "prompt command meta reply sidechain call result state task request title ai-title last-prompt "
    "tag summary".split()
)
PADDINGS = st.sampled_from([0, 0, 100, FIRST_READ // 2, FIRST_READ, 3 * FIRST_READ])


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(KINDS, PADDINGS), min_size=1, max_size=12))
def test_long_lines_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[tuple[str, int]]
) -> None:
    """Wherever long lines are, a listing finds what the opened session has."""
    root = ClaudeRoot(tmp_path_factory.mktemp("claude"))
    first = prompt("", uuid="start", seconds=-1, isMeta=True)
    path = root.session(FIRST, first, *lines_of(kinds), reply("The end", uuid="end"))
    root.session(SECOND, summary("From elsewhere", "reply3"), summary("And this", "prompt5"))
    transcript = locate_file(path)
    listing = read_listing(transcript, SessionContext())
    assert listing is not None
    assert disagreements(listing, open_transcript(transcript).metadata) == set()


FILLER = [padded(reply("words", uuid=f"a{number}"), FIRST_READ) for number in range(4)]


@pytest.mark.parametrize(
    "line",
    [
        title("Once"),
        {"type": "ai-title", "aiTitle": "Once"},
        {"type": "last-prompt", "lastPrompt": "Once"},
        summary("Once", "a2"),
        summary("Once", "u1"),
        {"customTitle": "Once", "padding": "x", "type": "custom-title"},
    ],
)
def test_a_title_in_the_middle_is_found(root: ClaudeRoot, line: Line) -> None:
    """A title far from both ends of the file names the session in lists, too."""
    lines = [prompt("drain"), *FILLER, line, *FILLER, reply("Done.", uuid="end")]
    transcript = locate_file(root.session(FIRST, *lines))
    listing = read_listing(transcript, SessionContext())
    assert listing is not None
    assert not read_head_and_tail(transcript.path).is_whole
    assert listing.title == open_transcript(transcript).metadata.title == "Once"


def test_a_title_across_the_end_of_the_head_is_found(root: ClaudeRoot) -> None:
    """A title line that starts in the head and ends after it is found too."""
    head = len(encode([prompt("drain"), padded(reply("words", uuid="a0"), 0)]))
    before = padded(reply("words", uuid="a0"), FIRST_READ - head - 20)
    lines = [prompt("drain"), before, title("Once"), *FILLER, reply("Done.", uuid="end")]
    transcript = locate_file(root.session(FIRST, *lines))
    start = len(encode(lines[:2]))
    assert start < FIRST_READ < len(encode(lines[:3]))
    listing = read_listing(transcript, SessionContext())
    assert listing is not None
    assert listing.title == open_transcript(transcript).metadata.title == "Once"


def test_words_about_a_title_are_no_title(root: ClaudeRoot) -> None:
    """A tool result that contains a title record, as text or as JSON, gives no title."""
    record = {"type": "custom-title", "customTitle": "Wrong"}
    answered = result(json.dumps(record), given=record, uuid="r9")
    lines = [prompt("drain"), *FILLER, answered, *FILLER, reply("Done.", uuid="end")]
    transcript = locate_file(root.session(FIRST, *lines))
    listing = read_listing(transcript, SessionContext())
    assert listing is not None
    assert listing.title == open_transcript(transcript).metadata.title == "drain"


def test_a_summary_from_elsewhere_names_a_record_in_the_middle(root: ClaudeRoot) -> None:
    """A session that continued after it got its title in another file has it in lists, too."""
    root.session(SECOND, summary("The pond", "a1"))
    lines = [prompt("drain"), *FILLER, *FILLER, reply("Done.", uuid="end")]
    transcript = locate_file(root.session(FIRST, *lines))
    listing = read_listing(transcript, SessionContext())
    assert listing is not None
    assert listing.title == open_transcript(transcript).metadata.title == "The pond"


def test_a_summary_from_elsewhere_is_seen_by_both(root: ClaudeRoot) -> None:
    """A title in another file counts in lists and opened sessions."""
    root.session(SECOND, summary("The pond", "a1"))
    transcript = locate_file(root.session(FIRST, prompt("drain"), reply("Done.")))
    listing = read_listing(transcript, SessionContext())
    assert listing is not None
    assert listing.title == open_transcript(transcript).metadata.title == "The pond"
