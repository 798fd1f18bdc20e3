"""Open sessions: completely, only their start, or incrementally while their files grow.

Combines what makes up a session: its records, those of its subagents in all layouts, and its
sidecar files. `locations.references` finds the file, and `recollect.session` joins a subagent to
the call that started it. A subagent is opened without its parent session, which can be far larger.
A message has the price of its day. Copies of it in other sessions are left to the ledger.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from recollect.errors import UnreadableInput
from recollect.library import listings, processes, transcript_ends
from recollect.locations import (
    Transcript,
    TranscriptKind,
    claude_directories,
    discovery,
    references,
    sidecars,
)
from recollect.reader.line_blocks import mask_value
from recollect.reader.transcript_reader import decode_bytes, decode_rest, read_transcript
from recollect.records.decoding import decode_value
from recollect.records.envelope import Blank, Damaged, Oversized, Record, Torn, Unknown
from recollect.session import metadata, subagents, turns
from recollect.session.messages import Message
from recollect.session.session import Session
from recollect.sources import growth
from recollect.sources.safe_files import open_file
from recollect.sources.source import SourceFile

if TYPE_CHECKING:
    from recollect.pricing.prices import Prices


FIRST_BYTES: Final = 3 * 512 * 1024
"""About fifteen turns of usual size: more than a screen, and quick to read."""


class PartialSession(Struct, frozen=True):
    """A session made from the start of its transcript."""

    session: Session
    is_whole: bool

    @property
    def turn_count(self) -> int:
        """Return the number of complete turns: the last one may continue after this part."""
        count = len(self.session.turns)
        return count if self.is_whole else max(count - 1, min(count, 1))


def read_partial_session(transcript: Transcript, max_bytes: int = FIRST_BYTES) -> PartialSession:
    """Return the session in the first `max_bytes` bytes of a transcript; raises UnreadableInput."""
    with open_file(transcript.file) as file:
        data = file.read(max_bytes)
        is_whole = not file.read(1)
    if not is_whole:
        data = data[: data.rfind(b"\n") + 1]
    records = decode_bytes(transcript.file, 0, data)
    provenance = metadata.Provenance(id=transcript.session_id, path=transcript.file)
    return PartialSession(Session(records, provenance), is_whole)


def price_turn(turn: turns.Turn, prices: Prices) -> int | None:
    """Return the price in micro-dollars; None if the price of a message is not known."""
    return price_messages(turn.messages, prices)


def price_messages(messages: Iterable[Message], prices: Prices) -> int | None:
    """Return the price of all messages in micro-dollars; None if one price is not known."""
    total = 0
    for message in messages:
        if message.usage is None or message.is_synthetic:
            continue
        cost = prices.cost(message.model, message.usage, message.timestamp, is_largest=True)
        if cost is None:
            return None
        total += cost.total
    return total


def price_at_list(messages: Iterable[Message]) -> int | None:
    """Price messages with the bundled price list, which is loaded on first use."""
    return price_messages(messages, _load_list())


def price_recorded_costs(messages: Sequence[Message]) -> int | None:
    """Price messages only if an old client recorded a cost: loading the price list is slow."""
    return price_at_list(messages) if any(map(metadata.find_recorded_cost, messages)) else None


@cache
def _load_list() -> Prices:
    from recollect.pricing.prices import Prices  # only to compute prices

    return Prices.load()


def find_subagent_files(project_dir: Path, session_id: str) -> tuple[Transcript, ...]:
    """Return the transcripts of a session's subagents."""
    files = discovery.list_subagent_files(project_dir, session_id)
    named = [each for each in files.shared if _find_session(each) == session_id]
    return (*named, *files.own)


def _find_session(transcript: Transcript) -> str:
    """Return the id of a subagent's session, as named in its records; empty if they name none."""
    return claude_directories.encode_id(transcript_ends.find_session_id(transcript.file) or "")


def load_children(
    transcripts: Iterable[Transcript],
    context: listings.SessionContext,
    prices: metadata.PriceList | None = None,
) -> list[subagents.Child]:
    """Load the subagents in these files; a subagent whose file is unreadable is empty."""
    return [make_child(each, _load_session(each, context, prices)) for each in transcripts]


def make_child(transcript: Transcript, session: Session) -> subagents.Child:
    """Return a subagent with the content of its sidecar, if there is a readable one."""
    path = sidecars.find_subagent_meta(transcript)
    return subagents.Child(
        agent_id=transcript.agent_id or transcript.name,
        session=session,
        meta=read_subagent_meta(path) if path else None,
        run_id=transcript.run_id,
    )


def read_subagent_meta(path: Path) -> subagents.SubagentMeta | None:
    """Return the sidecar of a subagent, masked; None if it is missing or unreadable."""
    data = processes.read_small(path)
    meta = decode_value(data, subagents.SubagentMeta) if data else None
    return mask_value(str(path), meta) if meta else None


def _load_session(
    transcript: Transcript, context: listings.SessionContext, prices: metadata.PriceList | None
) -> Session:
    provenance = context.describe(transcript)
    try:
        records = read_transcript(transcript.file)
        return Session(records, provenance, prices)
    except UnreadableInput:
        return Session((), provenance)


