"""Ids are looked up and never become paths."""

from itertools import product
from urllib.parse import quote

from tests.web.running import RunningServer

TARGETS = ("etc/passwd", ".claude.json", "claude/history.jsonl", "data/server.json", "con")
CLIMBS = (
    "../",
    "../../../../../../",
    "..\\",
    "....//",
    "..;/",
    "%2e%2e/",
    "%2e%2e%2f",
    "..%2f",
    "..%5c",
    "%252e%252e%252f",
    "..%c0%af",
    "..%ef%bc%8f",
    "/",
    "//",
    "\\\\host\\share\\",
    "file:///",
    "C:\\",
    "%00",
    "~/",
    "./",
)
WAYS = ("/s/{}", "/api/sessions/{}", "/api/sessions/{}/turns", "/s/{}/raw/x", "/static/{}")
ODD = (
    "::$DATA",
    "NUL.jsonl",
    "a\u202e",
    "\U0001f600",
    "a" * 5000,
    "-1",
    "latest",
    "..",
    ".",
    "'; DROP TABLE files;--",
    "{{7*7}}",
    "<script>",
)


def test_five_hundred_climbs_find_nothing(server: RunningServer) -> None:
    """No spelling of a way out of the directory reads a file, and none is a crash."""
    climbs = [f"{climb}{target}" for climb, target in product(CLIMBS, TARGETS)]
    asked = [way.format(climb) for way, climb in product(WAYS, climbs)]
    asked += [way.format(quote(odd)) for way, odd in product(WAYS, ODD)]
    assert len(asked) >= 500
    statuses = {path: server.get(path.replace(" ", "%20")).status for path in asked}
    assert {path: each for path, each in statuses.items() if each not in {404, 414, 422}} == {}


def test_parameters_name_no_files(server: RunningServer) -> None:
    """Paths of transcripts, which commands accept, are rejected."""
    transcript = next(server.root.rglob("*.jsonl"))
    for name in (str(transcript), transcript.name, f"../{transcript.name}"):
        for path in ("/api/usage/explain?target=", "/usage/explain?target="):
            assert server.get(path + quote(name, safe="")).status == 404
        assert server.get(f"/api/search?q=a&session={quote(name, safe='')}").status in {200, 422}


def test_projects_are_names_and_not_places(server: RunningServer) -> None:
    """A project's name chooses among sessions that are known."""
    answer = server.get("/api/history/sessions?projectPath=../../..")
    assert (answer.status, answer.json()["total"]) == (200, 0)
