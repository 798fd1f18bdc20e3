"""A Claude directory with made-up secrets in every kind of record, and a search for any of them.

One session has a record of every type, with a secret in each of its fields in turn; in the other
every kind of secret is said, typed, run, printed, thought, queued and used as a title. That one
also has a subagent and the other files that Claude Code keeps beside a transcript. A third session
worked on a file in a git repository.
"""

import html
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import cycle
from pathlib import Path
from random import Random
from typing import NamedTuple
from urllib.parse import unquote

from ahocorasick_rs import BytesAhoCorasick

from tests.every_field import WORD, is_unread, iter_struct, list_records
from tests.redact.labelled_set import _iter_decoded
from tests.redact.made_up_secrets import OWN, WITH_RULE, Family
from tests.redact.planted_files import AGENT, SLUG, SPILLED, plant_beside, plant_project
from tests.redact.secret_contexts import write_down

FIELDS = "11111111-1111-4111-8111-111111111111"
NAMES = "33333333-3333-4333-8333-333333333333"
"""A session with secrets in fields that are not text: ids, paths, names and settings."""
KINDS = "22222222-2222-4222-8222-222222222222"
_CWD = "/srv/reef"
_FAMILIES = (OWN, *WITH_RULE)
_RUN = re.compile(r"[A-Za-z0-9+/]{16,}")
_TELLING = 16
"""Characters of a secret that must not be readable."""

Json = dict[str, object]


class Planted(NamedTuple):
    """The locations of the sessions, and the secrets that must not be shown."""

    root: Path
    secrets: tuple[str, ...]
    file: Path
    """A file with a secret in a repository, of which there are several versions."""

    def list_readable(self, output: bytes) -> list[str]:
        """Return the secrets that can be read in an output, however it is encoded."""
        pieces = [
            piece.encode()
            for secret in self.secrets
            for piece in (secret[:_TELLING], secret[-_TELLING:])
        ]
        automaton = BytesAhoCorasick(pieces)
        found: set[str] = set()
        for form in _iter_forms(output.decode("utf-8", "replace")):
            matches = automaton.find_matches_as_indexes(form.encode("utf-8", "replace"))
            found |= {pieces[number].decode() for number, _, _ in matches}
        return sorted(found)


def _iter_forms(text: str) -> Iterator[str]:
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    yield plain
    # A terminal breaks long words.
    yield re.sub(r"[│┃▌]?\s*\n\s*[│┃▌]?\s*", "", plain)
    yield unquote(plain)
    yield re.sub(r"<[^>]*>", "", html.unescape(plain))
    unescaped = plain
    for _ in range(3):
        unescaped = unescaped.replace("\\\\", "\\").replace('\\"', '"').replace("\\n", "\n")
        yield unescaped
    for run in _RUN.findall(plain):
        yield from _iter_decoded(run)


def plant_sessions(root: Path) -> Planted:
    """Write the sessions below a Claude directory, and a repository beside it."""
    rng = Random(7)
    project = root / "projects" / "-srv-reef"
    project.mkdir(parents=True)
    secrets: list[str] = []
    _write(project / f"{FIELDS}.jsonl", FIELDS, _iter_fields(rng, secrets, are_texts=True))
    _write(project / f"{NAMES}.jsonl", NAMES, _iter_fields(rng, secrets, are_texts=False))
    _write(project / f"{KINDS}.jsonl", KINDS, _iter_kinds(rng, secrets))
    families = cycle(each for each in _FAMILIES if each.recognisable)

    def draw() -> str:
        return _draw(next(families), rng, secrets)

    plant_beside(root, project / f"{KINDS}.jsonl", draw)
    file = plant_project(root.parent / "shop", root, draw)
    return Planted(root, tuple(secrets), file)


def _write(path: Path, session: str, records: Iterator[Json]) -> None:
    lines = []
    parent = None
    for number, record in enumerate(records):
        uuid = f"00000000-0000-4000-8000-{int(session[0]):02d}{number:010d}"
        head: Json = {
            "uuid": uuid,
            "parentUuid": parent,
            "sessionId": session,
            "cwd": _CWD,
            "timestamp": f"2026-11-10T10:{number // 60 % 60:02d}:{number % 60:02d}.000Z",
        }
        lines.append(json.dumps({**head, **record}, ensure_ascii=False))
        parent = uuid
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _say(text: str) -> Json:
    return {"type": "user", "message": {"role": "user", "content": text}}


