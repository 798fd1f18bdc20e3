"""A Claude directory in which every text attacks the terminal, and checks whether it succeeded.

The sessions are those of the demo data, which contain everything that Recollect can show, with
every payload in every string. Works for any command: run it on `write_hostile_root`, then pass the
output to `find_harm`, and to `replay` for its effect on a screen.
"""

import json
import re
import shutil
import unicodedata
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyte

from recollect.demo import CLAUDE_DIRECTORY
from recollect.render.terminal import safe_text

PAYLOADS = {
    "window title": "\x1b]0;owned\x07",
    "icon and title": "\x1b]2;owned\x1b\\",
    "palette": "\x1b]4;1;rgb:00/00/00\x07",
    "foreground": "\x1b]10;#000000\x07",
    "background": "\x1b]11;?\x07",
    "link": "\x1b]8;;https://evil.example\x1b\\here\x1b]8;;\x1b\\",
    "link that is never closed": "\x1b]8;;https://evil.example\x07",
    "notification": "\x1b]9;owned\x07",
    "another notification": "\x1b]777;notify;a;b\x07",
    "clipboard": "\x1b]52;c;b3duZWQ=\x07",
    "file transfer": "\x1b]1337;File=inline=1:AAAA\x07",
    "device control": "\x1bP$qm\x1b\\",
    "application": "\x1b_Gi=1;AAAA\x1b\\",
    "privacy": "\x1b^x\x1b\\",
    "string": "\x1bXx\x1b\\",
    "cursor up": "\x1b[3A",
    "cursor home": "\x1b[H",
    "cursor back": "\x1b[999D",
    "erase the screen": "\x1b[2J",
    "erase the line": "\x1b[2K",
    "scroll": "\x1b[5T",
    "report of the cursor": "\x1b[6n",
    "report of the device": "\x1b[>c",
    "other screen": "\x1b[?1049h",
    "mouse": "\x1b[?1000h",
    "end of a paste": "\x1b[201~",
    "reset": "\x1bc",
    "line drawing": "\x1b(0",
    "shifts": "\x0e\x0f",
    "8-bit erase": "\x9b2J",
    "8-bit title": "\x9d0;owned\x9c",
    "8-bit device control": "\x90$qm\x9c",
    "overwritten": "harmless\rmalicious",
    "backspaces": "abc\x08\x08\x08",
    "other blanks": "\x0b\x0c\x00\x7f\x85",
    "direction": "exe.\u202egnp\u202c",
    "isolates": "\u2067right\u2069 \u200f",
    "separators": "a\u2028b\u2029c",
    "tags": "\U000e0048\U000e0049",
    "invisible": "a\u200bb\u2060c\ufeffd\u00ade",
    "selectors": "x\ufe01\ufe0e\U000e0100\U000e01ef",
    "tower of accents": "Z" + "\u0301" * 12,
    "half a character": "\ud83d",
}
"""Every kind of sequence that a terminal might execute or hide."""

COLOURS = {
    "concealed": ("\x1b[8m", "unseen"),
    "black on black": ("\x1b[30;40m", "swallowed"),
    "in the colour of the ground": ("\x1b[38;2;9;9;9;48;2;9;9;9m", "vanished"),
}
"""Colours that hide the text after them."""

ENTITIES = "&#x202e;&#8203;&#x1b;[2J"
"""Entities that Markdown decodes to characters that were removed before parsing."""

PAYLOAD = " ".join(
    (*PAYLOADS.values(), *(f"{sgr}{word}\x1b[0m" for sgr, word in COLOURS.values()), ENTITIES)
)

_STRUCTURE = {
    "type", "subtype", "role", "uuid", "parentUuid", "logicalParentUuid", "sessionId", "id",
    "tool_use_id", "timestamp", "leafUuid", "agentId", "promptId", "sourceToolAssistantUUID",
}  # fmt: skip
"""Fields that have to stay intact so that the records are shown at all."""

_OUR_COLOURS = re.compile(r"\x1b\[([0-9;]*)m")
_HARMLESS_CODES = {"0", "1", "2", "3", "4", "7", "9", *map(str, range(31, 37))}
_ALLOWED = {"draw", "linefeed", "index", "carriage_return", "select_graphic_rendition"}
_FRAME = re.compile(r"[\s│┃▌─╌●∴◇!?■▲+]+")


def write_hostile_root(path: Path) -> Path:
    """Write the Claude directory below `path` and return it.

    In one project the records are linked correctly; in the other even their ids and times are
    broken.
    """
    root = path / "hostile"
    for source in sorted((CLAUDE_DIRECTORY / "projects").rglob("*")):
        parts = source.relative_to(CLAUDE_DIRECTORY / "projects").parts
        if source.is_file():
            for prefix, keep in (("", _STRUCTURE), ("wrecked-", {"type"})):
                target = root.joinpath("projects", f"{prefix}\x1b[2J\u202e{parts[0]}", *parts[1:])
                _write(source, target, keep)
    return root


