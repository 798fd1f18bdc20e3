"""Conversations through a page's requests: what is sent, answered, refused and logged."""

import base64
import json
import re
import stat
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.launch.conversing import is_running
from tests.web.conversing import Talker, listening, run_talker

pytestmark = pytest.mark.slow

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(20)).decode()


def find_request(talker: Talker, conversation: str) -> str:
    """Return the id of the open request, from the card on the page."""
    talker.wait_for_status(conversation, "waiting")
    page = talker.get(f"/c/{conversation}").body.decode()
    return page.partition('data-request="')[2].partition('"')[0]


def ask_for_bash(talker: Talker, word: str) -> tuple[str, str]:
    """Return a conversation that asks to run `echo WORD`, and its request."""
    conversation = talker.start()
    talker.act(conversation, "prompts", text=f"tools {word}")
    return conversation, find_request(talker, conversation)


def test_a_conversation_is_started_in_its_directory(talker: Talker) -> None:
    """The client gets the directory, the model and the mode that the form names."""
    conversation = talker.start(model="opus", permission_mode="plan")
    row = talker.wait_for_status(conversation, "idle")
    called = talker.list_calls()[-1]
    assert called["directory"] == str(talker.project)
    assert {"--model=opus", "--permission-mode=plan"} <= set(called["arguments"])
    assert (row["directory"], row["permission_mode"]) == (str(talker.project), "plan")
    assert talker.act(conversation, "end").status == 200
    assert talker.wait_for_status(conversation, "ended")["waiting"] == []
    assert not is_running(called["pid"])


def test_a_prompt_is_sent_with_its_references(talker: Talker) -> None:
    """Words, references and images arrive; the page shows the references as chips.

    The conversation is named after the text alone.
    """
    conversation = talker.start()
    contexts = [
        {"kind": "file", "name": "src/a.py"},
        {"kind": "terminal", "text": "boom\nbang"},
    ]
    images = [{"media_type": "image/png", "data": PIXEL}]
    sent = talker.act(conversation, "prompts", text="look", contexts=contexts, images=images)
    assert sent.status == 200
    talker.wait_for_status(conversation, "idle")
    (frame,) = [each for each in talker.list_received() if each.get("uuid") == sent.json()["id"]]
    image, text = frame["message"]["content"]
    assert image["source"] == {"type": "base64", "media_type": "image/png", "data": PIXEL}
    assert text["text"] == (
        "> **上下文资料**\n>\n> - 📄 `src/a.py`\n> - 💻 terminal output (2 lines)\n\nlook"
        '\n\n<pasted_content context="2">\nboom\nbang\n</pasted_content>'
    )
    page = talker.get(f"/c/{conversation}").body.decode()
    assert page.count('<ul class="contexts"') == 1
    assert "src/a.py</summary>" in page
    assert "2 lines</summary>" in page
    assert talker.wait_for_status(conversation, "idle")["title"] == "look"
    talker.act(conversation, "end")


def test_a_queued_prompt_is_shown_by_its_words(talker: Talker) -> None:
    """Neither the page nor its events show the quote that is sent with it."""
    conversation = talker.start()
    with listening(talker, f"/c/{conversation}/events") as events:
        talker.act(conversation, "prompts", text="nap 60")
        talker.wait_for_status(conversation, "working")
        contexts = [{"kind": "file", "name": "src/a.py"}]
        talker.act(conversation, "prompts", text="and then", contexts=contexts)
        page = talker.get(f"/c/{conversation}").body.decode()
        assert re.findall(r'<span class="cut">([^<]*)</span>', page)[-1] == "and then"
        talker.server.wait_for(lambda: b"and then" in b"".join(events))
        sent = [json.loads(line[6:]) for line in list(events) if b'"state":"queued"' in line]
        assert [each["text"] for each in sent] == ["nap 60", "and then"]
    talker.act(conversation, "end")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"decision": "allow"}, {"behavior": "allow", "updatedInput": {"command": "echo one"}}),
        (
            {"decision": "edit", "fields": {"command": "echo two"}},
            {"behavior": "allow", "updatedInput": {"command": "echo two"}},
        ),
        (
            {"decision": "deny", "message": "rather not"},
            {"behavior": "deny", "message": "rather not", "interrupt": False},
        ),
        (
            {"decision": "always", "suggestion": 0},
            {
                "behavior": "allow",
                "updatedInput": {"command": "echo one"},
                "updatedPermissions": [
                    {
                        "type": "addRules",
                        "rules": [{"toolName": "Bash", "ruleContent": "echo one"}],
                        "behavior": "allow",
                        "destination": "localSettings",
                    }
                ],
            },
        ),
    ],
    ids=lambda each: each.get("decision") if "decision" in each else None,
)
def test_a_request_is_answered_once(
    talker: Talker, body: dict[str, object], expected: dict[str, object]
) -> None:
    """The client gets exactly this answer, and a second one is refused."""
    conversation, request = ask_for_bash(talker, "one")
    assert talker.act(conversation, "answers", request=request, **body).status == 200
    talker.wait_for_status(conversation, "idle")
    assert talker.list_responses()[-1] == expected
    again = talker.act(conversation, "answers", request=request, **body)
    assert (again.status, again.json()["error"]["code"]) == (409, "settled")
    assert talker.list_responses()[-1] == expected
    talker.act(conversation, "end")


