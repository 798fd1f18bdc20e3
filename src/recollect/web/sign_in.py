"""Sign-in: the page without a key, and the exchange of a token for the cookie."""

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.web.middleware import make_cookie
from recollect.web.responses import is_for_program, json_error, json_response
from recollect.web.services import Services
from recollect.web.templating import Preferences, Templates, html_response, read_preferences

SIGN_IN = "/sign-in"
_NO_KEY = (
    "This takes a key. Open the address that `recollect serve` printed, or send "
    "`Authorization: Bearer …` with the key from server.json in the data directory."
)


class OneTimeToken(Struct, frozen=True, forbid_unknown_fields=True):
    """Sent by the script of the sign-in page: the fragment of the URL."""

    token: str


class SignedIn(Struct, frozen=True):
    """The cookie is set."""

    signed_in: bool = True


class Launch(Struct, frozen=True):
    """A new one-time token, for another browser."""

    token: str


class SignInPage(Struct, frozen=True):
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
            return json_error(422, "bad_body", 'Send JSON such as {"token": "…"}.')
        value = self._keys.exchange(sent.token)
        if value is None:
            return json_error(401, "used_token", "This URL has already been used. Get a new one.")
        response = json_response(SignedIn())
        response.headers["set-cookie"] = make_cookie(self._keys, value)
        return response

    async def launch(self, _: Request) -> Response:
        """Return a new one-time token; needs a key."""
        return json_response(Launch(self._keys.make_launch()))


def make_closed(drawing: Templates) -> ASGIApp:
    """Return the response without a key: JSON for programs, the sign-in page for people."""

    async def closed(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        if is_for_program(request) or scope["method"] not in {"GET", "HEAD"}:
            response = json_error(401, "no_key", _NO_KEY)
        else:
            wanted: Preferences = read_preferences(request)
            text = drawing.draw("sign-in.html", SignInPage(), wanted, title="sign_in.title")
            response = html_response(text, 401)
        response.headers["www-authenticate"] = "Bearer"
        await response(scope, receive, send)

    return closed
