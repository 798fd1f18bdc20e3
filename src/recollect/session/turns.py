"""Build segments, which compactions separate, and turns, each from one prompt to the next.

Indices never change, because files only grow. Segment 0 is before the first compaction; very old
clients wrote no boundary, so there the summary marks it. Newer clients give all records of a turn
one `promptId`; before that, a prompt starts a turn. Records without an id belong to the turn of the
record that they follow, so that two conversations in one file stay apart. What a client writes
before a prompt, such as a caveat, is not a turn.
"""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from recollect.documents.kinds import Context, InputKind
from recollect.records import system_records
from recollect.records.conversation_records import COMPACTION_MARK, User
from recollect.records.envelope import Chain
from recollect.session.messages import Message
from recollect.session.prompts import OPENING_KINDS, USER_KINDS, Command, Prompt
from recollect.session.record_texts import join_text, list_blocks
from recollect.session.times import find_range, milliseconds_between


class Microcompaction(Struct, frozen=True):
    """Old tool results were cleared to save context."""

    uuid: str | None
    timestamp: str | None
    trigger: str | None
    tokens_before: int | None
    tokens_saved: int | None
    tool_ids: tuple[str, ...]


class Segment(Struct, frozen=True, kw_only=True):
    """The records between two compactions, and what the compaction that opens it did."""

    index: int
    first_uuid: str | None
    last_uuid: str | None
    record_count: int
    boundary_uuid: str | None = None
    trigger: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    duration_ms: float | None = None
    summary: str | None = None
    preserved: tuple[str, ...] = ()
    """Records from before the boundary that the compaction kept."""
    microcompactions: tuple[Microcompaction, ...] = ()

    @property
    def follows_compaction(self) -> bool:
        """Whether a compaction opens it, with a boundary or only a summary."""
        return self.boundary_uuid is not None or self.summary is not None


def build_segments(chain: Sequence[Chain]) -> tuple[Segment, ...]:
    """Return the segments of `chain`; at least one if there is any record."""
    drafts: list[_SegmentDraft] = []
    for link in chain:
        summary = link if isinstance(link, User) and _is_summary(link) else None
        is_opening = isinstance(link, system_records.CompactBoundary) or (
            summary is not None and bool(drafts) and not drafts[-1].awaits_summary
        )
        if not drafts or is_opening:
            drafts.append(_SegmentDraft(link))
        drafts[-1].links.append(link)
        drafts[-1].summary = drafts[-1].summary or summary
    return tuple(_make_segment(index, draft) for index, draft in enumerate(drafts))


class _SegmentDraft:
    """A segment while its records are being collected."""

    def __init__(self, first: Chain) -> None:
        self.boundary = first if isinstance(first, system_records.CompactBoundary) else None
        self.links: list[Chain] = []
        self.summary: User | None = None

    @property
    def awaits_summary(self) -> bool:
        """Whether a boundary opened it and its summary has not been read yet."""
        return self.boundary is not None and self.summary is None


def _is_summary(link: User) -> bool:
    return link.is_compact_summary or _text_of(link).lstrip().startswith(COMPACTION_MARK)


def _text_of(link: User) -> str:
    return join_text(list_blocks(link.message.content if link.message else None))


def _make_segment(index: int, draft: _SegmentDraft) -> Segment:
    links, boundary, summary = draft.links, draft.boundary, draft.summary
    facts = (boundary.compact_metadata if boundary else None) or system_records.CompactMetadata()
    return Segment(
        index=index,
        first_uuid=links[0].uuid,
        last_uuid=links[-1].uuid,
        record_count=len(links),
        boundary_uuid=boundary.uuid if boundary else None,
        trigger=facts.trigger,
        tokens_before=facts.pre_tokens,
        tokens_after=facts.post_tokens,
        duration_ms=facts.duration_ms,
        summary=_text_of(summary) if summary else None,
        preserved=_preserved(facts),
        microcompactions=tuple(
            _make_microcompaction(link)
            for link in links
            if isinstance(link, system_records.MicrocompactBoundary)
        ),
    )


