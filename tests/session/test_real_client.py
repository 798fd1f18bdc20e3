"""Sessions of scripted scenarios, recorded with real clients."""

import json
from functools import cache
from pathlib import Path

import pytest

from recollect.documents.kinds import InputKind, RejectedBy, ToolStatus
from recollect.reader.transcript_reader import read_transcript
from recollect.session.session import Session

ALL = ("1.0.35", "1.0.128", "2.0.77", "2.1.112", "2.1.325")
SINCE_1_0_128 = ALL[1:]
SUCCESS, FAILED, REJECTED = ToolStatus.SUCCESS, ToolStatus.FAILED, ToolStatus.REJECTED
INTERRUPTED = ToolStatus.INTERRUPTED
PERSON, RULE, HOOK = RejectedBy.PERSON, RejectedBy.RULE, RejectedBy.HOOK


@cache
def session_paths(folder: Path) -> dict[str, list[Path]]:
    """Return the sessions of each scenario of a client version, by name."""
    runs = json.loads((folder / "scenarios.json").read_bytes())
    found = {
        run["name"]: [*folder.glob(f"config/projects/*/{run['session_id']}.jsonl")] for run in runs
    }
    for run in json.loads((folder / "scenarios_tui.json").read_bytes()):
        touched = [folder / "config_tui" / path for path in run["touched"]]
        found[run["name"]] = [
            path
            for path in touched
            if path.suffix == ".jsonl"
            and path.parent.parent.name == "projects"
            and path.exists()
            and not path.name.startswith("agent-")
        ]
    return found


def open_scenario(shared: Path, version: str, name: str) -> Session:
    """Open the first session of a scenario."""
    path = session_paths(shared / "real_cli" / version)[name][0]
    return Session(read_transcript(path))


def outcomes(session: Session) -> list[tuple[ToolStatus, RejectedBy | None]]:
    """Return the outcome of each tool call."""
    return [(call.status, call.rejected_by) for call in session.tool_calls]


def said(session: Session) -> list[str]:
    """Return the prompt of each turn, without the script before it."""
    return [turn.words.rpartition("]] ")[2] for turn in session.turns]


@pytest.mark.parametrize("version", ALL)
def test_a_rule_denies_a_tool(shared: Path, version: str) -> None:
    """A tool denied by a rule is rejected by a rule."""
    assert outcomes(open_scenario(shared, version, "denied")) == [(REJECTED, RULE)]


@pytest.mark.parametrize("version", ALL)
def test_a_missing_permission_is_a_rule(shared: Path, version: str) -> None:
    """A headless run without write permission is rejected by a rule, in any field."""
    assert outcomes(open_scenario(shared, version, "denied_write")) == [(REJECTED, RULE)]


@pytest.mark.parametrize("version", SINCE_1_0_128)
def test_a_hook_blocks_a_tool(shared: Path, version: str) -> None:
    """A tool blocked by a hook is rejected by a hook."""
    assert outcomes(open_scenario(shared, version, "hook_block")) == [(REJECTED, HOOK)]


@pytest.mark.parametrize("version", ["1.0.35", "1.0.128", "2.1.112", "2.1.325"])
def test_a_person_rejects_a_tool(shared: Path, version: str) -> None:
    """Two denials and two approvals in the terminal, in this order."""
    session = open_scenario(shared, version, "tui_permission")
    assert outcomes(session) == [(REJECTED, PERSON)] * 2 + [(SUCCESS, None)] * 2


def test_a_program_rejects_a_tool(shared: Path) -> None:
    """The newest client records who denied it; older ones only quote the message."""
    assert outcomes(open_scenario(shared, "2.1.325", "sj_deny")) == [(REJECTED, PERSON)]
    assert outcomes(open_scenario(shared, "2.1.112", "sj_deny")) == [(FAILED, None)]


@pytest.mark.parametrize(("version", "count"), [("1.0.35", 3), *((v, 4) for v in SINCE_1_0_128)])
def test_tools_fail(shared: Path, version: str, count: int) -> None:
    """Exit codes, invalid input and text that is not found are failures, not rejections."""
    assert outcomes(open_scenario(shared, version, "tool_errors")) == [(FAILED, None)] * count


