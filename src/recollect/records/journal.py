"""Rows of a workflow's `journal.jsonl`, which lies beside the transcripts of its subagents."""

from msgspec import Raw

from recollect.records.envelope import Record


class JournalRow(Record, frozen=True):
    """One step of one subagent of a workflow."""

    key: str | None = None
    agent_id: str | None = None


class JournalLaunched(JournalRow, frozen=True, tag="launched"):
    """The workflow began."""


class JournalStarted(JournalRow, frozen=True, tag="started"):
    """A subagent began."""

    label: str | None = None
    phase: str | None = None


class JournalResult(JournalRow, frozen=True, tag="result"):
    """A subagent ended."""

    result: Raw = Raw()
    tools_used: tuple[str, ...] | None = None
    remote_control_device_report: bool | None = None


class JournalFailed(JournalRow, frozen=True, tag="failed"):
    """A subagent failed."""

    error: Raw = Raw()