def _preserved(facts: system_records.CompactMetadata) -> tuple[str, ...]:
    if facts.preserved_messages is not None:
        return facts.preserved_messages.uuids
    stretch = facts.preserved_segment
    return tuple(u for u in (stretch.head_uuid, stretch.tail_uuid) if u) if stretch else ()


def _make_microcompaction(link: system_records.MicrocompactBoundary) -> Microcompaction:
    facts = link.microcompact_metadata
    return Microcompaction(
        uuid=link.uuid,
        timestamp=link.timestamp,
        trigger=facts.trigger if facts else None,
        tokens_before=facts.pre_tokens if facts else None,
        tokens_saved=facts.tokens_saved if facts else None,
        tool_ids=facts.compacted_tool_ids if facts else (),
    )


class RoundKind(StrEnum):
    """The role of a user record in the course of a session."""

    NEW_SESSION = "new_session"
    NEW_ROUND = "new_round"
    CONTINUE = "continue"
    RESUME = "resume"


class Turn(Struct, frozen=True, kw_only=True):
    """A prompt and everything until the next one."""

    index: int
    number: int
    """The number shown everywhere: turns are numbered from 1."""
    prompt_id: str | None
    prompt: Prompt | None
    """The input that opened it."""
    messages: tuple[Message, ...]
    is_on_main_path: bool
    permission_mode: str | None
    start: str | None
    end: str | None
    active_ms: float | None
    """The working time reported by the client, or else the time from the first to the last
    record."""
    kind: InputKind | None = None
    """The kind of input that opened it."""
    words: str = ""
    """The user's own text that opened it."""
    contexts: tuple[Context, ...] = ()
    """The contexts attached to that text."""
    command: Command | None = None
    """The command that opened it."""
    is_by_person: bool = False
    """Whether the user asked for it."""


class _Draft:
    """A turn while its messages are collected."""

    def __init__(self, prompt_id: str | None) -> None:
        self.prompt_id = prompt_id
        self.messages: list[Message] = []
        self.times: list[str | None] = []
        self.worked_ms: float | None = None

    @property
    def is_silent(self) -> bool:
        """Whether it has nothing visible."""
        return not any(message.is_visible for message in self.messages)


def build_turns(
    chain: Sequence[Chain], messages: Sequence[Message], main_path: Sequence[str]
) -> tuple[Turn, ...]:
    """Return the turns of a session in the order in which they started."""
    gathered = _TurnCollector({id(message.records[0]): message for message in messages})
    for link in chain:
        gathered.add(link)
    on_path = set(main_path)
    return tuple(
        _make_turn(index, draft, on_path)
        for index, draft in enumerate(draft for draft in gathered.drafts if draft.messages)
    )


class _TurnCollector:
    """Assigns each link to a turn, in file order."""

    def __init__(self, by_first_record: dict[int, Message]) -> None:
        self.drafts: list[_Draft] = []
        self._by_first_record = by_first_record
        self._by_id: dict[str, _Draft] = {}
        self._by_uuid: dict[str, _Draft] = {}

    def add(self, link: Chain) -> None:
        message = self._by_first_record.get(id(link))
        draft = self._draft_of(link, message)
        if link.uuid:
            self._by_uuid[link.uuid] = draft
        if message is not None:
            draft.messages.append(message)
        draft.times.append(link.timestamp)
        if isinstance(link, system_records.TurnDuration):
            draft.worked_ms = (draft.worked_ms or 0) + (link.duration_ms or 0)

    def _draft_of(self, link: Chain, message: Message | None) -> _Draft:
        prompt_id = link.prompt_id if isinstance(link, User) else None
        if prompt_id is not None:
            known = self._by_id.get(prompt_id)
            if known is None or _asks_again(message, known):
                self._by_id[prompt_id] = self._open(prompt_id, is_opening=_is_opening(message))
            return self._by_id[prompt_id]
        if isinstance(link, User) and _is_opening(message):
            return self._open(None, is_opening=True)
        followed = self._by_uuid.get(link.parent_uuid or "")
        return followed or (self.drafts[-1] if self.drafts else self._open(None))

    def _open(self, prompt_id: str | None, *, is_opening: bool = False) -> _Draft:
        if is_opening and self.drafts and self.drafts[-1].is_silent:
            self.drafts[-1].prompt_id = prompt_id
            # A hook may have run long before the first prompt.
            self.drafts[-1].times.clear()
        else:
            self.drafts.append(_Draft(prompt_id))
        return self.drafts[-1]