@pytest.mark.parametrize("version", ["1.0.35", "1.0.128", "2.1.112", "2.1.325"])
def test_a_running_tool_is_interrupted(shared: Path, version: str) -> None:
    """Escape during a command: the call is interrupted, and the conversation continues."""
    session = open_scenario(shared, version, "tui_interrupt")
    assert outcomes(session) == [(INTERRUPTED, None)]
    assert said(session)[:4] == ["count", "count again", "sleep", "go on"]


def test_an_interrupted_tool_of_a_headless_run(shared: Path) -> None:
    """Up to 2.1.112 the result shows it; 2.1.325 writes the text of a rejection."""
    for version in ("2.0.77", "2.1.112"):
        assert outcomes(open_scenario(shared, version, "sj_interrupt_tool")) == [
            (INTERRUPTED, None)
        ]
    assert outcomes(open_scenario(shared, "2.1.325", "sj_interrupt_tool")) == [(REJECTED, PERSON)]


def test_an_interrupted_reply_is_marked(shared: Path) -> None:
    """The newest client marks the truncated reply; the next prompt starts a new turn."""
    session = open_scenario(shared, "2.1.325", "sj_interrupt")
    assert [message.is_aborted for message in session.messages if message.role == "assistant"] == [
        True,
        False,
    ]
    assert said(session) == ["count", "and now"]


@pytest.mark.parametrize("version", SINCE_1_0_128)
def test_two_compactions_make_three_segments(shared: Path, version: str) -> None:
    """Both were requested, both have a summary, and the whole history is one path."""
    session = open_scenario(shared, version, "compact_again")
    facts = [
        (segment.index, segment.trigger, bool(segment.summary)) for segment in session.segments
    ]
    assert facts == [(0, None, False), (1, "manual", True), (2, "manual", True)]
    first_prompt = session.turns[0].messages[0].uuids[0]
    assert session.main_path[0] == first_prompt
    assert [said(session)[0], said(session)[1]] == ["one", "two"]


@pytest.mark.parametrize("version", SINCE_1_0_128)
def test_a_fork_after_a_compaction_starts_at_it(shared: Path, version: str) -> None:
    """The copy contains only the last segment; its own prompt is a separate turn."""
    session = open_scenario(shared, version, "compact_fork")
    assert len(session.segments) == 1
    assert session.segments[0].trigger == "manual"
    assert session.segments[0].summary
    assert said(session)[-1] == "four"


def test_a_copy_with_zeroed_usage_does_not_count(shared: Path) -> None:
    """The fork's copy of a preserved reply has no usage; only the new reply counts."""
    fork = open_scenario(shared, "2.1.325", "compact_fork")
    outputs = [m.usage.output_tokens for m in fork.messages if m.role == "assistant" and m.usage]
    assert outputs == [0, 11]
    assert fork.metrics.tokens.output == 11


@pytest.mark.parametrize("version", SINCE_1_0_128)
def test_a_fork_keeps_the_turns_of_its_parent(shared: Path, version: str) -> None:
    """Four prompts are four turns, even if all copies have the same prompt id."""
    assert said(open_scenario(shared, version, "sid_fork")) == ["one", "two", "three", "four"]


def test_a_fork_of_2_0_has_two_session_ids(shared: Path) -> None:
    """The prompts keep the id of the original session."""
    facts = open_scenario(shared, "2.0.77", "sid_fork").facts
    assert len(facts.session_ids) == 2


def test_a_queued_prompt_exists_only_as_an_attachment(shared: Path) -> None:
    """Two prompts typed while a tool ran are messages, although no user record contains them."""
    session = open_scenario(shared, "2.1.325", "tui_queue")
    queued = [m for m in session.messages if m.prompt and m.prompt.kind is InputKind.QUEUED]
    assert [m.text.rpartition("]] ")[2] for m in queued] == ["queued one", "queued two"]
    assert all(m.is_visible for m in queued)


