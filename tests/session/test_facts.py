"""Facts around the conversation: names, directories, modes, links, backups and costs."""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.records.conversation_records import User
from recollect.records.envelope import Chain, ForkedFrom, Span
from recollect.records.state import CostState, FrameLink, PermissionMode, WorktreeSession
from recollect.session.facts import (
    Backup,
    Facts,
    PullRequest,
    QueueEvent,
    StateChange,
    build_facts,
    count_backups,
)
from tests.session.recordings import LATER, NOON, make_log, read_scenario


def facts_of(*lines: Mapping[str, object]) -> Facts:
    """Return the facts of a session with these lines."""
    log = make_log(*lines)
    return build_facts(log.chain, log.states)


def test_nothing_is_known_of_nothing() -> None:
    """A session without records has no facts."""
    assert build_facts([], []) == Facts()


def test_the_last_name_counts() -> None:
    """The last value of a state that is appended repeatedly is the fact."""
    assert facts_of(
        {"type": "custom-title", "customTitle": "first"},
        {"type": "custom-title", "customTitle": "second"},
        {"type": "ai-title", "aiTitle": "by a model"},
        {"type": "agent-name", "agentName": "second"},
        {"type": "agent-color", "agentColor": "cyan"},
        {"type": "agent-setting", "agentSetting": "helper"},
        {"type": "mode", "mode": "normal"},
        {"type": "tools-used", "tools": ["Bash"]},
        {"type": "tools-used", "tools": ["Bash", "Edit"]},
        {"type": "relocated", "relocatedCwd": "/new"},
        {"type": "continued-in", "continuedInSessionId": "s2"},
        {"type": "bridge-session", "bridgeSessionId": "b1"},
        {"type": "ended-by-model"},
    ) == Facts(
        custom_title="second",
        ai_title="by a model",
        agent_name="second",
        agent_color="cyan",
        agent_setting="helper",
        mode="normal",
        tools_used=("Bash", "Edit"),
        relocated_to="/new",
        continued_in="s2",
        bridge_session_id="b1",
        ended_by_model=True,
    )


@pytest.mark.parametrize(("tags", "tag"), [(["wip", "done"], "done"), (["wip", ""], None)])
def test_an_empty_tag_clears_it(tags: list[str], tag: str | None) -> None:
    """The last tag counts, and an empty one takes it away."""
    assert facts_of(*({"type": "tag", "tag": text} for text in tags)) == Facts(tag=tag)


def test_a_rewind_does_not_take_the_last_prompt_away() -> None:
    """A `last-prompt` record without text, as written by a rewind, keeps the last prompt."""
    assert facts_of(
        {"type": "last-prompt", "lastPrompt": "and the docs", "leafUuid": "a"},
        {"type": "last-prompt", "leafUuid": "0", "explicit": True},
    ) == Facts(last_prompt="and the docs")


def test_summaries_keep_the_record_they_name() -> None:
    """Summaries are given with their leaf, because they mostly name other sessions."""
    assert facts_of(
        {"type": "summary", "summary": "Fix login", "leafUuid": "x"},
        {"type": "summary", "summary": "Fix logout", "leafUuid": "y"},
        {"type": "summary", "summary": "named by nobody"},
    ) == Facts(own_summaries=(("x", "Fix login"), ("y", "Fix logout")))


def test_pull_requests_are_listed_once() -> None:
    """A link that is flushed many times is one pull request, in order of first sight."""
    link = {"type": "pr-link", "prRepository": "o/r"}
    assert facts_of(
        {**link, "prNumber": 12, "prUrl": "https://e/12", "timestamp": NOON},
        {**link, "prNumber": 13, "prUrl": "https://e/13", "timestamp": NOON},
        {**link, "prNumber": 12, "prUrl": "https://e/12", "timestamp": LATER},
    ) == Facts(
        pr_links=(PullRequest(12, "https://e/12", "o/r"), PullRequest(13, "https://e/13", "o/r"))
    )


def test_a_page_is_listed_as_last_described() -> None:
    """The later description of a published page counts."""
    page = {"type": "frame-link", "path": "/p/a.html", "frameUrl": "https://e/a"}
    assert facts_of({**page, "artifactCount": 1}, {**page, "artifactCount": 2}) == Facts(
        frame_links=(FrameLink(path="/p/a.html", frame_url="https://e/a", artifact_count=2),)
    )


