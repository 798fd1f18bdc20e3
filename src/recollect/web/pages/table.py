"""The table of pages: address, parameters, and what draws it."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from recollect.web.api.projects import NoParameters
from recollect.web.api.sessions import SessionParameters
from recollect.web.drawing import Drawing, answer_html, read_wishes
from recollect.web.endpoints import Workers
from recollect.web.languages import Translator
from recollect.web.pages.api import draw_api
from recollect.web.pages.changes import draw_changes
from recollect.web.pages.drawn import Drawn
from recollect.web.pages.explain import ExplainPageParameters, draw_explanation
from recollect.web.pages.health import draw_health
from recollect.web.pages.search import SearchPageParameters, draw_search
from recollect.web.pages.session import (
    AgentParameters,
    CallParameters,
    RawParameters,
    SessionPageParameters,
    TurnsPageParameters,
    draw_agent,
    draw_call,
    draw_raw,
    draw_session,
    draw_turns,
)
from recollect.web.pages.sessions import SessionsParameters, draw_sessions
from recollect.web.pages.usage import draw_usage
from recollect.web.pages.usage_rows import UsagePageParameters
from recollect.web.parameters import read_parameters
from recollect.web.services import Services

Draw = Callable[..., Drawn]


class Page(Struct, frozen=True):
    """A page, or a piece of one; `translates` when what it draws holds words of its own."""

    path: str
    parameters: type[Struct]
    draw: Draw
    translates: bool = False


PAGES: Final = (
    Page("/", SessionsParameters, draw_sessions),
    Page("/s/{id}", SessionPageParameters, draw_session, translates=True),
    Page("/s/{id}/turns", TurnsPageParameters, draw_turns, translates=True),
    Page("/s/{id}/calls/{call}", CallParameters, draw_call, translates=True),
    Page("/s/{id}/agents/{agent}", AgentParameters, draw_agent, translates=True),
    Page("/s/{id}/changes", SessionParameters, draw_changes),
    Page("/s/{id}/raw/{uuid}", RawParameters, draw_raw),
    Page("/search", SearchPageParameters, draw_search),
    Page("/usage", UsagePageParameters, draw_usage, translates=True),
    Page("/usage/explain", ExplainPageParameters, draw_explanation, translates=True),
    Page("/health", NoParameters, draw_health),
    Page("/api", NoParameters, draw_api),
)


def make_page_routes(workers: Workers, drawing: Drawing) -> list[Route]:
    """The routes of the pages."""
    return [Route(each.path, _make_handler(each, workers, drawing)) for each in PAGES]


def _make_handler(
    page: Page, workers: Workers, drawing: Drawing
) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        parameters = read_parameters(request, page.parameters)
        wanted = read_wishes(request)
        more: tuple[Any, ...] = (Translator(wanted.language),) if page.translates else ()

        def work(services: Services) -> Response:
            drawn = page.draw(services, parameters, *more)
            text = drawing.draw(
                drawn.template, drawn.page, wanted, title=drawn.title, section=drawn.section
            )
            return answer_html(text)

        return await workers.run(work)

    return handle
