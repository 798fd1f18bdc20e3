"""Keep tests out of the real home directory, and above all out of real transcripts.

A policy has refused folders, and allowed ones inside them that are needed to run at all
(interpreter, packages, project); the most specific rule wins. The guard uses the interpreter's
audit events, so it sees what Python code opens but not what a native library opens: for those the
tests change HOME. Only `os` and `sys` are imported, because every Python process that a test starts
loads this module first.
"""

import os
import sys
from collections.abc import Callable, Iterable
from typing import NamedTuple

DENY_VARIABLE = "RECOLLECT_GUARD_DENY"
ALLOW_VARIABLE = "RECOLLECT_GUARD_ALLOW"
BREACH_EXIT_CODE = 97

# Event name to the positions of its path arguments. The target of a symbolic link is just text
# until the link is opened, so only the path of the link counts.
PATH_ARGUMENTS = {
    "open": (0,),
    "os.chdir": (0,),
    "os.chmod": (0,),
    "os.link": (0, 1),
    "os.listdir": (0,),
    "os.mkdir": (0,),
    "os.remove": (0,),
    "os.rename": (0, 1),
    "os.rmdir": (0,),
    "os.scandir": (0,),
    "os.symlink": (1,),
    "os.truncate": (0,),
    "os.utime": (0,),
    "sqlite3.connect": (0,),
}


class Policy(NamedTuple):
    """Refused and allowed folders, as real paths without links."""

    deny: tuple[str, ...]
    allow: tuple[str, ...]

    def refuses(self, path: str) -> bool:
        """Return whether the most specific rule for the path is a refusal."""
        return _depth_of_closest(self.deny, path) >= max(1, _depth_of_closest(self.allow, path))


def make_policy(deny: Iterable[str], allow: Iterable[str]) -> Policy:
    """Return a policy over real paths; links are resolved."""
    return Policy(_real_paths(deny), _real_paths(allow))


def policy_to_environment(policy: Policy) -> dict[str, str]:
    """Return the two variables that `policy_from_environment` reads in a child process."""
    return {
        DENY_VARIABLE: os.pathsep.join(policy.deny),
        ALLOW_VARIABLE: os.pathsep.join(policy.allow),
    }


def policy_from_environment() -> Policy:
    """Return the parent's policy; a KeyError means that there is none."""
    deny, allow = os.environ[DENY_VARIABLE], os.environ[ALLOW_VARIABLE]
    return Policy(tuple(deny.split(os.pathsep)), tuple(allow.split(os.pathsep)))


def install(policy: Policy, on_breach: Callable[[str], None]) -> None:
    """Guard this process until it exits: an audit hook cannot be removed."""

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        for position in PATH_ARGUMENTS.get(event, ()):
            path = _path_of(arguments[position])
            if path is not None and policy.refuses(path):
                on_breach(f"{event} touched {path}, which is in the real home directory")

    sys.addaudithook(hook)


def _path_of(argument: object) -> str | None:
    """Return the real path of an event's argument; None for a file descriptor."""
    if argument is None:
        argument = os.curdir
    if not isinstance(argument, str | bytes | os.PathLike):
        return None
    name = os.fsdecode(argument).removeprefix("file:")
    return None if "\0" in name else os.path.realpath(name)


def _real_paths(folders: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({os.path.realpath(folder) for folder in folders if folder}))


def _depth_of_closest(folders: Iterable[str], path: str) -> int:
    """Return the length of the longest folder that contains the path, or 0."""
    return max((len(folder) for folder in folders if _holds(folder, path)), default=0)


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
