"""What usage reports are grouped by; apart, because every report needs it and no other document."""

from enum import StrEnum


class Group(StrEnum):
    """What a usage report is grouped by."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    SESSION = "session"
    PROJECT = "project"
    MODEL = "model"
    BRANCH = "branch"
    VERSION = "version"
    ENTRYPOINT = "entrypoint"
    TOOL = "tool"
    MCP_SERVER = "mcp-server"
    SUBAGENT = "subagent"
    BLOCK = "block"

    @property
    def is_time(self) -> bool:
        """Whether its keys are periods of time."""
        return self in (Group.DAY, Group.WEEK, Group.MONTH, Group.BLOCK)
