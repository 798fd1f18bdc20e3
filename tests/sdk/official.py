"""What the official reader says: the functions of `claude_agent_sdk` that read sessions.

Knows how to point them at a root. Whoever imports this module is skipped without the package, which
brings the whole client along and therefore has an environment of its own (`make test-sdk`).
"""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

sdk: Any = pytest.importorskip(
    "claude_agent_sdk", reason="the official reader is not installed here: run `make test-sdk`"
)


class Listed(NamedTuple):
    """A session in the official list, with times in whole seconds since 1970."""

    title: str
    first_prompt: str | None
    cwd: str | None
    git_branch: str | None
    tag: str | None
    size: int | None
    modified: int
    created: float | None


class Answers(NamedTuple):
    """The official results for one session; it lists few files and fails on fewer."""

    listed: Listed | None
    messages: tuple[str, ...]
    failure: str | None = None


def ask_officially(root: Path, ids: list[str]) -> dict[str, Answers]:
    """Return the results of the official reader for the sessions below `root`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLAUDE_CONFIG_DIR", str(root))
        listed = {info.session_id: _read_info(info) for info in sdk.list_sessions()}
        assert {one: _read_info(sdk.get_session_info(one)) for one in listed} == listed
        return {one: _read_messages(one, listed.get(one)) for one in ids}


def _read_info(info: Any) -> Listed:
    return Listed(
        title=info.summary,
        first_prompt=info.first_prompt,
        cwd=info.cwd,
        git_branch=info.git_branch,
        tag=info.tag,
        size=info.file_size,
        modified=info.last_modified // 1000,
        created=None if info.created_at is None else info.created_at / 1000,
    )


def _read_messages(session_id: str, listed: Listed | None) -> Answers:
    try:
        messages = sdk.get_session_messages(session_id)
    except (UnicodeDecodeError, RecursionError) as error:
        return Answers(listed, (), str(error))
    return Answers(listed, tuple(message.uuid for message in messages))
