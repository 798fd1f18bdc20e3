"""The responses of the API to requests on the demo data, and that its document is correct."""

import json
from typing import Any
from urllib.parse import quote, urlencode

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from recollect.web.openapi import describe_api
from tests.web.addresses import SESSION
from tests.web.running import Answer, RunningServer

PATHS: dict[str, Any] = {
    path: each for path, each in describe_api()["paths"].items() if path.startswith("/api/")
}
KNOWN_IDS = (SESSION, "agent-a557725", "ba574db1-5dd4-405b-8185-149b3afd7a31")
ODD_TEXTS = st.one_of(
    st.text(max_size=40),
    st.sampled_from(["", "0", "-1", "1e9", "true", "NaN", "null", "9" * 40, "\x00", "a" * 3000]),
)


def test_document_is_openapi(server: RunningServer) -> None:
    """The document is served as generated, and every reference in it can be resolved."""
    document = server.get("/api/openapi.json").json()
    assert document == json.loads(json.dumps(describe_api()))
    assert document["openapi"] == "3.1.0"
    schemas = document["components"]["schemas"]
    assert _references(document) <= set(schemas)


def _references(value: object) -> set[str]:
    if isinstance(value, dict):
        found = set().union(*map(_references, value.values())) if value else set()
        reference = value.get("$ref")
        return found | ({reference.rpartition("/")[2]} if isinstance(reference, str) else set())
    if isinstance(value, list):
        return set().union(*map(_references, value)) if value else set()
    return set()


def _value_for(schema: dict[str, Any], name: str) -> SearchStrategy[str]:
    if name in {"id", "session"}:
        return st.sampled_from(KNOWN_IDS)
    if "enum" in schema:
        return st.sampled_from([str(each) for each in schema["enum"]])
    if schema.get("type") == "boolean":
        return st.sampled_from(["true", "false", "1", "0"])
    if schema.get("type") == "integer":
        highest = min(schema.get("maximum", 1000), 1000)
        return st.integers(schema.get("minimum", 0), highest).map(str)
    if schema.get("format") == "date":
        return st.dates().map(str)
    return st.text(st.characters(codec="utf-8"), max_size=60)


@st.composite
def requests(draw: DrawFn) -> tuple[str, str, dict[str, str]]:
    """Generate a path of the document with parameters, most of them valid."""
    path = draw(st.sampled_from(sorted(PATHS)))
    query: list[tuple[str, str]] = []
    headers: dict[str, str] = {}
    address = path
    for parameter in PATHS[path]["get"]["parameters"]:
        name = parameter["name"]
        right = _value_for(parameter["schema"], name)
        value = draw(st.one_of(right, right, right, ODD_TEXTS))
        if parameter["in"] == "path":
            address = address.replace(f"{{{name}}}", quote(value, safe="") or "x")
        elif parameter["in"] == "header":
            headers[name] = quote(value)
        elif parameter["required"] or draw(st.booleans()):
            query.append((name, value))
    if draw(st.integers(0, 9)) == 0:
        query.append((draw(st.text(min_size=1, max_size=10)), draw(ODD_TEXTS)))
    return path, f"{address}?{urlencode(query, errors='surrogatepass')}", headers


@pytest.mark.slow
@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(request=requests())
def test_every_answer_is_as_documented(
    server: RunningServer, request: tuple[str, str, dict[str, str]]
) -> None:
    """Any request ends in a documented status, and every JSON answer has its documented shape."""
    path, address, headers = request
    answer = server.get(address, **headers)
    if answer.status in {404, 414} and answer.status != 200:
        # A path parameter may make it another path, and a query may be too long.
        return
    check_documented(path, answer)


def check_documented(path: str, answer: Answer) -> None:
    """Fail unless the document announces an answer like this one."""
    responses = PATHS[path]["get"]["responses"]
    assert str(answer.status) in responses, answer
    content = responses[str(answer.status)]["content"]
    media_type = answer.headers["content-type"].partition(";")[0]
    assert media_type in content
    if media_type == "application/json":
        schema = {**content[media_type]["schema"], "components": describe_api()["components"]}
        jsonschema.Draft202012Validator(schema).validate(answer.json())


@pytest.mark.parametrize("session_id", KNOWN_IDS)
def test_every_session_has_its_documented_shape(server: RunningServer, session_id: str) -> None:
    """Sessions, subagents, their turns and their outlines."""
    for path in ("/api/sessions/{id}", "/api/sessions/{id}/turns", "/api/sessions/{id}/outline"):
        answer = server.get(path.replace("{id}", session_id))
        assert answer.status == 200
        check_documented(path, answer)


@pytest.mark.parametrize("kind", ["html", "markdown", "text", "json", "csv"])
def test_downloads_have_their_documented_type(server: RunningServer, kind: str) -> None:
    """The media type of a file depends on its format."""
    answer = server.get(f"/api/sessions/{KNOWN_IDS[0]}/export?format={kind}")
    assert answer.status == 200
    check_documented("/api/sessions/{id}/export", answer)


