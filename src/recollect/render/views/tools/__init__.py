"""Views of tool calls, one module per family of tools."""

from recollect.render.views.tools.tool_view import ToolView
from recollect.render.views.tools.tool_views import describe_call

__all__ = ["ToolView", "describe_call"]
