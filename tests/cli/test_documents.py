"""Tests of recollect.cli.json_output: all JSON output matches its schema."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from recollect.cli.json_output import DOCUMENTS, format_document, load_document_type
from tests.cli.demo_home import make_demo_home, pretend_to_serve, run_at
from tests.git_repository import commit_everything
from tests.launch.fake_client import Step, answer, call, init, make_client, result, text
from tests.process import RunRecollect
from tools import generate_schemas
from tools.command_pages import list_pages

SESSION = "94791a87-9d13-410a-a632-25a9b25c1b45"
LINES = "--json-lines"
PRINTED_BY: dict[str, tuple[tuple[str, ...], ...]] = {
    "recollect.list/2": (("list", "-n", "0"), ("list", "--tree")),
    "recollect.show/2": (("show", SESSION), ("show", "7aa5fa93", "--subagents")),
    "recollect.event/2": (
        ("follow", SESSION, "--until", "idle", LINES),
        ("follow", "7aa5fa93", "--until", "end", "--poll", LINES),
    ),
    "recollect.files/2": (("files", SESSION), ("files", "--project", "tidepool")),
    "recollect.file/1": (("file", "/home/mina/projects/tidepool/src/tidepool/cli.py"),),
    "recollect.blame/1": (
        ("blame", "{project}/src/tidepool/cli.py", "--moved-from", "/home/mina/projects/tidepool"),
    ),
    "recollect.tree/1": (("blame", "--stat", "{project}"),),
    "recollect.commits/1": (("commits", SESSION, "--repo", "{project}"),),
    "recollect.why/1": (("why", "HEAD", "--repo", "{project}"),),
    "recollect.checkpoints/1": (("checkpoints", SESSION),),
    "recollect.tools/1": (("tools",),),
    "recollect.run/2": (("run", "count the lines", LINES),),
    "recollect.resume/1": (("resume", SESSION),),
    "recollect.open/1": (("open", SESSION),),
    "recollect.search/2": (("search", "tide"),),
    "recollect.usage/1": (
        ("usage",),
        ("usage", "block"),
        ("usage", "session", "--client-cost", "--breakdown"),
    ),
    "recollect.usage-cause/1": (("usage", "cause"), ("usage", "cause", "other")),
    "recollect.usage-explain/1": (
        ("usage", "explain", SESSION),
        ("usage", "explain", "2026-11-09"),
    ),
    "recollect.doctor/2": (("doctor",), ("doctor", "--demo")),
    "recollect.secrets-scan/1": (("secrets", "scan", SESSION),),
    "recollect.index/2": (("index",), ("index", "--status")),
    "recollect.archive-status/1": (("archive", "status"), ("archive", "enable", "--yes")),
    "recollect.archive-sync/1": (("archive", "sync"),),
    "recollect.archive-list/1": (("archive", "list"),),
    "recollect.archive-verify/1": (("archive", "verify", "--deep"),),
    "recollect.archive-restore/1": (("archive", "restore", SESSION, "--to", "{folder}"),),
    "recollect.archive-export/1": (("archive", "export", SESSION, "-o", "{folder}/tide.tar.zst"),),
    "recollect.archive-removal/1": (("archive", "forget", SESSION, "--yes"),),
    "recollect.bundle/1": (("bundle", SESSION, "-o", "{folder}/tide.recollect"),),
    "recollect.import/1": (("import", "{bundle}", "--to", "{folder}"),),
    "recollect.export/1": (("export", SESSION, "-o", "{folder}/tide.html"),),
    "recollect.statusline/2": (("statusline", "--no-sync"),),
    "recollect.config/1": (("config", "show"),),
}
"""Commands that print documents of each schema."""
CALLS = [(schema, words) for schema, calls in PRINTED_BY.items() for words in calls]
SCRIPT: list[Step] = [
    init(),
    call("Bash", {"command": "wc -l README.md"}, uuid="a"),
    answer("7 README.md", to="a"),
    text("It has seven lines.", uuid="b"),
    "no message",
    ["complain", "the tide is out"],
    result(),
]
"""The script of the client that `run` starts."""

Print = Callable[..., list[Any]]


@pytest.fixture
def printed(run_recollect: RunRecollect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Print:
    """Return the documents that a command prints on demo data, with a web app and a client."""
    pretend_to_serve(make_demo_home())
    monkeypatch.setenv("PATH", make_client(tmp_path / "bin", SCRIPT))

    for setup in (("enable", "--yes"), ("sync",)):
        run_at(run_recollect, 80, "archive", *setup)
    bundle = tmp_path / "made.recollect"
    run_at(run_recollect, 80, "bundle", SESSION, "-o", str(bundle))

    project = tmp_path / "tidepool"
    (project / "src" / "tidepool").mkdir(parents=True)
    code = "import argparse\nimport json\n    if options.json:\n"
    (project / "src" / "tidepool" / "cli.py").write_text(code, encoding="utf-8")
    commit_everything(project)
    places = {"folder": tmp_path / "made", "bundle": bundle, "project": project}

    def run(*arguments: str) -> list[Any]:
        words = [word.format(**places) for word in arguments]
        if LINES in words:
            return [*map(json.loads, run_at(run_recollect, 80, *words).stdout.splitlines())]
        return [json.loads(run_at(run_recollect, 80, *words, "--json").stdout)]

    return run


def close(schema: Any) -> Any:
    """Return `schema` without additional properties."""
    if isinstance(schema, list):
        return [close(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: close(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and "additionalProperties" not in schema:
        closed["additionalProperties"] = False
    return closed


@pytest.mark.parametrize(("schema", "words"), CALLS, ids=[" ".join(words) for _, words in CALLS])
def test_output_keeps_to_its_schema(printed: Print, schema: str, words: tuple[str, ...]) -> None:
    """Output is valid against its schema, and has no other fields."""
    documents = printed(*words)
    assert documents != []
    for document in documents:
        jsonschema.validate(document, close(generate_schemas.make_schema(schema)))


def test_every_document_is_tried() -> None:
    """Every schema has a command that prints it."""
    assert list(PRINTED_BY) == list(DOCUMENTS)


def test_every_command_with_json_has_a_document() -> None:
    """A command that offers `--json` or `--json-lines` is in the list."""
    names = {generate_schemas.name_command(schema).split()[1] for schema in DOCUMENTS}
    commands = {page.words[1] for page in list_pages() if page.flags & {"--json", LINES}}
    assert commands == names


@pytest.mark.parametrize("schema", DOCUMENTS)
def test_schemas_are_up_to_date(schema: str) -> None:
    """Published schemas equal those generated from the classes, and are valid."""
    path = generate_schemas.SCHEMAS / generate_schemas.name_file(schema)
    made = generate_schemas.format_schema(schema)
    assert path.read_text(encoding="utf-8") == made, "run `make docs`"
    jsonschema.Draft202012Validator.check_schema(json.loads(made))


def test_no_schema_is_left_over() -> None:
    """There is exactly one file for each document."""
    expected = sorted(map(generate_schemas.name_file, DOCUMENTS))
    assert sorted(path.name for path in generate_schemas.SCHEMAS.iterdir()) == expected


def test_the_page_lists_the_schemas() -> None:
    """docs/json.md is made from the same list."""
    assert generate_schemas.PAGE.read_text(encoding="utf-8") == generate_schemas.make_page()


@pytest.mark.parametrize("schema", DOCUMENTS)
def test_classes_are_frozen(schema: str) -> None:
    """A document is a frozen struct, or the description of a dict."""
    kind = load_document_type(schema)
    if issubclass(kind, msgspec.Struct):
        assert kind.__struct_config__.frozen


def _iter_unsafe() -> Iterator[str]:
    yield from ("\x1b[2J", "\x9b2J", "\u202e", "\ud800", "\x00", "\x7f")


def test_nothing_in_a_document_can_drive_a_terminal() -> None:
    """Every control character is escaped."""
    text = format_document({"title": "".join(_iter_unsafe())})
    assert set(text) <= {chr(code) for code in range(32, 127)} | {"\n"}
    assert json.loads(text) == {"title": "".join(_iter_unsafe())}
