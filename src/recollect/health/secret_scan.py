"""Find the secrets in transcripts: kind, session and turn, never the value.

Uses the findings that the text pass has recorded in the index. A transcript without them is
scanned: every line as plain JSON, so that unknown and damaged records are included. The model of a
session is built only for transcripts in which something was found, to number the turns. Output that
was too large for a transcript is in a file beside it and is always scanned.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from recollect.documents.command_reports import SecretFinding
from recollect.errors import UnreadableInput
from recollect.library.opening import find_subagent_files, open_transcript
from recollect.library.processes import read_head
from recollect.locations import Transcript, TranscriptKind
from recollect.locations.sidecars import SidecarKind, list_session_sidecars
from recollect.reader.line_blocks import MAX_LINE, iter_blocks
from recollect.redact.findings import DEFAULT_POLICY, Confidence, RedactionPolicy
from recollect.redact.policy import find_secrets
from recollect.redact.quick_masks import mask_path
from recollect.session.times import parse_time
from recollect.sources.safe_files import open_file
from recollect.store.secret_rows import NO_SECRETS, IndexedSecret, IndexedSecrets

_MAX_KEYED: Final = 400
"""Longer strings are texts, whatever the name of their field."""


class ScanReport(NamedTuple):
    """The findings, and the transcripts that could not be read."""

    files: int
    findings: tuple[SecretFinding, ...]
    unread: tuple[str, ...]


class _Seen(NamedTuple):
    """A secret in a record. `value` distinguishes it from others and is never output."""

    kind: str
    confidence: Confidence
    value: str
    uuid: str | None
    timestamp: str | None
    record: int


def scan_transcripts(
    transcripts: Sequence[Transcript],
    on_progress: Callable[[int, int], None],
    indexed: IndexedSecrets = NO_SECRETS,
    policy: RedactionPolicy = DEFAULT_POLICY,
) -> ScanReport:
    """Scan transcripts and the output beside them; `on_progress` gets the files done and in total.

    A transcript that `indexed` are up to date with is not read.
    """
    by_file = _group_by_file(indexed)
    findings: list[SecretFinding] = []
    unread: list[str] = []
    for number, transcript in enumerate(transcripts):
        on_progress(number, len(transcripts))
        try:
            state = indexed.states.get(transcript.file)
            known = by_file.get(transcript.file, [])
            if state is None or not state.is_current(transcript.stamp):
                seen = [*_scan_lines(_iter_lines(transcript), policy)]
            else:
                seen = [*map(_to_seen, known)]
            findings += _describe(transcript, seen, policy)
        except UnreadableInput:
            unread.append(mask_path(transcript.file))
    return ScanReport(len(transcripts), tuple(findings), tuple(unread))


def add_subagents(sessions: Iterable[Transcript]) -> list[Transcript]:
    """Return sessions, each followed by its subagents."""
    return [
        transcript
        for session in sessions
        for transcript in (session, *_find_subagents(session))
        if transcript.size
    ]


def _find_subagents(session: Transcript) -> tuple[Transcript, ...]:
    if session.kind is not TranscriptKind.SESSION:
        return ()
    return find_subagent_files(session.project_dir, session.name)


def _group_by_file(indexed: IndexedSecrets) -> dict[str, list[IndexedSecret]]:
    """Return the secrets of each file in the order of the file."""
    groups: dict[str, list[IndexedSecret]] = {}
    for each in sorted(indexed.secrets, key=lambda secret: secret.position):
        groups.setdefault(each.path, []).append(each)
    return groups


def _to_seen(secret: IndexedSecret) -> _Seen:
    confidence = Confidence.DEFINITE if secret.is_definite else Confidence.LIKELY
    return _Seen(
        secret.kind, confidence, secret.hash.hex(), secret.uuid, secret.timestamp, secret.position
    )


def _scan_lines(lines: Iterable[tuple[int, bytes]], policy: RedactionPolicy) -> Iterator[_Seen]:
    for position, line in lines:
        yield from _scan_line(line, position, policy)


def _describe(
    transcript: Transcript, seen: Sequence[_Seen], policy: RedactionPolicy
) -> list[SecretFinding]:
    session = transcript.name
    findings = _count(seen, session, _number_turns(transcript)) if seen else []
    beside = [
        found
        for number, text in enumerate(_iter_outputs(transcript))
        for found in _iter_seen(text, None, None, number, policy)
    ]
    return [*findings, *_count(beside, session, {})]


def _iter_lines(transcript: Transcript) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file and where they start; one that is too long to keep is left out."""
    with open_file(transcript.file) as file:
        for block in iter_blocks(file):
            position = block.offset
            for line in block.data.split(b"\n"):
                if line:
                    yield position, line
                position += len(line) + 1


def _iter_outputs(transcript: Transcript) -> Iterator[str]:
    if transcript.kind is not TranscriptKind.SESSION:
        return
    for sidecar in list_session_sidecars(transcript).found:
        if sidecar.kind is SidecarKind.TOOL_RESULT:
            data = read_head(sidecar.path, MAX_LINE)
            if data:
                yield data.decode("utf-8", "replace")


def _scan_line(line: bytes, position: int, policy: RedactionPolicy) -> Iterator[_Seen]:
    try:
        record = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _iter_seen(line.decode("utf-8", "replace"), None, None, position, policy)
    uuid = record.get("uuid") if isinstance(record, dict) else None
    timestamp = record.get("timestamp") if isinstance(record, dict) else None
    return _iter_seen(
        "\n".join(_iter_texts(record)),
        uuid if isinstance(uuid, str) else None,
        timestamp if isinstance(timestamp, str) else None,
        position,
        policy,
    )


def _iter_seen(
    text: str, uuid: str | None, timestamp: str | None, record: int, policy: RedactionPolicy
) -> Iterator[_Seen]:
    for found in find_secrets(text, policy):
        value = text[found.start : found.end]
        yield _Seen(found.kind, found.confidence, value, uuid, timestamp, record)


def _iter_texts(value: object, key: str = "") -> Iterator[str]:
    """Yield all strings, short ones with the name of their field: it may say `password`."""
    if isinstance(value, str):
        yield f"{key}: '{value}'" if key and len(value) <= _MAX_KEYED else value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _iter_texts(each, name)
    elif isinstance(value, list):
        for each in value:
            yield from _iter_texts(each)


def _number_turns(transcript: Transcript) -> dict[str, int]:
    """Return the turn of each record that is part of one."""
    return {
        uuid: turn.number
        for turn in open_transcript(transcript).turns
        for message in turn.messages
        for uuid in message.uuids
    }


def _count(seen: Sequence[_Seen], session: str, turns: dict[str, int]) -> list[SecretFinding]:
    """Return one finding for each kind in each turn, in the order of the file.

    A record that is part of no turn, such as a hook's, counts to the turn before it.
    """
    groups: dict[tuple[str, int | None], list[_Seen]] = {}
    turn: int | None = None
    for each in seen:
        turn = turns.get(each.uuid or "", turn)
        groups.setdefault((each.kind, turn), []).append(each)
    return [
        SecretFinding(
            kind=kind,
            confidence="definite" if any(map(_is_definite, group)) else "likely",
            session=session,
            turn=turn,
            # What is no time may be a secret.
            timestamp=next((each.timestamp for each in group if parse_time(each.timestamp)), None),
            count=len({(each.record, each.value) for each in group}),
        )
        for (kind, turn), group in groups.items()
    ]


def _is_definite(seen: _Seen) -> bool:
    return seen.confidence is Confidence.DEFINITE
