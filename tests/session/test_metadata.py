"""The metadata that a listing shows of a session."""

from collections.abc import Sequence

import pytest

from recollect.documents.session_listing import LiveProcess, Metadata
from recollect.records.envelope import Record
from recollect.records.state import AiTitle, CustomTitle, LastPrompt, Summary
from recollect.session.facts import Facts, build_facts
from recollect.session.messages import build_messages
from recollect.session.metadata import (
    Provenance,
    build_metadata,
    choose_title,
    find_first_prompt,
    first_words,
)
from recollect.session.session import Session
from recollect.session.session_records import Log
from tests.session.chains import attachment, in_a_row, reply, result, system, use, user


def metadata_of(records: Sequence[Record], provenance: Provenance | None = None) -> Metadata:
    """Return the metadata of a session with these records."""
    log = Log()
    log.extend(records)
    is_subagent = bool(log.starts_in_sidechain)
    messages = build_messages(log.chain, log.superseded, is_subagent=is_subagent)
    return build_metadata(
        provenance or Provenance(), log, messages, build_facts(log.chain, log.states)
    )


def first_prompt_of(*records: Record) -> str | None:
    """Return the first prompt in the listing of these records."""
    return metadata_of(records).first_prompt


EMPTY = Metadata(
    id="",
    project=None,
    cwd=None,
    title=None,
    first_prompt=None,
    first_prompt_time=None,
    created=None,
    last_active=None,
    modified=None,
    message_count=0,
    is_subagent=False,
    agent_id=None,
    path=None,
    size=None,
    version=None,
    git_branch=None,
    tag=None,
    live=None,
)


def test_an_empty_file_has_no_metadata() -> None:
    """Nothing is known of a file without records."""
    assert metadata_of([]) == EMPTY


def test_a_file_with_a_title_of_another_session_has_none_itself() -> None:
    """A summary names a record that is usually in another file."""
    assert metadata_of([Summary(summary="Elsewhere", leaf_uuid="gone")]) == EMPTY


def test_a_whole_session() -> None:
    """Directory and branch are the last ones; the provenance fills in what records lack."""
    shared = {"sessionId": "s1", "version": "2.1.0", "gitBranch": "main", "cwd": "/p"}
    records = in_a_row(
        user("a", "Caveat", isMeta=True, timestamp="2026-01-01T11:59:00Z", **shared),
        user("b", "fix it", None, timestamp="2026-01-01T12:00:00Z", **shared),
        reply("c", use("t1"), message={"id": "m1"}),
        reply("d", "on it", message={"id": "m1"}),
        result("e", "t1"),
        reply("f", "API Error", message={"model": "<synthetic>"}),
        attachment("g", "queued_command", prompt="and the docs"),
        system("h", "informational", cwd="/p/sub", version="2.1.1", gitBranch="fix"),
        reply("i", "done", timestamp="2026-01-01T12:30:00Z"),
    )
    live = LiveProcess(pid=7, status="busy")
    provenance = Provenance(
        id="s2", project="-p", path="/x/s2.jsonl", size=99, modified=12.5, live=live
    )
    assert metadata_of(records, provenance) == Metadata(
        id="s2",
        project="-p",
        cwd="/p/sub",
        title="fix it",
        first_prompt="fix it",
        first_prompt_time="2026-01-01T12:00:00Z",
        created="2026-01-01T11:59:00Z",
        last_active="2026-01-01T12:30:00Z",
        modified=12.5,
        message_count=4,
        is_subagent=False,
        agent_id=None,
        path="/x/s2.jsonl",
        size=99,
        version="2.1.1",
        git_branch="fix",
        tag=None,
        live=live,
    )


def test_without_a_file_the_records_name_the_session() -> None:
    """In some forks prompts keep the old id: the last id is the session's."""
    records = in_a_row(user("a", sessionId="old"), reply("b", sessionId="new"))
    assert metadata_of(records).id == "new"


def test_a_subagent_is_known_by_its_first_words() -> None:
    """Its task is its first prompt, and its records have its id."""
    records = in_a_row(
        user("a", "find the bug", isSidechain=True, agentId="a1"), reply("b", isSidechain=True)
    )
    found = metadata_of(records)
    assert (found.is_subagent, found.agent_id, found.title) == (True, "a1", "find the bug")
    assert metadata_of(records, Provenance(agent_id="a2")).agent_id == "a2"


def test_a_warm_up_has_no_title() -> None:
    """A warm-up agent has no request to take a title from."""
    records = in_a_row(user("a", "Warmup", isSidechain=True), reply("b", isSidechain=True))
    found = metadata_of(records)
    assert (found.title, found.first_prompt, found.message_count) == (None, None, 1)