def _is_opening(message: Message | None) -> bool:
    return (
        message is not None and message.prompt is not None and message.prompt.kind in OPENING_KINDS
    )


def _asks_again(message: Message | None, draft: _Draft) -> bool:
    """Return whether `message` opens a turn although its id is known: copies in a fork share it."""
    prompt = message.prompt if message else None
    if prompt is None or prompt.kind not in USER_KINDS:
        return False
    kinds = {m.prompt.kind for m in draft.messages if m.prompt} & OPENING_KINDS
    if prompt.kind is InputKind.COMMAND and kinds == {InputKind.COMPACTION_SUMMARY}:
        # The echo of `/compact` follows the summary that it made.
        return any(m.role == "assistant" for m in draft.messages)
    return bool(kinds)


def _make_turn(index: int, draft: _Draft, on_path: set[str]) -> Turn:
    prompts = [message.prompt for message in draft.messages if message.prompt]
    opening = next((prompt for prompt in prompts if prompt.kind in OPENING_KINDS), None)
    modes = [
        record.permission_mode
        for message in draft.messages
        for record in message.records
        if isinstance(record, User) and record.permission_mode
    ]
    is_reached = any(uuid in on_path for m in draft.messages for uuid in m.uuids)
    start, end = find_range(draft.times)
    worked = draft.worked_ms
    return Turn(
        index=index,
        number=index + 1,
        prompt_id=draft.prompt_id,
        prompt=opening,
        messages=tuple(draft.messages),
        # There is no way to tell whether records without a uuid are abandoned.
        is_on_main_path=is_reached or not any(m.uuids for m in draft.messages),
        permission_mode=modes[0] if modes else None,
        start=start,
        end=end,
        active_ms=worked if worked is not None else milliseconds_between(start, end),
        kind=opening.kind if opening else None,
        words=opening.words if opening else "",
        contexts=opening.contexts if opening else (),
        command=opening.command if opening else None,
        is_by_person=opening is not None and opening.kind in USER_KINDS,
    )


def classify_round(
    message: Message, messages: Sequence[Message], *, is_copy: bool = False
) -> RoundKind | None:
    """Return the role of a user message in the course of its session; None for replies.

    `messages` are those of the session: the first one that opens a turn starts it. `parentUuid` and
    `permissionMode` do not tell: hooks come before the first prompt, and every prompt has a mode. A
    session that starts with a summary, or with a prompt of another session, resumes that one.
    Copies often have no mark; `is_copy` is for callers that know the message is one.
    """
    if message.prompt is None:
        return None
    if not _opens_turn(message):
        return RoundKind.CONTINUE
    if message != next(filter(_opens_turn, messages), message):
        return RoundKind.NEW_ROUND
    is_summary = message.prompt.kind is InputKind.COMPACTION_SUMMARY
    is_fork = any(record.forked_from for record in message.records)
    return RoundKind.RESUME if is_summary or is_fork or is_copy else RoundKind.NEW_SESSION


def _opens_turn(message: Message) -> bool:
    return message.prompt is not None and message.prompt.kind in OPENING_KINDS