def list_sessions(root: Path) -> list[Path]:
    """Return the session transcripts below a root."""
    return sorted(root.glob("projects/*/*.jsonl"))


def _write(source: Path, target: Path, keep: set[str]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix == ".jsonl":
        lines = source.read_text(encoding="utf-8").splitlines()
        poisoned = [json.dumps(_poison(json.loads(line), keep)) for line in lines]
        target.write_text("\n".join([*poisoned, *_iter_extra(json.loads(lines[-1]))]) + "\n")
    else:
        shutil.copyfile(source, target)


def _poison(value: Any, keep: set[str], *, is_kept: bool = False) -> Any:
    match value:
        case dict():
            is_tool = value.get("type") in ("tool_use", "server_tool_use")
            kept = keep | {"name"} if is_tool and "uuid" in keep else keep
            return {key: _poison(each, keep, is_kept=key in kept) for key, each in value.items()}
        case list():
            return [_poison(each, keep) for each in value]
        case str() if not is_kept:
            return f"{value} {PAYLOAD}"
    return value


def _iter_extra(last: Any) -> Iterator[str]:
    """Yield lines that the demo data does not have: unknown tools, unknown records, damage."""
    yield json.dumps({"type": f"strange {PAYLOAD}", "field": PAYLOAD})
    yield json.dumps({"type": "custom-title", "customTitle": f"Title {PAYLOAD}"})
    if isinstance(last.get("uuid"), str):
        for number, name in enumerate((f"Tool {PAYLOAD}", f"mcp__{PAYLOAD}__{PAYLOAD}")):
            block = {
                "type": "tool_use",
                "id": f"t{number}",
                "name": name,
                "input": {PAYLOAD: PAYLOAD},
            }
            message = {
                "id": f"m{number}",
                "role": "assistant",
                "model": PAYLOAD,
                "content": [block],
            }
            links = {"uuid": f"x{number}", "parentUuid": last["uuid"], "sessionId": "s"}
            yield json.dumps({"type": "assistant", "message": message, **links})
    yield f'{{"type":"user","damaged {PAYLOAD.encode("utf-8", "replace").decode()}'


def find_harm(output: str) -> list[str]:
    """Return everything in `output` except harmless text, line ends and plain colours."""
    codes = {code for found in _OUR_COLOURS.findall(output) for code in found.split(";")}
    rest = set(_OUR_COLOURS.sub("", output)) - {"\n"}
    unsafe = sorted(character for character in rest if not _is_harmless(character))
    return [*sorted(codes - _HARMLESS_CODES), *map(ascii, unsafe)]


def _is_harmless(character: str) -> bool:
    """Return whether a terminal only shows a character, by the Unicode tables and not our own."""
    is_tag = 0xE0000 <= ord(character) <= 0xE0FFF
    return unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} and not is_tag


def find_hidden(output: str) -> list[str]:
    """Return the names of the payloads that are not visible in `output`."""
    text = _FRAME.sub("", _OUR_COLOURS.sub("", output))
    # The reader replaces half a character, so no record ever contains one.
    lone = safe_text(PAYLOADS["half a character"])
    expected = {
        name: safe_text(payload).replace(lone, "\ufffd") for name, payload in PAYLOADS.items()
    }
    expected |= {name: word for name, (_, word) in COLOURS.items()}
    return [name for name, shown in expected.items() if _FRAME.sub("", shown) not in text]


class _Watched(pyte.Screen):
    """A screen that records every operation except showing text."""

    def __init__(self, columns: int) -> None:
        super().__init__(columns, 1)
        self.operations: set[str] = set()
        for name in pyte.Stream.events - _ALLOWED:
            setattr(self, name, partial(self._note, name))

    def _note(self, name: str, *_: object, **__: object) -> None:
        self.operations.add(name)


def replay(output: str, columns: int) -> set[str]:
    """Return what `output` does to a screen besides showing text: nothing, if it is safe.

    A line may only print, set colours and move to the next line, and a line that is not wider than
    the screen can only move the cursor forward.
    """
    # One more column, since this emulator wraps an accent in the last one.
    screen = _Watched(columns + 1)
    stream = pyte.Stream(screen)
    reached = 0
    for piece in re.split(r"(\x1b\[[0-9;]*m|\n)", output):
        stream.feed("\r\n" if piece == "\n" else piece)
        if piece != "\n" and screen.cursor.x < reached:
            screen.operations.add(f"the cursor went back at {piece!a}")
        reached = screen.cursor.x
    if screen.title or screen.icon_name:
        screen.operations.add("a title was set")
    return screen.operations
