"""Compactions cut a session into segments; their indices never change, because files only grow.

Segment 0 is what lies before the first boundary; a fork of a compacted session begins with one.
Very old clients wrote no boundary: there the summary itself is the mark.
"""

from collections.abc import Sequence
from typing import TypeGuard

from msgspec import Struct

from recollect.records.conversation import User
from recollect.records.envelope import Chain
from recollect.records.system import CompactBoundary, CompactMetadata, MicrocompactBoundary
from recollect.session.content import join_text, list_blocks
from recollect.session.prompts import COMPACTION_MARK


class Microcompaction(Struct, frozen=True):
    """Old tool results were blanked to make room."""

    uuid: str | None
    timestamp: str | None
    trigger: str | None
    tokens_before: int | None
    tokens_saved: int | None
    tool_ids: tuple[str, ...]


class Segment(Struct, frozen=True, kw_only=True):
    """The stretch between two compactions; what the compaction that opens it did."""

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
    """Records from before the boundary that the conversation kept as they were."""
    microcompactions: tuple[Microcompaction, ...] = ()


def build_segments(chain: Sequence[Chain]) -> tuple[Segment, ...]:
    """The segments of `chain`; at least one, if there is any record."""
    stretches: list[list[Chain]] = []
    for link in chain:
        if not stretches or _opens_segment(link, stretches[-1]):
            stretches.append([])
        stretches[-1].append(link)
    return tuple(_make_segment(index, links) for index, links in enumerate(stretches))


def _opens_segment(link: Chain, current: list[Chain]) -> bool:
    if isinstance(link, CompactBoundary):
        return True
    return _is_summary(link) and not _has_summary_due(current)


def _has_summary_due(current: list[Chain]) -> bool:
    """Whether the segment was opened by a boundary whose summary has not been seen yet."""
    if not isinstance(current[0], CompactBoundary):
        return False
    return not any(map(_is_summary, current))


def _is_summary(link: Chain) -> TypeGuard[User]:
    return isinstance(link, User) and (
        link.is_compact_summary or _text_of(link).startswith(COMPACTION_MARK)
    )


def _text_of(link: User) -> str:
    return join_text(list_blocks(link.message.content if link.message else None))


def _make_segment(index: int, links: list[Chain]) -> Segment:
    boundary = links[0] if isinstance(links[0], CompactBoundary) else None
    facts = (boundary.compact_metadata if boundary else None) or CompactMetadata()
    summary = next(filter(_is_summary, links), None)
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
            _make_microcompaction(link) for link in links if isinstance(link, MicrocompactBoundary)
        ),
    )


def _preserved(facts: CompactMetadata) -> tuple[str, ...]:
    if facts.preserved_messages is not None:
        return facts.preserved_messages.uuids
    stretch = facts.preserved_segment
    return tuple(u for u in (stretch.head_uuid, stretch.tail_uuid) if u) if stretch else ()


def _make_microcompaction(link: MicrocompactBoundary) -> Microcompaction:
    facts = link.microcompact_metadata
    return Microcompaction(
        uuid=link.uuid,
        timestamp=link.timestamp,
        trigger=facts.trigger if facts else None,
        tokens_before=facts.pre_tokens if facts else None,
        tokens_saved=facts.tokens_saved if facts else None,
        tool_ids=facts.compacted_tool_ids if facts else (),
    )
