"""What of a session is exported: its masked turns, its metadata, and what belongs to no turn."""

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from recollect.documents.session_listing import Metadata
from recollect.documents.turns import NoticeStep, SubagentReference, TurnView
from recollect.export.masking import Mask
from recollect.export.options import ExportOptions, Level
from recollect.library.sidecar_files import load_session_lists
from recollect.quantities import format_dollars, format_duration
from recollect.render.views.complete_turns import complete_turn
from recollect.render.views.message_steps import refer_to
from recollect.render.views.part_builders import take_line
from recollect.render.views.sidecar_notices import list_sidecar_notices
from recollect.render.views.turn_views import build_turn_views
from recollect.session.session import Session


class SessionPart(Struct, frozen=True):
    """A session, and which of its turns are exported: None for all on its main path."""

    session: Session
    turns: tuple[int, ...] | None = None
    """The indices of turns."""


class Material(Struct, frozen=True, kw_only=True):
    """What a writer needs; all texts are masked."""

    metadata: Metadata
    title: str
    turns: tuple[TurnView, ...]
    notices: tuple[NoticeStep, ...] = ()
    """The todo lists, tasks and plan beside the session."""
    strays: tuple[SubagentReference, ...] = ()
    """Subagents that no known call started."""
    facts: tuple[tuple[str, str], ...] = ()
    """Figures of the whole session, in words."""


def learn_session(session: Session, mask: Mask) -> None:
    """Remember the secrets of all turns of a session."""
    for view in iter_whole_turns(session):
        mask.learn(view)
    for subagent in _list_strays(session):
        mask.learn(subagent)


def collect(part: SessionPart, options: ExportOptions, mask: Mask) -> Material:
    """Return what is exported of a session."""
    session, is_whole = part.session, part.turns is None
    wanted = _choose(part)
    metadata = session.metadata
    is_full = is_whole and options.level is Level.FULL
    strays = _list_strays(session) if is_full else ()
    notices = list_sidecar_notices(load_session_lists(session), session.id) if is_full else ()
    views = _learn(session, wanted, options, mask)
    for document in (metadata, *strays, *notices):
        mask.learn(document)
    shown = mask.apply(metadata)
    return Material(
        metadata=shown,
        title=take_line(shown.title or shown.first_prompt or shown.id),
        turns=tuple(mask.apply(view, is_clean=is_clean) for view, is_clean in views),
        notices=tuple(map(mask.apply, notices)),
        strays=tuple(map(mask.apply, strays)),
        facts=tuple(_list_facts(session, shown)),
    )


def _choose(part: SessionPart) -> Sequence[int]:
    if part.turns is not None:
        return part.turns
    if not part.session.turns:
        return (0,)
    return [turn.index for turn in part.session.turns if turn.is_on_main_path]


def _learn(
    session: Session, wanted: Sequence[int], options: ExportOptions, mask: Mask
) -> list[tuple[TurnView, bool]]:
    """Return the wanted views in order, and whether each is without secrets of its own."""
    chosen = set(wanted)
    is_brief = options.level is not Level.FULL or options.budget is not None
    found: dict[int, tuple[TurnView, bool]] = {}
    total = max(len(session.turns), 1)
    for index in range(total) if mask.is_on else wanted:
        for view in build_turn_views(session, start=index, stop=index + 1):
            whole = complete_turn(view, session, subagents=True)
            is_clean = not mask.learn(whole)
            if index in chosen:
                found[index] = (view if is_brief else whole), is_clean
    return [found[index] for index in wanted if index in found]


def iter_whole_turns(session: Session) -> Iterator[TurnView]:
    """Yield all turns of a session with whole calls, and with those of its subagents."""
    for index in range(max(len(session.turns), 1)):
        for view in build_turn_views(session, start=index, stop=index + 1):
            yield complete_turn(view, session, subagents=True)


def _list_strays(session: Session) -> tuple[SubagentReference, ...]:
    return tuple(
        replace(refer_to(each), turns=tuple(iter_whole_turns(each.session)))
        for each in session.subagents
        if each.call is None and not each.is_warmup
    )


def _list_facts(session: Session, metadata: Metadata) -> Iterator[tuple[str, str]]:
    metrics = session.metrics
    yield "turns", f"{len(session.turns):,}"
    yield "tool calls", f"{metrics.tool_calls:,}"
    if session.subagents:
        yield "subagents", f"{len(session.subagents):,}"
    if metrics.lines_added or metrics.lines_removed:
        yield "lines", f"+{metrics.lines_added:,} -{metrics.lines_removed:,}"
    if metrics.tokens.total:
        yield "tokens", f"{metrics.tokens.total:,}"
    if metrics.list_price_usd is not None:
        yield "list price", format_dollars(metrics.list_price_usd)
    if metrics.duration_ms:
        yield "duration", format_duration(metrics.duration_ms)
    if metadata.version:
        yield "Claude Code", metadata.version