@pytest.mark.parametrize("version", ["1.0.35", "1.0.128"])
def test_parallel_inline_sidechains_are_distinguished(shared: Path, version: str) -> None:
    """Two interleaved subagents in one file are separate, each with its call, and not branches."""
    session = open_scenario(shared, version, "subagents_parallel")
    assert sorted(a.description or "" for a in session.subagents) == ["First job", "Second job"]
    assert all(a.session.messages and a.session.is_subagent for a in session.subagents)
    assert session.branches == ()
    assert len(session.turns) == 1


@pytest.mark.parametrize("version", ["1.0.35", "1.0.128", "2.1.112", "2.1.325"])
def test_a_rewind_is_the_only_branch(shared: Path, version: str) -> None:
    """Abandoned turns stay visible, outside the main path."""
    session = open_scenario(shared, version, "tui_rewind")
    assert len(session.branches) == 1
    assert session.branches[0].chosen == session.branches[0].options[-1]
    off = [turn.words.rpartition("]] ")[2] for turn in session.turns if not turn.is_on_main_path]
    assert off == ["write 2", "write 3"]
    assert "after the rewind" in [words for words in said(session) if words not in off]


def test_a_background_agent_reports_in_a_turn_of_its_own(shared: Path) -> None:
    """Its notification starts a turn that the user did not request."""
    session = open_scenario(shared, "2.1.325", "subagents_parallel")
    assert [(turn.kind, turn.is_by_person) for turn in session.turns] == [
        (InputKind.SDK, True),
        (InputKind.TASK_NOTIFICATION, False),
        (InputKind.TASK_NOTIFICATION, False),
    ]


@pytest.mark.parametrize(
    ("name", "status"),
    [("always_400", 400), ("auth_error", 401), ("server_error", 500), ("too_long", 400)],
)
def test_a_failed_request_is_a_failure_and_no_reply(shared: Path, name: str, status: int) -> None:
    """The client's message about it is visible, counts as an error and has no cost."""
    session = open_scenario(shared, "2.1.325", name)
    (failure,) = [message.failure for message in session.messages if message.failure]
    assert failure.status == status
    assert session.metrics.errors == 1
    assert session.metrics.replies == 0
    assert session.metrics.tokens.total == 0


@pytest.mark.parametrize("version", SINCE_1_0_128)
def test_retries_are_part_of_the_turn_of_their_reply(shared: Path, version: str) -> None:
    """A request that failed at first and then succeeded is one turn with one reply."""
    session = open_scenario(shared, version, "rate_limited")
    assert session.metrics.replies == 1
    assert [message.failure for message in session.messages if message.failure] == []


def test_the_shell_mode_and_commands_open_turns(shared: Path) -> None:
    """`!`, a mention and a custom command have the expected texts."""
    session = open_scenario(shared, "2.1.325", "tui_misc")
    kinds = [turn.kind for turn in session.turns if turn.is_by_person]
    assert kinds == [InputKind.SHELL, InputKind.TYPED, InputKind.COMMAND, InputKind.TYPED]
    assert session.turns[0].words == "echo from bash mode; ls README.txt no-such"
    command = session.turns[2].command
    assert command is not None
    assert (command.name, command.arguments) == ("/hi", "friend")


@pytest.mark.parametrize("version", ["2.1.112", "2.1.325"])
def test_slow_blocks_are_one_message_with_final_usage(shared: Path, version: str) -> None:
    """Three lines of one response are one message with the scripted 78 and 10 tokens."""
    session = open_scenario(shared, version, "slow_blocks")
    replies = [message for message in session.messages if message.role == "assistant"]
    assert [(len(m.records), len(m.content)) for m in replies] == [(3, 3), (1, 1)]
    assert [m.usage.output_tokens for m in replies if m.usage] == [78, 10]
    assert session.metrics.tokens.output == 88


def test_every_call_with_a_result_is_joined(shared: Path) -> None:
    """No sample session has a result without a call."""
    paths = [*shared.glob("corpus/**/*.jsonl"), *shared.glob("real_cli/*/config*/**/*.jsonl")]
    calls = orphans = 0
    for path in paths:
        if "_stream" in path.parts:
            continue
        session = Session(read_transcript(path))
        calls += len(session.tool_calls)
        orphans += len(session.orphan_results)
    assert calls > 2000
    assert orphans == 0
