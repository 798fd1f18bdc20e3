"""What a page may start: a new session in a directory, or an existing one, resumed or forked.

A directory is one of this machine, named absolutely. A session is looked up by its id, like
everywhere else, and continues in its own directory and below its own Claude directory.
"""

import os
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta, Struct

from recollect.launch.conversation_options import ConversationOptions
from recollect.launch.resuming import make_root_environment, plan_resume
from recollect.reader import read_transcript
from recollect.records.envelope import Chain, Record
from recollect.web.conversations.registry import MODES, StartedFrom
from recollect.web.parameters import MAX_ID, BadParameter
from recollect.web.services import Services

Word = Annotated[str, Meta(max_length=200)]
MAX_PATH: Final = 4096


class StartBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to start; a session, or else a directory."""

    directory: Annotated[str, Meta(max_length=MAX_PATH)] = ""
    session: Annotated[str, Meta(max_length=MAX_ID)] = ""
    project: Annotated[str, Meta(max_length=MAX_PATH)] | None = None
    """The project of the session, if several have its id."""
    fork: bool = False
    at: Word = ""
    """The message after which a fork begins."""
    model: Word = ""
    permission_mode: Word = ""


def plan_start(services: Services, body: StartBody) -> tuple[ConversationOptions, StartedFrom]:
    """Return how to start what a page asks for; reads the session's file, if there is one."""
    check_mode(body.permission_mode)
    if body.session:
        return _plan_resume(services, body)
    options = ConversationOptions(
        directory=check_directory(body.directory),
        model=body.model or None,
        permission_mode=body.permission_mode or None,
        environment=_find_root(services),
    )
    return options, StartedFrom()


def check_mode(mode: str) -> None:
    """Raise BadParameter for a mode that no page may choose."""
    if mode and mode not in MODES:
        raise BadParameter("permission_mode", f"A page can choose {', '.join(MODES)} only.")


def check_directory(given: str) -> str:
    """Return a directory that somebody typed; raises BadParameter if there is none."""
    text = given.strip()
    if not text or any(unicodedata.category(each).startswith("C") for each in text):
        raise BadParameter("directory", "Name a directory.")
    # Homes of other users are not looked up.
    path = Path(text).expanduser() if text == "~" or text.startswith("~/") else Path(text)
    if not path.is_absolute():
        raise BadParameter("directory", "Name the directory by its whole path, from / or ~ on.")
    if not path.is_dir():
        raise BadParameter("directory", f"There is no directory {path}.")
    return os.path.normpath(path)


def _find_root(services: Services) -> dict[str, str]:
    roots = services.settings.roots
    # The sample sessions belong to the package: nothing is written there.
    if services.settings.is_demo or not roots:
        return {}
    return make_root_environment(roots[0], os.environ)


def _plan_resume(services: Services, body: StartBody) -> tuple[ConversationOptions, StartedFrom]:
    if services.settings.is_demo:
        raise BadParameter("session", "The sample sessions cannot be continued.")
    found = services.workspace.locate(body.session, body.project)
    plan = plan_resume(found.transcript, found.listing.cwd)
    options = ConversationOptions(
        directory=check_directory(plan.directory),
        session=plan.session_id,
        fork=body.fork,
        at=body.at or None,
        model=body.model or None,
        permission_mode=body.permission_mode or None,
        environment=plan.environment,
    )
    records = tuple(read_transcript(found.transcript.file))
    title = found.listing.title or found.listing.first_prompt or ""
    return options, StartedFrom(title=title, records=_cut(records, body.at))


def _cut(records: Sequence[Record], at: str) -> Sequence[Record]:
    """Return the records up to a message, in the order of the file."""
    if not at:
        return records
    for place, record in enumerate(records, 1):
        if isinstance(record, Chain) and record.uuid == at:
            return records[:place]
    raise BadParameter("at", "The session has no such message.")
