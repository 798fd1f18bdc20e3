"""Hooks that ran, with their outcomes.

One run may leave several records: its start, its result, a line in the summary of a stopped turn.
They belong to one run if event id and command agree. A hook's message to the model or to the user
is a separate entry, because its record does not name the command.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from enum import StrEnum

from msgspec import Raw, Struct, structs

from recollect.records import (
    attachment_kinds,
    attachments,
    conversation_records,
    decoding,
    envelope,
    system_records,
)


class HookOutcome(StrEnum):
    """How a run ended, or which kind of message a hook sent."""

    RUNNING = "running"
    FINISHED = "finished"
    """It ran, but no record shows how it ended."""
    SUCCESS = "success"
    FAILED = "failed"
    BLOCKED = "blocked"
    STOPPED = "stopped"
    """It ended the turn."""
    CANCELLED = "cancelled"
    ADDED_CONTEXT = "added_context"
    MESSAGE = "message"
    DECISION = "decision"


_REMARKS = frozenset({HookOutcome.ADDED_CONTEXT, HookOutcome.MESSAGE, HookOutcome.DECISION})
_STOP = "Stop"
_Key = tuple[str | None, str | None, str | None]
"""The id that the records of one event share, the command, and the event."""


class HookRun(Struct, frozen=True, kw_only=True):
    """A run of a hook, or a message of a hook."""

    event: str | None = None
    name: str | None = None
    command: str | None = None
    outcome: HookOutcome
    exit_code: int | None = None
    duration_ms: float | None = None
    tool_use_id: str | None = None
    """The id of its tool call; for other events, an id that its records share."""
    text: str = ""
    """The hook's message, or the client's message about it."""
    stdout: str = ""
    stderr: str = ""
    uuid: str | None = None
    timestamp: str | None = None

    @property
    def is_remark(self) -> bool:
        """Return whether this is a message of a hook instead of a run."""
        return self.outcome in _REMARKS


_OUTCOMES: dict[type[attachment_kinds.HookKind], HookOutcome] = {
    attachment_kinds.HookSuccess: HookOutcome.SUCCESS,
    attachment_kinds.HookBlockingError: HookOutcome.BLOCKED,
    attachment_kinds.HookNonBlockingError: HookOutcome.FAILED,
    attachment_kinds.HookErrorDuringExecution: HookOutcome.FAILED,
    attachment_kinds.HookCancelled: HookOutcome.CANCELLED,
    attachment_kinds.HookStoppedContinuation: HookOutcome.STOPPED,
    attachment_kinds.HookAdditionalContext: HookOutcome.ADDED_CONTEXT,
    attachment_kinds.HookSystemMessage: HookOutcome.MESSAGE,
    attachment_kinds.HookPermissionDecision: HookOutcome.DECISION,
}


class _Response(Struct, frozen=True, rename="camel"):
    """The response of a background hook, with only the fields used here."""

    system_message: str | None = None


def build_hooks(chain: Sequence[envelope.Chain]) -> tuple[HookRun, ...]:
    """Return the hooks of `chain`, each at its first record."""
    collector = _HookCollector()
    last_message = -1
    for place, link in enumerate(chain):
        if isinstance(link, conversation_records.User | conversation_records.Assistant):
            last_message = place
        elif isinstance(link, system_records.StopHookSummary):
            collector.add_summary(link, place)
        else:
            run = _read_run(link)
            if run is not None:
                collector.add(run, place)
    return collector.finish(last_message)


class _HookCollector:
    """Joins the records of each run."""

    def __init__(self) -> None:
        self._runs: list[HookRun] = []
        self._places: list[int] = []
        self._started: defaultdict[_Key, deque[int]] = defaultdict(deque)
        self._unnamed: defaultdict[_Key, deque[int]] = defaultdict(deque)
        """Runs that no summary has listed yet; summaries do not contain the event."""
        self._remarks: set[tuple[str | None, str]] = set()

    def add(self, run: HookRun, place: int) -> None:
        """Add a record of a single run, or a message of a hook."""
        started = None if run.outcome is HookOutcome.RUNNING else self._find_started(run)
        if started is not None:
            self._runs[started] = _merge(self._runs[started], run)
            return
        if run.tool_use_id and run.command:
            self._unnamed[run.tool_use_id, run.command, None].append(len(self._runs))
            if run.outcome is HookOutcome.RUNNING:
                self._started[run.tool_use_id, run.command, run.event].append(len(self._runs))
        self._append(run, place)

    def add_summary(self, link: system_records.StopHookSummary, place: int) -> None:
        """Add the hooks in a turn's summary, some of which may be known already."""
        for run in _read_summary(link):
            known = self._unnamed.get((run.tool_use_id, run.command, None))
            if known:
                index = known.popleft()
                self._runs[index] = _merge(self._runs[index], run)
            else:
                self._append(run, place)
        for text in _read_texts(link.hook_additional_context):
            if (link.tool_use_id, text) not in self._remarks:
                self._append(_make_remark(link, _STOP, _STOP, text), place)

    def finish(self, last_message: int) -> tuple[HookRun, ...]:
        """Return the runs; runs from before `last_message` cannot still be running."""
        return tuple(
            structs.replace(run, outcome=HookOutcome.FINISHED)
            if run.outcome is HookOutcome.RUNNING and place < last_message
            else run
            for run, place in zip(self._runs, self._places, strict=True)
        )

    def _find_started(self, run: HookRun) -> int | None:
        """Return the started run that `run` is the result of."""
        started = self._started.get((run.tool_use_id, run.command, run.event), deque())
        while started:
            index = started.popleft()
            if self._runs[index].outcome is HookOutcome.RUNNING:
                return index
        return None

    def _append(self, run: HookRun, place: int) -> None:
        self._runs.append(run)
        self._places.append(place)
        if run.is_remark:
            self._remarks.add((run.tool_use_id, run.text))


