"""The SDK's conformance suite for session stores, and a resume from the archive by the SDK."""

import asyncio
from itertools import count
from pathlib import Path

import pytest

from recollect.session_store import ArchiveSessionStore

pytestmark = pytest.mark.sdk


def test_the_conformance_suite_of_the_sdk(tmp_path: Path) -> None:
    """All contracts hold; summaries are left to the SDK, which derives them from entries."""
    testing = pytest.importorskip("claude_agent_sdk.testing")
    numbers = count()

    def make_store() -> ArchiveSessionStore:
        base = tmp_path / str(next(numbers))
        return ArchiveSessionStore(base / "archive", base / "claude")

    asyncio.run(testing.run_session_store_conformance(make_store))
    assert next(numbers) > 10


def test_the_sdk_lists_and_reads_mirrored_sessions(tmp_path: Path) -> None:
    """The SDK's functions for stores return the session's messages."""
    sdk = pytest.importorskip("claude_agent_sdk")
    store = ArchiveSessionStore(tmp_path / "archive", tmp_path / "claude")
    session = "11111111-1111-4111-8111-111111111111"
    project = sdk.project_key_for_directory(str(tmp_path))
    base = {"sessionId": session, "cwd": str(tmp_path), "isSidechain": False}
    entries = [
        base
        | {
            "type": kind,
            "uuid": f"{number:08}-0000-4000-8000-000000000000",
            "parentUuid": f"{number - 1:08}-0000-4000-8000-000000000000" if number else None,
            "timestamp": f"2026-11-01T10:00:0{number}.000Z",
            "message": {"role": kind, "content": text},
        }
        for number, (kind, text) in enumerate([("user", "count frogs"), ("assistant", "seven")])
    ]

    async def ask() -> tuple[list[str], list[str]]:
        await store.append({"project_key": project, "session_id": session}, entries)
        listed = await sdk.list_sessions_from_store(store, directory=str(tmp_path))
        messages = await sdk.get_session_messages_from_store(
            store, session, directory=str(tmp_path)
        )
        return [each.session_id for each in listed], [each.type for each in messages]

    assert asyncio.run(ask()) == ([session], ["user", "assistant"])
