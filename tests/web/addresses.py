"""Every address that the router knows, with ids that are there."""

import re
from datetime import UTC, datetime
from pathlib import Path

from starlette.routing import Route

from recollect.web.app import create_app
from recollect.web.settings import Settings

SESSION = "8facb961-b86b-4d27-b5bd-038c0d96c55c"
_VALUES = {"id": SESSION, "uuid": "none", "call": "none", "agent": "none", "version": "0"}


def make_settings(root: Path, data: Path, port: int = 8765) -> Settings:
    """Settings of an app that is not run."""
    moment = datetime(2026, 11, 13, 12, tzinfo=UTC)
    return Settings(roots=(root,), data_directory=data, now=lambda: moment, port=port)


def list_routes() -> list[tuple[str, str]]:
    """Method and path of every route, from the router itself."""
    app = create_app(make_settings(Path("claude"), Path("data")))
    routes = [route for route in app.routes if isinstance(route, Route)]
    assert len(routes) == len(app.routes)
    return [
        (method, fill_path(route.path))
        for route in routes
        for method in sorted((route.methods or set()) - {"HEAD"})
    ]


def fill_path(path: str) -> str:
    """The path with something for each of its parameters."""
    return re.sub(r"\{(\w+)(?::\w+)?\}", lambda found: _VALUES.get(found[1], "app.css"), path)
