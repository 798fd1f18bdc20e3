"""The records of one session in the order they came, sorted into what the views need.

Adding a record costs the same however long the session is. Two rules live here and nowhere else:
a repeated `uuid` replaces the content of the first line that had it and keeps its place, and
sidechain records inside a main session are set apart, because they belong to subagents.
"""

from collections.abc import Iterable

from recollect.records.conversation import Assistant, User
from recollect.records.envelope import Chain, Record
from recollect.records.irregular import Damaged, Oversized, Torn, Unknown
from recollect.records.state import LastPrompt, State

NIL_UUID = "00000000-0000-0000-0000-000000000000"


class Log:
    """What a session has read so far."""

    def __init__(self) -> None:
        self.record_count = 0
        self.chain: list[Chain] = []
        """Links of this session's own conversation, each uuid once."""
        self.superseded: list[Assistant] = []
        """Lines that a later line with the same uuid replaced; their usage may be the larger."""
        self.sidechain: list[Chain] = []
        """Lines of subagents that old clients wrote into the session's own file."""
        self.states: list[State] = []
        self.irregular: list[Damaged | Torn | Oversized | Unknown] = []
        self.starts_in_sidechain: bool | None = None
        """Whether this is a subagent's own transcript; unknown until somebody has spoken."""
        self.rewound_to_start = False
        """Whether the client once noted that nothing of the conversation was left."""
        self._places: dict[str, tuple[list[Chain], int]] = {}

    def extend(self, records: Iterable[Record]) -> None:
        """Take in `records`, which follow those already here."""
        for record in records:
            self.record_count += 1
            if isinstance(record, Chain) and (record.uuid or not isinstance(record, Unknown)):
                self._add_link(record)
            elif isinstance(record, State):
                self.states.append(record)
                if isinstance(record, LastPrompt) and record.leaf_uuid == NIL_UUID:
                    self.rewound_to_start = True
            if isinstance(record, Damaged | Torn | Oversized | Unknown):
                self.irregular.append(record)

    def _add_link(self, record: Chain) -> None:
        if self.starts_in_sidechain is None and isinstance(record, User | Assistant):
            self.starts_in_sidechain = record.is_sidechain
        is_foreign = record.is_sidechain and self.starts_in_sidechain is False
        links = self.sidechain if is_foreign else self.chain
        if not record.uuid:
            links.append(record)
            return
        known = self._places.get(record.uuid)
        if known is None:
            self._places[record.uuid] = (links, len(links))
            links.append(record)
            return
        place, index = known
        replaced = place[index]
        if isinstance(replaced, Assistant):
            self.superseded.append(replaced)
        place[index] = record
