"""The table of pages: path, parameters, and the function that renders it."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from recollect.errors import NothingFound
from recollect.web import endpoints, http_messages, session_endpoints, templating
from recollect.web.pages import (
    changes_page,
    conversation_page,
    explain_page,
    file_page,
    home_page,
    list_pages,
    service_pages,
    session_page,
    thread_page,
    timeline_page,
    usage_page,
)
from recollect.web.pages.usage_table import UsagePageParameters
from recollect.web.services import Services

RenderPage = Callable[..., templating.PageContent]


class Page(Struct, frozen=True):
    """A page or fragment; `translates` if its function needs translations."""

    path: str
    parameters: type[Struct]
    render: RenderPage
    translates: bool = False


# Ids inside a session come from records and may contain slashes.
PAGES: Final = (
    Page("/", home_page.HomeParameters, home_page.render_home_page, translates=True),
    Page(
        "/sessions",
        list_pages.SessionsParameters,
        list_pages.render_sessions_page,
        translates=True,
    ),
    Page(
        "/s/{id}",
        session_page.SessionPageParameters,
        session_page.render_session_page,
        translates=True,
    ),
    Page(
        "/s/{id}/facts",
        session_endpoints.SessionParameters,
        session_page.render_facts,
        translates=True,
    ),
    Page(
        "/s/{id}/turns",
        session_page.TurnsPageParameters,
        session_page.render_turns,
        translates=True,
    ),
    Page(
        "/s/{id}/calls/{call:path}",
        session_page.CallParameters,
        session_page.render_call_fragment,
        translates=True,
    ),
    Page(
        "/s/{id}/agents/{agent:path}",
        session_page.AgentParameters,
        session_page.render_turns,
        translates=True,
    ),
    Page(
        "/s/{id}/thread",
        thread_page.ThreadParameters,
        thread_page.render_thread_page,
        translates=True,
    ),
    Page("/s/{id}/changes", session_endpoints.SessionParameters, changes_page.render_changes_page),
    Page(
        "/s/{id}/checkpoints",
        changes_page.CheckpointParameters,
        changes_page.render_checkpoint_page,
    ),
    Page(
        "/s/{id}/timeline",
        timeline_page.TimelineParameters,
        timeline_page.render_timeline_page,
        translates=True,
    ),
    Page("/s/{id}/raw/{uuid:path}", session_page.RawParameters, session_page.render_raw_page),
    Page("/running", session_endpoints.NoParameters, conversation_page.render_running_page),
    Page("/new", conversation_page.NewParameters, conversation_page.render_new_page),
    Page(
        "/c/{id}",
        conversation_page.ConversationParameters,
        conversation_page.render_conversation_page,
        translates=True,
    ),
    Page(
        "/c/{id}/turns",
        conversation_page.ConversationTurnsParameters,
        conversation_page.render_conversation_turns,
        translates=True,
    ),
    Page(
        "/c/{id}/agents/{agent:path}",
        conversation_page.ConversationTurnsParameters,
        conversation_page.render_conversation_turns,
        translates=True,
    ),
    Page(
        "/c/{id}/calls/{call:path}",
        conversation_page.ConversationCallParameters,
        conversation_page.render_conversation_call,
        translates=True,
    ),
    Page(
        "/c/{id}/requests/{request:path}",
        conversation_page.ConversationRequestParameters,
        conversation_page.render_request,
        translates=True,
    ),
    Page(
        "/c/{id}/details",
        conversation_page.ConversationParameters,
        conversation_page.render_details,
    ),
    Page("/search", list_pages.SearchPageParameters, list_pages.render_search_page),
    Page("/usage", UsagePageParameters, usage_page.render_usage_page, translates=True),
    Page(
        "/usage/causes",
        explain_page.CausesPageParameters,
        explain_page.render_causes_page,
        translates=True,
    ),
    Page(
        "/usage/explain",
        explain_page.ExplainPageParameters,
        explain_page.render_explain_page,
        translates=True,
    ),
    Page("/files", file_page.FilesParameters, file_page.render_files_page),
    Page("/file", file_page.FileParameters, file_page.render_file_page),
    Page("/health", session_endpoints.NoParameters, service_pages.render_health_page),
    Page("/api", session_endpoints.NoParameters, service_pages.render_api_page),
)


def make_page_routes(workers: endpoints.Workers, templates: templating.Templates) -> list[Route]:
    """Return the routes of the pages."""
    return [Route(each.path, _make_handler(each, workers, templates)) for each in PAGES]


def _make_handler(
    page: Page, workers: endpoints.Workers, templates: templating.Templates
) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        parameters = http_messages.read_form(request, page.parameters)
        preferences = templating.read_preferences(request)
        translators: tuple[Any, ...] = (
            (templating.Translator(preferences.language),) if page.translates else ()
        )

        def work(services: Services) -> Response:
            try:
                content = page.render(services, parameters, *translators)
            except NothingFound:
                if url := _complete_url(services, request):
                    return RedirectResponse(url)
                raise
            text = templates.render(
                content.template,
                content.page,
                preferences,
                title=content.title,
                section=content.section,
            )
            return templating.html_response(text)

        return await workers.run(work)

    return handle


def _complete_url(services: Services, request: Request) -> str:
    """Return the URL with the full id of a session; empty unless the id is shortened."""
    match request.url.path.split("/"):
        case "", "s", short_id, *below:
            whole_id = services.workspace.complete_id(short_id)
        case _:
            return ""
    if whole_id is None or whole_id == short_id:
        return ""
    path = "/".join([session_page.make_session_url(whole_id), *below])
    return f"{path}?{request.url.query}" if request.url.query else path