def test_directories_are_reported_where_they_change() -> None:
    """Directory, branch, version and entry point get an entry where they differ from before."""
    line = {"type": "user", "sessionId": "s", "version": "2.1.1", "entrypoint": "cli"}
    assert facts_of(
        {**line, "uuid": "a", "timestamp": NOON, "cwd": "/p", "gitBranch": "main"},
        {**line, "uuid": "b", "timestamp": LATER, "cwd": "/p", "gitBranch": "fix"},
        {**line, "uuid": "c", "timestamp": LATER, "cwd": "/p/w", "gitBranch": ""},
        {**line, "uuid": "d", "timestamp": LATER, "cwd": "/p", "gitBranch": "fix"},
    ) == Facts(
        session_ids=("s",),
        cwds=(
            StateChange("/p", "a", NOON),
            StateChange("/p/w", "c", LATER),
            StateChange("/p", "d", LATER),
        ),
        git_branches=(StateChange("main", "a", NOON), StateChange("fix", "b", LATER)),
        versions=(StateChange("2.1.1", "a", NOON),),
        entrypoints=(StateChange("cli", "a", NOON),),
    )


def test_lines_that_the_client_made_up_name_no_model() -> None:
    """The model of a synthetic record is ignored."""
    models = ["m1", "<synthetic>", "m1", "m2"]
    assert facts_of(
        *(
            {"type": "assistant", "uuid": str(number), "message": {"model": model}}
            for number, model in enumerate(models)
        )
    ) == Facts(models=(StateChange("m1", "0"), StateChange("m2", "3")))


def test_role_and_origin_of_a_message() -> None:
    """Ids, slug, team and origin are taken from the envelope of the records."""
    copied = {"sessionId": "old", "messageUuid": "x"}
    assert facts_of(
        {"type": "user", "uuid": "a", "sessionId": "old", "forkedFrom": copied, "slug": "one"},
        {"type": "user", "uuid": "b", "sessionId": "new", "slug": "two"},
        {"type": "user", "uuid": "c", "sessionId": "old", "teamName": "t", "agentName": "ann"},
    ) == Facts(
        session_ids=("old", "new"),
        slug="two",
        forked_from=ForkedFrom(session_id="old", message_uuid="x"),
        team_name="t",
        teammate_name="ann",
    )


def test_permission_modes_follow_the_file() -> None:
    """Modes of prompts and of state records are listed in file order."""
    chain: list[Chain] = [
        User(uuid="a", timestamp=NOON, permission_mode="default", span=Span("f", 10, 5)),
        User(uuid="b", timestamp=LATER, permission_mode="plan", span=Span("f", 30, 5)),
    ]
    states = [
        PermissionMode(permission_mode="default", span=Span("f", 0, 5)),
        PermissionMode(permission_mode="plan", span=Span("f", 20, 5)),
        PermissionMode(permission_mode="acceptEdits", span=Span("f", 40, 5)),
    ]
    assert build_facts(chain, states) == Facts(
        permission_modes=(StateChange("default"), StateChange("plan"), StateChange("acceptEdits"))
    )


def test_a_worktree_is_entered_and_left_once() -> None:
    """A repeated worktree record is one entry, and leaving the worktree gives None."""
    inside = {"type": "worktree-state", "worktreeSession": {"worktreePath": "/p/w"}}
    outside = {"type": "worktree-state", "worktreeSession": None}
    assert facts_of(outside, inside, inside, outside, outside) == Facts(
        worktrees=(WorktreeSession(worktree_path="/p/w"), None)
    )


def test_the_queue_is_described_by_its_texts() -> None:
    """Queue operations have their text, in whatever form it was written."""
    line = {"type": "queue-operation", "timestamp": NOON}
    block = {"type": "text", "text": "and the tests"}
    assert facts_of(
        {**line, "operation": "enqueue", "content": "and the docs"},
        {**line, "operation": "remove", "content": [block], "reason": "absorbed_mid_turn"},
        {**line, "operation": "dequeue"},
    ) == Facts(
        queue_operations=(
            QueueEvent("enqueue", "and the docs", NOON),
            QueueEvent("remove", "and the tests", NOON, "absorbed_mid_turn"),
            QueueEvent("dequeue", "", NOON),
        )
    )


def test_a_backup_is_reported_when_it_is_new() -> None:
    """A snapshot repeats all backups; only changed ones are listed."""

    def snapshot(message: str, **names: str | None) -> dict[str, object]:
        backups = {
            f"{path}.py": {"backupFileName": name, "version": int(name[-1]) if name else 1}
            for path, name in names.items()
        }
        inner = {"messageId": "p1", "trackedFileBackups": backups}
        return {"type": "file-history-snapshot", "messageId": message, "snapshot": inner}

    delta = {"backupFileName": "b@v1", "version": 1}
    assert facts_of(
        snapshot("p1"),
        snapshot("a1", a=None),
        {"type": "file-history-delta", "messageId": "a2", "trackingPath": "b.py", "backup": delta},
        snapshot("p2", a="a@v2", b="b@v1"),
    ) == Facts(
        file_snapshots=(
            Backup("a1", "a.py", None, 1),
            Backup("a2", "b.py", "b@v1", 1),
            Backup("p2", "a.py", "a@v2", 2),
        )
    )


