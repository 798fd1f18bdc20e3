"""The OpenAPI 3.1 document, generated from the tables of the API and of its events.

OpenAPI 3.1 cannot describe event streams. Like other generators, this one describes a stream as an
array of its events, each with its name and the schema of its data.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import msgspec

from recollect import __version__
from recollect.documents.session_documents import ErrorDocument
from recollect.web import event_stream
from recollect.web.conversations import page_messages
from recollect.web.conversations.page_messages import PREFIX as CONVERSATIONS
from recollect.web.endpoints import ENDPOINTS, Endpoint
from recollect.web.http_messages import JSON
from recollect.web.session_endpoints import NoParameters

OpenApiObject = dict[str, Any]
Schemas = Mapping[type[msgspec.Struct], OpenApiObject]
EventTable = Mapping[Any, event_stream.EventKind]
"""Events by name."""

_REFERENCE: Final = "#/components/schemas/{name}"
_IN_PATH: Final = re.compile(r"\{(\w+)\}")
_ERRORS: Final = {
    401: "The key is missing or wrong.",
    404: "Not found.",
    422: "A parameter is invalid; the response says which and why.",
    503: "The index is not available at the moment.",
}


_EVENT_ERRORS: Final = {
    401: _ERRORS[401],
    404: "Session not found.",
    422: _ERRORS[422],
    503: f"{event_stream.MAX_CLIENTS} clients are connected already.",
}
_ACTION_ERRORS: Final = {
    401: _ERRORS[401],
    403: "Not sent by a page of this server, wrong nonce, or running Claude Code is not allowed.",
    404: "No such conversation.",
    409: "The conversation has ended, the request is settled, or too many are running.",
    422: _ERRORS[422],
}
_PAGES_ONLY: Final = (
    "For pages of this server only: same origin, Sec-Fetch-Site: same-origin, the cookie and the"
    " nonce of the page. The API key is refused."
)
_ID_FIELD: Final = msgspec.structs.fields(page_messages.EventParameters)[0]
_LAST_ID: Final[OpenApiObject] = {
    "name": "Last-Event-ID",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "The id of the last event received; later events are sent again."
    " Browsers send it automatically. Takes precedence over last_id.",
}


@cache
def describe_api() -> OpenApiObject:
    """Return the document."""
    documents = _list_types()
    schemas, components = msgspec.json.schema_components(documents, ref_template=_REFERENCE)
    known: Schemas = dict(zip(documents, schemas, strict=True))
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Recollect",
            "version": __version__,
            "description": "Claude Code sessions on this machine. Paths below /c are for pages of"
            " this server: they control conversations and need `recollect serve --allow-run`.",
        },
        "security": [{"bearer": []}, {"cookie": []}],
        "paths": {
            **{each.path: {"get": _describe(each, known)} for each in ENDPOINTS},
            event_stream.PATH: {"get": _describe_events(known)},
            **_describe_conversations(known),
        },
        "components": {
            "schemas": components,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "recollect-<port>"},
                "nonce": {"type": "apiKey", "in": "header", "name": "X-Recollect-Nonce"},
            },
        },
    }


def _list_types() -> list[type[msgspec.Struct]]:
    """Return all types that are sent, each once."""
    answers = (each.returns for each in ENDPOINTS if each.returns)
    tables = (event_stream.EVENTS, page_messages.PAGE_EVENTS, page_messages.RUNNING_EVENTS)
    events = (kind.data for table in tables for kind in table.values())
    actions = (page_messages.START_ACTION, *page_messages.ACTIONS.values())
    sent = (shape for each in actions for shape in (each.answer, each.body))
    return list(dict.fromkeys((ErrorDocument, *answers, *events, *sent)))


def _describe(endpoint: Endpoint, known: Schemas) -> OpenApiObject:
    content = {
        media_type.partition(";")[0]: {"schema": _describe_content(endpoint, media_type, known)}
        for media_type in endpoint.media_types
    }
    errors = {status: _ERRORS[status] for status in (401, *endpoint.errors)}
    return {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "parameters": _list_parameters(endpoint.path, endpoint.parameters),
        "responses": {
            "200": {"description": "The answer.", "content": content},
            **_describe_errors(errors, known),
        },
    }


def _describe_content(endpoint: Endpoint, media_type: str, known: Schemas) -> OpenApiObject:
    if endpoint.returns is not None:
        return known[endpoint.returns]
    return {"type": "object" if media_type == JSON else "string"}


def _describe_events(known: Schemas) -> OpenApiObject:
    return {
        "operationId": "listen",
        "summary": "Stream changes as server-sent events.",
        "description": "Sessions that have changed or, if a session is given, new records of it and"
        " its subagents. Every event has an id; a client that reconnects with the last one gets"
        " every event that it missed, exactly once.",
        "parameters": [
            *_list_parameters(event_stream.PATH, event_stream.EventsParameters),
            _LAST_ID,
        ],
        "responses": {
            "200": {
                "description": "An endless stream. A comment is sent after"
                f" {event_stream.HEARTBEAT_SECONDS:.0f} seconds without an event.",
                "content": {
                    event_stream.EVENT_STREAM: {
                        "schema": _describe_stream(event_stream.EVENTS, known)
                    }
                },
            },
            **_describe_errors(_EVENT_ERRORS, known),
        },
    }


def _describe_conversations(known: Schemas) -> OpenApiObject:
    """Return the paths that start, follow and control conversations."""
    own = f"{CONVERSATIONS}/{{id}}"
    controlled = {
        f"{own}/{name}": {"post": _describe_action(f"conversation_{name}", action, own, known)}
        for name, action in page_messages.ACTIONS.items()
    }
    follow = "Stream the events of one conversation."
    follow_all = "Stream the list of conversations."
    return {
        CONVERSATIONS: {
            "post": _describe_action(
                "start_conversation", page_messages.START_ACTION, CONVERSATIONS, known
            )
        },
        f"{CONVERSATIONS}/events": {
            "get": _describe_feed(
                "conversations", follow_all, NoParameters, page_messages.RUNNING_EVENTS, known
            )
        },
        f"{own}/events": {
            "get": _describe_feed(
                "conversation",
                follow,
                page_messages.EventParameters,
                page_messages.PAGE_EVENTS,
                known,
            )
        },
        **controlled,
    }


def _describe_action(
    operation: str, action: page_messages.Action, path: str, known: Schemas
) -> OpenApiObject:
    named = [_describe_parameter(_ID_FIELD, is_in_path=True)] if "{id}" in path else []
    return {
        "operationId": operation,
        "summary": action.summary,
        "description": _PAGES_ONLY,
        "security": [{"cookie": [], "nonce": []}],
        "parameters": named,
        "requestBody": {
            "required": True,
            "content": {JSON: {"schema": known[action.body]}},
        },
        "responses": {
            "200": {"description": "Done.", "content": {JSON: {"schema": known[action.answer]}}},
            **_describe_errors(_ACTION_ERRORS, known),
        },
    }


def _describe_feed(
    name: str,
    summary: str,
    parameters: type[msgspec.Struct],
    events: EventTable,
    known: Schemas,
) -> OpenApiObject:
    return {
        "operationId": f"follow_{name}",
        "summary": summary,
        "parameters": [
            *_list_parameters("{id}", parameters),
            *([_LAST_ID] if parameters is page_messages.EventParameters else []),
        ],
        "responses": {
            "200": {
                "description": "A stream that does not end.",
                "content": {event_stream.EVENT_STREAM: {"schema": _describe_stream(events, known)}},
            },
            **_describe_errors(_EVENT_ERRORS, known),
        },
    }


def _describe_stream(events: EventTable, known: Schemas) -> OpenApiObject:
    kinds = [_describe_event(name, kind, known) for name, kind in events.items()]
    return {
        "type": "array",
        "description": "Each item is an event; its data is JSON on one line.",
        "items": {"oneOf": kinds},
    }


def _describe_event(name: str, kind: event_stream.EventKind, known: Schemas) -> OpenApiObject:
    return {
        "type": "object",
        "description": kind.meaning,
        "properties": {
            "event": {"const": name},
            "id": {"type": "string"},
            "data": known[kind.data],
        },
        "required": ["event", "id", "data"],
    }


def _describe_errors(meanings: Mapping[int, str], known: Schemas) -> OpenApiObject:
    content = {JSON: {"schema": known[ErrorDocument]}}
    return {
        str(status): {"description": text, "content": content} for status, text in meanings.items()
    }


def _list_parameters(path: str, parameters: type[msgspec.Struct]) -> list[OpenApiObject]:
    in_path = set(_IN_PATH.findall(path))
    return [
        _describe_parameter(field, is_in_path=field.encode_name in in_path)
        for field in msgspec.structs.fields(parameters)
    ]


def _describe_parameter(field: msgspec.structs.FieldInfo, *, is_in_path: bool) -> OpenApiObject:
    schema = _inline(field.type)
    described: OpenApiObject = {
        "name": field.encode_name,
        "in": "path" if is_in_path else "query",
        "required": is_in_path or field.required,
        "schema": schema,
    }
    text = schema.pop("description", None)
    if text:
        described["description"] = text
    if not field.required and field.default is not None:
        schema["default"] = msgspec.to_builtins(field.default)
    return described


def _inline(declared: object) -> OpenApiObject:
    """Return the schema of a parameter without references; a string in a URL is never null."""
    (schema,), components = msgspec.json.schema_components([declared], ref_template="{name}")
    choices = [each for each in schema.pop("anyOf", [schema]) if each != {"type": "null"}]
    (chosen,) = choices
    reference = chosen.pop("$ref", None)
    merged = {**components.get(reference, {}), **chosen, **schema}
    return {name: value for name, value in merged.items() if name != "title"}
