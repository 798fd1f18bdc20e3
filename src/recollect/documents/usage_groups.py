"""The groups of usage reports; separate, because every report needs them and no other document."""

from enum import StrEnum


class Group(StrEnum):
    """How a usage report is grouped."""

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
