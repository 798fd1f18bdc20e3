"""Tests of the listing of one transcript."""

import json
from pathlib import Path

import pytest

from recollect.documents.session_listing import SessionListing
from recollect.library.listings import SessionContext, list_sessions, read_listing
from recollect.library.transcript_ends import FIRST_READ, MAX_READ_BYTES, read_head_and_tail
from recollect.locations import discover_root
from recollect.locations.references import locate_file
from tests.library.claude_root import (
    CWD,
    FIRST,
    PROJECT,
    SECOND,
    THIRD,
    ClaudeRoot,
    Line,
    at,
    encode,
    prompt,
    reply,
    result,
    seconds_of,
    summary,
    title,
)

HUGE = "x" * (3 * FIRST_READ)


def list_file(path: Path) -> SessionListing | None:
    """Return the listing of the transcript at `path`."""
    return read_listing(locate_file(path), SessionContext())


def list_session(root: ClaudeRoot, *lines: Line) -> SessionListing:
    """Return the listing of a session with these lines."""
    listing = list_file(root.session(FIRST, *lines))
    assert listing is not None
    return listing


def test_a_small_session_is_listed_with_all_of_its_facts(root: ClaudeRoot) -> None:
    """All fields of a listing come from the records and the file."""
    lines = (
        prompt("drain the pond", seconds=5, promptSource="typed"),
        reply("Done.", seconds=9, gitBranch="drain", version="2.1.326", cwd=f"{CWD}/shore"),
        {"type": "tag", "tag": "wip"},
        title("The pond"),
    )
    path = root.session(FIRST, *lines)
    assert list_file(path) == SessionListing(
        id=FIRST,
        project=PROJECT,
        path=str(path),
        size=len(encode(lines)),
        modified=seconds_of(3600),
        activity=seconds_of(9),
        last_active=at(9),
        created=at(5),
        cwd=f"{CWD}/shore",
        title="The pond",
        first_prompt="drain the pond",
        first_prompt_time=at(5),
        git_branch="drain",
        version="2.1.326",
        tag="wip",
        first_reply_id="msg_a1",
        models=("m",),
        message_count=2,
        duration_ms=4000.0,
    )


def test_a_prompt_behind_a_huge_line_is_found(root: ClaudeRoot) -> None:
    """The head is read until the first prompt, however long the lines before it are."""
    listing = list_session(
        root,
        {"type": "api-request-shape", "shape": {"system": HUGE}},
        prompt("drain the pond"),
        reply(HUGE),
        reply("Done.", uuid="a2"),
    )
    assert (listing.first_prompt, listing.message_count) == ("drain the pond", None)


def test_a_prompt_in_a_huge_line_is_found(root: ClaudeRoot) -> None:
    """A prompt with a pasted image is longer than the first read, and still the first prompt."""
    image = {"type": "image", "source": {"type": "base64", "data": HUGE}}
    text = {"type": "text", "text": "what is this?"}
    listing = list_session(root, prompt([image, text]), reply(HUGE), reply("A pond.", uuid="a2"))
    assert listing.first_prompt == "what is this?"


def test_a_huge_last_line_hides_nothing(root: ClaudeRoot) -> None:
    """The tail is read back to a record of the conversation, however long the lines are."""
    listing = list_session(
        root,
        prompt("drain the pond"),
        *(reply(HUGE, uuid=f"a{number}") for number in range(3)),
        result(HUGE, gitBranch="last", timestamp=at(50)),
        {"type": "api-request-blob", "message": {"role": "user", "content": HUGE}},
    )
    assert (listing.git_branch, listing.last_active) == ("last", at(50))


def test_a_later_prompt_does_not_pass_for_the_first(root: ClaudeRoot) -> None:
    """If neither end has the first prompt, the middle is searched."""
    path = root.session(
        FIRST,
        {"type": "api-request-shape", "shape": {"system": "x" * MAX_READ_BYTES}},
        prompt("the first"),
        reply(HUGE),
        prompt("a later one", uuid="u2"),
    )
    listing = list_file(path)
    assert listing is not None
    assert not read_head_and_tail(path).is_whole
    assert (listing.first_prompt, listing.cwd) == ("the first", CWD)


