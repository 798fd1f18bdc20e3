"""Install a fake client, and start conversations with it."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from recollect.launch.conversation import Conversation, converse
from recollect.launch.conversation_events import ConversationEvent
from recollect.launch.conversation_options import ConversationOptions, Timing

TALKER = Path(__file__).with_name("talking_client.py")
GUARD_SECONDS = 120.0

E = TypeVar("E", bound=ConversationEvent)
T = TypeVar("T")


def install_client(directory: Path) -> str:
    """Write a `claude` that talks to `directory`, and return its path."""
    directory.mkdir(parents=True, exist_ok=True)
    client = directory / "claude"
    client.write_text(f"#!{sys.executable} -S\n{TALKER.read_text(encoding='utf-8')}")
    client.chmod(0o755)
    return str(client)


def make_options(tmp_path: Path, timing: Timing = Timing(), **more: Any) -> ConversationOptions:
    """Return options for the client in `tmp_path`, which is installed if missing."""
    client = tmp_path / "bin" / "claude"
    if not client.exists():
        install_client(client.parent)
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    return ConversationOptions(directory=str(work), client=str(client), timing=timing, **more)


def read_lines(tmp_path: Path, name: str) -> list[dict[str, Any]]:
    """Return the lines that the client logged, in `received.jsonl` or `called.jsonl`."""
    path = tmp_path / "bin" / name
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def list_responses(tmp_path: Path) -> list[Any]:
    """Return the responses that the client received to its own requests."""
    frames = read_lines(tmp_path, "received.jsonl")
    return [each["response"] for each in frames if each["type"] == "control_response"]


async def wait_for(
    conversation: Conversation, wanted: type[E], after: int = 0, **fields: object
) -> E:
    """Return the first event of this class and with these fields after a number."""
    async with asyncio.timeout(GUARD_SECONDS):
        async for event in conversation.events(after):
            if isinstance(event, wanted) and all(
                getattr(event, name) == value for name, value in fields.items()
            ):
                return event
    raise AssertionError(f"the conversation ended without {wanted.__name__} {fields}")


def talk(options: ConversationOptions, script: Callable[[Conversation], Awaitable[T]]) -> T:
    """Run `script` in a conversation."""

    async def run() -> T:
        async with asyncio.timeout(GUARD_SECONDS), converse(options) as conversation:
            return await script(conversation)

    return asyncio.run(run())


def is_running(pid: int) -> bool:
    """Return whether a process is running, rather than a zombie."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


def list_descriptors() -> set[str]:
    """Return the open files of this process."""
    return {each.name for each in Path("/proc/self/fd").iterdir()}
