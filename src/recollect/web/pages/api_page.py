"""`/api`: the API, from the table that its routes are made of."""

from typing import Any

import msgspec
from msgspec import Struct

from recollect.web.api.session_endpoints import NoParameters
from recollect.web.openapi import describe_api
from recollect.web.services import Services
from recollect.web.templating import PageContent


class ApiParameter(Struct, frozen=True, kw_only=True):
    """A parameter of an operation."""

    name: str
    place: str
    is_required: bool
    kind: str
    default: str
    description: str


class ApiEvent(Struct, frozen=True, kw_only=True):
    """An event of a stream."""

    name: str
    data: str
    description: str


class ApiOperation(Struct, frozen=True, kw_only=True):
    """An operation of the API."""

    method: str
    path: str
    summary: str
    description: str
    body: str
    """The shape of what is sent; empty for a GET."""
    returns: str
    statuses: tuple[str, ...]
    parameters: tuple[ApiParameter, ...]
    events: tuple[ApiEvent, ...]


class ApiField(Struct, frozen=True, kw_only=True):
    """A field of a document."""

    name: str
    kind: str
    is_required: bool


class ApiSchema(Struct, frozen=True, kw_only=True):
    """The shape of a document."""

    name: str
    description: str
    fields: tuple[ApiField, ...]


class ApiPage(Struct, frozen=True, kw_only=True):
    """The whole API."""

    operations: tuple[ApiOperation, ...]
    schemas: tuple[ApiSchema, ...]


def render_api_page(_: Services, __: NoParameters) -> PageContent:
    """Render the OpenAPI document as a page."""
    document = describe_api()
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
    return PageContent("api.html", page, title="api.title", section="api")


def _describe_operation(method: str, path: str, operation: dict[str, Any]) -> ApiOperation:
    content = operation["responses"]["200"]["content"]
    ((media_type, body),) = content.items()
    schema = body["schema"]
    sent = operation.get("requestBody", {}).get("content", {}).values()
    return ApiOperation(
        method=method.upper(),
        path=path,
        body="".join(_name_kind(each["schema"]) for each in sent),
        summary=operation["summary"],
        description=operation.get("description", ""),
        returns=_name_kind(schema) if "$ref" in schema else media_type,
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
    """Return a value as in a query: false, not False."""
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
