"""Mask definite secrets wherever sessions are shown, as recorded in the index.

The text pass has recorded which lines contain secrets, and where, so these lines are masked without
running any rule and all others are skipped. Lines that it has not read yet are scanned now. A
secret is masked in all files of its session wherever it occurs, even where no rule would find it,
and has the same tag in all of them: secrets are numbered in the order in which they were written.
The rules are loaded only where they are needed: most sessions have been read.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recollect.errors import RecollectError
from recollect.reader.line_blocks import NOWHERE, LineBlock
from recollect.redact.own_rules import find_own_rules
from recollect.redact.quick_masks import may_contain_secret
from recollect.sources.growth import FileState, Growth, find_growth_of
from recollect.sources.safe_files import open_file
from recollect.store.secret_rows import (
    NO_SECRETS,
    IndexedSecret,
    IndexedSecrets,
    SecretReader,
    load_hasher,
)

if TYPE_CHECKING:
    from recollect.documents.command_reports import SecretSummary
    from recollect.locations import Transcript
    from recollect.redact.findings import Match, RedactionPolicy
    from recollect.redact.redactor import Redactor
    from recollect.workspace.resources import WorkspaceResources
    from recollect.workspace.workspace import Workspace

_STILL_VALID: Final = (Growth.UNCHANGED, Growth.APPENDED, Growth.RACY)
_BESIDE: Final = ("/subagents/", "/tool-results/")


class DisplayMask:
    """Masks the lines of all sessions in one data directory; decoders accept it as a `LineMask`."""

    def __init__(self, find_directory: Callable[[], Path]) -> None:
        self._find_directory = find_directory
        self._rules = find_own_rules()
        self._sessions: dict[str, SessionMask] = {}
        self._lock = threading.RLock()

    def __call__(self, file: str, block: LineBlock) -> Mapping[int, bytes]:
        """Return the lines of a block that contain definite secrets, with tags in their place."""
        if block.offset >= NOWHERE and not may_contain_secret(
            block.data.decode("utf-8", "replace")
        ):
            return {}
        with self._lock:
            return self.find_session(file).mask(file, block)

    def find_session(self, file: str) -> SessionMask:
        """Return the mask of the session that a file belongs to."""
        with self._lock:
            self._check_rules()
            key = _name_session(file)
            session = self._sessions.get(file) or self._sessions.get(key)
            if session is None:
                # A stream has a name instead of a file, and nothing is recorded about it.
                indexed = (
                    self._reader.load_session(file) if Path(file).is_absolute() else NO_SECRETS
                )
                session = self._add_session(file, indexed)
            return session

    def load_sessions(self, files: Iterable[str]) -> None:
        """Load the masks of the sessions of files: one query takes less time than one for each."""
        with self._lock:
            self._check_rules()
            missing = {file for file in files if not self._is_loaded(file)}
            for file, indexed in self._reader.load_sessions(missing).items() if missing else ():
                if not self._is_loaded(file):
                    self._add_session(file, indexed)

    def _check_rules(self) -> None:
        """Forget all sessions if the user's own rules have changed."""
        if self._rules is not find_own_rules():
            self._rules = find_own_rules()
            self._sessions.clear()
            self._reader.reopen()

    def _is_loaded(self, file: str) -> bool:
        return file in self._sessions or _name_session(file) in self._sessions

    def _add_session(self, file: str, indexed: IndexedSecrets) -> SessionMask:
        session = SessionMask(self._rules.policy, indexed, self._hash)
        self._sessions |= dict.fromkeys((_name_session(file), file, *indexed.states), session)
        return session

    @cached_property
    def _reader(self) -> SecretReader:
        return SecretReader(self._find_directory())

    def _hash(self, value: bytes) -> bytes:
        return self._hasher(value)

    @cached_property
    def _hasher(self) -> Callable[[bytes], bytes]:
        # Used only for indexed secrets, so the key exists.
        return load_hasher(self._find_directory())


def make_mask(workspace: WorkspaceResources) -> DisplayMask:
    """Return the mask for the sessions of a workspace."""
    return DisplayMask(lambda: workspace.data_directory)


