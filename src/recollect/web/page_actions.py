"""Actions of pages: sign in, star a session, set a note on it, reveal a masked secret, restore a
version of a file, archive all sessions.

Pages have tags instead of secrets. A click on a tag sends its kind and number here. Only our own
pages get secrets from the server; programs with the access key do not.

A file is restored only with `--allow-run`, and only for pages of this server (`RunAccess`). A
transcript can name any path and any working directory, so the file must be in a directory that has
a project directory of Claude Code, which no transcript can forge. Hidden files, files in hidden
directories and home directories are left to `recollect restore`, because some settings run
programs. The audit log has a line for every restored file.
"""

import difflib
import hashlib
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlencode

import msgspec
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.errors import NothingFound, UsageError
from recollect.locations.claude_directories import list_project_names
from recollect.redact.quick_masks import mask_in_lines
from recollect.versions import file_paths, file_restore, file_texts, replay
from recollect.web import endpoints, http_messages, middleware, session_endpoints, templating
from recollect.web.conversations.page_messages import RevealedSecret, SecretTag
from recollect.web.services import Services
from recollect.workspace import maintenance
from recollect.workspace.session_marks import MAX_NOTE

MARK_PATH: Final = "/api/sessions/{id}/mark"


class MarkRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes to a mark; omitted fields stay the same."""

    starred: bool | None = None
    note: Annotated[str, msgspec.Meta(max_length=MAX_NOTE)] | None = None


def make_mark_handler(workers: endpoints.Workers) -> Callable[[Request], Awaitable[Response]]:
    """Return the handler, which responds with the new mark."""

    async def handle(request: Request) -> Response:
        wanted = http_messages.convert(request.path_params, session_endpoints.SessionParameters)
        try:
            sent = msgspec.json.decode(await request.body(), type=MarkRequest)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return http_messages.json_error(
                422, "bad_body", 'Send JSON such as {"starred": true, "note": "…"}.'
            )

        def work(services: Services) -> Response:
            changed = services.workspace.mark(wanted.id, starred=sent.starred, note=sent.note)
            return http_messages.json_response(
                MarkRequest(starred=changed.starred, note=changed.note)
            )

        return await workers.run(work)

    return handle


FindFile = Callable[[Request], str]
"""Maps a request to the name under which its secrets are recorded."""


class Reveal:
    """Handles `POST /s/{id}/reveal`, and the same below a conversation."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def make_routes(self) -> list[Route]:
        """Return the routes."""
        files: dict[str, FindFile] = {
            "/s/{id}/reveal": self._find_transcript,
            "/c/{id}/reveal": self._find_stream,
        }
        return [
            Route(path, partial(self._show, find_file), methods=["POST"])
            for path, find_file in files.items()
        ]

    def _find_transcript(self, request: Request) -> str:
        project = request.query_params.get("project")
        return self._services.workspace.locate(request.path_params["id"], project).transcript.file

    def _find_stream(self, request: Request) -> str:
        conversation_id = request.path_params["id"]
        self._services.run_access.check(request, conversation_id)
        return self._services.conversations.find(conversation_id).stream_name

    async def _show(self, find_file: FindFile, request: Request) -> Response:
        """Return the secret behind a tag."""
        if not http_messages.is_from_page(request):
            return http_messages.json_error(
                403, "not_a_page", "Secrets are shown on pages, not to programs."
            )
        file = await to_thread.run_sync(find_file, request)
        try:
            tag = msgspec.json.decode(await request.body(), type=SecretTag)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            message = 'Send JSON such as {"kind": "aws-key", "number": 1}.'
            return http_messages.json_error(422, "bad_body", message)
        return await to_thread.run_sync(self._find, file, tag)

    def _find(self, file: str, tag: SecretTag) -> Response:
        value = self._services.mask.find_session(file).reveal(tag.kind, tag.number)
        if value is None:
            return http_messages.json_error(
                404, "no_such_secret", "The session has no secret with this tag."
            )
        response = http_messages.json_response(RevealedSecret(value))
        response.headers["cache-control"] = "no-store"
        return response


RESTORE_PATH: Final = "/file/restore"
_CERTAIN: Final = (replay.Grade.EXACT, replay.Grade.REPLAYED)
_NOTHING: Final = "nothing"
"""Used instead of a hash for a missing file."""
_CONFLICT: Final = 409


class RestoreBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file and version to restore."""

    path: session_endpoints.FilePath
    version: int
    present: str = ""
    """The `present` of the confirmed diff; without it, nothing is written."""


class RestoreAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The diff against the current file, or the result of the restore."""

    target: str
    diff: str = ""
    """Empty if the file has this content already."""
    present: str = ""
    """Identifies the current content."""
    is_written: bool = False
    copy: str | None = None
    """The path of the replaced content."""


def name_scope(path: str) -> str:
    """Return the scope of the nonce on the page of this file."""
    return f"restore {path}"


