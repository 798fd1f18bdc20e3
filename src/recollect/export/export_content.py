"""Collect the exported parts of a session: its masked turns, its metadata, and everything outside
turns; and list its secrets one by one, so that the user can review false positives.

Unlike everything else here, a `MaskedValue` contains the secret itself: it is shown only to the
owner of the sessions. The text around a value never contains another secret.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct, structs

from recollect.documents.session_documents import TokenShares
from recollect.documents.session_listing import Metadata
from recollect.documents.turn_documents import NoticeStep, SubagentReference, TurnView
from recollect.export.export_options import ExportOptions, Level, select_steps
from recollect.export.masking import SEPARATOR, Mask, RecordMask, join_texts
from recollect.quantities import format_dollars, format_duration
from recollect.redact.findings import Finding, RedactionPolicy
from recollect.redact.redactor import Redactor
from recollect.render.views import message_steps, part_builders, record_notices, timeline
from recollect.render.views.turn_views import build_turn_views, complete_turn, iter_turn_views
from recollect.session.session import Session


class SessionPart(Struct, frozen=True):
    """A session, and the turns of it to export: None for all on its main path."""

    session: Session
    turns: tuple[int, ...] | None = None
    """The indices of turns."""
    is_masked: bool = False
    """Whether its records were masked while they were read; if not, all views are scanned."""
    reopen: Callable[[], Session] | None = None
    """Reopens the session; if set, other processes are still scanning its records."""
    shares: TokenShares | None = None
    """The tokens that belong to this session; if None, only its own records are used."""


class ExportContent(Struct, frozen=True, kw_only=True):
    """The input of a writer, with all texts masked."""

    metadata: Metadata
    title: str
    turns: tuple[TurnView, ...]
    notices: tuple[NoticeStep, ...] = ()
    """The todo lists, tasks and plan that are stored beside the session."""
    strays: tuple[SubagentReference, ...] = ()
    """Subagents for which no call was found."""
    facts: tuple[tuple[str, str], ...] = ()
    """Figures of the whole session, as text."""


def collect(part: SessionPart, options: ExportOptions, mask: Mask) -> ExportContent:
    """Collect and mask the exported parts of a session."""
    session = part.session
    wanted = _choose(part)
    metadata = session.metadata
    strays, notices = _list_outside(part, options.level)
    views = _learn_turns(part, wanted, options, mask)
    lost = [(stray, _learn(stray, part, mask)) for stray in strays]
    for document in (metadata, *notices):
        mask.collect_secrets(document)
    shown = mask.apply(metadata)
    return ExportContent(
        metadata=shown,
        title=part_builders.take_line(shown.title or shown.first_prompt or shown.id),
        turns=tuple(mask.apply(view, is_clean=is_clean) for view, is_clean in views),
        notices=tuple(map(mask.apply, notices)),
        strays=tuple(mask.apply(stray, is_clean=is_clean) for stray, is_clean in lost),
        facts=tuple(_list_facts(session, shown, part.shares)),
    )


def _list_outside(
    part: SessionPart, level: Level
) -> tuple[tuple[SubagentReference, ...], tuple[NoticeStep, ...]]:
    """Return the subagents and notices outside turns, which only a whole session has."""
    if part.turns is not None or level is not Level.FULL:
        return (), ()
    session = part.session
    notices = record_notices.load_sidecar_notices(session)
    return _list_strays(session), notices


def _choose(part: SessionPart) -> Sequence[int]:
    if part.turns is not None:
        return part.turns
    if not part.session.turns:
        return (0,)
    return [turn.index for turn in part.session.turns if turn.is_on_main_path]


def _learn_turns(
    part: SessionPart, wanted: Sequence[int], options: ExportOptions, mask: Mask
) -> list[tuple[TurnView, bool]]:
    """Return the requested views in order, and whether each is free of secrets."""
    session, chosen = part.session, set(wanted)
    is_brief = options.level is not Level.FULL or options.budget is not None
    is_scanned = mask.is_on and not part.is_masked
    found: dict[int, tuple[TurnView, bool]] = {}
    for index in range(max(len(session.turns), 1)) if is_scanned else wanted:
        for view in build_turn_views(session, start=index, stop=index + 1):
            whole = complete_turn(view, session, subagents=True)
            is_clean = _learn(whole, part, mask)
            if index in chosen:
                found[index] = (view if is_brief else whole), is_clean
    return [found[index] for index in wanted if index in found]


def _learn(document: Struct, part: SessionPart, mask: Mask) -> bool:
    """Return whether a view has no secrets; remember those that were not masked in its records."""
    return (part.is_masked and not mask.hides_persons) or not mask.collect_secrets(document)


def iter_whole_turns(session: Session) -> Iterator[TurnView]:
    """Yield all turns of a session with complete tool calls and the turns of its subagents."""
    for view in iter_turn_views(session, range(max(len(session.turns), 1))):
        yield complete_turn(view, session, subagents=True)


def _list_strays(session: Session) -> tuple[SubagentReference, ...]:
    outcomes = timeline.build_timeline(session).outcomes
    return tuple(
        structs.replace(
            message_steps.refer_to(each, outcomes), turns=tuple(iter_whole_turns(each.session))
        )
        for each in session.subagents
        if each.call is None and not each.is_warmup
    )


def _list_facts(
    session: Session, metadata: Metadata, shares: TokenShares | None
) -> Iterator[tuple[str, str]]:
    metrics = session.metrics
    tokens = shares.own if shares else metrics.tokens
    price = shares.cost_usd if shares else metrics.list_price_usd
    yield "turns", f"{len(session.turns):,}"
    yield "tool calls", f"{metrics.tool_calls:,}"
    if session.subagents:
        yield "subagents", f"{len(session.subagents):,}"
    if metrics.lines_added or metrics.lines_removed:
        yield "lines", f"+{metrics.lines_added:,} -{metrics.lines_removed:,}"
    if tokens.total:
        yield "tokens", f"{tokens.total:,}"
    if shares and shares.copied.total:
        yield "copied tokens", f"{shares.copied.total:,}"
    if shares and shares.subagents.total:
        yield "tokens of subagents", f"{shares.subagents.total:,}"
    if price is not None:
        yield "list price", format_dollars(price)
    if metrics.duration_ms:
        yield "duration", format_duration(metrics.duration_ms)
    if metadata.version:
        yield "Claude Code", metadata.version


_CONTEXT: Final = 60
_BETWEEN_LINES: Final = r"(?:[^A-Za-z0-9+/=<\-]|<[^<>]*>)*"
"""Characters that formats put between the lines of a value: indentation, a marker, a tag."""


class MaskedValue(Struct, frozen=True, kw_only=True):
    """A value that will be masked, with the text around its first occurrence."""

    kind: str
    confidence: str
    value: str
    before: str
    after: str
    session_id: str
    turn: int | None
    """None outside turns: in the title, in a file beside the session."""
    count: int


class _Place(Struct, frozen=True):
    """The text of a turn, or one outside turns, and the secrets that rules find in it."""

    session_id: str
    turn: int | None
    text: str
    findings: Sequence[Finding]


def iter_files(session: Session) -> Iterator[str]:
    """Yield the paths of a session's transcript and its subagents' transcripts, each once."""
    waiting, seen = [session], set[str]()
    while waiting:
        current = waiting.pop(0)
        path = current.metadata.path
        if path and path not in seen:
            seen.add(path)
            yield path
        waiting += [child.session for child in current.subagents]


def list_masked_values(
    parts: Iterable[SessionPart], policy: RedactionPolicy, level: Level = Level.FULL
) -> list[MaskedValue]:
    """Return each distinct value in the export once, in order of appearance.

    Texts outside turns, such as the title, only add values that no turn has.
    """
    redactor = Redactor(policy)
    places = list(_iter_places(parts, redactor, level))
    found: dict[tuple[str, str], MaskedValue] = {}
    for place in sorted(places, key=lambda each: each.turn is None):
        for value in _iter_masked_values(place, redactor):
            key = value.kind, value.value
            known = found.get(key)
            if known is not None:
                count = known.count + (value.turn is not None)
                found[key] = structs.replace(known, count=count)
            # A title may be cut within a value.
            elif value.turn is not None or not any(value.value in each for _, each in found):
                found[key] = value
    return list(found.values())


def _iter_places(
    parts: Iterable[SessionPart], redactor: Redactor, level: Level
) -> Iterator[_Place]:
    record_mask = RecordMask(redactor)
    for part in parts:
        # A view may show the middle of a key, which only the record shows to be one; a value may
        # be recognisable only in a turn that is not exported.
        record_mask.scan(iter_files(part.session))
        for turn, text in _iter_texts(part, level):
            yield _Place(part.session.id, turn, text, redactor.collect_secrets(text))


def _iter_texts(part: SessionPart, level: Level) -> Iterator[tuple[int | None, str]]:
    """Yield the exported texts of a session: each turn with its number, others with None."""
    session = part.session
    for view in iter_turn_views(session, _choose(part)):
        whole = complete_turn(view, session, subagents=True)
        yield view.number, join_texts(select_steps(whole, level))
    strays, notices = _list_outside(part, level)
    for document in (session.metadata, *notices, *strays):
        yield None, join_texts(document)


def _iter_masked_values(place: _Place, redactor: Redactor) -> Iterator[MaskedValue]:
    text = place.text
    masked = redactor.verify(text)
    for finding in _list_findings(place, masked, redactor):
        if any(_names_otherwise(each, finding) for each in masked):
            continue
        yield MaskedValue(
            kind=finding.kind,
            confidence=finding.confidence.value,
            value=text[finding.start : finding.end],
            before=_cut(text, max(0, finding.start - _CONTEXT), finding.start, masked).rpartition(
                SEPARATOR
            )[2],
            after=_cut(text, finding.end, finding.end + _CONTEXT, masked).partition(SEPARATOR)[0],
            session_id=place.session_id,
            turn=place.turn,
            count=1,
        )


def _list_findings(place: _Place, masked: Sequence[Finding], redactor: Redactor) -> list[Finding]:
    """Return what rules find in a text, and values in it that they found elsewhere."""
    known = (
        each
        for each in masked
        if redactor.knows(place.text[each.start : each.end])
        and not any(each.start < found.end and found.start < each.end for found in place.findings)
    )
    return sorted((*place.findings, *known), key=lambda each: each.start)


def _names_otherwise(masked: Finding, finding: Finding) -> bool:
    """Return whether a finding is part of a secret of another kind."""
    is_part = masked.start <= finding.start and finding.end <= masked.end
    return is_part and masked.kind != finding.kind


def _cut(text: str, start: int, end: int, masked: Iterable[Finding]) -> str:
    """Return a piece of a text, with every secret in it replaced by its kind."""
    pieces, at = [], start
    for finding in masked:
        if finding.end > start and finding.start < end:
            pieces += [text[at : max(finding.start, at)], f"[redacted:{finding.kind}]"]
            at = finding.end
    return "".join([*pieces, text[at:end]])


def allow(policy: RedactionPolicy, values: Iterable[MaskedValue]) -> RedactionPolicy:
    """Return a policy that leaves these values unmasked, even if a format breaks their lines."""
    import re2  # type: ignore[import-untyped]  # slow to load

    patterns = [
        _BETWEEN_LINES.join(str(re2.escape(line)) for line in masked.value.splitlines())
        for masked in values
    ]
    return structs.replace(policy, allow=(*policy.allow, *patterns))
