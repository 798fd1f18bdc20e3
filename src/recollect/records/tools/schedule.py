"""Tools that make the model come back later."""

from msgspec import Struct

from recollect.records.tools.values import ToolInput, ToolOutput


class CronCreateInput(ToolInput, frozen=True):
    """A prompt to be given at set times."""

    cron: str = ""
    prompt: str = ""
    recurring: bool | None = None
    durable: bool | None = None


class CronCreateResult(ToolOutput, frozen=True, rename="camel"):
    """The job that was made; `next_fire_at` is in milliseconds since 1970."""

    id: str = ""
    human_schedule: str | None = None
    recurring: bool | None = None
    durable: bool | None = None
    next_fire_at: float | None = None


class CronDeleteInput(ToolInput, frozen=True):
    """A job to end."""

    id: str = ""


class CronDeleteResult(ToolOutput, frozen=True):
    """The job that was ended."""

    id: str = ""


class CronListInput(ToolInput, frozen=True):
    """A call that needs no input."""


class CronJob(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """One job and its prompt."""

    id: str = ""
    cron: str | None = None
    human_schedule: str | None = None
    prompt: str | None = None
    recurring: bool | None = None
    durable: bool | None = None
    next_fire_at: float | None = None


class CronListResult(ToolOutput, frozen=True):
    """All jobs."""

    jobs: tuple[CronJob, ...] = ()


class ScheduleWakeupInput(ToolInput, frozen=True, rename="camel"):
    """A prompt to be given once, after a delay; or the end of that with `stop`."""

    delay_seconds: float | None = None
    reason: str | None = None
    prompt: str | None = None
    stop: bool = False
    noop: bool = False


class ScheduleWakeupResult(ToolOutput, frozen=True, rename="camel"):
    """When it will be; `scheduled_for` is in milliseconds since 1970."""

    scheduled_for: float | None = None
    clamped_delay_seconds: float | None = None
    was_clamped: bool = False
    stopped: bool = False
    cancelled_wakeups: int | None = None
