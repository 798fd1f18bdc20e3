"""`/s/ID/export`: review the values that an export would mask, and download it.

The page is a plain form and needs no script. It shows the kind and the context of each value; the
value itself is only in the response to a form of our own page, not to a link or a program. A
decision to leave a value unmasked applies to that download only. With `download`, the response is
the file: the export menu of a session leads here too, so that errors are shown on a page.

The original lines are only in the response to such a form too, and only if the word that confirms
it has been typed there: a click could be a mistake.
"""

import hashlib
import secrets
from collections.abc import Iterator
from typing import Annotated, Final
from urllib.parse import parse_qsl

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

from recollect.documents.session_listing import SessionListing
from recollect.errors import NothingFound, UsageError
from recollect.export import Format, Level
from recollect.export.export_content import MaskedValue, SessionPart, allow, list_masked_values
from recollect.export.export_options import READABLE
from recollect.export.export_tables import has_parquet
from recollect.reader.line_blocks import masked_by
from recollect.render.terminal import restore_text
from recollect.session.branches import list_abandoned
from recollect.session.session import Session
from recollect.web import endpoints, http_messages, session_endpoints, templating
from recollect.web.pages.session_page import make_session_url
from recollect.web.services import Services
from recollect.workspace.session_queries import open_with_prices
from recollect.workspace.turn_selection import choose_turns

REVIEW_PATH: Final = "/s/{id}/export"
OFFERED: Final = (*session_endpoints.DOWNLOADED, Format.JSONL)
"""The formats of the page."""
CONFIRMATION: Final = "no-redact"
"""The word that confirms a download of the original lines, as on the command line."""
_KEEP: Final = "keep"
_SHOW: Final = "show"
_ID_BYTES: Final = 12
_MAX_VALUE: Final = 2_000


class ReviewedSecret(Struct, frozen=True, kw_only=True):
    """A value that would be masked."""

    id: str
    """Identifies the value in the form without revealing it."""
    kind: str
    confidence: str
    before: str
    after: str
    turn: int | None
    count: int
    value: str | None
    """Only if the user asked to see it."""
    is_kept: bool
    """Whether it is left unmasked."""


class ExportPage(Struct, frozen=True, kw_only=True):
    """The export to review."""

    session: SessionListing
    url: str
    query: dict[str, str]
    wanted: session_endpoints.ExportParameters
    branches: int
    segments: int
    has_parquet: bool
    is_raw: bool
    """Whether the original lines were requested, which cannot be masked."""
    confirmation: str
    """The word to type to get them."""
    error: str
    """Why there is no such file, if one was requested."""
    is_whole: bool
    """Whether all turns are exported."""
    secrets: tuple[ReviewedSecret, ...] | None
    """None if there are no such turns."""


class ReviewParameters(session_endpoints.ExportParameters, frozen=True, kw_only=True):
    """Parameters: the export, and whether to download it without a review."""

    format: Annotated[str, Meta(pattern=f"^({'|'.join(OFFERED)})$")] = "html"
    download: str = ""


class Decisions(Struct, frozen=True):
    """The user's decisions so far, by the ids of values."""

    kept: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()
    is_final: bool = False
    """Whether to download the file."""
    confirmed: str | None = None
    """The word typed to confirm that nothing is masked; None if there was no question."""


