"""Collect the evidence of a session about files, in chronological order. Possible changes by shell
commands are only hints, judged by the words of a command and not by its effect.

A command that moves one file is parsed too, so that the file keeps its history under a new name.

The main transcript and each subagent are already in order; they are merged by time. The contents of
calls and backups are read now, or replaced by references to read them later.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from recollect.documents.kinds import ToolStatus
from recollect.records import attachment_kinds, attachments, conversation_records, envelope
from recollect.records.state import FileBackup, FileHistoryDelta, FileHistorySnapshot
from recollect.records.tools.file_tools import FILE_TOOLS
from recollect.records.tools.shell_tools import SHELL_TOOLS, ShellInput
from recollect.redact.quick_masks import cut_text, mask_words
from recollect.session import times, tool_calls, turns
from recollect.session.session import Session
from recollect.versions import recorded_evidence
from recollect.versions.evidence import (
    BackupReference,
    CallReference,
    Cause,
    CauseKind,
    Evidence,
    Origin,
    Reference,
    Rename,
    Sighting,
    SightingKind,
)
from recollect.versions.file_paths import last_component, normalize_path

_FORMATTER: Final = re.compile(
    r"\b(?:prettier|eslint\b.*--fix|ruff (?:format|check\b.*--fix)|black|isort|gofmt|goimports"
    r"|rustfmt|cargo fmt|clang-format|shfmt|biome|autopep8|yapf|dprint|stylua|pre-commit"
    r"|(?:npm|pnpm|yarn|bun)(?: run)? (?:format|lint|fix)|mise run (?:fmt|lint)"
    r"|make (?:fmt|format|lint))\b"
)
_GIT: Final = re.compile(
    r"\bgit\b(?:\s+-\S+(?:\s+\S+)?)*\s+(?:checkout|restore|stash|reset|rebase|merge|pull|cherry-pick"
    r"|revert|switch|apply|am|mv|rm|clean|worktree)\b"
)
_READING: Final = frozenset(
    "ls cat head tail grep rg find wc stat file pwd echo which type tree du df env printenv date "
    "whoami hostname uname true false test [ cd sleep diff cmp sort uniq cut tr jq ps id".split()
)
_READING_GIT: Final = frozenset(
    "status diff log show branch rev-parse blame ls-files remote describe shortlog".split()
)
_SEPARATOR: Final = re.compile(r"&&|\|\||[;|\n]")
_REDIRECTION: Final = re.compile(
    r"(?<![0-9&])>{1,2}(?!&|\s*/dev/null)|\b1>|\btee\b|\bxargs\b|-exec\b"
)

_PATTERN: Final = frozenset("*?$[{")


def classify_command(command: str) -> CauseKind | None:
    """Return the kind of change that a command may have made; None if it only reads."""
    if _FORMATTER.search(command):
        return CauseKind.FORMATTER
    if _GIT.search(command):
        return CauseKind.GIT
    return None if _only_reads(command) else CauseKind.SHELL


def _only_reads(command: str) -> bool:
    if _REDIRECTION.search(command) or "$(" in command or "`" in command:
        return False
    return all(_is_reading(part.split()) for part in _SEPARATOR.split(command) if part.strip())


def _is_reading(words: list[str]) -> bool:
    if words[0] == "git":
        return len(words) > 1 and words[1] in _READING_GIT
    return words[0] in _READING and "-delete" not in words


def find_renames(command: str, cwd: str | None) -> Iterator[tuple[str, str]]:
    """Yield the old and the new path of each file that a command moves, as far as it names them."""
    directory = cwd
    for part in _SEPARATOR.split(command):
        try:
            words = shlex.split(part)
        except ValueError:
            return
        if words[:1] == ["git"]:
            words = words[1:]
        match [word for word in words if not word.startswith("-")]:
            case ["cd", name]:
                directory = normalize_path(name, directory)
            case ["mv", first, second] if _PATTERN.isdisjoint(first + second):
                old, new = normalize_path(first, directory), normalize_path(second, directory)
                yield old, new
                yield old, f"{new}/{last_component(old)}"


_STALE: Final = re.compile(r"modified since (?:it was )?read|unexpectedly modified", re.IGNORECASE)
_MAX_PROMPT: Final = 500
_LATE_FIRST_COPY: Final = "2.0."
"""Prefix of client versions whose first backup may have been copied after the edit."""


class _Placed(NamedTuple):
    file: str
    offset: int
    time: str | None
    evidence: Evidence | Reference


def collect_evidence(
    session: Session, backups: recorded_evidence.Backups | None = None
) -> tuple[Evidence, ...]:
    """Return the evidence of a session and its subagents about files, and possible causes."""
    found = _merge(_Collector(session, backups or recorded_evidence.NoBackups()).iter_placed())
    return tuple(each for each in found if not isinstance(each, Reference))


def collect_references(session: Session) -> tuple[Evidence | Reference, ...]:
    """Return the same, with references instead of the contents of calls and recorded backups."""
    return tuple(_merge(_Collector(session, None).iter_placed()))


def _merge(placed: Iterable[_Placed]) -> list[Evidence | Reference]:
    """Order by position within a file, and by time between files."""
    by_file: dict[str, list[_Placed]] = {}
    for each in placed:
        by_file.setdefault(each.file, []).append(each)
    streams = (sorted(entries, key=lambda entry: entry.offset) for entries in by_file.values())
    return [entry.evidence for entry in times.merge_by_time(streams, lambda entry: entry.time)]


class _Collector:
    """Collects the evidence of one session."""

    def __init__(self, session: Session, backups: recorded_evidence.Backups | None) -> None:
        self._main = session
        self._backups = backups
        """None to collect references."""
        cwds = session.facts.cwds
        self._cwd = cwds[0].value if cwds else None
        self._turns = {
            uuid: turn
            for turn in session.turns
            for message in turn.messages
            for uuid in message.uuids
        }

    def iter_placed(self) -> Iterator[_Placed]:
        yield from self._iter_session(self._main, None, None)
        yield from self._iter_prompts()
        yield from self._iter_backups()

    def _iter_session(
        self, session: Session, agent_id: str | None, turn: turns.Turn | None
    ) -> Iterator[_Placed]:
        joined = {child.call.id for child in session.subagents if child.call}
        for call in session.tool_calls:
            evidence = self._read_call(session, call, agent_id, turn, joined)
            if evidence is None:
                continue
            uuid = call.result_uuid or call.call_uuid
            yield self._place(session, uuid, evidence)
            if isinstance(evidence, Cause) and call.status is ToolStatus.SUCCESS:
                for rename in self._iter_renames(evidence):
                    yield self._place(session, uuid, rename)
        yield from self._iter_notices(session, agent_id, turn)
        for child in session.subagents:
            uuid = child.call.call_uuid if child.call else None
            started_by = turn or self._turns.get(uuid or "")
            yield from self._iter_session(child.session, child.agent_id, started_by)

    def _iter_renames(self, cause: Cause) -> Iterator[Rename]:
        if cause.kind not in (CauseKind.SHELL, CauseKind.GIT) or "mv" not in cause.detail:
            return
        for old, new in find_renames(cause.detail, self._cwd):
            yield Rename(path=new, old_path=old, origin=cause.origin)

    def _place(self, session: Session, uuid: str | None, evidence: Evidence | Reference) -> _Placed:
        span = _find_span(session, uuid)
        return _Placed(
            span.file if span else "", span.offset if span else 0, evidence.origin.time, evidence
        )

    def _origin(
        self,
        session: Session,
        call: tool_calls.ToolCall,
        agent_id: str | None,
        turn: turns.Turn | None,
    ) -> Origin:
        record = session.find_record(call.call_uuid) if call.call_uuid else None
        message = record.message if isinstance(record, conversation_records.Assistant) else None
        turn = turn or self._turns.get(call.call_uuid or "")
        return Origin(
            session_id=self._main.id,
            agent_id=agent_id,
            turn=turn.number if turn else None,
            prompt=name_prompt(turn),
            uuid=call.call_uuid,
            call_id=call.id,
            tool=call.name,
            model=message.model if message else None,
            time=call.ended or call.started,
        )

    def _read_call(
        self,
        session: Session,
        call: tool_calls.ToolCall,
        agent_id: str | None,
        turn: turns.Turn | None,
        joined: set[str],
    ) -> Evidence | Reference | None:
        name = call.name
        if name in FILE_TOOLS:
            return self._read_file_call(session, call, self._origin(session, call, agent_id, turn))
        kind: CauseKind | None = None
        detail = ""
        if name in SHELL_TOOLS and isinstance(call.input, ShellInput):
            detail = call.input.command
            kind = classify_command(detail)
        elif name == "Agent" and call.id not in joined:
            kind = CauseKind.SUBAGENT
        elif call.mcp_server:
            kind, detail = CauseKind.TOOL, call.recorded_name
        if kind is None:
            return None
        return Cause(kind=kind, origin=self._origin(session, call, agent_id, turn), detail=detail)

    def _read_file_call(
        self, session: Session, call: tool_calls.ToolCall, origin: Origin
    ) -> Evidence | Reference | None:
        wanted = call.input
        recorded = getattr(wanted, "file_path", None) or getattr(wanted, "notebook_path", None)
        if not recorded:
            return None
        path = normalize_path(recorded, self._cwd)
        if call.status is not ToolStatus.SUCCESS:
            is_stale = _STALE.search(call.text) is not None
            cause = Cause(kind=CauseKind.NOTICED, origin=origin, detail=call.text, path=path)
            return cause if is_stale else None
        if self._backups is not None:
            return recorded_evidence.read_file_call(call, path, origin)
        spans = [_find_span(session, uuid) for uuid in (call.call_uuid, call.result_uuid)]
        return CallReference(path=path, origin=origin, spans=tuple(filter(None, spans)))

    def _iter_prompts(self) -> Iterator[_Placed]:
        """Yield a cause before each prompt, because the user may have changed files."""
        for turn in self._main.turns:
            records = turn.messages[0].records if turn.messages else ()
            if not records:
                continue
            origin = self._turn_origin(turn, records[0].uuid)
            cause = Cause(kind=CauseKind.PROMPT, origin=origin)
            yield self._place(self._main, records[0].uuid, cause)

    def _turn_origin(
        self, turn: turns.Turn | None, uuid: str | None, time: str | None = None
    ) -> Origin:
        return Origin(
            session_id=self._main.id,
            turn=turn.number if turn else None,
            prompt=name_prompt(turn),
            uuid=uuid,
            time=time or (turn.start if turn else None),
        )

    def _iter_notices(
        self, session: Session, agent_id: str | None, turn: turns.Turn | None
    ) -> Iterator[_Placed]:
        """Yield hooks that ran, and files that the client saw changing."""
        for hook in session.hooks:
            if not hook.is_remark:
                origin = self._notice_origin(hook.uuid, hook.timestamp, agent_id, turn)
                cause = Cause(kind=CauseKind.HOOK, origin=origin, detail=hook.command or "")
                yield self._place(session, hook.uuid, cause)
        for link in session.tree.links.values():
            if not isinstance(link, attachments.Attachment) or not isinstance(
                link.attachment, attachment_kinds.EditedTextFile
            ):
                continue
            path = normalize_path(link.attachment.filename or "", self._cwd)
            origin = self._notice_origin(link.uuid, link.timestamp, agent_id, turn)
            cause = Cause(kind=CauseKind.NOTICED, origin=origin, path=path)
            yield self._place(session, link.uuid, cause)

    def _notice_origin(
        self, uuid: str | None, time: str | None, agent_id: str | None, turn: turns.Turn | None
    ) -> Origin:
        return Origin(
            session_id=self._main.id,
            agent_id=agent_id,
            turn=turn.number if turn else None,
            uuid=uuid,
            time=time,
        )

    def _iter_backups(self) -> Iterator[_Placed]:
        """Yield the contents of recorded backups, and of later unrecorded ones."""
        named: dict[str, str] = {}
        seen: set[tuple[str, str | None]] = set()
        last: _Placed | None = None
        for state in self._main.states:
            if isinstance(state, FileHistorySnapshot) and state.snapshot:
                entries = list(state.snapshot.tracked_file_backups.items())
                time, is_touch = state.snapshot.timestamp, state.is_snapshot_update
            elif isinstance(state, FileHistoryDelta) and state.backup and state.tracking_path:
                entries = [(state.tracking_path, state.backup)]
                time, is_touch = state.backup.backup_time, True
            else:
                continue
            for key, backup in entries:
                stream = normalize_path(key, self._cwd)
                is_repeated = (stream, backup.backup_file_name) in seen
                seen.add((stream, backup.backup_file_name))
                if backup.backup_file_name:
                    named[backup.backup_file_name] = stream
                if is_touch and is_repeated:
                    continue
                found = self._read_backup(stream, backup, state.message_id, time, is_touch)
                if found is not None:
                    span = state.span
                    anchor = self._main.find_record(state.message_id or "") if is_touch else None
                    if anchor is not None and anchor.span is not None:
                        span = anchor.span
                    file, offset = (span.file, span.offset) if span else ("", 0)
                    last = _Placed(file, offset, found.origin.time, found)
                    yield last
        yield from self._iter_unrecorded(named, last)

    def _read_backup(
        self, path: str, backup: FileBackup, uuid: str | None, time: str | None, is_touch: bool
    ) -> Sighting | BackupReference | None:
        anchor = self._main.find_record(uuid or "")
        version = (anchor.version if anchor else None) or ""
        is_late = is_touch and version.startswith(_LATE_FIRST_COPY)
        origin = self._turn_origin(self._turns.get(uuid or ""), uuid, time)
        kind = SightingKind.FIRST_BACKUP if is_late else SightingKind.BACKUP
        name = backup.backup_file_name
        if name is None:
            return Sighting(path=path, origin=origin, kind=kind, text=None)
        found = BackupReference(
            path=path, origin=origin, kind=kind, name=name, time=backup.backup_time
        )
        return (
            found if self._backups is None else recorded_evidence.read_backup(found, self._backups)
        )

    def _iter_unrecorded(self, named: dict[str, str], last: _Placed | None) -> Iterator[_Placed]:
        if self._backups is None:
            return
        for found in recorded_evidence.read_unrecorded(self._main.id, named, self._backups):
            # Written when the session ended: after everything in the transcript.
            yield _Placed(last.file if last else "", 1 << 62, found.origin.time, found)


def _find_span(session: Session, uuid: str | None) -> envelope.Span | None:
    record = session.find_record(uuid) if uuid else None
    return record.span if record else None


def name_prompt(turn: turns.Turn | None) -> str:
    """Return the prompt of a turn on one line, possibly shortened, without definite secrets."""
    if turn is None:
        return ""
    # Masked before it is cut, because half of a key is not recognised.
    words = mask_words(turn.words or (turn.command.name if turn.command else ""))
    # Each line of a blame repeats it, and a prompt may contain a whole file.
    return cut_text(" ".join(cut_text(words, 2 * _MAX_PROMPT).split()), _MAX_PROMPT)