def test_a_setting_is_the_first_prompt_only_if_nothing_else_is(root: ClaudeRoot) -> None:
    """Reading continues after commands, and returns to them if no request follows."""
    command = prompt("<command-name>/model</command-name><command-args>opus</command-args>")
    only = list_session(root, command, reply(HUGE), reply(HUGE, uuid="a2"))
    words = list_session(
        root, command, reply(HUGE), prompt("now drain", uuid="u2"), reply(HUGE, uuid="a2")
    )
    assert (only.first_prompt, words.first_prompt) == ("/model opus", "now drain")


def test_a_prompt_that_exists_only_in_the_queue_is_found(root: ClaudeRoot) -> None:
    """A prompt sent while the client worked may only be an attachment."""
    queued = {"type": "queued_command", "prompt": "and the docs", "origin": {"kind": "human"}}
    line = {"type": "attachment", "uuid": "q1", "timestamp": at(4), "attachment": queued}
    listing = list_session(root, line, reply("Yes."))
    assert (listing.first_prompt, listing.first_prompt_time) == ("and the docs", at(4))


def test_a_byte_order_mark_hides_nothing(root: ClaudeRoot) -> None:
    """The first line is read even after a byte order mark."""
    data = b"\xef\xbb\xbf" + encode([prompt("drain the pond")])
    listing = list_file(root.write(f"projects/{PROJECT}/{FIRST}.jsonl", data))
    assert listing is not None
    assert listing.first_prompt == "drain the pond"


def test_a_torn_last_line_is_no_obstacle(root: ClaudeRoot) -> None:
    """A file that is being written is listed up to its last complete line."""
    data = encode([prompt("drain the pond")]) + b'{"type":"assistant","uuid":"a1","timest'
    listing = list_file(root.write(f"projects/{PROJECT}/{FIRST}.jsonl", data))
    assert listing is not None
    assert (listing.first_prompt, listing.message_count) == ("drain the pond", 1)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((title("mine"), {"type": "ai-title", "aiTitle": "its"}), "mine"),
        (({"type": "ai-title", "aiTitle": "its"}, summary("short", "u1")), "its"),
        ((summary("short", "u1"), {"type": "last-prompt", "lastPrompt": "last"}), "short"),
        (({"type": "last-prompt", "lastPrompt": "last"},), "last"),
        ((), "drain the pond"),
    ],
)
def test_titles_have_an_order(root: ClaudeRoot, lines: tuple[Line, ...], expected: str) -> None:
    """The user's title comes first, then a model's, a summary, the last prompt, the first."""
    assert list_session(root, prompt("drain the pond"), *lines).title == expected


def test_another_file_may_hold_the_title(root: ClaudeRoot) -> None:
    """A summary in any file belongs to the session that contains its leaf record."""
    root.session(SECOND, summary("The pond", "a1"))
    assert list_session(root, prompt("drain the pond"), reply("Done.")).title == "The pond"


@pytest.mark.parametrize("content", [b"", encode([summary("Elsewhere", "zz")])])
def test_leftovers_are_no_sessions(root: ClaudeRoot, content: bytes) -> None:
    """Empty files and files with only summaries are not listed."""
    assert list_file(root.write(f"projects/{PROJECT}/{FIRST}.jsonl", content)) is None


def test_a_warm_up_is_no_session(root: ClaudeRoot) -> None:
    """A warm-up agent is not listed, but a session with that word as its prompt is."""
    assert list_file(root.agent(".", "a1b2c3d", prompt("Warmup"), reply("Ready."))) is None
    assert list_session(root, prompt("Warmup"), reply("Ready.")).first_prompt == "Warmup"


def test_a_subagent_names_its_session(root: ClaudeRoot) -> None:
    """A subagent's parent is taken from its path, or else from its records."""
    flat = list_file(root.agent(".", "a1b2c3d", prompt("look around")))
    nested = list_file(root.agent(f"{SECOND}/subagents", "a1b2c3d", prompt("look around")))
    assert flat is not None
    assert nested is not None
    found = [(each.id, each.agent_id, each.parent_id) for each in (flat, nested)]
    assert found == [("agent-a1b2c3d", "a1b2c3d", FIRST), ("agent-a1b2c3d", "a1b2c3d", SECOND)]
    assert (flat.is_subagent, flat.first_prompt) == (True, "look around")


