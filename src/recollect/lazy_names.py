"""Import the public names of a package on first use, so that importing the package stays cheap."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def import_on_first_use(
    namespace: dict[str, Any], modules: Mapping[str, str]
) -> Callable[[str], object]:
    """Return the `__getattr__` of the package with this namespace.

    `modules` maps each module, relative to the package, to its names, separated by spaces.
    """
    package = namespace["__name__"]
    module_of = {name: module for module, names in modules.items() for name in names.split()}

    def find(name: str) -> object:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(f".{module_of[name]}", package), name)
        namespace[name] = value
        return value

    return find
