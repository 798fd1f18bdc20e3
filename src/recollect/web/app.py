"""The application: routes from their tables, middleware in front of them, and preloading.

Templates, Markdown and highlighting are loaded on first use; preloading does that while the browser
is starting. Other pages load what they need when they are requested.
"""

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
from starlette.types import Lifespan, Scope

from recollect import errors
from recollect.documents.session_documents import ErrorDetail
from recollect.records.decoding import decode_record
from recollect.render.html.html_turns import Frame, render_turn
from recollect.render.views.turn_views import build_turn_views
from recollect.session.session import Session
from recollect.web import (
    endpoints,
    export_review,
    http_messages,
    middleware,
    openapi,
    page_actions,
    templating,
)
from recollect.web.conversations.actions import MAX_PROMPT_BYTES, ConversationActions
from recollect.web.conversations.page_messages import PREFIX as CONVERSATIONS
from recollect.web.event_stream import PATH as EVENTS_PATH
from recollect.web.event_stream import EventSource
from recollect.web.pages.routes import make_page_routes
from recollect.web.services import Services
from recollect.web.settings import Settings
from recollect.workspace.session_catalog import UnknownSession

_LINE = (
    b'{"type":"user","uuid":"a","message":{"role":"user","content":"```python\\nprint(1)\\n```"}}'
)


def preload(templates: templating.Templates) -> None:
    """Render a hidden turn, to load the modules and templates of rendering."""
    templates.preload()
    record = decode_record(_LINE)
    session = Session([record] if record else ())
    for view in build_turn_views(session):
        render_turn(view, Frame(url=""))


_NO_SUCH_PAGE = (404, http_messages.METHOD_NOT_ALLOWED)
FailureHandler = Callable[[Request, Exception], Awaitable[Response]]


class ErrorPage(Struct, frozen=True, kw_only=True):
    """The reason for an error page."""

    error: ErrorDetail
    unknown_path: str = ""
    """The path, if there is no page at it."""
    is_missing: bool = False
    """Whether the requested object does not exist; otherwise the request is invalid."""
    is_unknown_session: bool = False
    session: str = ""
    """The session that exists but lacks what the URL names, if there is one."""
    candidates: tuple[errors.Candidate, ...] = ()
    """Sessions that may have been meant."""


class AppParts(Struct, frozen=True):
    """The components of an app."""

    services: Services
    assets: templating.Assets
    templates: templating.Templates
    events: EventSource


def create_app(settings: Settings) -> Starlette:
    """Create the app for these settings; its components are in `app.state.parts`."""
    services, assets = Services(settings), templating.Assets()
    templates = templating.Templates(services, assets)
    parts = AppParts(services, assets, templates, EventSource(services))
    answer_failure = _make_failure_handler(templates)
    app = Starlette(
        routes=_make_routes(parts),
        middleware=_make_middleware(parts),
        exception_handlers={errors.RecollectError: answer_failure, HTTPException: answer_failure},
        lifespan=_make_lifespan(parts),
    )
    # No redirects: they would be built from untrusted parts of the request.
    app.router.redirect_slashes = False
    app.state.parts = parts
    return app


def _make_routes(parts: AppParts) -> list[Route]:
    workers = endpoints.Workers(parts.services)
    sign_in = page_actions.SignIn(parts.services)
    review = export_review.ExportReview(parts.services, workers, parts.templates)
    return [
        *ConversationActions(parts.services, parts.events).make_routes(),
        *make_page_routes(workers, parts.templates),
        Route(export_review.REVIEW_PATH, review.show),
        Route(export_review.REVIEW_PATH, review.answer, methods=["POST"]),
        *page_actions.Reveal(parts.services).make_routes(),
        Route(
            page_actions.RESTORE_PATH,
            page_actions.FileRestoring(parts.services).answer,
            methods=["POST"],
        ),
        Route(
            page_actions.ARCHIVE_PATH,
            page_actions.Archiving(parts.services).answer,
            methods=["GET", "POST"],
        ),
        Route("/api/openapi.json", _serve_openapi),
        Route(EVENTS_PATH, parts.events.serve),
        Route("/api/launches", sign_in.launch, methods=["POST"]),
        Route(page_actions.MARK_PATH, page_actions.make_mark_handler(workers), methods=["POST"]),
        *endpoints.make_routes(workers),
        Route(page_actions.SIGN_IN, sign_in.exchange, methods=["POST"]),
        Route(f"{templating.PREFIX}/{{version}}/{{name:path}}", parts.assets.serve),
    ]


