"""The table of the API: endpoints, their parameters and their documents.

Routes and the OpenAPI document are both generated from it, so they cannot differ.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from anyio import CapacityLimiter, to_thread
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from recollect.documents import (
    events,
    file_versions,
    search_results,
    session_documents,
    usage_report,
)
from recollect.export.export_options import MEDIA_TYPES
from recollect.web import history_endpoints, session_endpoints
from recollect.web.http_messages import JSON, Download, encode_json, file_response, read_parameters
from recollect.web.services import Services

PLAIN: Final = "text/plain; charset=utf-8"

EndpointResult = Callable[[Services, Any], object]


class Endpoint(Struct, frozen=True, kw_only=True):
    """An endpoint for GET requests."""

    path: str
    summary: str
    parameters: type[Struct]
    answer: EndpointResult
    returns: type[Struct] | None = None
    """The document; None for the bytes of a record or a file."""
    errors: tuple[int, ...] = (422,)
    media_types: tuple[str, ...] = (JSON,)
    """Media types of the response; a file has one of several, depending on its format."""

    @property
    def name(self) -> str:
        """The name of the operation."""
        return getattr(self.answer, "__name__", self.path)


ENDPOINTS: Final = (
    Endpoint(
        path="/api/history/sessions",
        summary="List sessions, most recently active first.",
        parameters=history_endpoints.HistoryParameters,
        answer=history_endpoints.list_history,
        returns=session_documents.HistoryPage,
    ),
    Endpoint(
        path="/api/overview",
        summary="Get activity by day, this week, running and expiring sessions, and projects.",
        parameters=session_endpoints.NoParameters,
        answer=session_endpoints.describe_overview,
        returns=session_documents.Overview,
        errors=(422, 503),
    ),
    Endpoint(
        path="/api/projects",
        summary="List projects, most recently active first.",
        parameters=session_endpoints.NoParameters,
        answer=session_endpoints.list_projects,
        returns=session_documents.ProjectsDocument,
    ),
    Endpoint(
        path="/api/sessions/{id}",
        summary="Get a session: metadata, figures, subagents.",
        parameters=session_endpoints.SessionParameters,
        answer=session_endpoints.describe_session,
        returns=session_documents.SessionDocument,
        errors=(404, 422),
    ),
    Endpoint(
        path="/api/sessions/{id}/outline",
        summary="List the turns of a session, one line each.",
        parameters=session_endpoints.SessionParameters,
        answer=session_endpoints.describe_outline,
        returns=session_documents.OutlineDocument,
        errors=(404, 422),
    ),
    Endpoint(
        path="/api/sessions/{id}/checkpoints",
        summary="List the checkpoints of a session: its files at each prompt.",
        parameters=session_endpoints.SessionParameters,
        answer=session_endpoints.list_checkpoints,
        returns=file_versions.CheckpointsDocument,
        errors=(404, 422),
    ),
    Endpoint(
        path="/api/file",
        summary="List the versions of a file that sessions recorded.",
        parameters=session_endpoints.PathParameters,
        answer=session_endpoints.list_versions,
        returns=file_versions.FileDocument,
        errors=(404, 422),
    ),
    Endpoint(
        path="/api/sessions/{id}/turns",
        summary="Get a range of turns with all of their steps.",
        parameters=session_endpoints.TurnsParameters,
        answer=session_endpoints.list_turns,
        returns=session_documents.TurnsDocument,
        errors=(404, 422),
    ),
    Endpoint(
        path="/api/sessions/{id}/find",
        summary="Find text in a session, in conversation order.",
        parameters=session_endpoints.FindParameters,
        answer=session_endpoints.find_in_session,
        returns=session_documents.FindDocument,
        errors=(404, 422),
    ),
    Endpoint(
        path="/api/sessions/{id}/records/{uuid}",
        summary="Get a record as it is in the file, with secrets masked.",
        parameters=session_endpoints.RecordParameters,
        answer=session_endpoints.load_record,
        errors=(404, 422),
        media_types=(PLAIN,),
    ),
    Endpoint(
        path="/api/sessions/{id}/export",
        summary="Download a session or some of its turns as a file, with secrets masked.",
        parameters=session_endpoints.ExportParameters,
        answer=session_endpoints.export_session,
        errors=(404, 422),
        media_types=tuple(MEDIA_TYPES[each] for each in session_endpoints.DOWNLOADED),
    ),
    Endpoint(
        path="/api/search",
        summary="Search messages, tool calls and their results.",
        parameters=history_endpoints.SearchParameters,
        answer=history_endpoints.find_texts,
        returns=search_results.SearchDocument,
        errors=(422, 503),
    ),
    Endpoint(
        path="/api/usage",
        summary="Report tokens and cost by day, model, project and more.",
        parameters=history_endpoints.UsageParameters,
        answer=history_endpoints.report_usage,
        returns=usage_report.UsageDocument,
        errors=(422, 503),
    ),
    Endpoint(
        path="/api/usage/causes",
        summary="Report tokens and cost by cause: cache rebuilds, subagents, thinking and more.",
        parameters=history_endpoints.CauseParameters,
        answer=history_endpoints.report_causes,
        returns=usage_report.CauseDocument,
        errors=(422, 503),
    ),
    Endpoint(
        path="/api/usage/explain",
        summary="Explain a figure line by line.",
        parameters=history_endpoints.ExplainParameters,
        answer=history_endpoints.explain_usage,
        returns=usage_report.ExplainDocument,
        errors=(404, 422, 503),
    ),
    Endpoint(
        path="/api/conversations",
        summary="List the conversations that this server runs.",
        parameters=session_endpoints.NoParameters,
        answer=session_endpoints.list_conversations,
        returns=events.ConversationsDocument,
    ),
    Endpoint(
        path="/api/health",
        summary="Check transcripts for damage and unknown data.",
        parameters=session_endpoints.NoParameters,
        answer=session_endpoints.describe_health,
        returns=session_documents.HealthDocument,
    ),
)

THREADS: Final = 8
"""Requests processed at once; they share the processor anyway."""

Handle = Callable[[Request], Awaitable[Response]]


class Workers:
    """Runs request handlers in a bounded number of threads."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._limiter = CapacityLimiter(THREADS)

    async def run(self, work: Callable[[Services], Response]) -> Response:
        """Run `work` in a thread and return its response."""
        return await to_thread.run_sync(work, self._services, limiter=self._limiter)


def make_routes(workers: Workers) -> list[Route]:
    """Return the routes of the API."""
    return [Route(each.path, _make_handler(each, workers), name=each.name) for each in ENDPOINTS]


def _make_handler(endpoint: Endpoint, workers: Workers) -> Handle:
    async def handle(request: Request) -> Response:
        parameters = read_parameters(request, endpoint.parameters)

        def work(services: Services) -> Response:
            value = endpoint.answer(services, parameters)
            if isinstance(value, Download):
                return file_response(value)
            # Encoded in the thread too: encoding a long response takes longer than finding it.
            body = value if isinstance(value, bytes) else encode_json(value)
            return Response(body, media_type=endpoint.media_types[0])

        return await workers.run(work)

    return handle
