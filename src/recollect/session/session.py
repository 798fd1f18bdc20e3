"""The session: everything derived from the records of one transcript.

`extend` adds records at a cost proportional to what is new. Views are computed on demand, each as a
pure function of the records, and cached until the next `extend`: building in many steps cannot
give a different result than building in one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from msgspec import Struct, structs

from recollect.documents.kinds import SubagentKind
from recollect.documents.session_listing import Metadata
from recollect.quantities import to_dollars
from recollect.records import conversation_records, envelope, state
from recollect.session import api_messages, subagents, tool_effects
from recollect.session.branches import Branch, find_branches, find_main_path
from recollect.session.facts import Facts, build_facts
from recollect.session.hook_runs import HookRun, build_hooks
from recollect.session.messages import Message, build_messages
from recollect.session.metadata import (
    Metrics,
    PriceList,
    Provenance,
    add_recorded_costs,
    build_metadata,
    build_metrics,
    separate_copies,
)
from recollect.session.session_records import Conversation, Log, find_copied, read_conversation
from recollect.session.subagents import Subagent
from recollect.session.tool_calls import ToolCall, build_tool_calls
from recollect.session.tree import Tree, build_tree, find_leaf, find_path
from recollect.session.turns import Segment, Turn, build_segments, build_turns

T = TypeVar("T")
Irregular = envelope.Damaged | envelope.Torn | envelope.Oversized | envelope.Unknown


class Contents(Struct, frozen=True, kw_only=True):
    """A snapshot of a whole session as plain data."""

    metadata: Metadata
    facts: Facts
    messages: tuple[Message, ...]
    turns: tuple[Turn, ...]
    calls: dict[str, ToolCall]
    """Tool calls by id."""
    orphan_results: tuple[str, ...]
    subagents: tuple[Subagent, ...]
    tree: Tree
    copies: dict[str, str]
    branches: tuple[Branch, ...]
    segments: tuple[Segment, ...]
    hooks: tuple[HookRun, ...]
    states: tuple[state.State, ...]
    nameless: tuple[envelope.Chain, ...]
    irregular: tuple[Irregular, ...]


class Session:
    """The content of one transcript, with its subagents.

    >>> from recollect.records.decoding import decode_record
    >>> line = b'{"type":"user","uuid":"a","message":{"role":"user","content":"fix the test"}}'
    >>> session = Session([decode_record(line)])
    >>> session.turns[0].words
    'fix the test'

    With `prices`, `metrics.list_price_usd` is computed; sessions opened by the library have them.
    """

    def __init__(
        self,
        records: Iterable[envelope.Record] = (),
        provenance: Provenance | None = None,
        prices: PriceList | None = None,
    ) -> None:
        self._log = Log()
        self._views: dict[str, Any] = {}
        self._children: tuple[Subagent, ...] = ()
        self._provenance = provenance or Provenance()
        self._prices = prices
        self._log.extend(records)

    def extend(self, records: Iterable[envelope.Record]) -> None:
        """Append records."""
        self._log.extend(records)
        self._views.clear()

    def adopt(self, children: Iterable[Subagent]) -> None:
        """Add subagents whose records are in separate files."""
        self._children = tuple(children)
        self._views.pop("subagents", None)
        self._views.pop("contents", None)

    def _view(self, name: str, build: Callable[[], T]) -> T:
        if name not in self._views:
            self._views[name] = build()
        return cast(T, self._views[name])

    @property
    def contents(self) -> Contents:
        """A snapshot of everything; the same object until records or subagents are added."""
        return self._view("contents", self._collect)

    def _collect(self) -> Contents:
        return Contents(
            metadata=self.metadata,
            facts=self.facts,
            messages=self.messages,
            turns=self.turns,
            calls=self._calls_by_id,
            orphan_results=self.orphan_results,
            subagents=self.subagents,
            tree=self.tree,
            copies=self.copies,
            branches=self.branches,
            segments=self.segments,
            hooks=self.hooks,
            states=self.states,
            nameless=self.nameless,
            irregular=self.irregular,
        )

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
        return subagents.first_words(self._conversation.chain)

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
        """The tree of records."""
        return self._view(
            "tree",
            lambda: build_tree(
                self._conversation.chain, rewound_to_start=self._log.rewound_to_start
            ),
        )

    @property
    def nameless(self) -> tuple[envelope.Chain, ...]:
        """Records, other than messages, that lost their uuid to damage and are not in the tree."""
        chain = self._conversation.chain
        return tuple(
            link
            for link in chain
            if not link.uuid
            and not isinstance(link, conversation_records.User | conversation_records.Assistant)
        )

    @property
    def copies(self) -> dict[str, str]:
        """Uuids of repeated lines, mapped to the uuids of the lines that they repeat."""
        return self._conversation.copies

    @property
    def _path(self) -> tuple[str, ...]:
        """The path of links from the start to the live end, without detached pieces."""
        return self._view("path", lambda: find_path(self.tree, find_leaf(self.tree)))

    @property
    def main_path(self) -> tuple[str, ...]:
        """Uuids of all that was not abandoned, from the start of the history to its live end."""
        return self._view(
            "main_path", lambda: find_main_path(self.tree, self._path, lambda: self.branches)
        )

    @property
    def branches(self) -> tuple[Branch, ...]:
        """The branches: records with two continuations."""
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
        """Return the call with this id."""
        return self._calls_by_id.get(call_id)

    @property
    def _calls_by_id(self) -> dict[str, ToolCall]:
        return self._view("calls_by_id", lambda: {call.id: call for call in self.tool_calls})

    def find_record(self, uuid: str) -> envelope.Chain | None:
        """Return the record with this uuid, even if views leave it out as a repetition."""
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
        """Return the subagents that a tool call of this session started."""
        return tuple(each for each in self.subagents if each.call and each.call.id == call_id)

    @property
    def facts(self) -> Facts:
        """Titles, tags, directories, models, queue, costs: everything around the conversation."""
        return self._view("facts", lambda: build_facts(self._conversation.chain, self._log.states))

    @property
    def files(self) -> tuple[tool_effects.FileEvent, ...]:
        """Files that were read and changed, in order."""
        return self._view("files", lambda: tool_effects.build_file_events(self.tool_calls))

    @property
    def todos(self) -> tuple[tool_effects.TodoState, ...]:
        """The todo list over time."""
        return self._view("todos", lambda: tool_effects.build_todos(self.tool_calls))

    @property
    def tasks(self) -> tuple[tool_effects.TaskState, ...]:
        """The task list over time."""
        return self._view("tasks", lambda: tool_effects.build_tasks(self.tool_calls))

    @property
    def hooks(self) -> tuple[HookRun, ...]:
        """Hooks that ran, with their outcome."""
        return self._view("hooks", lambda: build_hooks(self._conversation.chain))

    @property
    def media(self) -> tuple[api_messages.Medium, ...]:
        """Images and documents."""
        return self._view("media", lambda: api_messages.build_media(self.messages))

    @property
    def irregular(self) -> tuple[Irregular, ...]:
        """Lines that are not known records."""
        return tuple(self._log.irregular)

    @property
    def states(self) -> tuple[state.State, ...]:
        """State records, in file order: facts about the session, without a parent."""
        return tuple(self._log.states)

    @property
    def metadata(self) -> Metadata:
        """The title and other metadata, as shown in listings."""
        return self._view(
            "metadata",
            lambda: build_metadata(self._provenance, self._log, self.messages, self.facts),
        )

    @property
    def metrics(self) -> Metrics:
        """The figures of the session, without its subagents."""
        return self._view("metrics", self._build_metrics)

    def _build_metrics(self) -> Metrics:
        metrics = build_metrics(
            self._conversation.chain,
            self.messages,
            self.turns,
            self.tool_calls,
            tool_effects.count_lines(self.files),
            self.facts.cost_state,
        )
        copied = find_copied(self._log.chain, self._log.states, self.messages)
        metrics = separate_copies(metrics, self.messages, copied)
        own = [message for message in self.messages if message.id not in copied]
        metrics = add_recorded_costs(metrics, own)
        cost = self._prices(own) if self._prices else None
        return (
            metrics if cost is None else structs.replace(metrics, list_price_usd=to_dollars(cost))
        )

    @property
    def resume_chain(
        self,
    ) -> tuple[conversation_records.User | conversation_records.Assistant, ...]:
        """The records that the client would restore on resume."""
        return tuple(
            link
            for link in self._loaded_links
            if isinstance(link, conversation_records.User | conversation_records.Assistant)
        )

    @property
    def resumable_messages(self) -> tuple[api_messages.MessageParam, ...]:
        """What a resume would load, in the shape of the Messages API, including tool calls."""
        return api_messages.to_api_messages(
            api_messages.select_loaded(self.messages, self._loaded_links)
        )

    @property
    def resumable_texts(self) -> tuple[api_messages.PlainMessage, ...]:
        """Role and text of the messages that a resume would load, without hidden ones."""
        return api_messages.simplify(api_messages.select_loaded(self.messages, self._loaded_links))

    @property
    def _loaded_links(self) -> tuple[envelope.Chain, ...]:
        return self._view(
            "loaded_links", lambda: api_messages.find_loaded_links(self.tree, self._path)
        )

    def _inline_subagents(self) -> tuple[Subagent, ...]:
        groups = subagents.split_sidechains(self._log.sidechain)
        candidates = [
            subagents.SubagentCandidate(f"inline-{number}", subagents.first_words(group))
            for number, group in enumerate(groups)
        ]
        joins = subagents.join_subagents(candidates, {self.id: self.tool_calls})
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
