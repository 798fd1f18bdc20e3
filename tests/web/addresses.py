"""All addresses of the router, with existing ids."""

import re
from datetime import UTC, datetime
from pathlib import Path

from starlette.routing import Route

from recollect.web.app import create_app
from recollect.web.settings import Settings

SESSION = "8facb961-b86b-4d27-b5bd-038c0d96c55c"
_VALUES = {"id": SESSION, "uuid": "none", "call": "none", "agent": "none", "version": "0"}


def make_settings(root: Path, data: Path, port: int = 8765) -> Settings:
    """Return settings for an app that is not run."""
    moment = datetime(2026, 11, 13, 12, tzinfo=UTC)
    return Settings(roots=(root,), data_directory=data, now=lambda: moment, port=port)


def list_routes() -> list[tuple[str, str]]:
    """Return method and path of every route in the router."""
    app = create_app(make_settings(Path("claude"), Path("data")))
    routes = [route for route in app.routes if isinstance(route, Route)]
    assert len(routes) == len(app.routes)
    return [
        (method, fill_path(route.path))
        for route in routes
        for method in sorted((route.methods or set()) - {"HEAD"})
    ]


def fill_path(path: str) -> str:
    """Return a path with its parameters filled in."""
    return re.sub(r"\{(\w+)(?::\w+)?\}", lambda found: _VALUES.get(found[1], "app.css"), path)
