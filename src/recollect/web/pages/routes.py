"""The table of pages: path, parameters, and the function that renders it."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from recollect.web.api.session_endpoints import NoParameters, SessionParameters
from recollect.web.endpoints import Workers
from recollect.web.pages.api_page import render_api_page
from recollect.web.pages.causes_page import CausesPageParameters, render_causes_page
from recollect.web.pages.changes_page import render_changes_page
from recollect.web.pages.checkpoint_page import CheckpointParameters, render_checkpoint_page
from recollect.web.pages.conversation_page import (
    ConversationCallParameters,
    ConversationParameters,
    ConversationRequestParameters,
    ConversationTurnsParameters,
    render_conversation_call,
    render_conversation_page,
    render_conversation_turns,
    render_request,
    render_todos,
)
from recollect.web.pages.explain_page import ExplainPageParameters, render_explain_page
from recollect.web.pages.file_page import (
    FileParameters,
    FilesParameters,
    render_file_page,
    render_files_page,
)
from recollect.web.pages.health_page import render_health_page
from recollect.web.pages.home_page import HomeParameters, render_home_page
from recollect.web.pages.running_page import (
    NewParameters,
    render_new_page,
    render_running_page,
)
from recollect.web.pages.search_page import SearchPageParameters, render_search_page
from recollect.web.pages.session_page import (
    AgentParameters,
    CallParameters,
    RawParameters,
    SessionPageParameters,
    TurnsPageParameters,
    render_agent,
    render_call_fragment,
    render_raw_page,
    render_session_page,
    render_turns,
)
from recollect.web.pages.sessions_page import SessionsParameters, render_sessions_page
from recollect.web.pages.timeline_page import TimelineParameters, render_timeline_page
from recollect.web.pages.usage_page import render_usage_page
from recollect.web.pages.usage_table import UsagePageParameters
from recollect.web.parameters import read_form
from recollect.web.services import Services
from recollect.web.templating import (
    PageContent,
    Templates,
    Translator,
    html_response,
    read_preferences,
)

RenderPage = Callable[..., PageContent]


class Page(Struct, frozen=True):
    """A page or fragment; `translates` if its function needs translations."""

    path: str
    parameters: type[Struct]
    draw: RenderPage
    translates: bool = False


# Ids inside a session come from records and may contain slashes.
PAGES: Final = (
    Page("/", HomeParameters, render_home_page, translates=True),
    Page("/sessions", SessionsParameters, render_sessions_page),
    Page("/s/{id}", SessionPageParameters, render_session_page, translates=True),
    Page("/s/{id}/turns", TurnsPageParameters, render_turns, translates=True),
    Page("/s/{id}/calls/{call:path}", CallParameters, render_call_fragment, translates=True),
    Page("/s/{id}/agents/{agent:path}", AgentParameters, render_agent, translates=True),
    Page("/s/{id}/changes", SessionParameters, render_changes_page),
    Page("/s/{id}/checkpoints", CheckpointParameters, render_checkpoint_page),
    Page("/s/{id}/timeline", TimelineParameters, render_timeline_page, translates=True),
    Page("/s/{id}/raw/{uuid:path}", RawParameters, render_raw_page),
    Page("/running", NoParameters, render_running_page),
    Page("/new", NewParameters, render_new_page),
    Page("/c/{id}", ConversationParameters, render_conversation_page, translates=True),
    Page("/c/{id}/turns", ConversationTurnsParameters, render_conversation_turns, translates=True),
    Page(
        "/c/{id}/agents/{agent:path}",
        ConversationTurnsParameters,
        render_conversation_turns,
        translates=True,
    ),
    Page(
        "/c/{id}/calls/{call:path}",
        ConversationCallParameters,
        render_conversation_call,
        translates=True,
    ),
    Page("/c/{id}/requests/{request:path}", ConversationRequestParameters, render_request),
    Page("/c/{id}/todos", ConversationParameters, render_todos),
    Page("/search", SearchPageParameters, render_search_page),
    Page("/usage", UsagePageParameters, render_usage_page, translates=True),
    Page("/usage/causes", CausesPageParameters, render_causes_page, translates=True),
    Page("/usage/explain", ExplainPageParameters, render_explain_page, translates=True),
    Page("/files", FilesParameters, render_files_page),
    Page("/file", FileParameters, render_file_page),
    Page("/health", NoParameters, render_health_page),
    Page("/api", NoParameters, render_api_page),
)


def make_page_routes(workers: Workers, drawing: Templates) -> list[Route]:
    """Return the routes of the pages."""
    return [Route(each.path, _make_handler(each, workers, drawing)) for each in PAGES]


def _make_handler(
    page: Page, workers: Workers, drawing: Templates
) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        parameters = read_form(request, page.parameters)
        wanted = read_preferences(request)
        more: tuple[Any, ...] = (Translator(wanted.language),) if page.translates else ()

        def work(services: Services) -> Response:
            drawn = page.draw(services, parameters, *more)
            text = drawing.draw(
                drawn.template, drawn.page, wanted, title=drawn.title, section=drawn.section
            )
            return html_response(text)

        return await workers.run(work)

    return handle