def test_a_session_with_inline_subagents_is_a_session(root: ClaudeRoot) -> None:
    """Subagent records in a session's own file change neither its kind nor its directory."""
    listing = list_session(
        root,
        prompt("drain the pond"),
        prompt("look around", uuid="s1", isSidechain=True, cwd="/elsewhere"),
        reply("I looked.", uuid="s2", isSidechain=True, cwd="/elsewhere"),
    )
    assert (listing.is_subagent, listing.cwd, listing.message_count) == (False, CWD, 1)


def test_a_clock_that_runs_ahead_is_not_believed(root: ClaudeRoot) -> None:
    """The newest record gives the time of activity, unless it is later than the file's mtime."""
    path = root.session(FIRST, prompt("a", seconds=10), modified=60)
    ahead = root.session(SECOND, prompt("b", seconds=99), modified=60)
    silent = root.write(f"projects/{PROJECT}/x.jsonl", b'{"type":"mode"}\n', modified=60)
    activities = [
        listing.activity for each in (path, ahead, silent) if (listing := list_file(each))
    ]
    assert activities == [seconds_of(10), seconds_of(60), seconds_of(60)]


def test_a_file_that_cannot_be_read_is_listed_as_such(root: ClaudeRoot, tmp_path: Path) -> None:
    """It is listed with the reason."""
    path = root.session(FIRST, prompt("drain the pond"))
    transcript = locate_file(path)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert read_listing(transcript, SessionContext()) == SessionListing(
        id=FIRST,
        project=PROJECT,
        path=str(path),
        size=transcript.size,
        modified=seconds_of(3600),
        activity=seconds_of(3600),
        unreadable=f"Not reading {path}: it is a symbolic link. Specify the file it points to.",
    )


def test_a_file_that_is_gone_is_not_listed(root: ClaudeRoot) -> None:
    """Files that Claude Code deletes during listing are left out."""
    path = root.session(FIRST, prompt("drain the pond"))
    transcript = locate_file(path)
    path.unlink()
    assert read_listing(transcript, SessionContext()) is None


def test_lines_that_are_no_json_are_no_obstacle(root: ClaudeRoot) -> None:
    """Damage before the first prompt affects only the damaged lines."""
    noise = b"\0" * 500 + b"\n{broken\n" + json.dumps({"type": "new-thing"}).encode() + b"\n"
    data = noise + encode([prompt("drain the pond")])
    listing = list_file(root.write(f"projects/{PROJECT}/{FIRST}.jsonl", data))
    assert listing is not None
    assert listing.first_prompt == "drain the pond"


@pytest.mark.parametrize(
    "content",
    [
        b'{"level": "info", "message": "started"}\n' * 3,
        b'{"level": "info", "message": "started"}\n' * 100_000,
        b"[1, 2]\n42\n",
        b"no JSON at all\n",
        b"\n\n",
    ],
    ids=["another program", "a large one", "values", "words", "nothing"],
)
def test_a_file_without_any_record_is_no_session(root: ClaudeRoot, content: bytes) -> None:
    """Files of other programs are not listed, whatever their names."""
    assert list_file(root.write(f"projects/{PROJECT}/{FIRST}.jsonl", content)) is None


def test_one_record_makes_a_session(root: ClaudeRoot) -> None:
    """Even one record of an unknown type, among damage."""
    content = b'broken\n{"type": "from-the-future"}\n'
    assert list_file(root.write(f"projects/{PROJECT}/{FIRST}.jsonl", content)) is not None


BOUNDARY = "7e57ab1e-0000-4000-8000-000000000001"
OTHER = "7e57ab1e-0000-4000-8000-000000000002"


def compaction(uuid: str, *, seconds: float = 60) -> Line:
    """The record of a compaction."""
    line = prompt("", uuid=uuid, seconds=seconds)
    record = {key: value for key, value in line.items() if key != "message"}
    return {**record, "type": "system", "subtype": "compact_boundary", "content": "Conversation…"}


