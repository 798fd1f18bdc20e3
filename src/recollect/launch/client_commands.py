"""Build the commands that run the user's own Claude Code: one that resumes a session in its
directory, and one that runs a prompt and prints a stream.

Also checks whether a command can run. No shell is involved: the session id is checked and passed as
a separate argument, so nothing in a transcript can become a command. A command that is printed for
copying is quoted, and refused if a shell would not run it as shown.

Nothing is added that widens the client's permissions: it gets only the options that the user typed.
The prompt comes after `--`, so a prompt that looks like an option, or follows an option with
several values, is still a prompt.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NoReturn

from msgspec import Struct

from recollect.archive.deleted_sessions import is_partial
from recollect.errors import NothingFound, UsageError
from recollect.locations import Transcript, TranscriptKind
from recollect.locations.claude_directories import CONFIG_VARIABLE, find_home, list_project_names
from recollect.render.terminal import safe_line
from recollect.sources.source import is_only_archived

CLIENT: Final = "claude"
FORK: Final = "--fork-session"
UUID: Final = re.compile("[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)


class Resumption(Struct, frozen=True, kw_only=True):
    """How to resume a session: directory, arguments and environment."""

    session_id: str
    directory: str
    arguments: tuple[str, ...]
    environment: dict[str, str]
    """Variables to add to the current environment."""

    @property
    def shell_command(self) -> str:
        """Return the same as a quoted command line for a POSIX shell."""
        words = [*(f"{name}={value}" for name, value in self.environment.items()), *self.arguments]
        return f"cd {shlex.quote(self.directory)} && {_join(words)}"


def plan_resume(
    transcript: Transcript,
    cwd: str | None,
    environment: Mapping[str, str] = os.environ,
    *,
    fork: bool = False,
    extra_arguments: Sequence[str] = (),
) -> Resumption:
    """Plan how to resume the session of `transcript`, whose last known directory is `cwd`.

    With `fork` the client continues in a copy; `extra_arguments` are passed to it unchanged. Raises
    UsageError if it is not a session, and NothingFound if its directory is not known.
    """
    session_id = _require_id(transcript)
    _require_transcript(transcript, session_id)
    if not cwd:
        raise NothingFound(
            f"The directory of the session is not known. Run "
            f"`{CLIENT} --resume {session_id}` in the right one."
        )
    return Resumption(
        session_id=session_id,
        directory=_find_directory(cwd, transcript.project_dir.name),
        arguments=(CLIENT, "--resume", session_id, *([FORK] if fork else []), *extra_arguments),
        environment=_root_environment(transcript, environment),
    )


def _require_transcript(transcript: Transcript, session_id: str) -> None:
    """Raise NothingFound if Claude Code has deleted the transcript and could not resume it."""
    if is_partial(transcript.file):
        raise NothingFound(
            f"Cannot resume {session_id}: Claude Code has deleted it; only your prompts are left."
        )
    if is_only_archived(transcript.file):
        root = transcript.root
        raise NothingFound(
            f"Cannot resume {session_id}: Claude Code has deleted it. Restore it first:\n"
            f"  recollect archive restore {session_id} --into-claude-dir {shlex.quote(str(root))}"
        )


def check_resume(plan: Resumption, environment: Mapping[str, str] = os.environ) -> str:
    """Return the path of the client; raises NothingFound with the reason if `plan` cannot run."""
    if not os.path.isdir(plan.directory):
        raise NothingFound(
            f"The directory of the session no longer exists: {plan.directory}\n"
            f"Restore it, or run `{' '.join(plan.arguments)}` in another one: recent versions of "
            "Claude Code find the session by its id."
        )
    return find_client(environment, "Install Claude Code, or use --print to see the command.")


def find_client(environment: Mapping[str, str], remedy: str) -> str:
    """Return the path of the user's own client; raises NothingFound with `remedy` if missing."""
    client = shutil.which(CLIENT, path=environment.get("PATH"))
    if client is None:
        raise NothingFound(f"`{CLIENT}` is not on the PATH. {remedy}")
    # The PATH may contain relative directories, and we are about to change directory.
    return str(Path(client).absolute())


