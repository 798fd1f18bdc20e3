"""The command behind `recollect run`: the user's own client, asked once, telling what it does.

Knows which words make the client print a stream, and hands everything over as arguments of their
own, without a shell. Nothing is added that widens what the client may do: only what the person
typed for it is passed on. The prompt stands behind `--`, so that one that looks like an option, or
follows an option that takes many values, is still the prompt.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from recollect.errors import NothingFound, UsageError
from recollect.launch.resume import CLIENT, FORK, Resumption, find_client

STREAMING: Final = (
    "--print",
    "--output-format=stream-json",
    "--verbose",
    "--include-partial-messages",
)
"""What makes the client print each message, and each piece of one, as it comes."""

END_OF_OPTIONS: Final = "--"
_OURS: Final = frozenset({"--output-format", "--input-format", END_OF_OPTIONS})
"""What cannot be passed on, because the stream would be another one or not end."""

LONGEST_PROMPT: Final = 100_000
"""Bytes of a prompt: systems take 128 KB in one argument, and say nothing helpful beyond that."""


class RunRequest(Struct, frozen=True, kw_only=True):
    """What a person wants to be run."""

    prompt: str
    resumption: Resumption | None = None
    """The session to go on with, in its directory."""
    goes_on: bool = False
    """Whether to go on with the last session of this directory."""
    fork: bool = False
    model: str | None = None
    permission_mode: str | None = None
    passed_on: tuple[str, ...] = ()
    """Options for the client, word by word as they were typed."""


class Run(Struct, frozen=True, kw_only=True):
    """What it takes to run the client: its words, where, and in which environment."""

    arguments: tuple[str, ...]
    directory: str | None = None
    """None for where we are."""
    environment: dict[str, str] = {}
    """Variables to set beside those that are set already."""


def plan_run(request: RunRequest) -> Run:
    """How to run `request`; raises UsageError when it contradicts itself."""
    _check(request)
    resumption = request.resumption
    return Run(
        arguments=(
            CLIENT,
            *STREAMING,
            *_list_options(request),
            *request.passed_on,
            END_OF_OPTIONS,
            request.prompt,
        ),
        directory=resumption.directory if resumption else None,
        environment=resumption.environment if resumption else {},
    )


def check_run(run: Run, environment: Mapping[str, str] = os.environ) -> str:
    """The path of the client; raises NothingFound with the reason when `run` cannot be done."""
    if run.directory is not None and not os.path.isdir(run.directory):  # noqa: PTH112 - never raises
        raise NothingFound(
            f"The directory of the session is gone: {run.directory}\n"
            "Put it back, or go on with the session elsewhere by your own "
            f"`{CLIENT} --resume ID`."
        )
    return find_client(environment, "Install Claude Code.")


def open_kept(path: Path) -> int:
    """A descriptor of a new file that only its owner can read; raises UsageError if it exists."""
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"{path} is there already. Name a file that is not.") from None


def _check(request: RunRequest) -> None:
    if not request.prompt.strip():
        raise UsageError("The prompt is empty. Say what Claude Code shall do.")
    if "\0" in request.prompt:
        raise UsageError("The prompt holds a NUL character, which no argument can hold.")
    if len(request.prompt.encode(errors="surrogateescape")) > LONGEST_PROMPT:
        raise UsageError(
            f"The prompt is longer than {LONGEST_PROMPT:,} bytes. Put it into a file, and ask for "
            "that file to be read."
        )
    if request.resumption and request.goes_on:
        raise UsageError("Give --resume or --continue: each says which session to go on with.")
    if request.fork and not (request.resumption or request.goes_on):
        raise UsageError("--fork needs --resume or --continue: it says what to make a copy of.")
    check_passed_on(request.passed_on)


def check_passed_on(words: Sequence[str]) -> None:
    """Raise UsageError for an option of the client that would end the stream that is read."""
    for word in words:
        name = word.partition("=")[0]
        if name in _OURS:
            raise UsageError(f"{name} cannot be passed on: it would change what is read here.")


def _list_options(request: RunRequest) -> list[str]:
    """Options with a value are one word: a value that begins with a dash stays a value."""
    resumption = request.resumption
    chosen = {
        "--resume": resumption.session_id if resumption else None,
        "--model": request.model,
        "--permission-mode": request.permission_mode,
    }
    return [
        *(["--continue"] if request.goes_on else []),
        *(f"{name}={value}" for name, value in chosen.items() if value is not None),
        *([FORK] if request.fork else []),
    ]
