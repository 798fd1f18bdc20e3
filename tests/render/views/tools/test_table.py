"""The table of tools that have a view."""

from recollect.records.tools import canonical_name
from recollect.records.tools.tool_parsing import INPUTS
from recollect.render.views.tools import VIEWS


def test_every_tool_with_a_type_has_a_view() -> None:
    """A tool whose input is described has a view; reading an empty list needs none."""
    assert {canonical_name(name) for name in INPUTS} - set(VIEWS) == {"TodoRead"}


def test_views_are_registered_by_present_names() -> None:
    """No view is registered under a name that is an alias of another."""
    assert [name for name in VIEWS if canonical_name(name) != name] == []
