"""Sessions that occur in no sample, in which the two readers differ."""

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

SESSION_ID: Final = "5f0c4a52-0000-4000-8000-000000000000"


class Rare(NamedTuple):
    """The lines of a session, with its title and the uuids of its messages by each reader."""

    official: str
    ours: str
    lines: tuple[dict[str, Any], ...]
    official_answers: tuple[str, tuple[str, ...]]
    our_answers: tuple[str, tuple[str, ...]]


def write_session(root: Path, rare: Rare) -> Path:
    """Write a root with only this session, and return its path."""
    path = root / "projects" / "-home-ada-app" / f"{SESSION_ID}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in rare.lines), encoding="utf-8")
    return path


def _ask(uuid: str, parent: str | None, words: str, **more: object) -> dict[str, Any]:
    message = {"role": "user", "content": words}
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "message": message, **more}


def _reply(uuid: str, parent: str, words: str = "done") -> dict[str, Any]:
    message = {
        "id": f"msg_{uuid}",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": [{"type": "text", "text": words}],
    }
    return {"type": "assistant", "uuid": uuid, "parentUuid": parent, "message": message}


RARE: Final = (
    Rare(
        "loads nothing from a file whose parent links form a cycle",
        "cuts the cycle at its earliest record and loads the rest",
        (_ask("a", "d", "first"), _reply("b", "a"), _ask("c", "b", "second"), _reply("d", "c")),
        ("first", ()),
        ("first", ("a", "b", "c", "d")),
    ),
    Rare(
        "loads an abandoned branch if the current one ends with text of the client",
        "skips text of the client and uses the last message",
        (
            _ask("a", None, "first"),
            _reply("b", "a"),
            _ask("c", "b", "given up"),
            _ask("d", "b", "taken up again"),
            _reply("e", "d"),
            _ask("f", "e", "<system-reminder>be brief</system-reminder>", isMeta=True),
        ),
        ("first", ("a", "b", "c")),
        ("first", ("a", "b", "d", "e")),
    ),
    Rare(
        "prefers the last prompt to a `summary` of the session",
        "prefers the summary: it was written to be a title",
        (
            _ask("a", None, "first"),
            _reply("b", "a"),
            {"type": "summary", "summary": "Repair the tests", "leafUuid": "b"},
            {"type": "last-prompt", "lastPrompt": "go on"},
        ),
        ("go on", ("a", "b")),
        ("Repair the tests", ("a", "b")),
    ),
    Rare(
        "misses a title in the middle of a large file",
        "finds it when the session is opened; its list also reads only both ends of the file",
        (
            _ask("a", None, "first"),
            _reply("b", "a", "words " * 12_000),
            {"type": "custom-title", "customTitle": "Repair the tests"},
            _reply("c", "b", "words " * 12_000),
        ),
        ("first", ("a", "b", "c")),
        ("Repair the tests", ("a", "b", "c")),
    ),
)