def _make_middleware(parts: AppParts) -> list[Middleware]:
    """Return the middleware, outermost first."""
    settings = parts.services.settings

    def is_public(method: str, path: str) -> bool:
        if method == "POST":
            return path == page_actions.SIGN_IN
        return method in {"GET", "HEAD"} and parts.assets.is_public(path)

    return [
        Middleware(middleware.SecurityHeaders),
        Middleware(http_messages.CatchAll),
        Middleware(middleware.HostCheck, settings.hosts),
        Middleware(middleware.BodyLimit, _make_limit(parts)),
        Middleware(middleware.OriginCheck, settings.origins),
        Middleware(
            middleware.KeyCheck,
            parts.services.keys,
            is_public,
            page_actions.make_unauthorized(parts.templates),
        ),
    ]


def _make_limit(parts: AppParts) -> Callable[[Scope], int]:
    """Return the limits of request bodies: only signed-in users may send images."""

    def find_limit(scope: Scope) -> int:
        is_prompt = scope["path"].startswith(f"{CONVERSATIONS}/")
        is_open = is_prompt and parts.services.run_access.allow_run
        is_known = is_open and middleware.has_cookie(parts.services.keys, scope)
        return MAX_PROMPT_BYTES if is_known else middleware.MAX_BYTES

    return find_limit


def _make_lifespan(parts: AppParts) -> Lifespan[Starlette]:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        parts.services.workspace.changes.attach(asyncio.get_running_loop())
        parts.services.workspace.indexer.start()
        preloading = asyncio.create_task(asyncio.to_thread(preload, parts.templates))
        try:
            yield
        finally:
            # Both are ended whatever fails: Python waits forever for a process that is still
            # running.
            try:
                await parts.services.conversations.close()
            finally:
                await asyncio.to_thread(parts.services.workspace.close)
            await preloading

    return lifespan


async def _serve_openapi(_: Request) -> Response:
    return http_messages.json_response(openapi.describe_api())


def _make_failure_handler(templates: templating.Templates) -> FailureHandler:
    async def answer_failure(request: Request, error: Exception) -> Response:
        wanted = templating.read_preferences(request)
        if http_messages.is_for_program(request):
            if not http_messages.is_from_page(request):
                return http_messages.api_error_response(error)
            translator = templating.Translator(wanted.language)
            return http_messages.api_error_response(error, translator.translate_message)
        status, detail = http_messages.describe_failure(error)
        is_unknown = isinstance(error, HTTPException) and status in _NO_SUCH_PAGE
        page = ErrorPage(
            error=detail,
            unknown_path=request.url.path if is_unknown else "",
            is_missing=is_unknown
            or isinstance(error, errors.NothingFound | errors.UnreadableInput),
            is_unknown_session=isinstance(error, UnknownSession),
            session=_find_session(request, error),
            candidates=error.candidates if isinstance(error, errors.AmbiguousSession) else (),
        )
        title = "error.not_found" if page.is_missing else "error.title"
        return templating.html_response(
            templates.render("error.html", page, wanted, title=title), status
        )

    return answer_failure


def _find_session(request: Request, error: Exception) -> str:
    """Return the session of the URL, if something inside it is missing."""
    is_inside = isinstance(error, errors.NothingFound) and not isinstance(
        error, UnknownSession | errors.AmbiguousSession
    )
    is_session = request.url.path.startswith("/s/")
    return str(request.path_params.get("id", "")) if is_inside and is_session else ""
