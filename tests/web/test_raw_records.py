"""Raw records: each line of a transcript can be opened unchanged, whatever its uuid."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.web.markup import find_links, find_texts
from tests.web.running import RunningServer, run_server

Line = dict[str, object]

SESSION = "11111111-2222-3333-4444-555555555555"
LOST_PARENT = "99999999-2222-3333-4444-555555555555"
TWICE = "twice-0"


def _make_line(kind: str, uuid: str | None, second: int, **more: object) -> Line:
    named = {"uuid": uuid} if uuid else {}
    time = f"2026-11-13T11:00:{second:02}.000Z"
    return {"type": kind, "sessionId": SESSION, "cwd": "/home/mina", "timestamp": time} | (
        {**named, "parentUuid": None, **more}
    )


def _ask(uuid: str, second: int, words: str, **more: object) -> Line:
    message = {"role": "user", "content": words}
    return _make_line("user", uuid, second, message=message, **more)


def _message(message_id: str, words: str, output: int = 10) -> dict[str, object]:
    return {
        "id": message_id,
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": [{"type": "text", "text": words}],
        "usage": {"input_tokens": 1, "output_tokens": output},
    }


def _reply(uuid: str | None, second: int, message: dict[str, object], **more: object) -> Line:
    return _make_line("assistant", uuid, second, message=message, **more)


def _relay(uuid: str, second: int, message: dict[str, object]) -> Line:
    inner = {"type": "assistant", "timestamp": "2026-11-13T11:00:20Z", "message": message}
    data = {"type": "agent_progress", "agentId": "a0", "message": inner}
    return _make_line("progress", uuid, second, data=data, parentUuid="reply-0")


LINES: list[Line] = [
    _ask("ask-0", 0, "first of all, a heron"),
    _reply("reply-0", 1, _message("msg_a", "a heron it is"), parentUuid="ask-0"),
    # Two records of one uuid, with different words.
    _ask(TWICE, 2, "then an otter", parentUuid="reply-0"),
    _ask(TWICE, 3, "and a kingfisher", parentUuid="reply-0"),
    # One message written twice under one uuid: the later line replaces the earlier one.
    _reply("reply-1", 4, _message("msg_b", "both", 1), parentUuid=TWICE),
    _reply("reply-1", 5, _message("msg_b", "both of them", 20), parentUuid=TWICE),
    _reply(None, 6, _message("msg_c", "without a uuid")),
    _relay("relay-0", 7, _message("msg_d", "said by a subagent")),
    {
        "type": "queue-operation",
        "operation": "enqueue",
        "timestamp": "2026-11-13T11:00:08.000Z",
        "sessionId": SESSION,
        "content": "and a dipper, by the way",
    },
    # The whole beginning again, as some clients write it when they resume.
    _ask("copy-0", 30, "first of all, a heron"),
    _reply("copy-1", 31, _message("msg_a", "a heron it is"), parentUuid="copy-0"),
    _ask("ask-9", 32, "that is all", parentUuid="copy-1"),
]
LOST: list[Line] = [
    _ask("lost-0", 40, "look for wrens", isSidechain=True, agentId="lost1")
    | {"sessionId": LOST_PARENT},
    _reply("lost-1", 41, _message("msg_e", "none"), isSidechain=True, agentId="lost1")
    | {"sessionId": LOST_PARENT},
]


def _write(path: Path, lines: list[Line]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


@pytest.fixture(scope="module")
def birds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server on one session, and on a subagent whose session was deleted."""
    folder = tmp_path_factory.mktemp("raw")
    project = folder / "claude" / "projects" / "-home-mina"
    _write(project / f"{SESSION}.jsonl", LINES)
    _write(project / LOST_PARENT / "subagents" / "agent-lost1.jsonl", LOST)
    with run_server(folder, folder / "claude", "--no-open") as running:
        running.wait_until_current()
        yield running


def _read_raw(server: RunningServer, address: str) -> Line:
    page = server.get(address)
    assert page.status == 200, address
    (text,) = find_texts(page.body, "pre", class_="raw")
    line: Line = json.loads(text)
    (back,) = find_links(page.body, "main")[:1]
    assert server.get(back.partition("#")[0]).status == 200, back
    return line


def test_every_explained_line_opens_its_own_record(birds: RunningServer) -> None:
    """Copies, replaced lines, lines without a uuid and what a progress record repeats."""
    page = birds.get(f"/usage/explain?target={SESSION}&timezone=UTC").body
    opened = [_read_raw(birds, link) for link in find_links(page, "th", class_="offset")]
    assert opened == [line for line in LINES if line["type"] in ("assistant", "progress")]


def test_subagent_of_a_lost_session_opens_too(birds: RunningServer) -> None:
    """Without its parent, a subagent is a session of its own."""
    page = birds.get("/usage/explain?target=2026-11-13&timezone=UTC").body
    links = [link for link in find_links(page, "th", class_="offset") if "lost" in link]
    assert [_read_raw(birds, link) for link in links] == LOST[1:]


@pytest.mark.parametrize(
    ("name", "number"),
    [(TWICE, 2), (f"{TWICE}-2", 3), ("reply-1", 5), ("copy-0", 9), ("copy-1", 10), ("relay-0", 7)],
)
def test_records_open_by_name(birds: RunningServer, name: str, number: int) -> None:
    """A copy opens its own line, and so does the second record of a uuid."""
    assert _read_raw(birds, f"/s/{SESSION}/raw/{name}") == LINES[number]
    assert birds.get(f"/api/sessions/{SESSION}/records/{name}").json() == LINES[number]


def test_queued_prompts_open_by_their_place(birds: RunningServer) -> None:
    """A prompt that is only in the queue has no uuid, and is named by its line."""
    offset = sum(len(json.dumps(line)) + 1 for line in LINES[:8])
    assert _read_raw(birds, f"/s/{SESSION}/raw/queue-{offset}") == LINES[8]


@pytest.mark.parametrize(
    "line", [f"{SESSION}:1", f"{SESSION}:", "agent-x:0", f"{SESSION}:9e9", ":"]
)
def test_lines_that_do_not_exist(birds: RunningServer, line: str) -> None:
    """Only the beginning of a record in a file of the session is opened."""
    assert birds.get(f"/s/{SESSION}/raw/ask-0?line={quote(line, safe='')}").status == 404


@pytest.mark.parametrize(
    ("words", "anchor"),
    [("heron", "ask-0"), ("otter", TWICE), ("kingfisher", f"{TWICE}-2"), ("both", "reply-1")],
)
def test_hits_land_on_their_record(birds: RunningServer, words: str, anchor: str) -> None:
    """The page that a hit leads to knows which record is meant."""
    results = birds.get(f"/search?part=true&q={words}").body
    link = find_links(results, "li", class_="hit")[0]
    page = birds.get(link.partition("#")[0]).body
    assert _find_at(page, "article") == anchor


@pytest.mark.parametrize(("uuid", "anchor"), [("copy-1", "reply-0"), (TWICE, TWICE)])
def test_turns_name_the_anchor_of_a_record(birds: RunningServer, uuid: str, anchor: str) -> None:
    """A request for a copy gets the anchor of the record that is shown instead."""
    assert _find_at(birds.get(f"/s/{SESSION}/turns?at={uuid}").body, "div") == anchor


def _find_at(page: bytes, tag: str) -> str:
    """The anchor that the element names."""
    text = page.decode().partition(f"<{tag} class=")[2]
    return text.partition('data-at="')[2].partition('"')[0]
