"""What the client reported in `system` records: notices, recaps, failed requests, model changes.

Compactions, turn durations and stop hooks are `system` records too, but have views of their own. A
request that failed for good is not a report: it is a message of the conversation.
"""

from collections.abc import Sequence

from msgspec import Struct

from recollect.records.decoding import decode_value
from recollect.records.envelope import Chain
from recollect.records.system import (
    AgentsKilled,
    ApiError,
    AwaySummary,
    BridgeStatus,
    CloudSessionStatus,
    Informational,
    LocalCommand,
    MemorySaved,
    ModelFallback,
    ModelRefusal,
    PermissionRetry,
    ScheduledTaskFire,
    System,
)


class Notice(Struct, frozen=True, kw_only=True):
    """A message of the client; `text` may hold terminal escapes."""

    subtype: str | None
    text: str
    level: str | None
    uuid: str | None
    timestamp: str | None


class Recap(Struct, frozen=True, kw_only=True):
    """A summary for a user who was away."""

    text: str
    uuid: str | None
    timestamp: str | None


class FailedRequest(Struct, frozen=True, kw_only=True):
    """A request to the API that the client retried."""

    message: str
    status: int | None
    retry_attempt: int | None
    max_retries: int | None
    retry_in_ms: float | None
    uuid: str | None
    timestamp: str | None


class ModelChange(Struct, frozen=True, kw_only=True):
    """Another model took over, or should have: `fallback` is None if there was none."""

    subtype: str | None
    original: str | None
    fallback: str | None
    trigger: str | None
    text: str
    uuid: str | None
    timestamp: str | None


class Reports(Struct, frozen=True, kw_only=True):
    """The reports of a session by kind, each in file order."""

    notices: tuple[Notice, ...] = ()
    away_summaries: tuple[Recap, ...] = ()
    api_errors: tuple[FailedRequest, ...] = ()
    model_changes: tuple[ModelChange, ...] = ()


class _Cause(Struct, frozen=True):
    code: str | None = None
    message: str | None = None


class _ErrorBody(Struct, frozen=True):
    message: str | None = None
    error: _Cause | None = None


class _Error(Struct, frozen=True):
    """`ApiError.error`: `formatted` and `message` now, the SDK's error object earlier."""

    formatted: str | None = None
    message: str | None = None
    status: int | None = None
    error: _ErrorBody | None = None
    cause: _Cause | None = None


_NOTICES = (
    AgentsKilled,
    BridgeStatus,
    CloudSessionStatus,
    Informational,
    LocalCommand,
    MemorySaved,
    PermissionRetry,
    ScheduledTaskFire,
)


def build_reports(chain: Sequence[Chain]) -> Reports:
    """Return what the client reported in `chain`."""
    links = [link for link in chain if isinstance(link, System)]
    return Reports(
        notices=tuple(_make_notice(link) for link in links if _is_notice(link)),
        away_summaries=tuple(
            Recap(text=link.content or "", uuid=link.uuid, timestamp=link.timestamp)
            for link in links
            if isinstance(link, AwaySummary)
        ),
        api_errors=tuple(_read_error(link) for link in links if isinstance(link, ApiError)),
        model_changes=tuple(
            _make_change(link) for link in links if isinstance(link, ModelFallback)
        ),
    )


def _is_notice(link: System) -> bool:
    """Return whether `link` is a notice; one without a subtype, or of an unknown one, is."""
    return isinstance(link, _NOTICES) or type(link) is System


def _make_notice(link: System) -> Notice:
    paths = link.written_paths if isinstance(link, MemorySaved) else ()
    return Notice(
        subtype=link.subtype,
        text=link.content or "\n".join(paths),
        level=link.level,
        uuid=link.uuid,
        timestamp=link.timestamp,
    )


def _make_change(link: ModelFallback) -> ModelChange:
    category = link.category if isinstance(link, ModelRefusal) else None
    return ModelChange(
        subtype=link.subtype,
        original=link.original_model,
        fallback=link.fallback_model,
        trigger=link.trigger or category,
        text=link.content or "",
        uuid=link.uuid,
        timestamp=link.timestamp,
    )


def _read_error(link: ApiError) -> FailedRequest:
    error = decode_value(link.error, _Error) or _Error()
    return FailedRequest(
        message=_choose_message(error, decode_value(link.cause, _Cause)),
        status=error.status,
        retry_attempt=link.retry_attempt,
        max_retries=link.max_retries,
        retry_in_ms=link.retry_in_ms,
        uuid=link.uuid,
        timestamp=link.timestamp,
    )


def _choose_message(error: _Error, cause: _Cause | None) -> str:
    """Return the most informative text about a failure; old clients often left none."""
    body = error.error or _ErrorBody()
    inner = body.error or _Cause()
    cause = error.cause or cause or _Cause()
    words = (
        error.formatted,
        inner.message,
        body.message,
        error.message,
        cause.message,
        cause.code,
    )
    return next((text for text in words if text), "")
