"""The OpenAPI 3.1 document, made from the table of the API and the types in it."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import structs

from recollect import __version__
from recollect.web.answers import JSON, ErrorDocument
from recollect.web.endpoints import ENDPOINTS, Endpoint

Document = dict[str, Any]

_REFERENCE: Final = "#/components/schemas/{name}"
_IN_PATH: Final = re.compile(r"\{(\w+)\}")
_ERRORS: Final = {
    401: "There is no key, or it is wrong.",
    404: "There is no such thing.",
    422: "A parameter is wrong; the answer says which and why.",
    503: "The index cannot be used right now.",
}


@cache
def describe_api() -> Document:
    """The document."""
    documents = [ErrorDocument, *(each.returns for each in ENDPOINTS if each.returns)]
    schemas, components = msgspec.json.schema_components(documents, ref_template=_REFERENCE)
    answers = dict(zip(documents, schemas, strict=True))
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Recollect",
            "version": __version__,
            "description": "Sessions of Claude Code on this machine; everything is read only.",
        },
        "security": [{"bearer": []}, {"cookie": []}],
        "paths": {each.path: {"get": _describe(each, answers)} for each in ENDPOINTS},
        "components": {
            "schemas": components,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "recollect-<port>"},
            },
        },
    }


def _describe(endpoint: Endpoint, answers: Mapping[object, Document]) -> Document:
    schema = {"type": "string"} if endpoint.returns is None else answers[endpoint.returns]
    media_type = endpoint.media_type.partition(";")[0]
    failed = {JSON: {"schema": answers[ErrorDocument]}}
    return {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "parameters": _list_parameters(endpoint),
        "responses": {
            "200": {"description": "The answer.", "content": {media_type: {"schema": schema}}},
            **{
                str(status): {"description": _ERRORS[status], "content": failed}
                for status in (401, *endpoint.errors)
            },
        },
    }


def _list_parameters(endpoint: Endpoint) -> list[Document]:
    in_path = set(_IN_PATH.findall(endpoint.path))
    return [
        _describe_parameter(field, is_in_path=field.encode_name in in_path)
        for field in structs.fields(endpoint.parameters)
    ]


def _describe_parameter(field: structs.FieldInfo, *, is_in_path: bool) -> Document:
    schema = _inline(field.type)
    described: Document = {
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


def _inline(declared: object) -> Document:
    """The schema of a parameter in one piece; a text in a URL is never null."""
    (schema,), components = msgspec.json.schema_components([declared], ref_template="{name}")
    choices = [each for each in schema.pop("anyOf", [schema]) if each != {"type": "null"}]
    (chosen,) = choices
    reference = chosen.pop("$ref", None)
    merged = {**components.get(reference, {}), **chosen, **schema}
    return {name: value for name, value in merged.items() if name != "title"}
