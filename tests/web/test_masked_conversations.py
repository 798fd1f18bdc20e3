"""Secrets in a conversation: no page and no event has them, and the client gets them unchanged."""

import json
import re

import pytest

from tests.web.conversing import Talker, listening

pytestmark = pytest.mark.slow

KEY = "AKIAIOSFODNN7RTGHJKL"
PASSWORD = "Tr0ub4dor&3xy"
PROMPT = f"attack use {KEY} as DB_PASSWORD={PASSWORD} for the reef"
SECRETS = (KEY, PASSWORD)


def list_secrets(data: bytes) -> list[str]:
    """The secrets that can be read in an answer."""
    text = data.decode().replace("&amp;", "&").replace("\\u0026", "&")
    return [each for each in SECRETS if each in text]


def find_requests(page: bytes) -> list[str]:
    """The requests that wait, from their cards."""
    return re.findall(r'<section class="ask" data-request="([^"]+)"', page.decode())


def test_nothing_that_a_page_gets_has_a_secret(talker: Talker) -> None:
    """In text, thinking, calls, output and requests: on the page, its parts and its events."""
    conversation = talker.start()
    with (
        listening(talker, f"/c/{conversation}/events") as events,
        listening(talker, "/c/events") as running,
    ):
        talker.act(conversation, "prompts", text=PROMPT)
        leaks: dict[str, list[str]] = {}
        for number in range(7):
            talker.wait_for_status(conversation, "waiting")
            page = talker.get(f"/c/{conversation}").body
            (request,) = find_requests(page)
            kind = re.search(r'data-kind="(tool|question|plan|elicitation)"', page.decode())
            parts = {
                "page": page,
                "card": talker.get(f"/c/{conversation}/requests/{request}").body,
                "turns": talker.get(f"/c/{conversation}/turns").body,
                "running": talker.get("/running").body,
                "list": json.dumps(talker.list_conversations()).encode(),
            }
            leaks |= {f"{name} {number}": list_secrets(data) for name, data in parts.items()}
            assert (
                b"[redacted:aws-key#1]" in parts["card"] or b'data-kind="aws-key"' in parts["card"]
            )
            decision = {"tool": "allow", "plan": "approve"}.get(kind[1] if kind else "", "deny")
            assert (
                talker.act(conversation, "answers", request=request, decision=decision).status
                == 200
            )
        talker.wait_for_status(conversation, "idle")
    leaks["events"] = list_secrets(b"".join(events))
    leaks["running events"] = list_secrets(b"".join(running))
    assert {name: found for name, found in leaks.items() if found} == {}
    assert b"event: block" in b"".join(events)
    log = talker.server.data / "conversations.log"
    assert list_secrets(log.read_bytes()) == []
    talker.act(conversation, "end")


def test_what_is_allowed_is_the_real_input(talker: Talker) -> None:
    """The client gets back what it asked for, whatever the card shows."""
    conversation = talker.start()
    talker.act(conversation, "prompts", text=f"tools {KEY}")
    talker.wait_for_status(conversation, "waiting")
    (request,) = find_requests(talker.get(f"/c/{conversation}").body)
    assert talker.act(conversation, "answers", request=request, decision="allow").status == 200
    talker.wait_for_status(conversation, "idle")
    assert talker.list_responses()[-1]["updatedInput"] == {"command": f"echo {KEY}"}
    talker.act(conversation, "end")


def test_an_edited_input_keeps_its_secrets(talker: Talker) -> None:
    """Tags in the fields of a card are replaced by the secrets, unless the model wrote the tags."""
    sent = {
        "command": f"echo {KEY}",
        "env": {"KEY": KEY},
        "note": f"[redacted:aws-key#1] is {KEY}",
    }
    call = json.dumps({"tool": "Custom", "input": sent})
    conversation = talker.start()
    talker.act(conversation, "prompts", text=f"call {call}")
    talker.wait_for_status(conversation, "waiting")
    page = talker.get(f"/c/{conversation}").body
    (request,) = find_requests(page)
    fields = {
        "command": "echo '[redacted:aws-key#1]'",
        "env": '{"KEY":"[redacted:aws-key#1]","MORE":1}',
        "note": "[redacted:aws-key#1] is edited",
    }
    edit = {"request": request, "decision": "edit", "fields": fields}
    assert talker.act(conversation, "answers", **edit).status == 200
    talker.wait_for_status(conversation, "idle")
    assert talker.list_responses()[-1]["updatedInput"] == {
        "command": f"echo '{KEY}'",
        "env": {"KEY": KEY, "MORE": 1},
        "note": "[redacted:aws-key#1] is edited",
    }
    talker.act(conversation, "end")


def test_a_click_shows_a_secret_of_a_conversation(talker: Talker) -> None:
    """With the nonce of its page, and not otherwise."""
    conversation = talker.start()
    talker.act(conversation, "prompts", text=f"say {KEY} again")
    talker.wait_for_status(conversation, "idle")
    page = talker.get(f"/c/{conversation}").body.decode()
    assert f'data-address="/c/{conversation}/reveal"' in page
    tag = {"kind": "aws-key", "number": 1}
    shown = talker.act(conversation, "reveal", **tag)
    assert (shown.status, shown.json()) == (200, {"value": KEY})
    refused = talker.post(f"/c/{conversation}/reveal", talker.find_nonce("/new"), **tag)
    assert refused.status == 403
    talker.act(conversation, "end")
