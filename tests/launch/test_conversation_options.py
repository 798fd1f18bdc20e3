"""Checks of conversation options, and the client's arguments."""

import os
from pathlib import Path
from typing import Any

import pytest

from recollect.errors import NothingFound, RecollectError, UsageError
from recollect.launch.conversation_options import (
    ConversationOptions,
    check_not_running,
    check_options,
    check_platform,
    find_conversation_client,
    list_arguments,
    plan_first,
)
from tests.library.claude_root import ClaudeRoot

SESSION = "5e551011-0000-4000-8000-000000000001"
MESSAGE = "3e55a9e0-0000-4000-8000-000000000002"
STREAMING = [
    "--print",
    "--output-format=stream-json",
    "--verbose",
    "--include-partial-messages",
    "--input-format=stream-json",
    "--permission-prompt-tool=stdio",
    "--replay-user-messages",
]


def make(directory: Path, **more: Any) -> ConversationOptions:
    """Return options for a directory."""
    return ConversationOptions(directory=str(directory), **more)


def test_a_new_session_gets_its_id_before_it_exists(tmp_path: Path) -> None:
    """The id is chosen here, so that pages can link to the session at once."""
    launch = plan_first(make(tmp_path))
    assert list(list_arguments(launch, make(tmp_path))) == [
        *STREAMING,
        f"--session-id={launch.session_id}",
    ]


def test_a_session_is_resumed_forked_or_cut_off(tmp_path: Path) -> None:
    """Each value is passed as one argument with its option; only a copy gets another id."""
    resumed = make(tmp_path, session=SESSION, at=MESSAGE, model="opus", permission_mode="plan")
    assert list(list_arguments(plan_first(resumed), resumed)) == [
        *STREAMING,
        f"--resume={SESSION}",
        f"--resume-session-at={MESSAGE}",
        "--model=opus",
        "--permission-mode=plan",
    ]
    forked = make(tmp_path, session=SESSION, fork=True, extra_arguments=("--add-dir=/srv",))
    launch = plan_first(forked)
    assert launch.session_id != SESSION
    assert list(list_arguments(launch, forked)) == [
        *STREAMING,
        f"--resume={SESSION}",
        f"--session-id={launch.session_id}",
        "--fork-session",
        "--add-dir=/srv",
    ]


def test_permissions_are_skipped_only_if_that_was_allowed(tmp_path: Path) -> None:
    """The mode, and the options that select it, require `allow_bypass`."""
    for more in (
        {"permission_mode": "bypassPermissions"},
        {"extra_arguments": ("--dangerously-skip-permissions",)},
        {"extra_arguments": ("--permission-mode=bypassPermissions",)},
    ):
        with pytest.raises(UsageError):
            check_options(make(tmp_path, **more))
        check_options(make(tmp_path, allow_bypass=True, **more))
    allowed = make(tmp_path, allow_bypass=True)
    assert "--allow-dangerously-skip-permissions" in list_arguments(plan_first(allowed), allowed)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"session": "../../etc"}, "is not the id of a session"),
        ({"session": SESSION, "at": "--help"}, "is not the id of a message"),
        ({"fork": True}, "`fork` and `at` need a `session`"),
        ({"at": MESSAGE}, "`fork` and `at` need a `session`"),
        ({"model": "--help"}, "is not a valid name"),
        ({"model": "two words"}, "is not a valid name"),
        ({"effort": ""}, "is not a valid name"),
        ({"extra_arguments": ("--output-format=text",)}, "--output-format cannot be passed"),
        ({"extra_arguments": ("--resume", "x")}, "--resume cannot be passed"),
    ],
)
def test_what_cannot_be_passed_is_refused(tmp_path: Path, more: dict[str, Any], words: str) -> None:
    """Ids, names and arguments are checked before anything is started."""
    with pytest.raises(UsageError, match=words):
        check_options(make(tmp_path, **more))


def test_conversations_need_process_groups() -> None:
    """No client is started where its child processes could not be ended with it."""
    check_platform("linux")
    check_platform("darwin")
    with pytest.raises(UsageError, match="are not supported on Windows"):
        check_platform("win32")


def test_a_directory_is_absolute_and_exists(tmp_path: Path) -> None:
    """A relative path would mean another directory in a server."""
    with pytest.raises(UsageError, match="is not an absolute path"):
        check_options(ConversationOptions(directory="work"))
    with pytest.raises(NothingFound, match="No such directory"):
        check_options(make(tmp_path / "gone"))


def test_a_session_that_another_client_has_open_is_refused(tmp_path: Path) -> None:
    """Its process is named; a copy of the session may be started all the same."""
    ClaudeRoot(tmp_path).client(os.getpid(), SESSION)
    environment = {"CLAUDE_CONFIG_DIR": str(tmp_path)}
    resumed = make(tmp_path, session=SESSION, environment=environment)
    with pytest.raises(UsageError, match=rf"open in another Claude Code process \({os.getpid()}\)"):
        check_not_running(plan_first(resumed), resumed)
    others: list[dict[str, Any]] = [{"session": SESSION, "fork": True}, {"session": MESSAGE}, {}]
    for more in others:
        options = make(tmp_path, environment=environment, **more)
        check_not_running(plan_first(options), options)


def test_a_missing_client_is_an_error(tmp_path: Path) -> None:
    """The client is searched on the PATH of its own environment."""
    with pytest.raises(RecollectError, match="`claude` is not on the PATH"):
        find_conversation_client(make(tmp_path, environment={"PATH": str(tmp_path)}))