FORM = {
    "properties": {
        "port": {"type": "string", "enum": ["Kiel", "Cuxhaven"]},
        "depth": {"type": "integer", "title": "Depth"},
    },
    "required": ["port"],
}


def test_a_form_is_filled_in_by_position(talker: Talker) -> None:
    """Values have the types of the schema; an invalid one is refused with the reason."""
    conversation = talker.start()
    talker.act(conversation, "prompts", text=f"elicit {json.dumps(FORM)}")
    request = find_request(talker, conversation)
    answer = {"request": request, "decision": "answer", "answers": {"0": [1]}}
    refused = talker.act(conversation, "answers", **answer, fields={"1": "deep"})
    assert (refused.status, "Depth must be a number" in refused.body.decode()) == (422, True)
    assert talker.act(conversation, "answers", **answer, fields={"1": "4"}).status == 200
    talker.wait_for_status(conversation, "idle")
    expected = {"action": "accept", "content": {"port": "Cuxhaven", "depth": 4}}
    assert talker.list_responses()[-1] == expected
    talker.act(conversation, "end")


@pytest.mark.parametrize(
    "body",
    [
        {"decision": "approve"},
        {"decision": "always", "suggestion": 7},
        {"decision": "always"},
        {"decision": "edit", "fields": {"other": "x"}},
        {"decision": "bypass"},
        {"decision": "allow", "updatedPermissions": []},
    ],
    ids=str,
)
def test_answers_that_do_not_fit_are_refused(talker: Talker, body: dict[str, object]) -> None:
    """The request stays open, and nothing is sent to the client."""
    conversation, request = ask_for_bash(talker, "fit")
    before = len(talker.list_responses())
    assert talker.act(conversation, "answers", request=request, **body).status == 422
    assert len(talker.list_responses()) == before
    assert talker.wait_for_status(conversation, "waiting")["waiting"] == ["Bash"]
    talker.act(conversation, "end")


def test_questions_are_answered_by_position(talker: Talker) -> None:
    """The labels are those of the request, whatever the page shows."""
    conversation = talker.start()
    talker.act(conversation, "prompts", text="ask me")
    request = find_request(talker, conversation)
    talker.act(conversation, "answers", request=request, decision="answer", answers={"0": [1]})
    talker.wait_for_status(conversation, "idle")
    assert talker.list_responses()[-1]["updatedInput"]["answers"] == {"Which colour?": "Red"}
    talker.act(conversation, "end")