def test_a_session_with_sidechains_inside_is_no_subagents() -> None:
    """A file of an old client with sidechains is a main session if it has a prompt of its own."""
    records = [user("a", "mine"), user("b", "task", isSidechain=True)]
    found = metadata_of(records)
    assert (found.is_subagent, found.title, found.message_count) == (False, "mine", 1)


COMMAND = "<command-name>/review</command-name><command-args>it</command-args>"
BARE = "<command-name>/clear</command-name><command-args></command-args>"
SETTING = "<command-name>/model</command-name><command-args>opus</command-args>"
SHELL = "<bash-input>ls</bash-input>"
PICTURE = [{"type": "image"}]


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        ([SHELL, COMMAND, "fix it", "more"], "/review it"),
        ([COMMAND, SHELL], "/review it"),
        ([BARE, SETTING, SHELL, "fix it"], "fix it"),
        ([BARE, SETTING, SHELL], "/clear"),
        (["Stop hook feedback:\n- run the tests", "fix it"], "fix it"),
        (["<user-prompt-submit-hook>x</user-prompt-submit-hook>", "fix it"], "fix it"),
        (["<task-notification>x</task-notification>", "fix it"], "fix it"),
        ([SHELL], "ls"),
        ([PICTURE, "what is it?"], "what is it?"),
        ([PICTURE], None),
        (["<local-command-stdout>x</local-command-stdout>"], None),
        (["[Request interrupted by user]", "<task-notification>x</task-notification>"], None),
        (["<system-reminder>brief</system-reminder>go"], "go"),
    ],
)
def test_the_first_prompt_has_words(contents: list[object], expected: str | None) -> None:
    """A command with arguments is a prompt, one without a fallback, and injected text neither."""
    records = [user(str(number), content) for number, content in enumerate(contents)]
    assert first_prompt_of(*records) == expected


def test_a_bare_command_is_titled_by_its_answer() -> None:
    """Many sessions start with the same command; its answer distinguishes them."""
    bare = "<command-name>/plan</command-name><command-args></command-args>"
    answer = reply("b", "## \n\n## Setting up **the pond**\nFirst.", parent="a")
    sessions = [
        Session([user("a", bare), answer]),
        Session([user("a", bare)]),
        Session([user("a", BARE), answer]),
        Session([user("a", bare), answer, user("c", "go on", "b")]),
    ]
    titles = [session.metadata.title for session in sessions]
    assert titles == ["/plan: Setting up **the pond", "/plan", "/clear", "go on"]
    assert {session.metadata.first_prompt for session in sessions[:2]} == {"/plan"}


def test_a_queued_prompt_may_be_the_first() -> None:
    """A prompt that is only in an attachment is the user's text."""
    assert first_prompt_of(attachment("a", "queued_command", prompt="go on")) == "go on"


def test_no_message_has_no_words() -> None:
    """Replies are not prompts."""
    messages = build_messages([reply("a", "hello")], (), is_subagent=False)
    assert find_first_prompt(messages, is_subagent=False) is None
    assert (first_words(None), first_words(messages[0])) == (None, None)


@pytest.mark.parametrize(
    ("custom", "ai", "summary", "last", "first", "expected"),
    [
        ("custom", "ai", "summary", "last", "first", "custom"),
        (None, "ai", "summary", "last", "first", "ai"),
        ("", None, "summary", "last", "first", "summary"),
        (None, None, None, "last", "first", "last"),
        (None, None, "", "", "first", "first"),
        (None, None, None, None, None, None),
    ],
)
def test_titles_have_an_order(
    custom: str | None,
    ai: str | None,
    summary: str | None,
    last: str | None,
    first: str | None,
    expected: str | None,
) -> None:
    """The user's title comes first, then a model's, then a summary, then prompts."""
    facts = Facts(custom_title=custom, ai_title=ai, last_prompt=last)
    assert choose_title(facts, summary, first) == expected


def test_the_records_give_all_titles() -> None:
    """Removing title records one by one reveals the next title."""
    titles: list[Record] = [
        CustomTitle(custom_title="custom"),
        AiTitle(ai_title="ai"),
        Summary(summary="summary", leaf_uuid="a"),
        LastPrompt(last_prompt="last"),
        user("a", "first"),
    ]
    shown = [metadata_of(titles[start:]).title for start in range(5)]
    assert shown == ["custom", "ai", "summary", "last", "first"]


def test_a_summary_in_another_file_names_this_session() -> None:
    """A title belongs to the session that contains its leaf record; the last of several wins."""
    records = [user("a", "first"), reply("b", "hello")]
    provenance = Provenance(foreign_summaries={"a": "early", "b": "late", "gone": "other"})
    assert metadata_of(records, provenance).title == "late"
    own = Summary(summary="own", leaf_uuid="b")
    assert metadata_of([*records, own], provenance).title == "own"
