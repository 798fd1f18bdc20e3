"""Messages → turns: from what opened it to before the next opening.

Newer clients give every record of a turn the same `promptId`; before that, an opening starts one.
Records without an id belong to the turn of the record that they follow, so that two conversations
woven into one file stay apart.
"""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from recollect.records.conversation import User
from recollect.records.envelope import Chain
from recollect.records.system import TurnDuration
from recollect.session.contexts import Context
from recollect.session.messages import Message
from recollect.session.prompts import OPENING_KINDS, PERSON_KINDS, Command, InputKind, Prompt
from recollect.session.times import find_range, milliseconds_between


class RoundKind(StrEnum):
    """What a user record means for the course of a session."""

    NEW_SESSION = "new_session"
    NEW_ROUND = "new_round"
    CONTINUE = "continue"
    RESUME = "resume"


class Turn(Struct, frozen=True, kw_only=True):
    """One round of the conversation."""

    index: int
    prompt_id: str | None
    prompt: Prompt | None
    messages: tuple[Message, ...]
    is_on_main_path: bool
    permission_mode: str | None
    start: str | None
    end: str | None
    active_ms: float | None
    """How long the client says that it worked, else the time from first to last record."""

    @property
    def kind(self) -> InputKind | None:
        """What kind of input opened it."""
        return self.prompt.kind if self.prompt else None

    @property
    def words(self) -> str:
        """The person's own words that opened it."""
        return self.prompt.words if self.prompt else ""

    @property
    def contexts(self) -> tuple[Context, ...]:
        """What was put beside those words."""
        return self.prompt.contexts if self.prompt else ()

    @property
    def command(self) -> Command | None:
        """The command that opened it."""
        return self.prompt.command if self.prompt else None

    @property
    def is_by_person(self) -> bool:
        """Whether a person asked for it."""
        return self.kind in PERSON_KINDS


class _Draft:
    """A turn while it is being gathered."""

    def __init__(self, prompt_id: str | None) -> None:
        self.prompt_id = prompt_id
        self.messages: list[Message] = []
        self.times: list[str | None] = []
        self.worked_ms: float | None = None


def build_turns(
    chain: Sequence[Chain], messages: Sequence[Message], main_path: Sequence[str]
) -> tuple[Turn, ...]:
    """The turns of a session in the order in which they began."""
    gathered = _Gathering({id(message.records[0]): message for message in messages})
    for link in chain:
        gathered.add(link)
    on_path = set(main_path)
    return tuple(
        _make_turn(index, draft, on_path)
        for index, draft in enumerate(draft for draft in gathered.drafts if draft.messages)
    )


class _Gathering:
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
        if isinstance(link, TurnDuration):
            draft.worked_ms = (draft.worked_ms or 0) + (link.duration_ms or 0)

    def _draft_of(self, link: Chain, message: Message | None) -> _Draft:
        prompt_id = link.prompt_id if isinstance(link, User) else None
        if prompt_id is not None:
            known = self._by_id.get(prompt_id)
            if known is None or _asks_anew(message, known):
                self._by_id[prompt_id] = self._open(prompt_id)
            return self._by_id[prompt_id]
        prompt = message.prompt if message else None
        if prompt and prompt.kind in OPENING_KINDS and isinstance(link, User):
            return self._open(None)
        followed = self._by_uuid.get(link.parent_uuid or "")
        return followed or (self.drafts[-1] if self.drafts else self._open(None))

    def _open(self, prompt_id: str | None) -> _Draft:
        self.drafts.append(_Draft(prompt_id))
        return self.drafts[-1]


def _asks_anew(message: Message | None, draft: _Draft) -> bool:
    """Whether `message` opens a turn although its id is known: forks give all copies one id."""
    prompt = message.prompt if message else None
    if prompt is None or prompt.kind not in PERSON_KINDS:
        return False
    kinds = {m.prompt.kind for m in draft.messages if m.prompt} & OPENING_KINDS
    if prompt.kind is InputKind.COMMAND and kinds == {InputKind.COMPACTION_SUMMARY}:
        # The echo of `/compact` stands behind the summary that it made.
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
    start, end = find_range(draft.times)
    worked = draft.worked_ms
    return Turn(
        index=index,
        prompt_id=draft.prompt_id,
        prompt=opening,
        messages=tuple(draft.messages),
        is_on_main_path=any(uuid in on_path for m in draft.messages for uuid in m.uuids),
        permission_mode=modes[0] if modes else None,
        start=start,
        end=end,
        active_ms=worked if worked is not None else milliseconds_between(start, end),
    )


def classify_round(message: Message, *, is_first: bool, is_copy: bool = False) -> RoundKind | None:
    """What a user message means for the course of its session; None for replies.

    `is_first` tells that nothing was said before it in the file, `is_copy` that it was said in
    another session first: a session that starts with copies was resumed or forked from that one.
    """
    if message.role != "user" or message.prompt is None:
        return None
    if message.prompt.kind not in OPENING_KINDS:
        return RoundKind.CONTINUE
    if is_first:
        return RoundKind.RESUME if is_copy else RoundKind.NEW_SESSION
    return RoundKind.NEW_ROUND