def _iter_fields(rng: Random, secrets: list[str], *, are_texts: bool) -> Iterator[Json]:
    yield _say("look at everything")
    families = [each for each in _FAMILIES if each.recognisable and not each.multiline]
    for _, kind, needs in list_records():
        for way, value in iter_struct(kind, []):
            family = families[len(secrets) % len(families)]
            if is_unread(way) == are_texts or not isinstance(value, dict):
                continue
            plant = family.make(rng)
            secrets.extend(plant.secrets)
            written = json.dumps(value).replace(WORD, f"key {json.dumps(plant.text)[1:-1]}")
            yield {**json.loads(written), **needs}


def _iter_kinds(rng: Random, secrets: list[str]) -> Iterator[Json]:
    for number, family in enumerate(_FAMILIES):
        yield from _iter_uses(number, partial(_draw, family, rng, secrets))
    yield from _iter_linked()
    # So that the session is idle.
    yield _reply({"type": "text", "text": "done"}, "msg_last")


def _iter_linked() -> Iterator[Json]:
    """Yield what refers to the files beside the session."""
    yield {**_say("go on"), "slug": SLUG}
    given = {"description": "look", "prompt": "look around", "subagent_type": "general-purpose"}
    yield _reply({"type": "tool_use", "id": "toolu_agent", "name": "Task", "input": given}, "msg_s")
    done = {"type": "tool_result", "tool_use_id": "toolu_agent", "content": "done"}
    yield {
        "type": "user",
        "message": {"role": "user", "content": [done]},
        "toolUseResult": {"status": "completed", "agentId": AGENT, "content": []},
    }
    command = {"command": "cat large"}
    use = {"type": "tool_use", "id": "toolu_spilled", "name": "Bash", "input": command}
    yield _reply(use, "msg_p")
    text = (
        f"<persisted-output>\nOutput too large (75KB). Full output saved to: /old/{SPILLED}\n\n"
        "Preview (first 2KB):\nlarge\n</persisted-output>"
    )
    result = {"type": "tool_result", "tool_use_id": "toolu_spilled", "content": text}
    yield {"type": "user", "message": {"role": "user", "content": [result]}}


def _draw(family: Family, rng: Random, secrets: list[str]) -> str:
    plant = family.make(rng)
    secrets.extend(plant.secrets)
    return write_down("env", family, plant, rng)


def _iter_uses(number: int, draw: Callable[[], str]) -> Iterator[Json]:
    call = f"toolu_{number:03d}"
    yield _say(f"deploy with\n{draw()}")
    yield _reply({"type": "thinking", "thinking": draw(), "signature": "x"}, f"msg_t{number}")
    yield _reply({"type": "text", "text": f"```sh\n{draw()}\n```"}, f"msg_a{number}")
    command = {"command": f"cat <<E\n{draw()}\nE", "description": draw()}
    use = {"type": "tool_use", "id": call, "name": "Bash", "input": command}
    yield _reply(use, f"msg_b{number}")
    result = {"type": "tool_result", "tool_use_id": call, "content": draw()}
    yield {
        "type": "user",
        "message": {"role": "user", "content": [result]},
        "toolUseResult": {"stdout": draw(), "stderr": draw(), "interrupted": False},
    }
    written = {"file_path": f"{_CWD}/.env", "content": draw()}
    use = {"type": "tool_use", "id": f"{call}w", "name": "Write", "input": written}
    yield _reply(use, f"msg_c{number}")
    done = {"type": "tool_result", "tool_use_id": f"{call}w", "content": "written"}
    yield {"type": "user", "message": {"role": "user", "content": [done]}}
    yield {"type": "queue-operation", "operation": "enqueue", "content": draw()}
    yield {"type": "system", "subtype": "local_command", "content": draw(), "level": "info"}
    yield {"type": "custom-title", "customTitle": draw()}
    yield {"type": "summary", "summary": draw(), "leafUuid": "none"}
    yield {"type": "invented", "payload": {"deep": [draw()]}}


def _reply(block: Mapping[str, object], identity: str) -> Json:
    message = {
        "id": identity, "role": "assistant", "model": "claude-opus-4-5", "content": [block],
        "usage": {"input_tokens": 3, "output_tokens": 5}, "stop_reason": "end_turn",
    }  # fmt: skip
    return {"type": "assistant", "message": message, "requestId": f"req_{identity}"}
