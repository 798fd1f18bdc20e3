"""The checkpoints that opcode, a front end for Claude Code, keeps beside a session.

`.timelines/SESSION/timeline.json` has a tree of them; the content of files lies beside it in a pool
that is compressed. They are listed as what they are and never taken for a source of versions:
opcode copies a whole project when a message is through, so nothing says which change made a file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from recollect.library.processes import read_small
from recollect.locations import Transcript, is_plain_name
from recollect.locations.project_names import TIMELINES_DIRECTORY
from recollect.redact.text_masking import mask_words
from recollect.session.times import parse_time
from recollect.sources.safe_files import find_directory

_FILE_NAME: Final = "timeline.json"
_MAX_SIZE: Final = 16 * 1024 * 1024
_MAX_PROMPT: Final = 500


class OpcodeCheckpoint(Struct, frozen=True, kw_only=True):
    """A state of a project that opcode saved."""

    id: str
    time: str | None
    words: str
    """Its description, or the prompt before it, on one line and without definite secrets."""
    files: int


class _Metadata(Struct, rename="camel"):
    user_prompt: str = ""


class _Checkpoint(Struct, rename="camel"):
    id: str
    timestamp: str | None = None
    description: str | None = None
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


class _Node(Struct, rename="camel"):
    checkpoint: _Checkpoint
    children: tuple[_Node, ...] = ()
    file_snapshot_ids: tuple[str, ...] = ()


class _Timeline(Struct, rename="camel"):
    root_node: _Node | None = None


def list_opcode_checkpoints(transcript: Transcript) -> tuple[OpcodeCheckpoint, ...]:
    """Return the checkpoints that opcode made of a session, oldest first; none if unreadable."""
    name = transcript.session_id or ""
    if not is_plain_name(name):
        return ()
    place = find_directory(transcript.project_dir, TIMELINES_DIRECTORY, name)
    data = read_small(place / _FILE_NAME, _MAX_SIZE) if isinstance(place, Path) else None
    if data is None:
        return ()
    try:
        timeline = msgspec.json.decode(data, type=_Timeline)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ()
    return tuple(sorted(_list_nodes(timeline.root_node), key=lambda each: each.time or ""))


def _list_nodes(root: _Node | None) -> list[OpcodeCheckpoint]:
    pending = [root] if root else []
    found: list[OpcodeCheckpoint] = []
    while pending:
        node = pending.pop()
        found.append(_describe(node))
        pending += node.children
    return found


def _describe(node: _Node) -> OpcodeCheckpoint:
    checkpoint = node.checkpoint
    words = mask_words(checkpoint.description or checkpoint.metadata.user_prompt)
    return OpcodeCheckpoint(
        id=checkpoint.id,
        time=checkpoint.timestamp if parse_time(checkpoint.timestamp) else None,
        words=" ".join(words[: 2 * _MAX_PROMPT].split())[:_MAX_PROMPT],
        files=len(node.file_snapshot_ids),
    )
