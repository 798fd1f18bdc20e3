"""Opening sessions by every kind of name, with subagents of all client versions."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.documents.kinds import SubagentKind
from recollect.documents.session_listing import Metadata
from recollect.errors import AmbiguousSession, NothingFound, UnreadableInput
from recollect.library.listings import iter_sessions
from recollect.library.opening import open_session, open_transcript
from recollect.locations import TranscriptKind, discover
from recollect.records.envelope import Unknown
from recollect.session.session import Session
from recollect.session.subagents import JoinedBy, Subagent, SubagentMeta
from tests.library.claude_root import (
    CWD,
    FIRST,
    PROJECT,
    SECOND,
    ClaudeRoot,
    Line,
    at,
    call,
    encode,
    prompt,
    reply,
    result,
    seconds_of,
    summary,
)

ASKED = prompt("drain the pond")
CALLED = call("Agent", {"prompt": "look around", "description": "Look"})
ANSWERED = result("I looked.", given={"agentId": "a000001", "status": "completed"})
TASK = (prompt("look around", uuid="s1"), reply("I looked.", uuid="s2"))


def iter_family(session: Session, depth: int = 0) -> Iterator[tuple[int, Subagent]]:
    """Yield every subagent below a session, with its depth."""
    for child in session.subagents:
        yield depth, child
        yield from iter_family(child.session, depth + 1)


def describe(session: Session) -> list[tuple[int, str, SubagentKind, JoinedBy | None, str | None]]:
    """Return depth, id, kind and call of each subagent."""
    return [
        (depth, child.agent_id, child.kind, child.joined_by, child.call.id if child.call else None)
        for depth, child in iter_family(session)
    ]


def write_meta(root: ClaudeRoot, place: str, agent_id: str, meta: object) -> None:
    """Write the sidecar of a subagent; bytes are written unchanged."""
    content = meta if isinstance(meta, bytes) else json.dumps(meta).encode()
    root.write(f"projects/{PROJECT}/{place}/agent-{agent_id}.meta.json", content)


def test_a_session_knows_where_it_comes_from(root: ClaudeRoot) -> None:
    """An open session has its location in addition to what is in its records."""
    path = root.session(FIRST, ASKED, reply("Done.", seconds=9))
    assert open_session(FIRST, root=[root.path]).metadata == Metadata(
        id=FIRST,
        project=PROJECT,
        cwd=CWD,
        title="drain the pond",
        first_prompt="drain the pond",
        first_prompt_time=at(0),
        created=at(0),
        last_active=at(9),
        modified=seconds_of(3600),
        message_count=2,
        is_subagent=False,
        agent_id=None,
        path=str(path),
        size=path.stat().st_size,
        version="2.1.325",
        git_branch="main",
        tag=None,
        live=None,
    )


def test_a_file_is_opened_anywhere(tmp_path: Path) -> None:
    """A path needs no root; it may be text or a Path, relative, or a link."""
    path = tmp_path / "kept.jsonl"
    path.write_bytes(encode([ASKED]))
    (tmp_path / "link.jsonl").symlink_to(path)
    refs: list[str | Path] = [path, str(path), tmp_path / "link.jsonl"]
    assert [open_session(ref).id for ref in refs] == ["kept", "kept", "kept"]


def test_the_name_of_the_file_is_the_id(root: ClaudeRoot) -> None:
    """Records of copies name other sessions; the file name counts."""
    root.session(SECOND, ASKED)
    session = open_session(SECOND, root=[root.path])
    assert (session.id, session.facts.session_ids) == (SECOND, (FIRST,))


def test_old_subagents_are_in_the_session_itself(root: ClaudeRoot) -> None:
    """Clients 1.0.x wrote subagents into the session's file."""
    inline = [{**line, "isSidechain": True} for line in TASK]
    inline[1]["parentUuid"] = "s1"
    root.session(FIRST, ASKED, CALLED, *inline, result("I looked."))
    assert describe(open_session(FIRST, root=[root.path])) == [
        (0, "inline-0", SubagentKind.INLINE, JoinedBy.PROMPT, "toolu_1")
    ]


@pytest.mark.parametrize("place", [".", "subagents"])
def test_later_subagents_are_outside_the_session(root: ClaudeRoot, place: str) -> None:
    """Subagents beside the sessions, or in `subagents`, belong to the session in their records.

    Listing the project finds them too.
    """
    root.session(FIRST, ASKED, CALLED, ANSWERED)
    root.session(SECOND, ASKED)
    root.agent(place, "a000001", *TASK)
    root.agent(place, "a000002", *({**line, "sessionId": SECOND} for line in TASK))
    found = {each: describe(open_session(each, root=[root.path])) for each in (FIRST, SECOND)}
    assert found == {
        FIRST: [(0, "a000001", SubagentKind.FILE, JoinedBy.AGENT_ID, "toolu_1")],
        SECOND: [(0, "a000002", SubagentKind.FILE, None, None)],
    }
    listed = iter_sessions(PROJECT, include_subagents=True, root=[root.path])
    assert {each.id for each in listed} == {FIRST, SECOND, "agent-a000001", "agent-a000002"}


