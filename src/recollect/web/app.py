"""The app, put together: routes from their tables, and the walls in front of them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from msgspec import Struct
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Lifespan

from recollect.errors import RecollectError
from recollect.web.answers import ErrorDetail, answer_json
from recollect.web.api.events import PATH as EVENTS_PATH
from recollect.web.api.events import EventSource
from recollect.web.assets import PREFIX, Assets
from recollect.web.drawing import Drawing, answer_html, read_wishes
from recollect.web.endpoints import Workers, make_routes
from recollect.web.failures import (
    CatchAll,
    answer_program,
    describe_failure,
    is_for_program,
)
from recollect.web.levelling.keeper import Keeper
from recollect.web.levelling.rounds import Task
from recollect.web.openapi import describe_api
from recollect.web.pages.table import make_page_routes
from recollect.web.security.gate import Gate
from recollect.web.security.headers import SecurityHeaders
from recollect.web.security.hosts import HostCheck
from recollect.web.security.limits import BodyLimit
from recollect.web.security.origins import OriginCheck
from recollect.web.services import Services
from recollect.web.settings import Settings
from recollect.web.signing_in import SIGN_IN, SignIn, make_closed
from recollect.web.warming import warm_up

FailureHandler = Callable[[Request, Exception], Awaitable[Response]]


class ErrorPage(Struct, frozen=True, kw_only=True):
    """Why there is no page."""

    status: int
    error: ErrorDetail


class Parts(Struct, frozen=True):
    """What an app is made of."""

    services: Services
    assets: Assets
    drawing: Drawing
    events: EventSource
    keeper: Keeper


def create_app(settings: Settings) -> Starlette:
    """The app for these settings; `app.state.parts` is what it is made of."""
    services, assets = Services(settings), Assets()
    drawing = Drawing(services, assets)
    parts = Parts(
        services,
        assets,
        drawing,
        EventSource(services),
        Keeper(services.shelf, _make_task(settings), services.changes.tell),
    )
    answer_failure = _make_failure_handler(drawing)
    app = Starlette(
        routes=_make_routes(parts),
        middleware=_make_walls(parts),
        exception_handlers={RecollectError: answer_failure, HTTPException: answer_failure},
        lifespan=_make_lifespan(parts),
    )
    # An address is right or it is not: a redirect would be made from what the request says.
    app.router.redirect_slashes = False
    app.state.parts = parts
    return app


def _make_task(settings: Settings) -> Task:
    return Task(settings.roots, settings.data_directory, settings.shows_errors)


def _make_routes(parts: Parts) -> list[Route]:
    workers = Workers(parts.services)
    sign_in = SignIn(parts.services)
    return [
        *make_page_routes(workers, parts.drawing),
        Route("/api/openapi.json", _serve_openapi),
        Route(EVENTS_PATH, parts.events.serve),
        Route("/api/launches", sign_in.launch, methods=["POST"]),
        *make_routes(workers),
        Route(SIGN_IN, sign_in.exchange, methods=["POST"]),
        Route(f"{PREFIX}/{{version}}/{{name:path}}", parts.assets.serve),
    ]


def _make_walls(parts: Parts) -> list[Middleware]:
    """From the outside in."""
    settings = parts.services.settings

    def is_public(method: str, path: str) -> bool:
        if method == "POST":
            return path == SIGN_IN
        return method in {"GET", "HEAD"} and parts.assets.is_public(path)

    return [
        Middleware(SecurityHeaders),
        Middleware(CatchAll),
        Middleware(HostCheck, settings.hosts),
        Middleware(BodyLimit),
        Middleware(OriginCheck, settings.origins),
        Middleware(Gate, parts.services.keys, is_public, make_closed(parts.drawing)),
    ]


def _make_lifespan(parts: Parts) -> Lifespan[Starlette]:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        parts.services.changes.attach(asyncio.get_running_loop())
        parts.keeper.start()
        warming = asyncio.create_task(asyncio.to_thread(warm_up, parts.drawing))
        try:
            yield
        finally:
            parts.services.close()
            # Before anything that can fail: Python waits for ever for a process left behind.
            await asyncio.to_thread(parts.keeper.stop)
            await warming

    return lifespan


async def _serve_openapi(_: Request) -> Response:
    return answer_json(describe_api())


def _make_failure_handler(drawing: Drawing) -> FailureHandler:
    async def answer_failure(request: Request, error: Exception) -> Response:
        if is_for_program(request):
            return await answer_program(request, error)
        status, detail = describe_failure(error)
        page = ErrorPage(status=status, error=detail)
        wanted = read_wishes(request)
        return answer_html(drawing.draw("error.html", page, wanted, title="error.title"), status)

    return answer_failure
