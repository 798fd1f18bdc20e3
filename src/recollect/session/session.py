"""A session: records in, meaning out.

`extend` adds records at a cost proportional to what is new. Views are computed on demand, each as a
pure function of the records, and cached until the next `extend`: building in many steps cannot
differ from building in one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from recollect.documents.kinds import SubagentKind
from recollect.documents.session_listing import Metadata
from recollect.records.conversation import Assistant, User
from recollect.records.envelope import Chain, Damaged, Oversized, Record, Torn, Unknown
from recollect.records.state import State
from recollect.session.api_messages import (
    MessageParam,
    PlainMessage,
    find_loaded_links,
    select_loaded,
    simplify,
    to_api_messages,
)
from recollect.session.branches import Branch, find_branches, find_main_path
from recollect.session.conversation import Conversation, Log, find_copied, read_conversation
from recollect.session.facts import Facts, build_facts
from recollect.session.file_events import FileEvent, build_file_events, count_lines
from recollect.session.hook_runs import HookRun, build_hooks
from recollect.session.media import Medium, build_media
from recollect.session.messages import Message, build_messages
from recollect.session.metadata import (
    Metrics,
    PriceList,
    Provenance,
    add_noted_costs,
    build_metadata,
    build_metrics,
    separate_copies,
)
from recollect.session.subagents import (
    JoinedBy,
    SubagentCandidate,
    SubagentMeta,
    first_words,
    join_subagents,
    split_sidechains,
)
from recollect.session.todos import TaskState, TodoState, build_tasks, build_todos
from recollect.session.tool_calls import ToolCall, build_tool_calls
from recollect.session.tree import Tree, build_tree, find_leaf, find_path
from recollect.session.turns import Segment, Turn, build_segments, build_turns

T = TypeVar("T")


class Session:
    """What one transcript tells, with its subagents.

    >>> from recollect.records.decoding import decode_record
    >>> line = b'{"type":"user","uuid":"a","message":{"role":"user","content":"fix the test"}}'
    >>> session = Session([decode_record(line)])
    >>> session.turns[0].words
    'fix the test'

    `prices` make `metrics.list_price_usd` known; sessions opened by the library have them.
    """

    def __init__(
        self,
        records: Iterable[Record] = (),
        origins: Provenance | None = None,
        prices: PriceList | None = None,
    ) -> None:
        self._log = Log()
        self._views: dict[str, Any] = {}
        self._children: tuple[Subagent, ...] = ()
        self._origins = origins or Provenance()
        self._prices = prices
        self._log.extend(records)

    def extend(self, records: Iterable[Record]) -> None:
        """Append records."""
        self._log.extend(records)
        self._views.clear()

    def adopt(self, children: Iterable[Subagent]) -> None:
        """Add subagents whose records are in files of their own."""
        self._children = tuple(children)
        self._views.pop("subagents", None)

    def _view(self, name: str, build: Callable[[], T]) -> T:
        if name not in self._views:
            self._views[name] = build()
        return cast(T, self._views[name])

    @property
    def id(self) -> str:
        """The session's id: the name of its file, or else the id in its records."""
        return self.metadata.id

    @property
    def is_subagent(self) -> bool:
        """Whether this is a subagent's own transcript."""
        return bool(self._log.starts_in_sidechain)

    @property
    def first_words(self) -> str:
        """The first user text; for a subagent, its task."""
        return first_words(self._conversation.chain)

    @property
    def _conversation(self) -> Conversation:
        return self._view("conversation", lambda: read_conversation(self._log))

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, in file order."""
        known = self._conversation
        return self._view(
            "messages",
            lambda: build_messages(known.chain, known.superseded, is_subagent=self.is_subagent),
        )

    @property
    def tree(self) -> Tree:
        """Which record follows which."""
        return self._view(
            "tree",
            lambda: build_tree(
                self._conversation.chain, rewound_to_start=self._log.rewound_to_start
            ),
        )

    @property
    def nameless(self) -> tuple[Chain, ...]:
        """Records that damage has cost their uuid, other than messages: no tree holds them."""
        chain = self._conversation.chain
        return tuple(
            link for link in chain if not link.uuid and not isinstance(link, User | Assistant)
        )

    @property
    def copies(self) -> dict[str, str]:
        """Uuids of lines that repeat an earlier line of the file, with those that they repeat."""
        return self._conversation.copies

    @property
    def _path(self) -> tuple[str, ...]:
        """The path of links from the start to the live end, without detached pieces."""
        return self._view("path", lambda: find_path(self.tree, find_leaf(self.tree)))

    @property
    def main_path(self) -> tuple[str, ...]:
        """Uuids from the start of the history to its live end: all that was not abandoned."""
        return self._view(
            "main_path", lambda: find_main_path(self.tree, self._path, lambda: self.branches)
        )

    @property
    def branches(self) -> tuple[Branch, ...]:
        """Records with two continuations."""
        return self._view(
            "branches",
            lambda: find_branches(
                self.tree, self._path, rewound_to_start=self._log.rewound_to_start
            ),
        )

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns, including those on abandoned branches."""
        return self._view(
            "turns", lambda: build_turns(self._conversation.chain, self.messages, self.main_path)
        )

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """Tool calls with their results."""
        return self._calls[0]

    @property
    def orphan_results(self) -> tuple[str, ...]:
        """Ids of calls that have a result here but were made elsewhere."""
        return self._calls[1]

    @property
    def _calls(self) -> tuple[tuple[ToolCall, ...], tuple[str, ...]]:
        return self._view("tool_calls", lambda: build_tool_calls(self._conversation.chain))

    def find_tool_call(self, call_id: str) -> ToolCall | None:
        """The call with this id."""
        by_id = self._view("calls_by_id", lambda: {call.id: call for call in self.tool_calls})
        return by_id.get(call_id)

    def find_record(self, uuid: str) -> Chain | None:
        """Return the record with that uuid, even if views leave it out as a repetition."""
        return self._log.find(uuid) or self.tree.links.get(uuid)

    def find_anchor(self, uuid: str, offset: int | None = None) -> str:
        """Return the name that views use for the record `uuid`; if there are several, the one at
        `offset`.

        A copy has the name of its original. An unknown uuid is returned unchanged.
        """
        for name in self._log.find_names(uuid):
            found = self._log.find(name)
            if found and found.span and found.span.offset == offset:
                return self.copies.get(name, name)
        return self.copies.get(uuid, uuid)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The parts between compactions."""
        return self._view("segments", lambda: build_segments(self._conversation.chain))

    @property
    def subagents(self) -> tuple[Subagent, ...]:
        """The subagents that this session started itself, in its own file and in others."""
        return self._view("subagents", lambda: (*self._inline_subagents(), *self._children))

    def find_subagents(self, call_id: str) -> tuple[Subagent, ...]:
        """The subagents that a tool call of this session started."""
        return tuple(each for each in self.subagents if each.call and each.call.id == call_id)

    @property
    def facts(self) -> Facts:
        """Titles, tags, directories, models, queue, costs: everything around the conversation."""
        return self._view("facts", lambda: build_facts(self._conversation.chain, self._log.states))

    @property
    def files(self) -> tuple[FileEvent, ...]:
        """Files that were read and changed, in order."""
        return self._view("files", lambda: build_file_events(self.tool_calls))

    @property
    def todos(self) -> tuple[TodoState, ...]:
        """The todo list over time."""
        return self._view("todos", lambda: build_todos(self.tool_calls))

    @property
    def tasks(self) -> tuple[TaskState, ...]:
        """The task list over time."""
        return self._view("tasks", lambda: build_tasks(self.tool_calls))

    @property
    def hooks(self) -> tuple[HookRun, ...]:
        """Hooks that ran, with their outcome."""
        return self._view("hooks", lambda: build_hooks(self._conversation.chain))

    @property
    def media(self) -> tuple[Medium, ...]:
        """Images and documents."""
        return self._view("media", lambda: build_media(self.messages))

    @property
    def irregular(self) -> tuple[Damaged | Torn | Oversized | Unknown, ...]:
        """What is not a known record."""
        return tuple(self._log.irregular)

    @property
    def states(self) -> tuple[State, ...]:
        """State records, in file order: facts about the session, without a parent."""
        return tuple(self._log.states)

    @property
    def metadata(self) -> Metadata:
        """What listings show of the session."""
        return self._view(
            "metadata", lambda: build_metadata(self._origins, self._log, self.messages, self.facts)
        )

    @property
    def metrics(self) -> Metrics:
        """Its figures, without those of its subagents."""
        return self._view("metrics", self._build_metrics)

    def _build_metrics(self) -> Metrics:
        metrics = build_metrics(
            self._conversation.chain,
            self.messages,
            self.turns,
            self.tool_calls,
            count_lines(self.files),
            self.facts.cost_state,
        )
        copied = find_copied(self._log.chain, self._log.states, self.messages)
        metrics = separate_copies(metrics, self.messages, copied)
        own = [message for message in self.messages if message.id not in copied]
        metrics = add_noted_costs(metrics, own)
        cost = self._prices(own) if self._prices else None
        return metrics if cost is None else replace(metrics, list_price_usd=cost / 1_000_000)

    @property
    def resume_chain(self) -> tuple[User | Assistant, ...]:
        """The records that the client would restore on resume."""
        return tuple(link for link in self._loaded_links if isinstance(link, User | Assistant))

    @property
    def resumable_messages(self) -> tuple[MessageParam, ...]:
        """What a resume would load, in the shape of the Messages API, including tool calls."""
        return to_api_messages(select_loaded(self.messages, self._loaded_links))

    @property
    def resumable_texts(self) -> tuple[PlainMessage, ...]:
        """Role and text of what a resume would load, as shown to a reader."""
        return simplify(select_loaded(self.messages, self._loaded_links))

    @property
    def _loaded_links(self) -> tuple[Chain, ...]:
        return self._view("loaded_links", lambda: find_loaded_links(self.tree, self._path))

    def _inline_subagents(self) -> tuple[Subagent, ...]:
        groups = split_sidechains(self._log.sidechain)
        candidates = [
            SubagentCandidate(f"inline-{number}", first_words(group))
            for number, group in enumerate(groups)
        ]
        joins = join_subagents(candidates, {self.id: self.tool_calls})
        return tuple(
            Subagent(
                agent_id=candidate.agent_id,
                kind=SubagentKind.INLINE,
                session=Session(group, prices=self._prices),
                call=join.call if join else None,
                joined_by=join.joined_by if join else None,
            )
            for candidate, group in zip(candidates, groups, strict=True)
            for join in (joins.get(candidate.agent_id),)
        )


class Subagent(Struct, frozen=True, kw_only=True):
    """A session that another session started, and the call that did it."""

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
        """Whether the client only warmed up its caches, without a task."""
        return any(turn.kind == "warmup" for turn in self.session.turns[:1])

    @property
    def is_fork(self) -> bool:
        """Whether it started with a copy of its parent's context."""
        return self.meta is not None and (self.meta.is_fork or self.meta.agent_type == "fork")

    @property
    def is_teammate(self) -> bool:
        """Whether it is a member of a team, with a name of its own."""
        return self.session.facts.team_name is not None

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
    """A subagent in a file of its own, before its call is known."""

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
