"""The original lines of a session and its subagents, byte for byte."""

from collections.abc import Iterable, Iterator
from typing import Final

from recollect.export.material import SessionPart
from recollect.reader import read_transcript
from recollect.render.views.turn_views import build_turn_views
from recollect.session.session import Session
from recollect.sources.safe_files import open_file

_PIECE: Final = 1 << 20


def iter_files(session: Session) -> Iterator[str]:
    """Yield the path of a session's transcript, and those of its subagents, each once."""
    waiting, seen = [session], set[str]()
    while waiting:
        current = waiting.pop(0)
        path = current.metadata.path
        if path and path not in seen:
            seen.add(path)
            yield path
        waiting += [child.session for child in current.subagents]


def iter_lines(part: SessionPart) -> Iterator[bytes]:
    """Yield the bytes of the session's files, or of the lines of the chosen turns."""
    if part.turns is not None:
        yield from _iter_turns(part.session, part.turns)
        return
    is_open_line = False
    for path in iter_files(part.session):
        if is_open_line:
            # The last line of the file before was never finished.
            yield b"\n"
        for piece in iter_file(path):
            is_open_line = not piece.endswith(b"\n")
            yield piece


def iter_file(path: str) -> Iterator[bytes]:
    """Yield the bytes of a transcript."""
    with open_file(path) as file:
        while piece := file.read(_PIECE):
            yield piece


def _iter_turns(session: Session, turns: Iterable[int]) -> Iterator[bytes]:
    path = session.metadata.path or ""
    wanted = {
        uuid
        for index in turns
        for view in build_turn_views(session, start=index, stop=index + 1)
        for uuid in view.uuids
    }
    with open_file(path) as file:
        for record in read_transcript(path):
            if record.span and getattr(record, "uuid", None) in wanted:
                file.seek(record.span.offset)
                yield file.read(record.span.length)
