"""Tools that make the model come back later."""

from recollect.records.tools.schedule import (
    CronCreateInput,
    CronCreateResult,
    CronDeleteInput,
    CronJob,
    CronListInput,
    CronListResult,
    ScheduleWakeupInput,
    ScheduleWakeupResult,
)
from recollect.render.views.parts import Entry
from recollect.render.views.tools.default import show_answer
from recollect.render.views.tools.view import Case, ToolView
from recollect.render.views.values import show_entries, show_fields, show_prose
from recollect.render.views.words import count_of, join_facts, take_line, time_of


def describe_cron_create(case: Case) -> ToolView | None:
    """A prompt to be given at set times."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, CronCreateInput) or not wanted.cron:
        return None
    made = result if isinstance(result, CronCreateResult) else CronCreateResult()
    return ToolView(
        title=wanted.cron,
        summary=join_facts(made.human_schedule, f"job {made.id}" if made.id else None),
        input=(
            *show_prose(wanted.prompt),
            *show_fields(("recurring", wanted.recurring), ("durable", wanted.durable)),
        ),
    )


def describe_cron_delete(case: Case) -> ToolView | None:
    """A job that is ended."""
    wanted = case.input
    if not isinstance(wanted, CronDeleteInput) or not wanted.id:
        return None
    return ToolView(title=wanted.id, summary="ended")


def describe_cron_list(case: Case) -> ToolView | None:
    """All jobs."""
    if not isinstance(case.input, CronListInput):
        return None
    if not isinstance(case.result, CronListResult):
        return ToolView(output=show_answer(case))
    jobs = case.result.jobs
    return ToolView(summary=count_of(len(jobs), "job"), output=show_entries(map(_show_job, jobs)))


def _show_job(job: CronJob) -> Entry:
    when = job.human_schedule or job.cron
    return Entry(job.prompt or job.id, note=join_facts(job.id, when) or None)


def describe_wakeup(case: Case) -> ToolView | None:
    """A prompt to be given once, after a while."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, ScheduleWakeupInput):
        return None
    delay = wanted.delay_seconds
    set_for = result if isinstance(result, ScheduleWakeupResult) else ScheduleWakeupResult()
    clamped = set_for.clamped_delay_seconds if set_for.was_clamped else None
    return ToolView(
        title=join_facts(
            "stop" if wanted.stop else None,
            None if delay is None else f"in {time_of(delay * 1000)}",
            take_line(wanted.reason or ""),
        ),
        summary=join_facts(
            "stopped" if set_for.stopped else None,
            None if clamped is None else f"set to {time_of(clamped * 1000)}",
        ),
        input=show_prose(wanted.prompt),
    )