def test_backups_are_counted_by_prompt() -> None:
    """Including those made while the prompt was answered, each file once."""
    records: list[Mapping[str, object]] = [
        _snapshot("p1"),
        _snapshot("a1", "a.py", prompt="p1"),
        _snapshot("p2", "a.py"),
        *(
            {"type": "file-history-delta", "messageId": "a2", "snapshotMessageId": "p2"} | each
            for each in ({"trackingPath": "a.py"}, {"trackingPath": "b.py"}, {})
        ),
    ]
    assert count_backups(make_log(*records).states) == {"p1": 1, "p2": 2}


def _snapshot(message: str, *paths: str, prompt: str | None = None) -> dict[str, object]:
    backups = {path: {"backupFileName": "x@v1", "version": 1} for path in paths}
    inner = {"messageId": prompt or message, "trackedFileBackups": backups}
    return {"type": "file-history-snapshot", "messageId": message, "snapshot": inner}


def test_replaced_results_are_found_by_their_call() -> None:
    """The text that replaces a tool result is found by the id of the call."""

    def record(text: str) -> dict[str, object]:
        made = {"kind": "tool-result", "toolUseId": "t1", "replacement": text}
        return {"type": "content-replacement", "replacements": [made]}

    assert facts_of(record("one"), record("two")) == Facts(content_replacements={"t1": "two"})


def test_all_cost_states_are_kept_and_the_last_counts() -> None:
    """Each run ends with a cumulative cost state; the newest is the session's."""
    facts = facts_of(
        {"type": "cost-state", "totalCostUSD": 0.5}, {"type": "cost-state", "totalCostUSD": 0.75}
    )
    states = (CostState(total_cost_usd=0.5), CostState(total_cost_usd=0.75))
    assert (facts, facts.cost_state) == (Facts(cost_states=states), states[1])
    assert Facts().cost_state is None


@given(st.lists(st.sampled_from(["", "a", "b"])))
def test_changes_never_repeat_a_value(values: list[str]) -> None:
    """Neighbouring changes differ, and together they name every value that was not empty."""
    chain: list[Chain] = [User(uuid=str(n), cwd=value) for n, value in enumerate(values)]
    found = [change.value for change in build_facts(chain, []).cwds]
    assert all(one != other for one, other in pairwise(found))
    assert set(found) == set(values) - {""}


def test_named_scenario(shared: Path) -> None:
    """A session that was started with `--name` has that title, and the name as an agent."""
    log = read_scenario(shared, "2.1.325", "named")
    facts = build_facts(log.chain, log.states)
    assert (facts.custom_title, facts.agent_name) == ("my fine session", "my fine session")


def test_worktree_scenario(shared: Path) -> None:
    """A session that enters and leaves a worktree changes its directory and branch twice."""
    log = read_scenario(shared, "2.1.325", "worktree_tool")
    facts = build_facts(log.chain, log.states)
    home = "/srv/ccdemo/run/2.1.325/work/proj"
    side = f"{home}/.claude/worktrees/side"
    assert [change.value for change in facts.cwds] == [home, side, home]
    assert [place and place.worktree_path for place in facts.worktrees] == [side, None]
    assert facts.relocated_to == home


def test_a_fork_begins_with_the_costs_of_its_parent(shared: Path) -> None:
    """The client's own totals of a fork include those of its parent session."""
    parent = read_scenario(shared, "2.1.325", "compact_again")
    fork = read_scenario(shared, "2.1.325", "compact_fork")
    before = build_facts(parent.chain, parent.states).cost_state
    after = build_facts(fork.chain, fork.states).cost_state
    assert before is not None
    assert after is not None
    assert (after.total_cost_usd or 0) > (before.total_cost_usd or 0) > 0
    assert after.total_lines_added == before.total_lines_added


def test_resumed_scenario_changes_its_model(shared: Path) -> None:
    """A session that was resumed with another model names both models."""
    log = read_scenario(shared, "2.1.325", "sid_other_model")
    facts = build_facts(log.chain, log.states)
    assert [change.value for change in facts.models] == ["claude-opus-5-5", "claude-haiku-4-5"]