def format_command(plan: Resumption) -> str:
    """Return the shell command to print; raises UsageError if it would not be run as it looks."""
    command = plan.shell_command
    if safe_line(command) != command:
        raise UsageError(
            f"The name of the directory contains control or invisible characters: "
            f"{plan.directory}\nChange to it yourself and run `{' '.join(plan.arguments)}`."
        )
    return command


def resume(plan: Resumption) -> NoReturn:
    """Replace this process with the client, in the session's directory.

    Raises NothingFound if the client or the directory does not exist.
    """
    client = check_resume(plan)
    environment = {**os.environ, **plan.environment, "PWD": plan.directory}
    os.chdir(plan.directory)
    if sys.platform == "win32":
        # `exec` on Windows starts a new process, and the shell would return at once.
        code = subprocess.call([client, *plan.arguments[1:]], env=environment)
        sys.exit(code)
    os.execve(client, plan.arguments, environment)  # noqa: S606 - the user's own program, no shell


def _require_id(transcript: Transcript) -> str:
    name = transcript.name
    if transcript.kind is not TranscriptKind.SESSION:
        parent = transcript.session_id
        tip = f" Resume its session instead: {parent}." if parent else ""
        raise UsageError(f"{name} is a subagent, and only sessions can be resumed.{tip}")
    if not UUID.fullmatch(name):
        raise UsageError(f"{name!r} cannot be resumed: Claude Code only accepts a UUID.")
    return name


def _find_directory(cwd: str, project: str) -> str:
    """Return the directory of the project: the session may have moved into a subdirectory since."""
    path = Path(cwd)
    for directory in (path, *path.parents):
        if project in list_project_names(str(directory)):
            return str(directory)
    return cwd


def _root_environment(transcript: Transcript, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variable for the session's root; empty if it is the client's default."""
    root = transcript.root
    return {} if root is None else make_root_environment(root, environment)


def make_root_environment(root: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variable that makes the client use `root`; empty if it does so anyway."""
    home = find_home(environment)
    usual = environment.get(CONFIG_VARIABLE) or (home and home / ".claude")
    if usual and os.path.realpath(usual) == os.path.realpath(root):
        return {}
    return {CONFIG_VARIABLE: str(root)}


def _join(words: list[str]) -> str:
    """Join words for a shell; the name and `=` of an assignment stay outside the quotes."""
    quoted = []
    for word in words:
        name, sign, value = word.partition("=")
        is_setting = sign and name == CONFIG_VARIABLE
        quoted.append(f"{name}={shlex.quote(value)}" if is_setting else shlex.quote(word))
    return " ".join(quoted)


STREAMING: Final = (
    "--print",
    "--output-format=stream-json",
    "--verbose",
    "--include-partial-messages",
)
"""Make the client print each message, and each part of one, immediately."""

END_OF_OPTIONS: Final = "--"
_RESERVED: Final = frozenset({"--output-format", "--input-format", END_OF_OPTIONS})
"""Options that cannot be passed to the client: its output would be unreadable or never end."""

MAX_PROMPT_LENGTH: Final = 100_000
"""Maximum size of a prompt in bytes: Linux accepts 128 KB in one argument, and its error message
does not help."""


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
    """Options to pass to the client unchanged."""


class Run(Struct, frozen=True, kw_only=True):
    """How to run the client: arguments, directory and environment."""

    arguments: tuple[str, ...]
    directory: str | None = None
    """None for the current directory."""
    environment: dict[str, str] = {}
    """Variables to add to the current environment."""


def plan_run(request: RunRequest) -> Run:
    """Plan how to run `request`; raises UsageError if it is invalid."""
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
    """Create a private file and return its descriptor; raises UsageError if it exists."""
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
    """Raise UsageError for a client option that would break the stream that we read."""
    for argument in arguments:
        name = argument.partition("=")[0]
        if name in _RESERVED:
            raise UsageError(f"{name} cannot be passed to claude: it would change its output.")


def _list_options(request: RunRequest) -> list[str]:
    """Return the options, each in one word with its value, which may start with a dash."""
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
