"""The two ends of a transcript, read until they tell what a listing needs.

Knows how much to read, and leaves to `recollect.session` what records mean. The first reads are
64 KB at each end, as in the client's own lister; unlike that one, a line that is longer than this
makes the read grow, so that a prompt behind a pasted image is found.
"""

import os
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Final, NamedTuple

from recollect.locations import open_regular
from recollect.reader import TranscriptDecoder
from recollect.records.conversation import Assistant, User
from recollect.records.envelope import Chain, Record
from recollect.session.log import Log
from recollect.session.messages import Message, build_messages
from recollect.session.metadata import find_first_prompt, first_words
from recollect.session.prompts import InputKind, read_prompt

FIRST_READ: Final = 64 * 1024
"""Bytes that are read at each end to begin with."""

MOST_READ: Final = 4 * 1024 * 1024
"""Bytes of either end that are read at most."""

_ASIDES: Final = frozenset({InputKind.COMMAND, InputKind.SHELL})


class Ends(NamedTuple):
    """Records of both ends in one log, and the first prompt: the head's, never the tail's.

    `is_whole` tells that nothing lies between the ends, so that everything was read.
    """

    log: Log
    first_prompt: Message | None
    is_whole: bool

    @property
    def is_subagent(self) -> bool:
        """Whether this is a subagent's own transcript."""
        return bool(self.log.starts_in_sidechain)

    @property
    def is_warmup(self) -> bool:
        """Whether the client only warmed up its caches: nobody asked for anything."""
        opening = next((link for link in self.log.chain if isinstance(link, User)), None)
        return (
            opening is not None
            and self.is_subagent
            and read_prompt(opening, is_subagent=True).kind is InputKind.WARMUP
        )

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages of a whole file, else the first prompt alone."""
        if self.is_whole:
            return build_messages(self.log.chain, self.log.superseded, is_subagent=self.is_subagent)
        return (self.first_prompt,) if self.first_prompt else ()


def read_ends(path: Path) -> Ends:
    """The ends of the transcript at `path`; raises UnreadableInput if it cannot be read."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        log, decoder = Log(), TranscriptDecoder(str(path))
        position, first_prompt = _read_head(file, size, log, decoder)
        tail = _read_tail(file, str(path), position, log)
        is_whole = tail is None
        if tail is None:
            file.seek(position)
            tail = [*decoder.feed(file.read()), *decoder.finish()]
        log.extend(tail)
        return Ends(log, first_prompt, is_whole)


def _read_head(
    file: FileIO, size: int, log: Log, decoder: TranscriptDecoder
) -> tuple[int, Message | None]:
    """Read on until the first prompt is known, and say up to where, and which it is."""
    position, first = 0, None
    wanted = FIRST_READ if size > 2 * FIRST_READ else size
    while chunk := file.read(wanted):
        log.extend(decoder.feed(chunk))
        position += len(chunk)
        first = _find_prompt(log) if position < size else None
        if position >= min(size, MOST_READ) or _is_worded(first):
            break
        wanted = position
    return position, first


def _find_prompt(log: Log) -> Message | None:
    """The first prompt of `log`, by the rule for all its messages, but read one by one."""
    is_subagent = bool(log.starts_in_sidechain)
    aside = None
    for link in log.chain:
        if not isinstance(link, Assistant):
            message = build_messages((link,), (), is_subagent=is_subagent)
            found = find_first_prompt(message, is_subagent=is_subagent)
            if _is_worded(found):
                return found
            aside = aside or found
    return aside


def _is_worded(message: Message | None) -> bool:
    """Whether a message has words that are no command."""
    prompt = message.prompt if message else None
    return bool(first_words(message)) and prompt is not None and prompt.kind not in _ASIDES


def _read_tail(file: FileIO, name: str, start: int, log: Log) -> list[Record] | None:
    """Records of the end, back to one of the conversation; None if they reach back to `start`."""
    size = os.fstat(file.fileno()).st_size
    wanted = FIRST_READ
    while size - wanted > start:
        records = list(_decode_from(file, name, size - wanted))
        if wanted >= MOST_READ or any(_is_own_link(record, log) for record in records):
            return records
        wanted *= 2
    return None


def _decode_from(file: FileIO, name: str, position: int) -> Iterator[Record]:
    """The records whose lines begin behind `position`."""
    file.seek(position)
    data = file.read()
    skipped = data.find(b"\n") + 1 or len(data)
    decoder = TranscriptDecoder(name, position + skipped)
    yield from decoder.feed(data[skipped:])
    yield from decoder.finish()


def _is_own_link(record: Record, log: Log) -> bool:
    return isinstance(record, Chain) and record.is_sidechain == bool(log.starts_in_sidechain)