def test_a_plan_is_approved_or_sent_back(talker: Talker) -> None:
    """The message goes to the model, and approving may accept edits."""
    conversation = talker.start()
    talker.act(conversation, "prompts", text="plan it")
    request = find_request(talker, conversation)
    talker.act(conversation, "answers", request=request, decision="deny", message="smaller")
    talker.wait_for_status(conversation, "idle")
    assert talker.list_responses()[-1]["message"] == "smaller"
    talker.act(conversation, "prompts", text="plan it")
    request = find_request(talker, conversation)
    talker.act(conversation, "answers", request=request, decision="accept_edits")
    talker.wait_for_status(conversation, "idle")
    (update,) = talker.list_responses()[-1]["updatedPermissions"]
    assert update == {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    talker.act(conversation, "end")


def test_a_turn_is_interrupted_and_a_prompt_withdrawn(talker: Talker) -> None:
    """A queued prompt can be withdrawn, and the turn ends immediately."""
    conversation = talker.start()
    talker.act(conversation, "prompts", text="slow word ")
    talker.wait_for_status(conversation, "working")
    queued = talker.act(conversation, "prompts", text="say later").json()["id"]
    assert talker.act(conversation, "withdraw", name=queued).status == 200
    assert talker.act(conversation, "interrupt").status == 200
    talker.wait_for_status(conversation, "idle")
    page = talker.get(f"/c/{conversation}").body.decode()
    assert ("say later" in page, "interrupted" in page) == (False, True)
    talker.act(conversation, "end")


def test_a_queued_prompt_is_given_back_as_it_was_sent(talker: Talker) -> None:
    """Its text, references and images are returned once, and the client does not get it."""
    conversation = talker.start()
    talker.act(conversation, "prompts", text="nap 60")
    talker.wait_for_status(conversation, "working")
    body = {
        "text": "say later, AKIAQQQQEXAMPLEKEY77",
        "contexts": [
            {"kind": "file", "name": "src/a.py", "text": ""},
            {"kind": "terminal", "name": "", "text": "one\ntwo"},
        ],
        "images": [{"media_type": "image/png", "data": PIXEL}],
    }
    queued = talker.act(conversation, "prompts", **body).json()["id"]
    compact = talker.act(conversation, "compact", name="the plan").json()["id"]
    given = talker.act(conversation, "edit", name=queued)
    assert (given.status, given.json()) == (200, body)
    again = talker.act(conversation, "edit", name=queued)
    assert (again.status, again.json()["error"]["code"]) == (409, "taken")
    given = talker.act(conversation, "edit", name=compact)
    assert given.json() == {"text": "/compact the plan", "contexts": [], "images": []}
    talker.act(conversation, "interrupt")
    talker.wait_for_status(conversation, "idle")
    assert "say later" not in talker.get(f"/c/{conversation}").body.decode()
    talker.act(conversation, "end")


def test_a_prompt_that_was_taken_cannot_be_edited(talker: Talker) -> None:
    """The client has already started on it, so it stays."""
    conversation = talker.start()
    taken = talker.act(conversation, "prompts", text="nap 60").json()["id"]
    page = f"/c/{conversation}"
    talker.server.wait_for(lambda: "nap 60" in read_turns(talker, page))
    assert talker.act(conversation, "edit", name=taken).status == 409
    assert "nap 60" in read_turns(talker, page)
    talker.act(conversation, "end")


def read_turns(talker: Talker, page: str) -> str:
    """The turns of a conversation."""
    return talker.get(f"{page}/turns?start=0").body.decode()


def test_the_time_of_waiting_is_added_up(talker: Talker) -> None:
    """It is counted while a request is open, and stays once that is settled."""
    conversation = talker.start()
    row = talker.wait_for_status(conversation, "idle")
    assert (row["waited_seconds"], row["waiting_since"]) == (0, None)
    talker.act(conversation, "prompts", text="tools one two")
    row = talker.wait_for_status(conversation, "waiting")
    assert row["waited_seconds"] == 0
    assert row["started"] < row["waiting_since"] <= row["active"]
    first = row["waiting_since"]
    request = find_request(talker, conversation)
    assert f'data-asked="{first}"' in talker.get(f"/c/{conversation}").body.decode()
    talker.act(conversation, "answers", request=request, decision="allow")
    talker.server.wait_for(lambda: find_request(talker, conversation) not in ("", request))
    row = talker.wait_for_status(conversation, "waiting")
    waited, second = row["waited_seconds"], row["waiting_since"]
    assert 0 < waited <= second - first
    talker.act(conversation, "interrupt")
    row = talker.wait_for_status(conversation, "idle")
    assert row["waiting_since"] is None
    assert waited < row["waited_seconds"] <= row["active"] - first
    talker.act(conversation, "end")


def test_changed_files_are_listed_with_their_lines(talker: Talker) -> None:
    """The latest comes first, a file that was changed twice once, and denied edits not at all."""
    conversation = talker.start()
    one, two = talker.project / "one.txt", talker.project / "docs" / "<b>two.txt"
    wanted = (
        ("Write", {"file_path": str(one), "content": "a\nb\n"}, "allow"),
        ("Write", {"file_path": str(two), "content": "c\n"}, "allow"),
        ("Edit", {"file_path": str(one), "old_string": "b", "new_string": "x\ny"}, "allow"),
        ("Edit", {"file_path": str(two), "old_string": "c", "new_string": "z"}, "deny"),
    )
    details = f"/c/{conversation}/details"
    assert "<li>" not in talker.get(details).body.decode()
    for tool, given, decision in wanted:
        call = json.dumps({"tool": tool, "input": given})
        talker.act(conversation, "prompts", text=f"call {call}")
        talker.wait_for_status(conversation, "waiting")
        request = find_request(talker, conversation)
        talker.act(conversation, "answers", request=request, decision=decision)
        talker.wait_for_status(conversation, "idle")
    shown = talker.get(details).body.decode()
    rows = [re.sub("<[^>]*>", "", each) for each in re.findall("<li>.*?</li>", shown, re.DOTALL)]
    assert [" ".join(each.split()) for each in rows] == [
        "one.txt +4 −1",
        "docs/&lt;b&gt;two.txt +1",
    ]
    assert f"/file?path={quote(str(two), safe='')}" in shown
    talker.act(conversation, "end")


def test_thinking_is_set(talker: Talker) -> None:
    """A level, none at all, or the default again; the list says which."""
    conversation = talker.start()
    talker.wait_for_status(conversation, "idle")
    shown = []
    for effort in ("high", "off", "on"):
        assert talker.act(conversation, "settings", effort=effort).status == 200
        shown.append(talker.wait_for_status(conversation, "idle")["effort"])
    assert shown == ["high", "off", None]
    names = ("apply_flag_settings", "set_max_thinking_tokens")
    requests = [each["request"] for each in talker.list_received() if "request" in each]
    assert [each for each in requests if each["subtype"] in names] == [
        {"subtype": "apply_flag_settings", "settings": {"effortLevel": "high"}},
        {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 0},
        {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": None},
        {"subtype": "apply_flag_settings", "settings": {"effortLevel": None}},
    ]
    talker.act(conversation, "end")


def test_settings_are_changed_but_not_to_bypass(talker: Talker) -> None:
    """No page can choose to skip permissions, when it starts a conversation or later."""
    conversation = talker.start()
    assert talker.act(conversation, "settings", permission_mode="plan").status == 200
    assert talker.wait_for_status(conversation, "idle")["permission_mode"] == "plan"
    for mode in ("bypassPermissions", "dontAsk", "nonsense"):
        assert talker.act(conversation, "settings", permission_mode=mode).status == 422
        nonce = talker.find_nonce("/new")
        started = talker.post("/c", nonce, directory=str(talker.project), permission_mode=mode)
        assert started.status == 422
    modes = [
        each["request"]["mode"]
        for each in talker.list_received()
        if each.get("request", {}).get("subtype") == "set_permission_mode"
    ]
    assert modes == ["plan"]
    assert not any("bypass" in json.dumps(each) for each in talker.list_calls())
    talker.act(conversation, "end")


@pytest.mark.parametrize(
    "directory",
    ["", "work", "../work", "/no/such/place", "/etc/passwd", "/tmp\n/x", "/tmp\0", "~x"],
)
def test_directories_are_checked(talker: Talker, directory: str) -> None:
    """Only an absolute path of an existing directory starts a conversation."""
    before = len(talker.list_calls())
    nonce = talker.find_nonce("/new")
    assert talker.post("/c", nonce, directory=directory).status == 422
    assert len(talker.list_calls()) == before


def test_images_are_what_they_say(talker: Talker) -> None:
    """Only raster images are sent, and only if their bytes match the type."""
    conversation = talker.start()
    for image in (
        {"media_type": "image/svg+xml", "data": PIXEL},
        {"media_type": "image/jpeg", "data": PIXEL},
        {"media_type": "image/png", "data": "not base64"},
    ):
        assert talker.act(conversation, "prompts", text="x", images=[image]).status == 422
    talker.act(conversation, "end")


def test_paths_and_commits_are_completed(talker: Talker) -> None:
    """The box offers the files of the project."""
    (talker.project / "harbour.py").write_text("x")
    conversation = talker.start()
    found = talker.get(f"/c/{conversation}/paths?query=harb").json()
    assert found == [{"path": "harbour.py", "is_folder": False}]
    assert talker.get(f"/c/{conversation}/git").json() == {"changed": 0, "commits": []}
    offers = talker.get(f"/c/{conversation}/offers").json()
    assert [each["name"] for each in offers["commands"]] == ["compact"]
    assert talker.get(f"/c/{conversation}/context").json()["totalTokens"] == 1200
    talker.act(conversation, "end")


def test_the_log_says_what_happened_without_content(talker: Talker) -> None:
    """A line each for the start, the answer and the stops; only its owner can read it."""
    conversation, request = ask_for_bash(talker, "unspeakable")
    talker.act(conversation, "answers", request=request, decision="allow")
    talker.wait_for_status(conversation, "idle")
    talker.act(conversation, "tasks", name="b1")
    talker.act(conversation, "interrupt")
    talker.act(conversation, "end")
    path = talker.server.data / "conversations.log"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "unspeakable" not in path.read_text()
    lines = [each for each in talker.read_log() if each["conversation"] == conversation]
    session = lines[0]["session"]
    for each in lines:
        del each["time"], each["conversation"]
    assert lines == [
        {"action": "start", "session": session, "directory": str(talker.project)},
        {"action": "answer", "session": session, "tool": "Bash", "decision": "allow"},
        {"action": "stop", "session": session, "decision": "task"},
        {"action": "stop", "session": session, "decision": "interrupt"},
        {"action": "stop", "session": session, "decision": "end"},
    ]


def test_at_most_eight_run_and_all_end_with_the_server(tmp_path: Path) -> None:
    """The ninth is refused, and no process outlives the server."""
    with run_talker(tmp_path) as talker:
        for _ in range(8):
            talker.wait_for_status(talker.start(), "idle")
        nonce = talker.find_nonce("/new")
        refused = talker.post("/c", nonce, directory=str(talker.project))
        assert (refused.status, refused.json()["error"]["code"]) == (409, "too_many")
        last = talker.list_conversations()[0]["id"]
        talker.act(last, "prompts", text="slow word ")
        talker.wait_for_status(last, "working")
        pids = [each["pid"] for each in talker.list_calls()]
        assert len(pids) == 8
    assert [pid for pid in pids if is_running(pid)] == []


def test_a_session_is_continued_and_forked(talker: Talker) -> None:
    """The session's own page starts it in its own directory, with its turns before the new one."""
    session = _write_session(talker)
    talker.server.wait_for(lambda: talker.get(f"/s/{session}").status == 200)
    nonce = talker.find_nonce(f"/s/{session}")
    first = talker.post("/c", nonce, session=session).json()["id"]
    assert talker.post("/c", nonce, session=session).json()["id"] == first
    talker.wait_for_status(first, "idle")
    assert f"--resume={session}" in talker.list_calls()[-1]["arguments"]
    talker.act(first, "prompts", text="say and more")
    talker.wait_for_status(first, "idle")
    page = talker.get(f"/c/{first}").body.decode()
    assert [page.count(f"<p>{words}</p>") for words in ("remember the tide", "It is high.")] == [
        1,
        1,
    ]
    assert "off-path" not in page
    reply = "00000000-0000-4000-8000-000000000002"
    fork = talker.post("/c", nonce, session=session, fork=True, at=reply).json()["id"]
    assert fork != first
    talker.wait_for_status(fork, "idle")
    assert {f"--resume={session}", "--fork-session", f"--resume-session-at={reply}"} <= set(
        talker.list_calls()[-1]["arguments"]
    )
    unknown = talker.post("/c", nonce, session=session, fork=True, at=str(reply[::-1]))
    assert unknown.status == 422
    for each in (first, fork):
        talker.act(each, "end")


def _write_session(talker: Talker) -> str:
    session = "aaaaaaaa-0000-4000-8000-00000000000a"
    folder = (
        talker.server.root
        / "projects"
        / str(talker.project).replace("/", "-").replace("_", "-").replace(".", "-")
    )
    folder.mkdir(parents=True, exist_ok=True)
    shared = {"sessionId": session, "cwd": str(talker.project), "timestamp": "2026-11-12T10:00:00Z"}
    one, two = (f"00000000-0000-4000-8000-00000000000{number}" for number in (1, 2))
    prompt = {"role": "user", "content": "remember the tide"}
    reply = {
        "id": "m1",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": [{"type": "text", "text": "It is high."}],
    }
    lines = [
        {**shared, "type": "user", "uuid": one, "parentUuid": None, "message": prompt},
        {**shared, "type": "assistant", "uuid": two, "parentUuid": one, "message": reply},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / f"{session}.jsonl").write_text(text)
    return session


def test_a_hundred_starts_and_stops_leave_nothing(talker: Talker) -> None:
    """No process, no descriptor of the server and no temporary file is left."""
    place = Path(f"/proc/{talker.server.process.pid}/fd")
    temporary = talker.folder / "tmp"
    before_files = set(temporary.iterdir())
    talker.act(talker.start(), "end")
    talker.get("/running")
    before = len(list(place.iterdir()))
    calls = len(talker.list_calls())
    for _ in range(100):
        assert talker.act(talker.start(), "end").status == 200
    pids = [each["pid"] for each in talker.list_calls()[calls:]]
    assert len(pids) == 100
    assert [pid for pid in pids if is_running(pid)] == []
    talker.server.wait_for(lambda: len(list(place.iterdir())) <= before + 2)
    assert set(temporary.iterdir()) == before_files