class FileRestoring:
    """Handles `POST /file/restore`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def answer(self, request: Request) -> Response:
        """Return the diff, or restore the file if the diff was confirmed."""
        body = http_messages.decode_body(await request.body(), RestoreBody)
        self._services.run_access.check(request, name_scope(body.path))
        return http_messages.json_response(await to_thread.run_sync(self._restore, body))

    def _restore(self, body: RestoreBody) -> RestoreAnswer:
        plan = _make_plan(self._services, body)
        present = _identify(plan.present)
        if not body.present:
            diff = "" if plan.changes_nothing else _describe(plan, body.version)
            return RestoreAnswer(target=str(plan.target), diff=diff, present=present)
        if body.present != present:
            raise http_messages.Refused(
                _CONFLICT, "changed", "The file has changed in the meantime. Try again."
            )
        copy = file_restore.write_restored(plan)
        self._services.audit.write("restore", file=str(plan.target), version=body.version)
        return RestoreAnswer(
            target=str(plan.target), is_written=True, copy=str(copy) if copy else None
        )


def _make_plan(services: Services, body: RestoreBody) -> file_restore.RestorePlan:
    history = session_endpoints.find_recorded(services, body.path).history
    version = next((each for each in history.versions if each.number == body.version), None)
    if version is None:
        raise NothingFound("The file has no such version.")
    if version.known not in _CERTAIN:
        raise UsageError(f"Version {version.number} may be inexact. Use `recollect restore`.")
    target = find_place(services, history.path, history.sessions)
    return file_restore.plan_restore(version, target, history.read_backup(version))


def find_place(services: Services, path: str, sessions: tuple[str, ...]) -> Path:
    """Return the location of a file to restore; raise UsageError if a page must not restore it."""
    for listing in services.workspace.snapshot.sessions:
        root = listing.cwd or ""
        is_named = listing.project in list_project_names(root)
        if listing.id not in sessions or not is_named or _is_above_home(root):
            continue
        inside = file_paths.relative_to(path, root) or "."
        if not any(part.startswith(".") for part in inside.split("/")):
            target = file_restore.find_target(path, root, Path(root))
            if target is not None:
                return target
    raise UsageError(
        f"{path} is hidden, a link, or outside the session's directory. Use `recollect restore`."
    )


def _is_above_home(root: str) -> bool:
    return not root or Path.home().is_relative_to(root)


def _identify(present: bytes | None) -> str:
    return _NOTHING if present is None else hashlib.sha256(present).hexdigest()


def _describe(plan: file_restore.RestorePlan, number: int) -> str:
    old, new = file_texts.decode_file(plan.present or b""), file_texts.decode_file(plan.data)
    if old is None or new is None:
        return "Binary files differ"
    before, after = (mask_in_lines(each.text).splitlines() for each in (old, new))
    lines = difflib.unified_diff(before, after, str(plan.target), f"v{number}", lineterm="")
    return "\n".join(lines) or "Only line endings or the encoding differ"


ARCHIVE_PATH: Final = "/archive"


class Archiving:
    """Handles `POST /archive`, a form on the home page, which needs no script.

    `GET` only occurs after a sign-in that the form required, and leads back to the home page.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    async def answer(self, request: Request) -> Response:
        """Archive everything, and show on the home page how many sessions no longer expire."""
        if request.method != "POST":
            return RedirectResponse("/", 303)
        if not http_messages.is_from_page(request):
            return http_messages.json_error(
                403,
                "not_a_page",
                "Only pages of this server can do this. Use `recollect archive sync`.",
            )
        count = await to_thread.run_sync(self._archive)
        return RedirectResponse(f"/?{urlencode({'archived': count})}", 303)

    def _archive(self) -> int:
        workspace = self._services.workspace
        if self._services.settings.is_demo:
            raise UsageError("Sample sessions cannot be archived.")
        before = workspace.overview().expiring_total
        report = maintenance.archive_all(workspace)
        problems = [*report.unreadable.items(), *((path, "") for path in report.vanished)]
        if problems:
            path, reason = problems[0]
            raise http_messages.Refused(
                503,
                "incomplete",
                f"Some files could not be archived, such as {path} ({reason or 'deleted'}). All "
                "others were. `recollect archive sync` lists them.",
            )
        return max(before - workspace.overview().expiring_total, 0)


SIGN_IN = "/sign-in"
_NO_KEY = (
    "This needs a key. Sign in with `recollect open --browser`, or send `Authorization: Bearer …` "
    "with the key from server.json in the data directory."
)


class OneTimeToken(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Sent by the script of the sign-in page: the fragment of the URL."""

    token: str


class SignedIn(msgspec.Struct, frozen=True):
    """The cookie is set."""

    signed_in: bool = True


class Launch(msgspec.Struct, frozen=True):
    """A new one-time token, for another browser."""

    token: str


class SignInPage(msgspec.Struct, frozen=True):
    """Empty: the page contains no secret."""


class SignIn:
    """Exchanges one-time tokens for cookies, and issues tokens to those with the key."""

    def __init__(self, services: Services) -> None:
        self._keys = services.keys

    async def exchange(self, request: Request) -> Response:
        """Set the cookie for a one-time token, using it up."""
        try:
            sent = msgspec.json.decode(await request.body(), type=OneTimeToken)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return http_messages.json_error(422, "bad_body", 'Send JSON such as {"token": "…"}.')
        value = self._keys.exchange(sent.token)
        if value is None:
            return http_messages.json_error(
                401, "used_token", "This URL has already been used. Get a new one."
            )
        response = http_messages.json_response(SignedIn())
        response.headers["set-cookie"] = middleware.make_cookie(self._keys, value)
        return response

    async def launch(self, _: Request) -> Response:
        """Return a new one-time token; needs a key."""
        return http_messages.json_response(Launch(self._keys.make_launch()))


def make_unauthorized(templates: templating.Templates) -> ASGIApp:
    """Return the response without a key: JSON for programs, the sign-in page for people."""

    async def unauthorized(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        if http_messages.is_for_program(request):
            response = http_messages.json_error(401, "no_key", _NO_KEY)
        else:
            wanted: templating.Preferences = templating.read_preferences(request)
            text = templates.render("sign-in.html", SignInPage(), wanted, title="sign_in.title")
            response = templating.html_response(text, 401)
        response.headers["www-authenticate"] = "Bearer"
        await response(scope, receive, send)

    return unauthorized
