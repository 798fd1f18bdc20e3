"""How much of a session is drawn, and for what terminal."""

from datetime import tzinfo
from enum import StrEnum

from msgspec import Struct


class ToolDetail(StrEnum):
    """How much is shown of tool calls."""

    NONE = "none"
    """How many there were."""
    BRIEF = "brief"
    """A line each, and the beginning of what they changed or why they failed."""
    FULL = "full"
    """All that went in and came out."""


class Look(Struct, frozen=True, kw_only=True):
    """What to draw, and how."""

    columns: int = 80
    is_coloured: bool = False
    tools: ToolDetail = ToolDetail.BRIEF
    thinking: bool = False
    """Whether thoughts are shown whole, instead of their first line."""
    subagents: bool = False
    """Whether subagents are unfolded where they were started."""
    zone: tzinfo | None = None
    """Whose clock; None for the local one."""

    directory: str | None = None
    """Where the session took place: paths below it are shown from there, unless all is wanted."""

    def show_path(self, path: str) -> str:
        """`path`, without the directory that most paths of a session begin with."""
        if self.directory is None or self.is_full:
            return path
        shorter = path.removeprefix(self.directory)
        return shorter[1:] if shorter != path and shorter[:1] in ("/", "\\") else path

    @property
    def is_full(self) -> bool:
        """Whether nothing may be left out."""
        return self.tools is ToolDetail.FULL