def copy_lines(session_id: str, *lines: Line) -> list[Line]:
    """Return lines as 2.1 copies them, with the id of their session."""
    return [{**line, "sessionId": session_id} for line in lines]


def write_parent(root: ClaudeRoot, session_id: str = FIRST, *, modified: float = 3600) -> None:
    """Write a session that was compacted in the middle."""
    lines = (prompt("drain"), reply("Done."), compaction(BOUNDARY), reply("On.", uuid="a2"))
    root.session(session_id, *copy_lines(session_id, *lines), modified=modified)


def write_fork(root: ClaudeRoot, session_id: str, first: Line) -> None:
    """Write a session that begins with a compaction."""
    own = (prompt("fill it", uuid=f"p-{session_id}"), reply("Full.", uuid=f"r-{session_id}"))
    root.session(session_id, *copy_lines(session_id, first, *own))


def list_parents(root: ClaudeRoot) -> dict[str, str | None]:
    """Return the session that each one was copied from."""
    return {each.id: each.forked_from for each in list_sessions(root=root.path).sessions}


def test_the_parent_is_the_session_with_the_compaction_in_its_middle(root: ClaudeRoot) -> None:
    """Two forks that begin with it are forks of the parent, not of each other."""
    write_parent(root)
    write_fork(root, SECOND, compaction(BOUNDARY))
    write_fork(root, THIRD, compaction(BOUNDARY))
    assert list_parents(root) == {FIRST: None, SECOND: FIRST, THIRD: FIRST}


def test_another_compaction_is_no_evidence(root: ClaudeRoot) -> None:
    """A compaction with another uuid, a mentioned or an invalid one gives no parent."""
    mention = prompt(f'"{OTHER}"', uuid="u9")
    root.session(FIRST, prompt("drain"), mention, compaction("short"), reply("Done."))
    write_fork(root, SECOND, compaction(OTHER))
    write_fork(root, THIRD, compaction("short"))
    assert list_parents(root) == {FIRST: None, SECOND: None, THIRD: None}


def test_the_files_of_a_project_are_searched_once(root: ClaudeRoot) -> None:
    """Further forks need no further search of the parent."""
    write_parent(root)
    write_fork(root, SECOND, compaction(BOUNDARY))
    write_fork(root, THIRD, compaction(BOUNDARY))
    files = {each.name: each for each in discover_root(root.path).transcripts}
    context = SessionContext()
    parents = []
    for name in (SECOND, THIRD):
        listing = read_listing(files[name], context)
        assert listing is not None
        parents.append(listing.forked_from)
        write_fork(root, FIRST, prompt("nothing was compacted here"))
    assert parents == [FIRST, FIRST]


def test_two_possible_parents_are_none(root: ClaudeRoot) -> None:
    """It is not known which of two copies of a file the fork was made of."""
    write_parent(root)
    write_parent(root, THIRD)
    write_fork(root, SECOND, compaction(BOUNDARY))
    assert list_parents(root)[SECOND] is None


def test_a_file_that_was_last_written_before_the_compaction_is_not_read(root: ClaudeRoot) -> None:
    """No record is later than the mtime of its file."""
    write_parent(root, modified=59)
    write_fork(root, SECOND, compaction(BOUNDARY))
    assert list_parents(root)[SECOND] is None


@pytest.mark.parametrize(
    ("version", "fork", "parent"),
    [
        ("2.0.77", "8746a47b", "4b1a174f"),
        ("2.1.112", "d25995ce", "a4a85637"),
        ("2.1.325", "34fb2907", "fb2bf66c"),
    ],
)
def test_forks_of_real_clients(shared: Path | None, version: str, fork: str, parent: str) -> None:
    """2.0.77 left the parent's id in the copy, later versions only the compaction."""
    if shared is None:
        pytest.skip("needs the recordings of real clients")
    listings = list_sessions(root=shared / "real_cli" / version / "config", page_size=1000).sessions
    origin = next(each.forked_from for each in listings if each.id.startswith(fork))
    assert origin is not None
    assert origin.startswith(parent)
