"""Taking a session up again in the user's own Claude Code, in the directory where it was held.

Knows which command that is and why it may not work; refuses shells: the id is checked and handed
over as an argument of its own, so that nothing in a transcript can become a command. A command that
is shown to be copied is quoted, and refused where quoting could not make it safe to look at.
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

from recollect.errors import NothingFound, UsageError
from recollect.locations import Transcript, TranscriptKind, encode_project_path, find_root_of
from recollect.locations.names import encode_without_limit
from recollect.locations.roots import CONFIG_VARIABLE, find_home
from recollect.locations.transcript_files import name_of
from recollect.render.terminal import safe_text

CLIENT: Final = "claude"
FORK: Final = "--fork-session"
_ID: Final = re.compile("[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)


class Resumption(Struct, frozen=True, kw_only=True):
    """What it takes to resume a session: where, with which words, and in which environment."""

    session_id: str
    directory: str
    arguments: tuple[str, ...]
    environment: dict[str, str]
    """Variables to set beside those that are set already."""

    @property
    def shell_command(self) -> str:
        """The same for a POSIX shell, quoted."""
        words = [*(f"{name}={value}" for name, value in self.environment.items()), *self.arguments]
        return f"cd {shlex.quote(self.directory)} && {_join(words)}"


def plan_resume(
    transcript: Transcript,
    cwd: str | None,
    environment: Mapping[str, str] = os.environ,
    *,
    fork: bool = False,
    passed_on: Sequence[str] = (),
) -> Resumption:
    """How to resume the session of `transcript`, whose records last name the directory `cwd`.

    With `fork` the client goes on in a copy; `passed_on` are words for the client, as they were
    typed. Raises UsageError for what is no session, and NothingFound when its directory is not
    known.
    """
    session_id = _require_id(transcript)
    if not cwd:
        raise NothingFound(
            f"No record says where the session was held. Go there and run "
            f"`{CLIENT} --resume {session_id}`."
        )
    return Resumption(
        session_id=session_id,
        directory=_find_directory(cwd, transcript.project_dir.name),
        arguments=(CLIENT, "--resume", session_id, *([FORK] if fork else []), *passed_on),
        environment=_name_root(transcript, environment),
    )


def check_resume(plan: Resumption, environment: Mapping[str, str] = os.environ) -> str:
    """The path of the client; raises NothingFound with the reason when `plan` cannot be done."""
    if not os.path.isdir(plan.directory):  # noqa: PTH112 - Path.is_dir raises where we may not look
        raise NothingFound(
            f"The directory of the session is gone: {plan.directory}\n"
            f"Put it back, or run `{' '.join(plan.arguments)}` in another one: recent versions of "
            "Claude Code find the session by its id."
        )
    return find_client(environment, "Install Claude Code, or see what would be run with --print.")


def find_client(environment: Mapping[str, str], remedy: str) -> str:
    """The path of the user's own client; raises NothingFound, with the `remedy`, without one."""
    client = shutil.which(CLIENT, path=environment.get("PATH"))
    if client is None:
        raise NothingFound(f"`{CLIENT}` is not on the PATH. {remedy}")
    # The PATH may hold relative places, and we are about to go elsewhere.
    return str(Path(client).absolute())


def check_shown(plan: Resumption) -> None:
    """Raise UsageError when the command cannot be shown so that what is read is what is run."""
    if safe_text(plan.shell_command, single_line=True) != plan.shell_command:
        raise UsageError(
            f"The name of the directory holds characters that a terminal obeys or hides: "
            f"{plan.directory}\nGo there yourself and run `{' '.join(plan.arguments)}`."
        )


def resume(plan: Resumption) -> NoReturn:
    """Become the client, in the directory of the session; raises NothingFound when it cannot."""
    client = check_resume(plan)
    environment = {**os.environ, **plan.environment, "PWD": plan.directory}
    os.chdir(plan.directory)
    if sys.platform == "win32":
        # There a process cannot become another one: the shell would return at once.
        code = subprocess.call([client, *plan.arguments[1:]], env=environment)  # noqa: S603 - checked
        sys.exit(code)
    os.execve(client, plan.arguments, environment)  # noqa: S606 - the user's own program, no shell


def _require_id(transcript: Transcript) -> str:
    name = name_of(transcript)
    if transcript.kind is not TranscriptKind.SESSION:
        parent = transcript.session_id
        tip = f" Resume the session that it worked for: {parent}." if parent else ""
        raise UsageError(f"{name} is a subagent, and only sessions can be resumed.{tip}")
    if not _ID.fullmatch(name):
        raise UsageError(f"{name!r} is no id that Claude Code could resume: it takes a UUID.")
    return name


def _find_directory(cwd: str, project: str) -> str:
    """The directory that the project is named for: a session may have gone below it since."""
    path = Path(cwd)
    for place in (path, *path.parents):
        if project in (encode_project_path(str(place)), encode_without_limit(str(place))):
            return str(place)
    return cwd


def _name_root(transcript: Transcript, environment: Mapping[str, str]) -> dict[str, str]:
    """What tells the client where its data is, when it would look elsewhere by itself."""
    root = find_root_of(transcript)
    home = find_home(environment)
    usual = environment.get(CONFIG_VARIABLE) or (home and home / ".claude")
    if root is None or (usual and os.path.realpath(usual) == os.path.realpath(root)):
        return {}
    return {CONFIG_VARIABLE: str(root)}


def _join(words: list[str]) -> str:
    """Words for a shell; an assignment keeps its name and sign outside of the quotes."""
    quoted = []
    for word in words:
        name, sign, value = word.partition("=")
        is_setting = sign and name == CONFIG_VARIABLE
        quoted.append(f"{name}={shlex.quote(value)}" if is_setting else shlex.quote(word))
    return " ".join(quoted)