@pytest.mark.parametrize("path", [path for path in sorted(PATHS) if "{" not in path])
def test_plain_paths_have_their_documented_shape(server: RunningServer, path: str) -> None:
    """Everything that needs no id."""
    required = {
        "/api/search": "?q=release",
        "/api/usage/explain": "?target=2026-11-12",
        "/api/file": "?path=/home/mina/projects/tidepool/src/tidepool/cli.py",
    }
    answer = server.get(path + required.get(path, ""))
    assert answer.status == 200
    check_documented(path, answer)


def test_history_has_the_metadata_that_others_ask_for(server: RunningServer) -> None:
    """One page of sessions with the fields that programs for these files name."""
    page = server.get("/api/history/sessions?page=1&pageSize=2").json()
    assert (page["total"], page["hasMore"], len(page["sessions"])) == (8, True, 2)
    first = page["sessions"][0]
    shown = {name: first[name] for name in ("id", "projectId", "isSubagent", "version")}
    assert shown == {
        "id": "ba574db1-5dd4-405b-8185-149b3afd7a31",
        "projectId": "-home-mina-projects-letterpress",
        "isSubagent": False,
        "version": "2.1.325",
    }
    assert first["firstMessageTimestamp"] == "2026-11-12T06:00:03.603Z"
    assert first["createdAt"] == 1794463203603


def test_pages_of_history_make_up_the_whole(server: RunningServer) -> None:
    """Every session is on one page, and only the last page has no next one."""
    whole = server.get("/api/history/sessions?pageSize=200").json()["sessions"]
    pages = [server.get(f"/api/history/sessions?pageSize=3&page={n}").json() for n in (1, 2, 3)]
    assert [each for page in pages for each in page["sessions"]] == whole
    assert [page["hasMore"] for page in pages] == [True, True, False]


def test_subagents_are_listed_when_asked_for(server: RunningServer) -> None:
    """They are hidden unless they are asked for."""
    plain = server.get("/api/history/sessions").json()["sessions"]
    every = server.get("/api/history/sessions?includeSubagents=true&pageSize=200").json()
    assert [each for each in plain if each["isSubagent"]] == []
    assert every["total"] > len(plain)


def test_history_of_one_project(server: RunningServer) -> None:
    """A working directory and the name of its directory mean the same sessions."""
    named = [
        server.get(f"/api/history/sessions?projectPath={quote(name)}").json()["sessions"]
        for name in ("/home/mina/projects/tidepool", "-home-mina-projects-tidepool")
    ]
    assert named[0] == named[1]
    assert {each["projectPath"] for each in named[0]} == {"/home/mina/projects/tidepool"}


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("page=0", "page"),
        ("page=x", "page"),
        ("pageSize=201", "pageSize"),
        ("includeSubagents=maybe", "includeSubagents"),
        ("since=2026-13-01", "since"),
        ("order=sideways", "order"),
        ("projectpath=x", "projectpath"),
        ("page=1&page=2", "page"),
    ],
)
def test_bad_parameters_are_named(server: RunningServer, query: str, parameter: str) -> None:
    """The error names the invalid parameter and the reason."""
    answer = server.get(f"/api/history/sessions?{query}")
    error = answer.json()["error"]
    assert (answer.status, error["code"], error["parameter"]) == (422, "bad_parameter", parameter)
    assert error["message"]


def test_bad_query_is_explained(server: RunningServer) -> None:
    """The error of an invalid query has its position."""
    answer = server.get("/api/search?q=" + quote("fix (test"))
    assert (answer.status, answer.json()["error"]) == (
        422,
        {
            "code": "bad_query",
            "message": (
                "missing closing parenthesis; to search for parentheses put the text in quotes"
            ),
            "parameter": "q",
            "column": 5,
        },
    )


@pytest.mark.parametrize(
    "path",
    [
        "/api/sessions/00000000-0000-0000-0000-000000000000",
        f"/api/sessions/{SESSION}/records/none",
        f"/api/sessions/{SESSION}/turns?at=none",
        f"/api/sessions/{SESSION}/turns?agent=none",
        "/api/usage/explain?target=none",
    ],
)
def test_unknown_ids_are_not_found(server: RunningServer, path: str) -> None:
    """The status is 404, with a code for programs."""
    answer = server.get(path)
    assert (answer.status, answer.json()["error"]["code"]) == (404, "not_found")


def test_record_is_its_bytes(server: RunningServer) -> None:
    """A raw record is what is in the file, byte for byte."""
    turns = server.get(f"/api/sessions/{SESSION}/turns").json()["turns"]
    uuid = turns[0]["uuid"]
    answer = server.get(f"/api/sessions/{SESSION}/records/{uuid}")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    (path,) = server.root.rglob(f"{SESSION}.jsonl")
    assert answer.body in path.read_bytes().split(b"\n")
    assert answer.body.count(uuid.encode()) >= 1


def test_turns_come_by_range(server: RunningServer) -> None:
    """Ranges add up to the whole, and have the total."""
    whole = server.get(f"/api/sessions/{SESSION}/turns?count=200").json()
    parts = [
        server.get(f"/api/sessions/{SESSION}/turns?start={start}&count=1").json()
        for start in range(whole["total"])
    ]
    assert [turn for part in parts for turn in part["turns"]] == whole["turns"]
    assert server.get(f"/api/sessions/{SESSION}/turns?start=999").json()["turns"] == []