def test_a_flat_subagent_with_a_long_task_is_found(root: ClaudeRoot) -> None:
    """The session id may come after many bytes of the first line."""
    long_task = {"message": {"role": "user", "content": "x" * 300_000}, **TASK[0]}
    root.session(FIRST, ASKED)
    root.agent(".", "a000001", {**long_task, "sessionId": FIRST})
    assert [child.agent_id for child in open_session(FIRST, root=[root.path]).subagents] == [
        "a000001"
    ]


def test_new_subagents_are_in_the_directory_of_the_session(root: ClaudeRoot) -> None:
    """They are in one directory at any depth; sidecars name their calls."""
    place = f"{FIRST}/subagents"
    inner = call("Agent", {"prompt": "look closer"}, call_id="toolu_2", uuid="c2")
    root.session(FIRST, ASKED, CALLED, result("I looked."))
    root.agent(place, "a000001", *TASK, inner)
    root.agent(place, "a000002", prompt("look closer"))
    write_meta(root, place, "a000001", {"agentType": "Explore", "toolUseId": "toolu_1"})
    write_meta(root, place, "a000002", {"toolUseId": "toolu_2", "parentAgentId": "a000001"})
    session = open_session(FIRST, root=[root.path])
    assert describe(session) == [
        (0, "a000001", SubagentKind.FILE, JoinedBy.CALL_ID, "toolu_1"),
        (1, "a000002", SubagentKind.FILE, JoinedBy.CALL_ID, "toolu_2"),
    ]
    assert session.subagents[0].meta == SubagentMeta(agent_type="Explore", tool_use_id="toolu_1")


def test_subagents_of_a_workflow_are_deeper(root: ClaudeRoot) -> None:
    """Agents of a workflow run belong to the call that started the run."""
    started = result("Started.", given={"runId": "wf_1"})
    root.session(FIRST, ASKED, call("Workflow", {"name": "tidy"}), started)
    root.agent(f"{FIRST}/subagents/workflows/wf_1", "a000001", *TASK)
    root.write(f"projects/{PROJECT}/{FIRST}/subagents/workflows/wf_1/journal.jsonl", b"{}\n")
    session = open_session(FIRST, root=[root.path])
    assert describe(session) == [(0, "a000001", SubagentKind.WORKFLOW, JoinedBy.RUN_ID, "toolu_1")]
    assert session.subagents[0].run_id == "wf_1"


@pytest.mark.parametrize("meta", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"{}" + b" " * 2_000_000])
def test_a_broken_sidecar_costs_only_what_it_says(root: ClaudeRoot, meta: bytes) -> None:
    """A subagent with a damaged sidecar is found by its id."""
    place = f"{FIRST}/subagents"
    root.session(FIRST, ASKED, CALLED, ANSWERED)
    root.agent(place, "a000001", *TASK)
    write_meta(root, place, "a000001", meta)
    session = open_session(FIRST, root=[root.path])
    assert describe(session) == [(0, "a000001", SubagentKind.FILE, JoinedBy.AGENT_ID, "toolu_1")]


def test_a_sidecar_with_odd_values_keeps_the_others(root: ClaudeRoot) -> None:
    """A field with an unexpected type does not affect the others."""
    place = f"{FIRST}/subagents"
    root.session(FIRST, ASKED)
    root.agent(place, "a000001", *TASK)
    write_meta(root, place, "a000001", {"agentType": "Explore", "spawnDepth": "deep", "new": 1})
    (child,) = open_session(FIRST, root=[root.path]).subagents
    assert child.meta == SubagentMeta(agent_type="Explore")


def test_a_link_out_of_the_session_is_not_followed(root: ClaudeRoot, tmp_path: Path) -> None:
    """Neither a linked directory nor a linked file is read."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "agent-a000001.jsonl").write_bytes(encode(TASK))
    root.session(FIRST, ASKED)
    root.session(SECOND, ASKED)
    project = root.path / "projects" / PROJECT
    (project / FIRST).mkdir()
    (project / FIRST / "subagents").symlink_to(outside)
    (project / SECOND / "subagents").mkdir(parents=True)
    (project / SECOND / "subagents" / "agent-a000002.jsonl").symlink_to(
        outside / "agent-a000001.jsonl"
    )
    (project / "agent-a000003.jsonl").symlink_to(outside / "agent-a000001.jsonl")
    sessions = [open_session(each, root=[root.path]) for each in (FIRST, SECOND)]
    assert [session.subagents for session in sessions] == [(), ()]


def test_a_subagent_is_opened_by_itself(root: ClaudeRoot) -> None:
    """It includes its own subagents, but not its siblings."""
    place = f"{FIRST}/subagents"
    inner = call("Agent", {"prompt": "look closer"}, call_id="toolu_2", uuid="c2")
    root.agent(place, "a000001", *TASK, inner)
    root.agent(place, "a000002", prompt("look closer"))
    root.agent(place, "a000003", prompt("something else"))
    write_meta(root, place, "a000002", {"toolUseId": "toolu_2"})
    session = open_session("a000001", root=[root.path])
    metadata = session.metadata
    assert (metadata.id, metadata.agent_id, metadata.is_subagent, metadata.first_prompt) == (
        "agent-a000001",
        "a000001",
        True,
        "look around",
    )
    assert describe(session) == [(0, "a000002", SubagentKind.FILE, JoinedBy.CALL_ID, "toolu_2")]


def test_a_flat_subagent_is_opened_by_its_path(root: ClaudeRoot) -> None:
    """Its session need not exist."""
    path = root.agent(".", "a000001", *TASK)
    session = open_session(path)
    assert (session.id, session.is_subagent, session.subagents) == ("agent-a000001", True, ())


def test_another_file_may_hold_the_title(root: ClaudeRoot) -> None:
    """A title in another session's file is found; the newest one wins."""
    root.session(FIRST, ASKED, reply("Done."))
    root.session(SECOND, summary("An older title", "a1"), ASKED, modified=10)
    root.session("stray", summary("The pond", "a1"), modified=20)
    assert open_session(FIRST, root=[root.path]).metadata.title == "The pond"


