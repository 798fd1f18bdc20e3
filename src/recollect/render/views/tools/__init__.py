"""Calls of tools → what there is to show of them, one module per family of tools."""

from recollect.render.views.tools.describing import describe_call
from recollect.render.views.tools.view import ToolView

__all__ = ["ToolView", "describe_call"]
