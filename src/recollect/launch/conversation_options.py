"""How to start a conversation: options, checks, and the client's arguments.

Nothing widens the client's permissions unless the caller sets `allow_bypass`. There is one client
per session, because two would append to the same file and silently fork its tree. The files in
which clients register their open sessions are therefore read before a session is resumed.
"""

import os
import re
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from uuid import uuid4

from msgspec import Struct

from recollect.documents.session_listing import LiveProcess
from recollect.errors import NothingFound, UsageError
from recollect.launch.client_commands import FORK, STREAMING, UUID, find_client
from recollect.launch.control_messages import BYPASS
from recollect.library.processes import find_live_processes
from recollect.locations.claude_directories import CONFIG_VARIABLE, encode_id, find_home

IDLE_SECONDS: Final = 15 * 60.0
START_SECONDS: Final = 60.0
REQUEST_SECONDS: Final = 30.0
SILENCE_SECONDS: Final = 120.0
END_STEPS: Final = (5.0, 3.0)
INTERRUPT_SECONDS: Final = 2.0
"""How long an ending conversation waits for its interrupt to be received."""

EXIT_SECONDS: Final = 5.0
"""How long to wait for a client to exit after its output has ended: it may run in a wrapper."""

_STEP_SECONDS: Final = 0.05

_CONVERSING: Final = (
    *STREAMING,
    "--input-format=stream-json",
    "--permission-prompt-tool=stdio",
    "--replay-user-messages",
)
_WORD: Final = re.compile(r"[\w.:\[\]@/-]+")
_RESERVED: Final = frozenset(
    {
        *("--", "-p", "--print", "--input-format", "--output-format", "--permission-prompt-tool"),
        *("--resume", "-r", "--continue", "-c", "--session-id", FORK, "--resume-session-at"),
    }
)
"""Options that the conversation sets itself."""

_BYPASSING: Final = frozenset(
    {
        "--dangerously-skip-permissions",
        "--allow-dangerously-skip-permissions",
        "--permission-mode",
    }
)


class Timing(Struct, frozen=True, kw_only=True):
    """How long to wait, in seconds."""

    idle: float | None = IDLE_SECONDS
    """How long until an idle client is ended; the next prompt starts it again. None keeps it."""
    start: float = START_SECONDS
    """How long to wait for the first response of a client."""
    request: float = REQUEST_SECONDS
    """How long to wait for the response to a control request."""
    silence: float = SILENCE_SECONDS
    """How long until a client that should be working, but prints nothing, is reported."""
    end: tuple[float, float] = END_STEPS
    """How long to wait after its input is closed, and after SIGTERM; then the client is killed."""


class ConversationOptions(Struct, frozen=True, kw_only=True):
    """Options of a conversation."""

    directory: str
    """The working directory of the client."""
    session: str | None = None
    """The id of the session to resume; None for a new one."""
    fork: bool = False
    """Whether to continue in a copy of the session."""
    at: str | None = None
    """The uuid of the last message to keep; later messages stay as another branch."""
    model: str | None = None
    permission_mode: str | None = None
    effort: str | None = None
    """The effort of models with adaptive thinking: `low`, `medium`, `high`, …"""
    thinking_tokens: int | None = None
    """The thinking budget of other models; 0 for none."""
    allow_bypass: bool = False
    """Whether the permission mode may become `bypassPermissions`."""
    client: str | None = None
    """The path of the client; None for the `claude` on the PATH."""
    environment: dict[str, str] = {}
    """Variables to add to the current environment."""
    extra_arguments: tuple[str, ...] = ()
    stream_name: str = ""
    """The transcript that it continues, or another name: the tags of secrets are numbered by
    name."""
    timing: Timing = Timing()


def check_platform(platform: str = sys.platform) -> None:
    """Raise UsageError on systems where a client's child processes cannot be ended reliably."""
    if platform == "win32":
        raise UsageError(
            "Conversations with Claude Code are not supported on Windows: without process groups,"
            " commands that it started could outlive the conversation. Run Recollect in WSL, or use"
            " `recollect run` for single prompts."
        )


def check_options(options: ConversationOptions) -> None:
    """Raise UsageError if the options contradict each other or cannot be passed to a client."""
    check_platform()
    if not Path(options.directory).is_absolute():
        raise UsageError(f"{options.directory!r} is not an absolute path.")
    if not os.path.isdir(options.directory):
        raise NothingFound(f"No such directory: {options.directory}")
    for name, value in (("session", options.session), ("message", options.at)):
        if value is not None and not UUID.fullmatch(value):
            raise UsageError(f"{value!r} is not the id of a {name}: Claude Code uses UUIDs.")
    if (options.fork or options.at) and options.session is None:
        raise UsageError("`fork` and `at` need a `session`.")
    for value in (options.model, options.permission_mode, options.effort):
        check_word(value)
    check_mode(options, options.permission_mode)
    _check_arguments(options)