def test_an_empty_file_is_an_empty_session(root: ClaudeRoot) -> None:
    """A client creates the file before it writes to it."""
    path = root.write(f"projects/{PROJECT}/{FIRST}.jsonl", b"")
    session = open_session(path)
    assert (session.id, session.messages) == (FIRST, ())


@pytest.mark.parametrize(
    "content",
    [
        b"hello\nworld\n",
        b"\x89PNG\r\n\x1a\n\0\0",
        b"\0" * 100,
        b'{"display":"drain the pond","timestamp":1,"project":"/"}\n',
        b"[1, 2]\n",
        b"\n\n",
    ],
)
def test_a_file_without_a_record_is_no_transcript(tmp_path: Path, content: bytes) -> None:
    """The error says what to specify instead."""
    path = tmp_path / "other.jsonl"
    path.write_bytes(content)
    with pytest.raises(UnreadableInput) as caught:
        open_session(path)
    assert str(caught.value) == (
        f"{path} contains no Claude Code records. Specify a transcript: a .jsonl file below "
        "`projects`."
    )


def test_a_file_of_a_newer_client_is_a_transcript(tmp_path: Path) -> None:
    """Unknown record types are records."""
    path = tmp_path / "new.jsonl"
    path.write_bytes(b'{"type":"thought","text":"hm"}\n')
    (record,) = open_session(path).irregular
    assert isinstance(record, Unknown)
    assert record.record_type == "thought"


def test_a_secret_is_never_opened(tmp_path: Path) -> None:
    """The key of a running process is refused by its name."""
    path = tmp_path / "4711.ab12.key"
    path.write_bytes(encode([ASKED]))
    with pytest.raises(UnreadableInput):
        open_session(path)


@pytest.mark.parametrize("ref", ["../secret", "../../secret", "secret", "./secret", "nope.jsonl"])
def test_a_text_is_a_path_only_if_it_names_a_transcript(
    root: ClaudeRoot, monkeypatch: pytest.MonkeyPatch, ref: str
) -> None:
    """Other text with separators is not a path, even if such a file exists."""
    root.write("secret", encode([ASKED]))
    root.session(FIRST, ASKED)
    monkeypatch.chdir(root.path / "projects")
    with pytest.raises(NothingFound):
        open_session(ref, root=[root.path])


def test_ambiguity_is_an_error_here_too(root: ClaudeRoot) -> None:
    """Several matching sessions are an error."""
    root.session(FIRST, ASKED)
    root.session(SECOND, ASKED)
    with pytest.raises(AmbiguousSession):
        open_session("pond", root=[root.path])


def test_warm_ups_are_subagents_that_say_so(root: ClaudeRoot) -> None:
    """Agents that lists leave out are there when the session is opened."""
    root.session(FIRST, ASKED)
    root.agent(".", "a000001", prompt("Warmup"), reply("Ready."))
    (child,) = open_session(FIRST, root=[root.path]).subagents
    assert child.is_warmup


def test_a_session_of_any_name_can_be_opened(root: ClaudeRoot) -> None:
    """A file whose name cannot be an id is opened by its path, without subagents."""
    lines: list[Line] = [ASKED]
    path = root.write("projects/x/CON.jsonl", encode(lines))
    assert (open_session(path).id, open_session(path).subagents) == ("CON", ())


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2.0.77", "2.1.112", "2.1.325"])
@pytest.mark.parametrize("folder", ["config", "config_tui"])
def test_every_subagent_of_the_real_client_belongs_to_one_session(
    shared: Path, version: str, folder: str
) -> None:
    """Each subagent's file is found once, joined to a call unless it only warmed up."""
    transcripts = discover(shared / "real_cli" / version / folder).transcripts
    mains = [each for each in transcripts if each.kind is TranscriptKind.SESSION]
    family = [child for main in mains for _, child in iter_family(open_transcript(main))]
    found = sorted(child.session.metadata.path or "" for child in family)
    assert found == sorted(str(each.path) for each in transcripts if each not in mains)
    assert [child.agent_id for child in family if child.is_warmup is (child.call is not None)] == []
