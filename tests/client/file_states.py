"""The content of a client's directory before every reply, as recorded by the scripted API."""

import json
from typing import Any, NamedTuple

from tests.client.client_sandbox import ClientSandbox
from tests.client.fake_api import STATES, TAG

Files = dict[str, bytes]


class States(NamedTuple):
    """The content of the directory before and after each call, and at the prompt of each scene."""

    before: dict[str, Files]
    after: dict[str, Files]
    at_prompt: dict[str, Files]


def read_states(sandbox: ClientSandbox) -> States:
    """Return the states recorded before every reply."""
    found = States({}, {}, {})
    earlier: Files = {}
    contents: dict[str, bytes] = {}
    for line in (sandbox.states / STATES).read_text(encoding="utf-8").splitlines():
        noted: dict[str, Any] = json.loads(line)
        for digest in noted["files"].values():
            if digest not in contents:
                contents[digest] = (sandbox.states / digest).read_bytes()
        now = {name: contents[digest] for name, digest in noted["files"].items()}
        for call in noted["ended"]:
            found.before.setdefault(call, earlier)
            found.after.setdefault(call, now)
        for words in noted["asked"]:
            found.at_prompt.setdefault(find_scene(words), now)
        earlier = now
    return found


def find_scene(words: str) -> str:
    """Return the scene named in a prompt."""
    return str(TAG.findall(words)[-1])