def load_indexed_secrets(workspace: Workspace, transcripts: Sequence[Transcript]) -> IndexedSecrets:
    """Return the recorded secrets of all files, once the text pass has read these transcripts."""
    from recollect.workspace.searching import update_text_index

    try:
        update_text_index(workspace, transcripts)
    except RecollectError:
        # Where no index can be written, the files are read.
        return NO_SECRETS
    return SecretReader(workspace.data_directory).load_all()


def summarize_secrets(directory: Path) -> tuple[SecretSummary, ...]:
    """Return the kinds of secrets recorded for each session, definite ones first."""
    from recollect.documents.command_reports import SecretSummary

    groups: dict[tuple[str, str, bool], list[IndexedSecret]] = {}
    for each in SecretReader(directory).load_all().secrets:
        groups.setdefault((each.session_id, each.kind, each.is_definite), []).append(each)
    found = (
        SecretSummary(
            kind=kind,
            confidence="definite" if is_definite else "likely",
            session=session,
            count=len(members),
            first=members[0].timestamp,
        )
        for (session, kind, is_definite), members in groups.items()
    )
    return tuple(sorted(found, key=lambda each: (each.confidence, -each.count, each.kind)))


class SessionMask:
    """The secrets of one session, and the lines that contain them."""

    def __init__(
        self,
        policy: RedactionPolicy,
        indexed: IndexedSecrets,
        hash_value: Callable[[bytes], bytes] | None = None,
    ) -> None:
        self._policy = policy
        self._hash = hash_value
        self._values: dict[bytes, bytes] = {}
        """Values of indexed secrets by their hashes."""
        self._states = indexed.states
        self._known_ends: dict[str, int] = {}
        self._secrets = tuple(each for each in indexed.secrets if each.is_definite)
        self._lines: dict[tuple[str, int], list[IndexedSecret]] = {}
        for each in self._secrets:
            self._lines.setdefault((each.path, each.position), []).append(each)
        self._positions: dict[str, list[int]] = {}
        for path, position in sorted(self._lines):
            self._positions.setdefault(path, []).append(position)
        self._is_clean = not self._secrets

    @cached_property
    def redactor(self) -> Redactor:
        """The known secrets of the session, with their tags."""
        from recollect.redact.redactor import Redactor

        redactor = Redactor(self._policy)
        for line, secrets in _iter_secret_lines(self._secrets):
            redactor.add(self._recall(line, secrets) or self._scan(line))
        return redactor

    def _recall(self, line: bytes, secrets: Sequence[IndexedSecret]) -> list[Match]:
        """Return the recorded secrets of a line; empty if the record is incomplete."""
        if self._hash is None:
            return []
        from recollect.redact.plain_view import decode_view
        from recollect.redact.record_lines import read_spans

        for each in secrets:
            for written in read_spans(line, each.spans[:1]):
                plain = decode_view(written).data
                # The plain text, without escapes, and with wrapped lines joined.
                for value in dict.fromkeys((written, plain, b"".join(plain.splitlines()))):
                    if self._hash(value) == each.hash:
                        self._values[each.hash] = value
        return self._list_matches(secrets) or []

    def _list_matches(self, secrets: Sequence[IndexedSecret]) -> list[Match] | None:
        """Return where the secrets of a line are; None if one of them is not known."""
        from recollect.redact.findings import Confidence, Match

        if not all(each.spans and each.hash in self._values for each in secrets):
            return None
        return sorted(
            (
                Match(each.kind, Confidence.DEFINITE, start, end, self._values[each.hash])
                for each in secrets
                for start, end in each.spans
            ),
            key=attrgetter("start"),
        )

    def reveal(self, kind: str, number: int) -> str | None:
        """Return the secret behind a tag; None if the session has no such tag."""
        return self.redactor.value_of(kind, number)

    def mask(self, file: str, block: LineBlock) -> Mapping[int, bytes]:
        """Return the lines of a block that contain secrets, masked, by position in the block."""
        end = block.offset + len(block.data)
        known_end = self._find_known_end(file, block.offset)
        if self._is_clean and end <= known_end:
            return {}
        starts = {at - block.offset for at in self._list_positions(file, block.offset, end)}
        if end > known_end:
            starts |= _find_suspects(block, known_end)
        starts |= self._find_known_lines(block.data)
        masked = self._mask_lines(file, block, starts, known_end)
        if masked and end > known_end:
            # A secret that was just found may be in other lines of the block too.
            fresh = self._find_known_lines(block.data) - starts
            masked |= self._mask_lines(file, block, fresh, known_end)
        return masked

    def _find_known_lines(self, data: bytes) -> set[int]:
        return {_find_start(data, at) for at in self._iter_known(data)}

    def _mask_lines(
        self, file: str, block: LineBlock, starts: Iterable[int], known_end: int
    ) -> dict[int, bytes]:
        masked = {}
        data = block.data
        for start in sorted(starts):
            from recollect.redact.record_lines import mask_record  # only where there are secrets

            end = data.find(b"\n", start)
            line = data[start : len(data) if end < 0 else end]
            redactor = self.redactor
            recorded = None
            if block.offset + start < known_end:
                recorded = self._list_matches(self._lines.get((file, block.offset + start), []))
            replaced = mask_record(line, redactor, recorded)
            if replaced != line:
                masked[start] = replaced
                self._is_clean = False
        return masked

    def _iter_known(self, data: bytes) -> Iterator[int]:
        """Yield where secrets known from other lines occur."""
        if not self._is_clean:
            yield from self.redactor.find_known(data)

    def _scan(self, line: bytes) -> list[Match]:
        from recollect.redact.record_lines import find_in_record

        return find_in_record(line, self._policy)

    def _list_positions(self, file: str, start: int, end: int) -> list[int]:
        positions = self._positions.get(file, [])
        return positions[bisect_left(positions, start) : bisect_left(positions, end)]

    def _find_known_end(self, file: str, offset: int) -> int:
        """Return how far the text pass has read a file; looked up again for a first line."""
        if file not in self._known_ends or offset == 0:
            state = self._states.get(file)
            self._known_ends[file] = 0 if state is None else _find_read_end(file, state)
        return self._known_ends[file]


