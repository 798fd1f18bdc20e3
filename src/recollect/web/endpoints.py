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

from recollect.documents.api_documents import (
    FindDocument,
    HealthDocument,
    OutlineDocument,
    ProjectsDocument,
    SessionDocument,
)
from recollect.documents.events import ConversationsDocument
from recollect.documents.file_versions import CheckpointsDocument, FileDocument
from recollect.documents.search_results import SearchDocument
from recollect.documents.session_documents import HistoryPage, Overview, TurnsDocument
from recollect.documents.usage_report import CauseDocument, ExplainDocument, UsageDocument
from recollect.web.api.export_endpoint import ExportParameters, export_session
from recollect.web.api.file_endpoints import PathParameters, list_checkpoints, list_versions
from recollect.web.api.history import HistoryParameters, list_history
from recollect.web.api.search_endpoint import SearchParameters, find_texts
from recollect.web.api.session_endpoints import (
    FindParameters,
    NoParameters,
    RecordParameters,
    SessionParameters,
    describe_health,
    describe_outline,
    describe_overview,
    describe_session,
    find_in_session,
    list_conversations,
    list_projects,
    load_record,
)
from recollect.web.api.turn_endpoints import TurnsParameters, list_turns
from recollect.web.api.usage_endpoints import (
    CauseParameters,
    ExplainParameters,
    UsageParameters,
    explain_usage,
    report_causes,
    report_usage,
)
from recollect.web.parameters import read_parameters
from recollect.web.responses import JSON, Download, encode_json, file_response
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
    media_type: str = JSON

    @property
    def name(self) -> str:
        """The name of the operation."""
        return getattr(self.answer, "__name__", self.path)


ENDPOINTS: Final = (
    Endpoint(
        path="/api/history/sessions",
        summary="List sessions, most recently active first.",
        parameters=HistoryParameters,
        answer=list_history,
        returns=HistoryPage,
    ),
    Endpoint(
        path="/api/overview",
        summary="Get activity by day, this week, what runs, what expires, and projects.",
        parameters=NoParameters,
        answer=describe_overview,
        returns=Overview,
        errors=(422, 503),
    ),
    Endpoint(
        path="/api/projects",
        summary="List projects, most recently active first.",
        parameters=NoParameters,
        answer=list_projects,
        returns=ProjectsDocument,
    ),
    Endpoint(
        path="/api/sessions/{id}",
        summary="Get a session: metadata, figures, subagents.",
        parameters=SessionParameters,
        answer=describe_session,
        returns=SessionDocument,
        errors=(404, 422),
    ),
    Endpoint(
        path="/api/sessions/{id}/outline",
        summary="List the turns of a session, one line each.",
        parameters=SessionParameters,
        answer=describe_outline,
        returns=OutlineDocument,
        errors=(404, 422),
    ),
    Endpoint(
        path="/api/sessions/{id}/checkpoints",
        summary="List the states of a session's files, one per prompt.",
        parameters=SessionParameters,
        answer=list_checkpoints,
        returns=CheckpointsDocument,
        errors=(404, 422),
    ),
    Endpoint(
        path="/api/file",
        summary="List the versions of a file that sessions recorded.",
        parameters=PathParameters,
        answer=list_versions,
        returns=FileDocument,
        errors=(404, 422),
    ),
    Endpoint(
        path="/api/sessions/{id}/turns",
        summary="Get a range of turns with all of their steps.",
        parameters=TurnsParameters,
        answer=list_turns,
        returns=TurnsDocument,
        errors=(404, 422),
    ),
    Endpoint(
        path="/api/sessions/{id}/find",
        summary="Find text in a session, in conversation order.",
        parameters=FindParameters,
        answer=find_in_session,
        returns=FindDocument,
        errors=(404, 422),
    ),
    Endpoint(
        path="/api/sessions/{id}/records/{uuid}",
        summary="Get a record as it is in the file, with secrets masked.",
        parameters=RecordParameters,
        answer=load_record,
        errors=(404, 422),
        media_type=PLAIN,
    ),
    Endpoint(
        path="/api/sessions/{id}/export",
        summary="Download a session as a file, with its secrets masked.",
        parameters=ExportParameters,
        answer=export_session,
        errors=(404, 422),
        media_type="application/octet-stream",
    ),
    Endpoint(
        path="/api/search",
        summary="Search messages, tool calls and their results.",
        parameters=SearchParameters,
        answer=find_texts,
        returns=SearchDocument,
        errors=(422, 503),
    ),
    Endpoint(
        path="/api/usage",
        summary="Report tokens and cost by day, model, project and more.",
        parameters=UsageParameters,
        answer=report_usage,
        returns=UsageDocument,
        errors=(422, 503),
    ),
    Endpoint(
        path="/api/usage/causes",
        summary="Report tokens and cost by cause: cache rebuilds, subagents, thinking and more.",
        parameters=CauseParameters,
        answer=report_causes,
        returns=CauseDocument,
        errors=(422, 503),
    ),
    Endpoint(
        path="/api/usage/explain",
        summary="Explain a figure line by line.",
        parameters=ExplainParameters,
        answer=explain_usage,
        returns=ExplainDocument,
        errors=(404, 422, 503),
    ),
    Endpoint(
        path="/api/conversations",
        summary="List the conversations that this server runs.",
        parameters=NoParameters,
        answer=list_conversations,
        returns=ConversationsDocument,
    ),
    Endpoint(
        path="/api/health",
        summary="Report what is on disk, what is unknown and what is damaged.",
        parameters=NoParameters,
        answer=describe_health,
        returns=HealthDocument,
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
            # Encoded in the thread, too: encoding a long response takes longer than finding it.
            body = value if isinstance(value, bytes) else encode_json(value)
            return Response(body, media_type=endpoint.media_type)

        return await workers.run(work)

    return handle
