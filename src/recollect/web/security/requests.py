"""The headers of a request as a wall may see them: raw, repeated or missing, and never trusted."""

from collections.abc import Iterable

from starlette.types import Scope


def list_values(scope: Scope, name: str) -> list[str]:
    """Every value of a header; bytes stand for themselves, so that any header can be compared."""
    wanted = name.encode("latin-1")
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
    return [value.decode("latin-1") for key, value in headers if key == wanted]


def find_value(scope: Scope, name: str) -> str | None:
    """The one value of a header; None when there is none, or more than one."""
    values = list_values(scope, name)
    return values[0] if len(values) == 1 else None


def is_reading(scope: Scope) -> bool:
    """Whether the request asks for something without changing anything."""
    return scope["method"] in {"GET", "HEAD"}