def _find_read_end(file: str, state: FileState) -> int:
    """Return up to which offset a file is unchanged since the text pass read it."""
    try:
        growth = find_growth_of(file, state)
    except (RecollectError, OSError):
        return 0
    if growth is Growth.UNCHANGED and state.position:
        # A last line without its end was read too, and will be read again when it has one.
        return state.size
    return state.position if growth in _STILL_VALID else 0


def _name_session(file: str) -> str:
    """Return the transcript of a session without its suffix, for it and for all files beside it."""
    for directory in _BESIDE:
        file = file.partition(directory)[0]
    return file.removesuffix(".jsonl")


def _iter_secret_lines(
    secrets: Iterable[IndexedSecret],
) -> Iterator[tuple[bytes, list[IndexedSecret]]]:
    """Yield each line in which a secret first occurs, with all of its secrets."""
    seen: set[bytes] = set()
    lines: dict[tuple[str, int, int], list[IndexedSecret]] = {}
    wanted: set[tuple[str, int, int]] = set()
    for each in secrets:
        place = each.path, each.position, each.length
        lines.setdefault(place, []).append(each)
        if each.hash not in seen:
            seen.add(each.hash)
            wanted.add(place)
    for (path, position, length), members in lines.items():
        if (path, position, length) not in wanted:
            continue
        try:
            with open_file(path) as opened:
                opened.seek(position)
                yield opened.read(length).rstrip(b"\r\n"), members
        except (RecollectError, OSError):
            continue


def _find_suspects(block: LineBlock, known_end: int) -> set[int]:
    """Return the starts of suspicious lines from a position on."""
    from recollect.redact.prefilter import find_suspicious_lines

    skipped = max(known_end - block.offset, 0)
    # The text pass stops at the start of a line.
    return {skipped + start for start, _ in find_suspicious_lines(block.data[skipped:])}


def _find_start(data: bytes, at: int) -> int:
    return data.rfind(b"\n", 0, at) + 1
