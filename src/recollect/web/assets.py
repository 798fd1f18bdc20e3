"""Static files: read once at start, and served by name from a table.

A name is looked up, never joined to a path. URLs contain a hash of all files, so browsers may cache
them forever, and modules can import each other by relative URLs.
"""

import hashlib
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from recollect.web.middleware import CACHE_CONTROL

PREFIX: Final = "/static"
FOREVER: Final = "public, max-age=31536000, immutable"
PUBLIC: Final = frozenset({"sign-in.css", "sign-in.js", "favicon.svg"})
"""Files of the sign-in page, which need no key."""

_HASH_LENGTH: Final = 16
_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "png": "image/png",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
    "woff2": "font/woff2",
}


class Asset(Struct, frozen=True):
    """A static file."""

    data: bytes
    media_type: str


class Assets:
    """All static files."""

    def __init__(self) -> None:
        own = _load(resources.files("recollect.web") / "static", "")
        # The style of a conversation belongs to what draws it: exported pages have it, too.
        shared = _load(resources.files("recollect.render.html") / "css", "css/")
        self._assets = dict([*own, *shared])
        digest = hashlib.sha256()
        for name in sorted(self._assets):
            digest.update(name.encode() + b"\0" + self._assets[name].data)
        self.version = digest.hexdigest()[:_HASH_LENGTH]

    def address(self, name: str) -> str:
        """Return the URL of a static file; raises KeyError if there is none."""
        if name not in self._assets:
            raise KeyError(name)
        return f"{PREFIX}/{self.version}/{name}"

    def is_public(self, path: str) -> bool:
        """Return whether a path is that of a public file."""
        start = f"{PREFIX}/{self.version}/"
        return path.startswith(start) and path[len(start) :] in PUBLIC

    async def serve(self, request: Request) -> Response:
        """Serve a static file; 404 for one of another version."""
        asset = self._assets.get(request.path_params["name"])
        if asset is None or request.path_params["version"] != self.version:
            raise HTTPException(404)
        return Response(asset.data, media_type=asset.media_type, headers={CACHE_CONTROL: FOREVER})


def _load(directory: Traversable, prefix: str) -> list[tuple[str, Asset]]:
    found: list[tuple[str, Asset]] = []
    for each in directory.iterdir():
        name = f"{prefix}{each.name}"
        if each.is_dir():
            found += _load(each, f"{name}/")
        elif (kind := _TYPES.get(each.name.rpartition(".")[2])) is not None:
            found.append((name, Asset(each.read_bytes(), kind)))
    return found
