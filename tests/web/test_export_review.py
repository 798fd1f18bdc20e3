"""The page on which a person decides what an export masks: no script, no secrets by a link."""

import re
from collections.abc import Iterator, Mapping
from html import unescape
from pathlib import Path
from random import Random
from urllib.parse import urlencode

import pytest

from tests.export.sessions import reply, say, write_session
from tests.redact.made_up_secrets import FAMILIES
from tests.web.running import Answer, RunningServer, run_server

pytestmark = pytest.mark.slow

SESSION = "a0000000-0000-4000-8000-000000000000"
CLEAN = "b0000000-0000-4000-8000-000000000000"
TOKENS = [FAMILIES["github"].make(Random(seed)).text for seed in (1, 2)]
PAGE = f"/s/{SESSION}/export"
FORM = {"format": "markdown", "level": "full"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server on one session with two secrets, and one without any."""
    folder = tmp_path_factory.mktemp("review")
    root = folder / "claude"
    records = [say(f"use {TOKENS[0]} here"), reply({"type": "text", "text": f"no, {TOKENS[1]}"})]
    write_session(root, records, SESSION)
    write_session(root, [say("hello")], CLEAN)
    turns = [say("hello"), say(f"use {TOKENS[0]} here"), say("go on")]
    write_session(root, [*turns, reply({"type": "text", "text": f"and {TOKENS[1]}"})], SELECTED)
    with run_server(folder, root) as running:
        yield running


@pytest.fixture(scope="module")
def cookie(server: RunningServer) -> str:
    """The cookie of a browser that is signed in."""
    return server.sign_in()


def send(
    server: RunningServer,
    cookie: str,
    fields: list[tuple[str, str]],
    headers: Mapping[str, str] | None = None,
    page: str = PAGE,
) -> Answer:
    """Send the form of the page, as a browser does."""
    sent = {
        "Cookie": cookie,
        "Origin": server.origin,
        "Sec-Fetch-Site": "same-origin",
        "Content-Type": "application/x-www-form-urlencoded",
        **(headers or {}),
    }
    named = dict(fields)
    unchanged = [(name, value) for name, value in FORM.items() if name not in named]
    body = urlencode([*unchanged, *fields]).encode()
    return server.ask(page, "POST", {name: each for name, each in sent.items() if each}, body)


def find_ids(page: bytes) -> list[str]:
    """The ids of the values on a page, in their order."""
    return re.findall(r'name="keep" value="([0-9a-f]+)"', page.decode())


def read_contexts(page: bytes) -> list[str]:
    """Return the context and the shown part of each value."""
    found = re.findall(r'<pre class="export-context">(.*?)</pre>', page.decode(), re.DOTALL)
    return [unescape(re.sub(r"<[^<>]+>", "", each)).strip() for each in found]


def test_the_page_shows_what_is_around_each_value(server: RunningServer) -> None:
    """And never the value itself."""
    answer = server.get(PAGE)
    assert answer.status == 200
    assert read_contexts(answer.body) == [
        "use [redacted:github-token] here",
        "no, [redacted:github-token]",
    ]
    assert [token.encode() in answer.body for token in TOKENS] == [False, False]


SELECTED = "a1000000-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    ("query", "contexts"),
    [
        ("?turns=2", ["use [redacted:github-token] here"]),
        ("?turns=3", ["and [redacted:github-token]"]),
        ("?turns=1", []),
        ("?turns=3&level=prompts", []),
    ],
)
def test_only_values_of_the_selected_turns_are_reviewed(
    server: RunningServer, query: str, contexts: list[str]
) -> None:
    """Others are not in the file."""
    page = server.get(f"/s/{SELECTED}/export{query}").body
    assert read_contexts(page) == contexts
    assert (b"No secrets found in these turns." in page) == (not contexts)


def test_an_exception_may_be_outside_the_turns_that_are_chosen_later(
    server: RunningServer, cookie: str
) -> None:
    """The file of other turns has nothing to do with it."""
    address = f"/s/{SELECTED}/export"
    (first,) = find_ids(server.get(f"{address}?turns=2").body)
    fields = [("keep", first), ("turns", "3"), ("download", "yes")]
    answer = send(server, cookie, fields, page=address)
    assert answer.headers["content-disposition"].startswith("attachment")
    assert [token.encode() in answer.body for token in TOKENS] == [False, False]


def test_turns_that_do_not_exist_have_no_review(server: RunningServer) -> None:
    """The page says which turns there are."""
    answer = server.get(f"/s/{SELECTED}/export?turns=9")
    assert answer.status == 404
    assert b"No such turn: this session has turns 1 to 3." in answer.body
    assert b"No secrets found" not in answer.body


def test_a_session_without_secrets_says_so(server: RunningServer) -> None:
    """The file can be downloaded from there nevertheless."""
    page = server.get(f"/s/{CLEAN}/export").body
    assert find_ids(page) == []
    assert b"No secrets found in this session." in page
    assert b'name="download"' in page


def test_a_value_is_shown_on_request(server: RunningServer, cookie: str) -> None:
    """Only that value, and earlier decisions are kept."""
    first, second = find_ids(server.get(PAGE).body)
    page = send(server, cookie, [("keep", first), ("show", second)])
    assert (page.status, page.headers["cache-control"]) == (200, "no-store")
    assert read_contexts(page.body) == [
        "use [redacted:github-token] here",
        f"no, {TOKENS[1]}",
    ]
    assert re.findall(rb'value="([0-9a-f]+)" checked', page.body) == [first.encode()]


def test_the_page_with_a_value_opens_where_it_was_asked_for(server: RunningServer) -> None:
    """The URL of each button has the anchor of its value."""
    page = server.get(PAGE).body.decode()
    places = re.findall(r'<li id="([^"]+)"', page)
    assert places == ["value-1", "value-2"]
    assert re.findall(r'formaction="([^"]+)"', page) == [
        f"{PAGE.partition('?')[0]}#{place}" for place in places
    ]


def test_what_is_kept_is_in_that_download_only(server: RunningServer, cookie: str) -> None:
    """The next one masks it again."""
    first, _ = find_ids(server.get(PAGE).body)
    kept = send(server, cookie, [("keep", first), ("download", "yes")])
    again = send(server, cookie, [("download", "yes")])
    assert kept.headers["content-disposition"].startswith("attachment")
    assert [token.encode() in kept.body for token in TOKENS] == [True, False]
    assert [token.encode() in again.body for token in TOKENS] == [False, False]


RAW = [("format", "jsonl"), ("download", "yes")]
ASKS = "Type no-redact to download the original lines."


def read_lines(server: RunningServer) -> bytes:
    """The transcript of the session."""
    return next(server.root.rglob(f"{SESSION}.jsonl")).read_bytes()


def test_the_original_lines_need_a_word_that_is_typed(server: RunningServer, cookie: str) -> None:
    """They are sent byte for byte, with a file name that reveals nothing."""
    asked = server.get(f"{PAGE}?format=jsonl&download=yes")
    assert asked.status == 200
    assert b'<input name="confirm"' in asked.body
    assert b"2 values will not be masked." in asked.body
    assert b'name="keep"' not in asked.body
    answer = send(server, cookie, [*RAW, ("confirm", " no-redact ")])
    assert (answer.status, answer.body) == (200, read_lines(server))
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert answer.headers["content-disposition"] == (
        f"attachment; filename*=UTF-8''{SESSION}.jsonl"
    )
    assert answer.headers["cache-control"] == "no-store"


def test_the_original_lines_of_some_turns_can_be_downloaded(
    server: RunningServer, cookie: str
) -> None:
    """Those lines only."""
    fields = [*RAW, ("confirm", "no-redact"), ("turns", "1")]
    assert send(server, cookie, fields).body == read_lines(server)
    missing = send(server, cookie, [*fields[:-1], ("turns", "9")])
    assert (missing.status, "content-disposition" in missing.headers) == (404, False)


@pytest.mark.parametrize(
    ("typed", "status", "errors"),
    [(None, 200, []), ("", 422, [ASKS]), ("yes", 422, [ASKS]), ("NO-REDACT", 422, [ASKS])],
)
def test_without_the_word_there_is_no_file(
    server: RunningServer, cookie: str, typed: str | None, status: int, errors: list[str]
) -> None:
    """The page asks again, and shows no value either."""
    fields = RAW if typed is None else [*RAW, ("confirm", typed)]
    answer = send(server, cookie, fields)
    assert (answer.status, "content-disposition" in answer.headers) == (status, False)
    assert re.findall(r'role="alert">([^<]*)<', answer.body.decode()) == errors
    assert [token.encode() in answer.body for token in TOKENS] == [False, False]


def test_a_link_cannot_confirm(server: RunningServer) -> None:
    """A URL made by someone else must not put secrets into a file."""
    answer = server.get(f"{PAGE}?format=jsonl&download=yes&confirm=no-redact")
    assert (answer.status, "content-disposition" in answer.headers) == (422, False)


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"Cookie": ""}, 401),
        ({"Origin": ""}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Host": "example.org"}, 421),
    ],
)
def test_only_our_own_page_gets_values(
    server: RunningServer, cookie: str, changed: dict[str, str], status: int
) -> None:
    """Neither another site nor another port of this machine."""
    ids = find_ids(server.get(PAGE).body)
    for fields in (
        [("show", ids[0])],
        [("keep", ids[0]), ("download", "yes")],
        [("format", "jsonl"), ("confirm", "no-redact"), ("download", "yes")],
    ):
        answer = send(server, cookie, fields, changed)
        assert (answer.status, TOKENS[0].encode() in answer.body) == (status, False)


def test_programs_get_no_values(server: RunningServer, cookie: str) -> None:
    """The key of a program is not that of a person."""
    ids = find_ids(server.get(PAGE).body)
    answer = send(server, cookie, [("show", ids[0])], {**server.authority, "Cookie": ""})
    assert (answer.status, answer.json()["error"]["code"]) == (403, "not_a_page")


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ([("keep", "0123"), ("download", "yes")], 404),
        ([("format", "html"), ("format", "html")], 422),
        ([("format2", "html")], 422),
        ([("level", "\udcff".encode("utf-8", "surrogateescape").decode("latin-1"))], 422),
    ],
)
def test_bad_forms_are_refused(
    server: RunningServer, cookie: str, fields: list[tuple[str, str]], status: int
) -> None:
    """The page says why, and no file is sent."""
    answer = send(server, cookie, fields)
    assert (answer.status, "content-disposition" in answer.headers) == (status, False)


def test_ids_say_nothing_about_values(server: RunningServer, tmp_path: Path) -> None:
    """Another server has others for the same values."""
    with run_server(tmp_path, server.root) as other:
        assert set(find_ids(other.get(PAGE).body)).isdisjoint(find_ids(server.get(PAGE).body))


def test_an_unknown_session_is_not_found(server: RunningServer) -> None:
    """As on every page."""
    assert server.get("/s/00000000-0000-4000-8000-000000000009/export").status == 404
