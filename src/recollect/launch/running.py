"""The client command of `recollect run`: one prompt, printed as a stream.

Knows the arguments that make the client print a stream, and passes everything as separate arguments
without a shell. Nothing is added that widens the client's permissions: it gets only the options
that the user typed for it. The prompt comes after `--`, so that one that looks like an option, or
follows an option with many values, is still the prompt.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from recollect.errors import NothingFound, UsageError
from recollect.launch.resuming import CLIENT, FORK, Resumption, find_client

STREAMING: Final = (
    "--print",
    "--output-format=stream-json",
    "--verbose",
    "--include-partial-messages",
)
"""Makes the client print each message, and each piece of one, immediately."""

END_OF_OPTIONS: Final = "--"
_RESERVED: Final = frozenset({"--output-format", "--input-format", END_OF_OPTIONS})
"""Options that cannot be passed to the client: the stream would be unreadable or never end."""

MAX_PROMPT_LENGTH: Final = 100_000
"""Bytes of a prompt: Linux accepts 128 KB in one argument, and its error is not helpful."""


class RunRequest(Struct, frozen=True, kw_only=True):
    """What the user asked to run."""

    prompt: str
    resumption: Resumption | None = None
    """The session to resume, in its directory."""
    continue_last: bool = False
    """Whether to continue the last session of this directory."""
    fork: bool = False
    model: str | None = None
    permission_mode: str | None = None
    extra_arguments: tuple[str, ...] = ()
    """Options that are passed to the client unchanged."""


class Run(Struct, frozen=True, kw_only=True):
    """How to run the client: arguments, directory and environment."""

    arguments: tuple[str, ...]
    directory: str | None = None
    """None for the current directory."""
    environment: dict[str, str] = {}
    """Variables to add to the current environment."""


def plan_run(request: RunRequest) -> Run:
    """Return how to run `request`; raises UsageError if it is invalid."""
    _check(request)
    resumption = request.resumption
    return Run(
        arguments=(
            CLIENT,
            *STREAMING,
            *_list_options(request),
            *request.extra_arguments,
            END_OF_OPTIONS,
            request.prompt,
        ),
        directory=resumption.directory if resumption else None,
        environment=resumption.environment if resumption else {},
    )


def check_run(run: Run, environment: Mapping[str, str] = os.environ) -> str:
    """Return the path of the client; raises NothingFound with the reason if `run` cannot start."""
    if run.directory is not None and not os.path.isdir(run.directory):
        raise NothingFound(
            f"The directory of the session no longer exists: {run.directory}\n"
            f"Restore it, or run `{CLIENT} --resume ID` in another one."
        )
    return find_client(environment, "Install Claude Code.")


def create_private_file(path: Path) -> int:
    """Return the descriptor of a new file that only its owner can read; UsageError if it exists."""
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"{path} already exists. Choose another name.") from None


def _check(request: RunRequest) -> None:
    if not request.prompt.strip():
        raise UsageError("The prompt is empty. Say what Claude Code should do.")
    if "\0" in request.prompt:
        raise UsageError(
            "The prompt contains a NUL character, which cannot be passed to a program."
        )
    if len(request.prompt.encode(errors="surrogateescape")) > MAX_PROMPT_LENGTH:
        raise UsageError(
            f"The prompt is longer than {MAX_PROMPT_LENGTH:,} bytes. Put it into a file, and ask "
            "Claude to read that file."
        )
    if request.resumption and request.continue_last:
        raise UsageError("Use either --resume or --continue, not both.")
    if request.fork and not (request.resumption or request.continue_last):
        raise UsageError("--fork needs --resume or --continue, to know which session to copy.")
    _check_extra_arguments(request.extra_arguments)


def _check_extra_arguments(arguments: Sequence[str]) -> None:
    """Raise UsageError for a client option that would break the stream we read."""
    for argument in arguments:
        name = argument.partition("=")[0]
        if name in _RESERVED:
            raise UsageError(f"{name} cannot be passed to claude: it would change its output.")


def _list_options(request: RunRequest) -> list[str]:
    """Return the options, each with its value in one word: a value may begin with a dash."""
    resumption = request.resumption
    chosen = {
        "--resume": resumption.session_id if resumption else None,
        "--model": request.model,
        "--permission-mode": request.permission_mode,
    }
    return [
        *(["--continue"] if request.continue_last else []),
        *(f"{name}={value}" for name, value in chosen.items() if value is not None),
        *([FORK] if request.fork else []),
    ]
