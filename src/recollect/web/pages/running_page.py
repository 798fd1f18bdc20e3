"""`/running` and `/new`: what runs on this machine, and the form that starts a conversation."""

import shlex
from typing import Annotated, Final

from msgspec import Meta, Struct

from recollect.documents.events import ConversationRow
from recollect.documents.session_listing import SessionListing
from recollect.library.session_filters import SessionQuery
from recollect.web.api.session_endpoints import NoParameters
from recollect.web.conversations.permits import START
from recollect.web.conversations.registry import MODES
from recollect.web.conversations.starting import MAX_PATH
from recollect.web.services import Services
from recollect.web.templating import PageContent

MODELS: Final = ("opus", "sonnet", "haiku")
"""Aliases that every client knows; its own list is on the page of a conversation."""

MAX_PROJECTS: Final = 200


class NewParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where to start, if that is known already."""

    directory: Annotated[str, Meta(max_length=MAX_PATH)] = ""


class NewPage(Struct, frozen=True, kw_only=True):
    """The form for a new conversation; without `--allow-run`, the command to copy."""

    allow_run: bool
    nonce: str
    directory: str
    projects: tuple[str, ...]
    """The work directories of sessions, most recently active first."""
    models: tuple[str, ...]
    modes: tuple[str, ...]
    command: str


class RunningPage(Struct, frozen=True, kw_only=True):
    """What runs: conversations of this server, and clients that were started elsewhere."""

    allow_run: bool
    conversations: tuple[ConversationRow, ...]
    nonces: dict[str, str]
    """By conversation: each may be stopped from here."""
    max_running: int
    elsewhere: tuple[SessionListing, ...]


def render_new_page(services: Services, wanted: NewParameters) -> PageContent:
    """Render the form for a new conversation."""
    known = services.workspace.choices.projects[:MAX_PROJECTS]
    projects = tuple(dict.fromkeys(each.path for each in known if each.path))
    directory = wanted.directory or next(iter(projects), "")
    page = NewPage(
        allow_run=services.permits.allow_run,
        nonce=services.permits.make_nonce(START),
        directory=directory,
        projects=projects,
        models=MODELS,
        modes=MODES,
        command=f"cd {shlex.quote(directory)} && claude" if directory else "claude",
    )
    return PageContent("new.html", page, title="converse.new", section="running")


def render_running_page(services: Services, _: NoParameters) -> PageContent:
    """Render what runs."""
    known = services.conversations.document
    own = {each.session_id for each in known.conversations if each.status != "ended"}
    live = services.workspace.sessions(SessionQuery(is_live=True), page_size=100).sessions
    page = RunningPage(
        allow_run=services.permits.allow_run,
        conversations=known.conversations,
        nonces={each.id: services.permits.make_nonce(each.id) for each in known.conversations},
        max_running=known.max_running,
        elsewhere=tuple(each for each in live if each.id not in own),
    )
    return PageContent("running.html", page, title="running.title", section="running")