def check_word(value: str | None) -> None:
    """Raise UsageError if this cannot be the name of a model, a mode or an effort level."""
    if value is not None and not (_WORD.fullmatch(value) and value[0] != "-"):
        raise UsageError(f"{value!r} is not a valid name.")


def check_mode(options: ConversationOptions, mode: str | None) -> None:
    """Raise UsageError for a permission mode that the options do not allow."""
    if mode == BYPASS and not options.allow_bypass:
        raise UsageError("bypassPermissions has to be allowed when the conversation is started.")


def _check_arguments(options: ConversationOptions) -> None:
    for argument in options.extra_arguments:
        name = argument.partition("=")[0]
        if name in _RESERVED or (name in _BYPASSING and not options.allow_bypass):
            raise UsageError(f"{name} cannot be passed to claude in a conversation.")


def find_conversation_client(options: ConversationOptions) -> str:
    """Return the path of the client; raises NothingFound if there is none."""
    environment = make_environment(options)
    return options.client or find_client(environment, "Install Claude Code.")


def make_environment(
    options: ConversationOptions, environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return the environment of the client."""
    return {**environment, **options.environment, "PWD": options.directory}


def check_not_running(
    launch: "Launch", options: ConversationOptions, patience: float = 0.0
) -> None:
    """Raise UsageError if another client has the session to resume open.

    Waits up to `patience` seconds, because a client that was killed may still be exiting.
    """
    if launch.resume != launch.session_id:
        return
    deadline = time.monotonic() + patience
    while (running := _find_running(launch, options)) and time.monotonic() < deadline:
        time.sleep(_STEP_SECONDS)
    if running is not None:
        raise UsageError(
            f"Session {launch.session_id} is open in another Claude Code process ({running.pid}). "
            "End that one first, or fork the session: two processes would split it into "
            "diverging branches."
        )


def _find_running(launch: "Launch", options: ConversationOptions) -> LiveProcess | None:
    root = _find_root(make_environment(options))
    return find_live_processes(root).get(encode_id(launch.session_id)) if root else None


def _find_root(environment: Mapping[str, str]) -> Path | None:
    given = environment.get(CONFIG_VARIABLE)
    home = find_home(environment)
    return Path(given) if given else home / ".claude" if home else None


class Launch(Struct, frozen=True, kw_only=True):
    """The session that the next client continues, and its current settings."""

    session_id: str
    """The id of the session, also of a new one."""
    resume: str | None = None
    """The session to resume; None starts a new one."""
    at: str | None = None
    model: str | None = None
    permission_mode: str | None = None


def plan_first(options: ConversationOptions) -> Launch:
    """Return the first launch; a new session gets its id here, so that it is known immediately."""
    is_new = options.session is None or options.fork
    return Launch(
        session_id=str(uuid4()) if is_new else options.session or "",
        resume=options.session,
        at=options.at,
        model=options.model,
        permission_mode=options.permission_mode,
    )


def list_first_requests(
    options: ConversationOptions,
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the requests to send before the first prompt: for features, and about thinking.

    No argument of the client sets thinking, and it should apply to the first turn too.
    """
    yield "initialize", {"hooks": None}
    if options.effort is not None:
        yield "apply_flag_settings", {"settings": {"effortLevel": options.effort}}
    if options.thinking_tokens is not None:
        yield "set_max_thinking_tokens", {"max_thinking_tokens": options.thinking_tokens}


def list_arguments(launch: Launch, options: ConversationOptions) -> tuple[str, ...]:
    """Return the client's arguments, each option in one word with its value."""
    is_copy = launch.resume is not None and launch.resume != launch.session_id
    chosen = {
        "--resume": launch.resume,
        "--resume-session-at": launch.at,
        "--session-id": launch.session_id if is_copy or launch.resume is None else None,
        "--model": launch.model,
        "--permission-mode": launch.permission_mode,
    }
    return (
        *_CONVERSING,
        *(f"{name}={value}" for name, value in chosen.items() if value is not None),
        *([FORK] if is_copy else []),
        *(["--allow-dangerously-skip-permissions"] if options.allow_bypass else []),
        *options.extra_arguments,
    )
