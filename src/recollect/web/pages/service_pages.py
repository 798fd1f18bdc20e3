"""Pages about Recollect itself: `/health`, the findings of `recollect doctor`, and `/api`, the
documentation generated from the table of routes.

A health check reads every file. The page shows the last report if it is still valid; otherwise its
script requests a new one.
"""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Final, Literal

import msgspec

from recollect.documents.command_reports import SecretSummary
from recollect.documents.health_report import HealthReport
from recollect.store import is_sqlite_safe
from recollect.web import openapi, session_endpoints, templating
from recollect.web.services import Services
from recollect.workspace.secret_masks import summarize_secrets
from recollect.workspace.session_catalog import Snapshot

QUICK_BYTES: Final = 30_000_000
"""Maximum size to check immediately, which takes about a second."""
MAX_PLACES: Final = 100
"""Maximum number of locations; `recollect doctor --json` lists all of them."""

Verdict = Literal["well", "news", "trouble"]
HealthFinding = tuple[str, str, int]
"""The type of a record, the name of a field in it, and how often it was found."""


class ExpiringSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that Claude Code will delete soon."""

    id: str
    title: str
    file: str
    after: str
    is_listed: bool


class HealthPage(msgspec.Struct, frozen=True, kw_only=True):
    """The last health report, and the state of the index."""

    report: HealthReport | None
    """None if there is none yet; `/api/health` creates it."""
    verdict: Verdict
    unknown_fields: tuple[HealthFinding, ...]
    misfits: tuple[HealthFinding, ...]
    going: tuple[ExpiringSession, ...]
    secrets: tuple[SecretSummary, ...]
    limit: int
    is_sqlite_safe: bool
    is_demo: bool
    roots: tuple[str, ...]
    data_directory: str
    sessions: int
    is_searchable: bool
    failure: str | None


def render_health_page(
    services: Services, _: session_endpoints.NoParameters
) -> templating.PageContent:
    """Render the health page."""
    workspace = services.workspace
    known = workspace.snapshot
    size = sum(each.size for each in known.transcripts.values())
    report = workspace.health() if size < QUICK_BYTES else workspace.find_health()
    page = HealthPage(
        report=report,
        verdict=rate_health(report or HealthReport()),
        unknown_fields=list_findings(report.unknown_fields if report else {}),
        misfits=list_findings(report.misfits if report else {}),
        going=_list_expiring(report, known) if report else (),
        secrets=summarize_secrets(workspace.data_directory),
        limit=MAX_PLACES,
        is_sqlite_safe=report is None or report.sqlite is None or is_sqlite_safe(report.sqlite),
        is_demo=services.settings.is_demo,
        roots=tuple(map(str, services.settings.roots)),
        data_directory=str(services.settings.data_directory),
        sessions=workspace.choices.sessions,
        is_searchable=known.is_searchable,
        failure=known.failure,
    )
    return templating.PageContent("health.html", page, title="health.title", section="health")


def rate_health(report: HealthReport) -> Verdict:
    """Rate a report by damage first, then by unknown data."""
    if not report.is_complete:
        return "trouble"
    return "news" if report.has_drift else "well"


def list_findings(tables: Mapping[str, Mapping[str, int]]) -> tuple[HealthFinding, ...]:
    """Return fields by the type of their record, the most frequent first."""
    found = [(kind, name, count) for kind, names in tables.items() for name, count in names.items()]
    return tuple(sorted(found, key=lambda each: (-each[2], each[0], each[1])))


def _list_expiring(report: HealthReport, known: Snapshot) -> tuple[ExpiringSession, ...]:
    listings = {each.id: each for each in known.sessions}
    return tuple(
        ExpiringSession(
            id=name,
            title=(listing.title or listing.first_prompt or name) if listing else name,
            file=each.file,
            after=each.after,
            is_listed=listing is not None,
        )
        for root in report.roots
        for each in root.expiring
        for name in (PurePath(each.file).stem,)
        for listing in (listings.get(name),)
    )


class ApiParameter(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter of an operation."""

    name: str
    place: str
    is_required: bool
    kind: str
    default: str
    description: str


class ApiEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event of a stream."""

    name: str
    data: str
    description: str


class ApiOperation(msgspec.Struct, frozen=True, kw_only=True):
    """An operation of the API."""

    method: str
    path: str
    summary: str
    description: str
    body: str
    """The schema of the request body; empty for a GET."""
    returns: str
    statuses: tuple[str, ...]
    parameters: tuple[ApiParameter, ...]
    events: tuple[ApiEvent, ...]


class ApiField(msgspec.Struct, frozen=True, kw_only=True):
    """A field of a document."""

    name: str
    kind: str
    is_required: bool


class ApiSchema(msgspec.Struct, frozen=True, kw_only=True):
    """The schema of a document."""

    name: str
    description: str
    fields: tuple[ApiField, ...]


class ApiPage(msgspec.Struct, frozen=True, kw_only=True):
    """The whole API."""

    operations: tuple[ApiOperation, ...]
    schemas: tuple[ApiSchema, ...]


def render_api_page(_: Services, __: session_endpoints.NoParameters) -> templating.PageContent:
    """Render the OpenAPI document as a page."""
    document = openapi.describe_api()
    page = ApiPage(
        operations=tuple(
            _describe_operation(method, path, operation)
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
        ),
        schemas=tuple(
            _describe_schema(name, schema)
            for name, schema in sorted(document["components"]["schemas"].items())
        ),
    )
    return templating.PageContent("api.html", page, title="api.title", section="api")


def _describe_operation(method: str, path: str, operation: dict[str, Any]) -> ApiOperation:
    content = operation["responses"]["200"]["content"]
    schema = next(iter(content.values()))["schema"]
    sent = operation.get("requestBody", {}).get("content", {}).values()
    return ApiOperation(
        method=method.upper(),
        path=path,
        body="".join(_name_kind(each["schema"]) for each in sent),
        summary=operation["summary"],
        description=operation.get("description", ""),
        returns=_name_kind(schema) if "$ref" in schema else ", ".join(content),
        statuses=tuple(operation["responses"]),
        parameters=tuple(map(_describe_parameter, operation["parameters"])),
        events=tuple(map(_describe_event, schema.get("items", {}).get("oneOf", ()))),
    )


def _describe_event(event: dict[str, Any]) -> ApiEvent:
    properties = event["properties"]
    return ApiEvent(
        name=properties["event"]["const"],
        data=_name_kind(properties["data"]),
        description=event["description"],
    )


def _describe_parameter(parameter: dict[str, Any]) -> ApiParameter:
    schema = parameter["schema"]
    default = schema.get("default")
    return ApiParameter(
        name=parameter["name"],
        place=parameter["in"],
        is_required=parameter["required"],
        kind=_name_kind(schema),
        default="" if default is None else _show_default(default),
        description=parameter.get("description", ""),
    )


def _show_default(value: Any) -> str:
    """Format a value as in a query: false, not False."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _describe_schema(name: str, schema: dict[str, Any]) -> ApiSchema:
    required = set(schema.get("required", ()))
    return ApiSchema(
        name=name,
        description=schema.get("description", ""),
        fields=tuple(
            ApiField(name=field, kind=_name_kind(each), is_required=field in required)
            for field, each in schema.get("properties", {}).items()
        ),
    )


def _name_kind(schema: dict[str, Any]) -> str:
    """Describe a schema in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(map(_name_kind, schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(map(repr, schema["enum"]))
    if schema.get("type") == "array":
        inner = schema.get("prefixItems") or [schema.get("items", {})]
        return f"list of {', '.join(map(_name_kind, inner))}"
    return str(schema.get("format") or schema.get("type") or "any")
