"""The public names of `import recollect`, and the cost of importing it."""

import pytest

import recollect
from recollect.library.opening import open_session
from tests.process import run_python


def test_importing_loads_nothing_else() -> None:
    """The package imports neither the parser nor its dependencies."""
    code = "import sys, recollect; print(*sorted(n for n in sys.modules if 'msgspec' in n))"
    assert run_python("-c", code).stdout == "\n"


def test_a_name_is_loaded_when_it_is_used() -> None:
    """A name of the package is the same object as in its own module."""
    assert recollect.open_session is open_session


def test_all_names_are_there_before_they_are_loaded() -> None:
    """`dir()` lists every public name."""
    code = "import recollect; print({*recollect.__all__} - {*dir(recollect)})"
    assert run_python("-c", code).stdout == "set()\n"


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    """As in any other module."""
    with pytest.raises(AttributeError, match="module 'recollect' has no attribute 'open_sesame'"):
        recollect.open_sesame  # noqa: B018
