"""Join subagents to the tool calls that started them, for all versions of the client.

Old clients wrote subagents into the session's own file; then beside it, linked by the agent id in
the call's result; now in a directory of the session, with a sidecar that names the call. Does not
read files: the library finds the children, this module joins them.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from recollect.records.conversation import User
from recollect.records.envelope import Chain
from recollect.records.tools.agent_tools import AgentInput, AgentResult, SkillResult, WorkflowResult
from recollect.session.content import join_text, list_blocks
from recollect.session.tool_calls import ToolCall

_STARTERS = frozenset({"Agent", "Workflow", "Skill"})


class JoinedBy(StrEnum):
    """What links a subagent to the call that started it, strongest first."""

    CALL_ID = "call_id"
    AGENT_ID = "agent_id"
    RUN_ID = "run_id"
    PROMPT = "prompt"


class SubagentMeta(Struct, frozen=True, kw_only=True, rename="camel"):
    """The sidecar `agent-<id>.meta.json`."""

    agent_type: str | None = None
    description: str | None = None
    tool_use_id: str | None = None
    parent_agent_id: str | None = None
    spawn_depth: int | None = None
    model: str | None = None
    name: str | None = None
    is_fork: bool = False
    is_built_in: bool | None = None
    stopped_by_user: bool = False
    finished: bool | None = None
    request_shape: str | None = None
    worktree_path: str | None = None
    worktree_branch: str | None = None
    workflow_phase: str | None = None


class SubagentCandidate(Struct, frozen=True):
    """A subagent whose call is not known yet."""

    agent_id: str
    prompt: str
    meta: SubagentMeta | None = None
    run_id: str | None = None


class Join(Struct, frozen=True):
    """The call that started a subagent, and the session (by its key) that contains it."""

    owner: str
    call: ToolCall
    joined_by: JoinedBy


def split_sidechains(sidechain: Sequence[Chain]) -> tuple[tuple[Chain, ...], ...]:
    """Return the sidechain records of a main session, one group per subagent, in order of start."""
    group_of: dict[str, int] = {}
    groups: list[list[Chain]] = []
    for link in sidechain:
        number = group_of.get(link.parent_uuid or "")
        if number is None:
            number = len(groups)
            groups.append([])
        groups[number].append(link)
        if link.uuid:
            group_of[link.uuid] = number
    return tuple(tuple(group) for group in groups)


def first_words(chain: Iterable[Chain]) -> str:
    """Return a subagent's task: its first user text."""
    for link in chain:
        if isinstance(link, User) and link.message is not None:
            return join_text(list_blocks(link.message.content))
    return ""


def join_subagents(
    candidates: Sequence[SubagentCandidate], calls: Mapping[str, Sequence[ToolCall]]
) -> dict[str, Join]:
    """Return the calls of candidates, by agent id; `calls` are those of each session."""
    starters = _Starters(calls)
    joins: dict[str, Join] = {}
    for candidate in candidates:
        found = starters.find(candidate)
        if found is not None:
            joins[candidate.agent_id] = found
    # A prompt is weaker than any id, so it may only claim a call that no id has claimed.
    taken = {join.call.id for join in joins.values()}
    for candidate in candidates:
        if candidate.agent_id not in joins:
            found = starters.find_by_prompt(candidate, taken)
            if found is not None:
                joins[candidate.agent_id] = found
                taken.add(found.call.id)
    return joins


class _Starters:
    """The calls that can start a subagent, by everything that identifies a call."""

    def __init__(self, calls: Mapping[str, Sequence[ToolCall]]) -> None:
        self._by_call_id: dict[str, Join] = {}
        self._by_agent_id: dict[str, Join] = {}
        self._by_run_id: dict[str, Join] = {}
        self._by_prompt: defaultdict[str, deque[Join]] = defaultdict(deque)
        for owner, made in calls.items():
            for call in made:
                if call.name in _STARTERS:
                    self._add(owner, call)

    def _add(self, owner: str, call: ToolCall) -> None:
        # The first call counts: later ones wake the subagent again, or are in a fork's copy.
        self._by_call_id.setdefault(call.id, Join(owner, call, JoinedBy.CALL_ID))
        match call.result:
            case AgentResult(agent_id=str(agent_id)) | SkillResult(agent_id=str(agent_id)):
                self._by_agent_id.setdefault(agent_id, Join(owner, call, JoinedBy.AGENT_ID))
                return
            case WorkflowResult(run_id=str(run_id)):
                self._by_run_id.setdefault(run_id, Join(owner, call, JoinedBy.RUN_ID))
        match call.input:
            case AgentInput(prompt=prompt) if prompt:
                self._by_prompt[prompt].append(Join(owner, call, JoinedBy.PROMPT))

    def find(self, candidate: SubagentCandidate) -> Join | None:
        """Return the call that an id names."""
        named = candidate.meta.tool_use_id if candidate.meta else None
        found = (
            self._by_call_id.get(named or ""),
            self._by_agent_id.get(candidate.agent_id),
            self._by_run_id.get(candidate.run_id or ""),
        )
        return next((join for join in found if join and join.owner != candidate.agent_id), None)

    def find_by_prompt(self, candidate: SubagentCandidate, taken: set[str]) -> Join | None:
        """Return the first unclaimed call with the same prompt that names no other subagent."""
        waiting = self._by_prompt.get(candidate.prompt, deque())
        while waiting and waiting[0].call.id in taken:
            waiting.popleft()
        return next(
            (
                join
                for join in waiting
                if join.call.id not in taken and join.owner != candidate.agent_id
            ),
            None,
        )