class ExportReview:
    """Handles requests for the page, and its form."""

    def __init__(
        self, services: Services, workers: endpoints.Workers, templates: templating.Templates
    ) -> None:
        self._services = services
        self._workers = workers
        self._templates = templates
        self._key = secrets.token_bytes(32)

    async def show(self, request: Request) -> Response:
        """Return the page."""
        wanted = http_messages.read_form(request, ReviewParameters)
        preferences = templating.read_preferences(request)
        decisions = Decisions(is_final=bool(wanted.download))
        return await self._workers.run(lambda _: self._respond(wanted, decisions, preferences))

    async def answer(self, request: Request) -> Response:
        """Return the page with the requested values, or the file."""
        if not http_messages.is_from_page(request):
            return http_messages.json_error(
                403, "not_a_page", "Secrets are shown on pages, not to programs."
            )
        wanted, decisions = _read_form(await request.body(), request.path_params["id"])
        preferences = templating.read_preferences(request)
        return await self._workers.run(lambda _: self._respond(wanted, decisions, preferences))

    def _respond(
        self,
        wanted: session_endpoints.ExportParameters,
        decisions: Decisions,
        preferences: templating.Preferences,
    ) -> Response:
        is_asked = _is_raw(wanted) and decisions.confirmed is None
        if not decisions.is_final or is_asked:
            return self._render(wanted, decisions, preferences)
        # An unknown session has no page.
        self._services.workspace.locate(wanted.id, wanted.project)
        try:
            return self._download(wanted, decisions)
        except (NothingFound, UsageError) as error:
            return self._render(wanted, decisions, preferences, error)

    def _render(
        self,
        wanted: session_endpoints.ExportParameters,
        decisions: Decisions,
        preferences: templating.Preferences,
        error: Exception | None = None,
    ) -> Response:
        found = self._services.workspace.locate(wanted.id, wanted.project)
        session, reviewed = self._open(wanted), None
        try:
            part = _choose_part(session, wanted)
            reviewed = tuple(self._iter_secrets(part, wanted, decisions))
        except (NothingFound, UsageError) as failure:
            error = error or failure
        page = ExportPage(
            session=self._services.workspace.complete(found.listing),
            url=make_session_url(wanted.id),
            query={"project": wanted.project} if wanted.project else {},
            wanted=wanted,
            branches=len(list_abandoned(session.branches)),
            segments=len(session.segments),
            has_parquet=has_parquet(),
            is_raw=_is_raw(wanted),
            confirmation=CONFIRMATION,
            error=str(error or ""),
            is_whole=not (wanted.turns or wanted.branch or wanted.segment),
            secrets=reviewed,
        )
        status = http_messages.describe_failure(error)[0] if error else 200
        text = self._templates.render(
            "export.html", page, preferences, title="export.title", section="sessions"
        )
        return templating.html_response(text, status)

    def _download(
        self, wanted: session_endpoints.ExportParameters, decisions: Decisions
    ) -> Response:
        if _is_raw(wanted):
            if (decisions.confirmed or "").strip() != CONFIRMATION:
                raise UsageError(f"Type {CONFIRMATION} to download the original lines.")
            return http_messages.file_response(
                session_endpoints.make_download(self._services, wanted, None)
            )
        values: list[MaskedValue] = []
        if decisions.kept:
            # Of all turns: others may be chosen after the review.
            session = self._open(wanted)
            every = SessionPart(session, tuple(range(max(len(session.turns), 1))))
            for part in (SessionPart(session), every):
                values += self._list_masked_values(part)
        named = {self._identify(masked): masked for masked in values}
        kept = [named[each] for each in decisions.kept if each in named]
        if len(kept) < len(decisions.kept):
            raise NothingFound("The session has changed in the meantime. Review the export again.")
        policy = allow(self._services.workspace.redaction, kept)
        return http_messages.file_response(
            session_endpoints.make_download(self._services, wanted, policy)
        )

    def _iter_secrets(
        self,
        part: SessionPart,
        wanted: session_endpoints.ExportParameters,
        decisions: Decisions,
    ) -> Iterator[ReviewedSecret]:
        is_readable = Format(wanted.format) in READABLE
        level = Level(wanted.level) if is_readable else Level.FULL
        for masked in self._list_masked_values(part, level):
            name = self._identify(masked)
            yield ReviewedSecret(
                id=name,
                kind=masked.kind,
                confidence=masked.confidence,
                before=masked.before,
                after=masked.after,
                turn=masked.turn,
                count=masked.count,
                value=masked.value[:_MAX_VALUE] if name in decisions.shown else None,
                is_kept=name in decisions.kept,
            )

    def _open(self, wanted: session_endpoints.ExportParameters) -> Session:
        workspace = self._services.workspace
        found = workspace.locate(wanted.id, wanted.project)
        with masked_by(None):
            return open_with_prices(found.transcript, workspace)

    def _list_masked_values(
        self, part: SessionPart, level: Level = Level.FULL
    ) -> list[MaskedValue]:
        with masked_by(None):
            return list_masked_values([part], self._services.workspace.redaction, level)

    def _identify(self, masked: MaskedValue) -> str:
        value = f"{masked.kind} {masked.value}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(value, key=self._key, digest_size=_ID_BYTES).hexdigest()


def _choose_part(session: Session, wanted: session_endpoints.ExportParameters) -> SessionPart:
    return SessionPart(session, choose_turns(session, session_endpoints.read_selection(wanted)))


def _read_form(
    body: bytes, session_id: str
) -> tuple[session_endpoints.ExportParameters, Decisions]:
    """Return the parameters of a submitted form; raises BadParameter."""
    try:
        fields = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict")
    except ValueError as error:
        raise http_messages.BadParameter("", "The body is not a form.") from error
    named = {_KEEP: set[str](), _SHOW: set[str]()}
    values = {"id": session_id}
    for name, value in fields:
        if name in named:
            named[name].add(value)
        elif name in values:
            raise http_messages.BadParameter(name, "It was given twice.")
        else:
            values[name] = restore_text(value)
    is_final = values.pop("download", None) is not None
    confirmed = values.pop("confirm", None)
    decisions = Decisions(frozenset(named[_KEEP]), frozenset(named[_SHOW]), is_final, confirmed)
    return http_messages.convert(values, ReviewParameters), decisions


def _is_raw(wanted: session_endpoints.ExportParameters) -> bool:
    return wanted.format == Format.JSONL
