"""Match subagents with the tool calls that started them, for all versions of the client.

Old clients wrote subagents into the session's own file; later into files next to it, linked by the
agent id in the call's result; now in a directory of the session, with a sidecar that names the
call. Does not read files: the library finds the children, this module joins them.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from recollect.documents.kinds import SubagentKind
from recollect.records.conversation_records import User
from recollect.records.envelope import Chain
from recollect.records.tools.agent_tools import AgentInput, AgentResult, SkillResult, WorkflowResult
from recollect.session.record_texts import join_text, list_blocks
from recollect.session.tool_calls import ToolCall

if TYPE_CHECKING:
    from recollect.session.session import Session

STARTERS = frozenset({"Agent", "Workflow", "Skill"})
"""Tools whose calls can start a subagent."""


class JoinedBy(StrEnum):
    """The link between a subagent and the call that started it, strongest first."""

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
    """Return the call of each candidate, by agent id; `calls` has the calls of each session."""
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
                if call.name in STARTERS:
                    self._add(owner, call)

    def _add(self, owner: str, call: ToolCall) -> None:
        # The first call counts: later ones resume the subagent, or belong to a fork's copy.
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
        """Return the call that one of the candidate's ids identifies."""
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


class Subagent(Struct, frozen=True, kw_only=True):
    """A session that another session started, and the call that started it."""

    agent_id: str
    kind: SubagentKind
    session: Session
    call: ToolCall | None = None
    joined_by: JoinedBy | None = None
    meta: SubagentMeta | None = None
    run_id: str | None = None
    """The workflow run it belongs to."""

    @property
    def is_warmup(self) -> bool:
        """Whether the client only used it to warm up caches, without a task."""
        return any(turn.kind == "warmup" for turn in self.session.turns[:1])

    @property
    def is_fork(self) -> bool:
        """Whether it started with a copy of its parent's context."""
        return self.meta is not None and (self.meta.is_fork or self.meta.agent_type == "fork")

    @property
    def agent_type(self) -> str | None:
        """The kind of agent, from its sidecar or from the call."""
        if self.meta and self.meta.agent_type:
            return self.meta.agent_type
        return getattr(self.call.input, "subagent_type", None) if self.call else None

    @property
    def description(self) -> str | None:
        """The description in the call."""
        if self.meta and self.meta.description:
            return self.meta.description
        return getattr(self.call.input, "description", None) if self.call else None


class Child(Struct, frozen=True, kw_only=True):
    """A subagent in a separate file, whose call is not known yet."""

    agent_id: str
    session: Session
    meta: SubagentMeta | None = None
    run_id: str | None = None


def attach_subagents(session: Session, children: Sequence[Child]) -> None:
    """Attach each child to the session whose call started it, or to `session` if there is no call.

    Files of nested subagents are all in one directory, so a child's call may be in another child.
    """
    sessions = {session.id: session, **{child.agent_id: child.session for child in children}}
    calls = {key: owner.tool_calls for key, owner in sessions.items()}
    candidates = [
        SubagentCandidate(child.agent_id, child.session.first_words, child.meta, child.run_id)
        for child in children
    ]
    joins = join_subagents(candidates, calls)
    owners = {
        child.agent_id: joins[child.agent_id].owner
        if child.agent_id in joins
        else _stated_parent(child, sessions) or session.id
        for child in children
    }
    adopted: dict[str, list[Subagent]] = {key: [] for key in sessions}
    for child in children:
        join = joins.get(child.agent_id)
        owner = owners[child.agent_id] if _leads_to(session.id, child, owners) else session.id
        adopted[owner].append(
            Subagent(
                agent_id=child.agent_id,
                kind=SubagentKind.WORKFLOW if child.run_id else SubagentKind.FILE,
                session=child.session,
                call=join.call if join else None,
                joined_by=join.joined_by if join else None,
                meta=child.meta,
                run_id=child.run_id,
            )
        )
    for key, owner_session in sessions.items():
        owner_session.adopt(adopted[key])


def _leads_to(root: str, child: Child, owners: dict[str, str]) -> bool:
    """Return whether the owners of `child` lead to `root`: files may claim each other."""
    seen: set[str] = set()
    current = child.agent_id
    while current != root and current not in seen:
        seen.add(current)
        current = owners[current]
    return current == root


def _stated_parent(child: Child, sessions: dict[str, Session]) -> str | None:
    parent = child.meta.parent_agent_id if child.meta else None
    return parent if parent in sessions and parent != child.agent_id else None