def _merge(known: HookRun, later: HookRun) -> HookRun:
    """Merge two records of one run: a result replaces a start, and a summary completes a result."""
    if known.outcome is HookOutcome.RUNNING:
        return structs.replace(
            later, event=known.event or later.event, name=known.name or later.name
        )
    if known.duration_ms is None:
        return structs.replace(known, duration_ms=later.duration_ms)
    return known


def _read_run(link: envelope.Chain) -> HookRun | None:
    """Return the run of a record other than a summary; None if it is not about a hook."""
    match link:
        case attachments.Attachment(attachment=attachment_kinds.HookKind() as kind):
            return _read_attachment(link, kind)
        case system_records.Progress(data=system_records.HookProgress() as data):
            return HookRun(
                event=data.hook_event,
                name=data.hook_name,
                command=data.command,
                outcome=HookOutcome.RUNNING,
                tool_use_id=link.tool_use_id,
                text=data.status_message or data.prompt_text or "",
                uuid=link.uuid,
                timestamp=link.timestamp,
            )
        case system_records.SavedHookContext():
            texts = (link.content,) if isinstance(link.content, str) else link.content or ()
            return _make_remark(link, link.hook_event, link.hook_name, "\n".join(texts))
    return None


def _read_attachment(link: attachments.Attachment, kind: attachment_kinds.HookKind) -> HookRun:
    return HookRun(
        event=kind.hook_event,
        name=kind.hook_name,
        command=_command_of(kind),
        outcome=_outcome_of(kind),
        exit_code=kind.exit_code,
        duration_ms=kind.duration_ms,
        tool_use_id=kind.tool_use_id,
        text=_text_of(kind),
        stdout=kind.stdout or "",
        stderr=kind.stderr or "",
        uuid=link.uuid,
        timestamp=link.timestamp,
    )


def _command_of(kind: attachment_kinds.HookKind) -> str | None:
    if isinstance(kind, attachment_kinds.HookBlockingError) and kind.blocking_error is not None:
        return kind.blocking_error.command
    return kind.command


def _outcome_of(kind: attachment_kinds.HookKind) -> HookOutcome:
    if isinstance(kind, attachment_kinds.AsyncHookResponse):
        return HookOutcome.FAILED if kind.exit_code else HookOutcome.SUCCESS
    return _OUTCOMES[type(kind)]


def _text_of(kind: attachment_kinds.HookKind) -> str:
    match kind:
        case attachment_kinds.HookBlockingError(
            blocking_error=attachment_kinds.BlockingError(blocking_error=str(text))
        ):
            return text
        case attachment_kinds.HookStoppedContinuation(message=str(text)):
            return text
        case attachment_kinds.HookPermissionDecision(decision=str(text)):
            return text
        case attachment_kinds.AsyncHookResponse():
            response = decoding.decode_value(kind.response, _Response)
            return (response.system_message if response else None) or ""
    return "\n".join(_read_texts(kind.content))


def _read_texts(raw: Raw) -> tuple[str, ...]:
    """Return the texts in `raw`: a single one, a list of them, or none."""
    text = decoding.decode_value(raw, str)
    if text is not None:
        return (text,)
    return decoding.decode_value(raw, tuple[str, ...]) or ()


def _make_remark(
    link: system_records.SavedHookContext | system_records.StopHookSummary,
    event: str | None,
    name: str | None,
    text: str,
) -> HookRun:
    return HookRun(
        event=event,
        name=name,
        outcome=HookOutcome.ADDED_CONTEXT,
        tool_use_id=link.tool_use_id,
        text=text,
        uuid=link.uuid,
        timestamp=link.timestamp,
    )


def _read_summary(link: system_records.StopHookSummary) -> Iterator[HookRun]:
    """Yield the runs in a summary, each with the errors that quote its command."""
    errors = _read_texts(link.hook_errors)
    is_only = len(link.hook_infos) == 1
    for info in link.hook_infos:
        own = [error for error in errors if is_only or f"[{info.command}]" in error]
        outcome = _outcome_in(link, is_only=is_only, has_failed=bool(own), is_clean=not errors)
        stop_reason = link.stop_reason if outcome is HookOutcome.STOPPED else None
        yield HookRun(
            event=_STOP,
            name=_STOP,
            command=info.command,
            outcome=outcome,
            duration_ms=info.duration_ms,
            tool_use_id=link.tool_use_id,
            text="\n".join(own) or stop_reason or "",
            uuid=link.uuid,
            timestamp=link.timestamp,
        )


def _outcome_in(
    link: system_records.StopHookSummary, *, is_only: bool, has_failed: bool, is_clean: bool
) -> HookOutcome:
    """Return how a hook in a summary ended; errors that match no hook are ignored."""
    if link.prevented_continuation and is_only:
        return HookOutcome.STOPPED
    if has_failed:
        return HookOutcome.FAILED
    is_clean = is_clean and not link.prevented_continuation
    return HookOutcome.SUCCESS if is_clean else HookOutcome.FINISHED