class IncrementalSession:
    """A session that is read as its files grow."""

    def __init__(self) -> None:
        self._main = _Reading()
        self._others: dict[str, _Reading] = {}

    @property
    def bytes(self) -> int:
        """Return the number of bytes read so far."""
        return self._main.position + sum(each.position for each in self._others.values())

    def catch_up(self, transcript: Transcript, relatives: Sequence[Transcript]) -> Session:
        """Return the session in `transcript` with the current content of its files.

        `relatives` are the transcripts of its subagents; for a subagent, all others of its session.
        Raises UnreadableInput if the transcript itself cannot be read.
        """
        is_new = self._main.catch_up(transcript)
        if self._catch_up_others(relatives) or is_new:
            self._join(transcript, relatives)
        return self._main.session

    def _catch_up_others(self, relatives: Iterable[Transcript]) -> bool:
        known, self._others = self._others, {}
        is_new = False
        for each in relatives:
            reading = known.get(each.file) or _Reading()
            try:
                is_new |= reading.catch_up(each)
            except UnreadableInput:
                # A subagent whose file is unreadable is included, but empty.
                is_new |= reading.position > 0
                reading = _Reading()
            self._others[each.file] = reading
        return is_new or known.keys() != self._others.keys()

    def _join(self, transcript: Transcript, relatives: Iterable[Transcript]) -> None:
        session = self._main.session
        children = [make_child(each, self._others[each.file].session) for each in relatives]
        if transcript.kind is TranscriptKind.SESSION:
            subagents.attach_subagents(session, children)
            return
        # All subagents are in one directory: those that this one did not start go to a placeholder.
        substitute = Session((), metadata.Provenance(id=transcript.session_id or ""))
        subagents.attach_subagents(substitute, [make_child(transcript, session), *children])


class _Reading:
    """A transcript that is read as it grows."""

    def __init__(self) -> None:
        self._restart(Session())

    def _restart(self, session: Session) -> None:
        self.session = session
        self.position = 0
        self._state = growth.FileState()
        self._digest = growth.new_digest()

    def catch_up(self, transcript: Transcript) -> bool:
        """Read appended records; return whether there were any."""
        if self._state.is_current(transcript.stamp):
            return False
        with open_file(transcript.file) as file:
            seen = growth.capture_state(file)
            continues = self._can_continue(file, seen)
            if not continues:
                self._restart(Session((), _describe(transcript)))
            start = self.position
            self._read(file, transcript.file, seen)
        return self.position > start or not continues

    def _can_continue(self, file: SourceFile, seen: growth.FileState) -> bool:
        """Return whether the file still starts with what was read, which ended with a line."""
        if not self._state.position:
            return False
        if growth.find_growth(file, self._state, seen) in (
            growth.Growth.UNCHANGED,
            growth.Growth.APPENDED,
        ):
            return True
        # Reading the file again takes some fifty times as long as comparing it.
        return growth.digest_start(file, self.position) == self._digest.digest()

    def _read(self, file: SourceFile, name: str, seen: growth.FileState) -> None:
        file.seek(self.position)
        rest = decode_rest(file, name, seen.size, self._digest.update)
        self.session.extend(rest.records)
        self.position = rest.end
        has_line_end = growth.read_before(file, self.position).endswith(b"\n")
        self._state = growth.record_state(file, seen, self.position if has_line_end else 0)


def _describe(transcript: Transcript) -> metadata.Provenance:
    """Describe only the file: lists look up titles in other files."""
    return metadata.Provenance(
        id=transcript.name,
        project=transcript.project,
        path=transcript.file,
        size=transcript.size,
        modified=listings.modified_of(transcript),
        agent_id=transcript.agent_id,
    )


def open_session(ref: str | Path, *, root: listings.Root = None) -> Session:
    """Open the session `ref`, with its subagents.

    `ref` is the path of a `.jsonl` file, a session id or a unique prefix of one (at least four
    characters), an agent id, a title or a unique part of one, `latest`, or `-1`, `-2` … for the
    newest, the one before it and so on. Raises NothingFound if there is no such session,
    AmbiguousSession if there are several, and UnreadableInput for a file that is not a transcript.
    """
    if isinstance(ref, Path) or references.looks_like_file(ref):
        return open_transcript(references.locate_file(Path(ref)), price_at_list)
    return open_transcript(listings.locate_session(ref, root=root), price_at_list)


def open_transcript(transcript: Transcript, prices: metadata.PriceList | None = None) -> Session:
    """Open the session in a transcript, with its subagents.

    Without `prices` its metrics have no list price, and the price list is not loaded.
    """
    context = listings.SessionContext()
    described = context.describe(transcript)
    session = Session(_read_records(transcript), described, prices)
    if transcript.kind is TranscriptKind.SESSION:
        files = find_subagent_files(transcript.project_dir, transcript.name)
        subagents.attach_subagents(session, load_children(files, context, prices))
    else:
        _attach_nested(session, transcript, context, prices)
    return session


def _attach_nested(
    session: Session,
    transcript: Transcript,
    context: listings.SessionContext,
    prices: metadata.PriceList | None,
) -> None:
    """Attach to a subagent the siblings that it started; the others go to a placeholder."""
    parent_id = transcript.session_id or _find_session(transcript)
    siblings = [
        found
        for found in find_subagent_files(transcript.project_dir, parent_id)
        if (found.agent_id, found.run_id) != (transcript.agent_id, transcript.run_id)
    ]
    others = load_children(siblings, context, prices)
    children = [make_child(transcript, session), *others]
    subagents.attach_subagents(Session((), metadata.Provenance(id=parent_id)), children)


def _read_records(transcript: Transcript) -> list[Record]:
    records = list(read_transcript(transcript.file))
    if records and not any(map(_is_record, records)):
        raise UnreadableInput(
            f"{transcript.file} contains no Claude Code records. Specify a transcript: a .jsonl "
            "file below `projects`."
        )
    return records


def _is_record(record: Record) -> bool:
    """Return whether a line was written by a client, possibly one newer than this program."""
    if isinstance(record, Unknown):
        return record.record_type is not None
    return not isinstance(record, Damaged | Torn | Oversized | Blank)
