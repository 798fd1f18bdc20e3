"""Templates → pages. Everything is escaped, and a name that no one has set is an error.

A template gets `page`, the frozen context of its page; `layout`, which all pages share; and `t`,
the words of the reader's language. It gets nothing else that could reach the server.
"""

from collections.abc import Callable, Mapping
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from recollect import __version__
from recollect.search.snippets import Snippet
from recollect.web import formats
from recollect.web.assets import Assets
from recollect.web.languages import LANGUAGES, Translator, choose_language
from recollect.web.services import Services

HTML = "text/html; charset=utf-8"
THEME_COOKIE = "recollect-theme"
_FIRST_TEMPLATES = ("session.html", "sessions.html", "base.html", "turns.html", "call.html")
_THEMES = frozenset({"light", "dark"})


class Layout(Struct, frozen=True, kw_only=True):
    """What every page shows around its own content."""

    title: str
    """The key of its title among the words of the language, or the title itself."""
    section: str
    """Which entry of the navigation it belongs to: sessions, search, usage, health or api."""
    path: str
    language: str
    languages: dict[str, str]
    theme: str
    """`light`, `dark`, or empty for what the system says."""
    version: str
    is_demo: bool
    is_listed: bool
    is_searchable: bool
    failure: str | None


class Wanted(Struct, frozen=True):
    """What a reader's browser asks for beside the address."""

    path: str
    language: str
    theme: str


def read_wishes(request: Request) -> Wanted:
    """The language and the theme of a request."""
    theme = request.cookies.get(THEME_COOKIE, "")
    return Wanted(request.url.path, choose_language(request), theme if theme in _THEMES else "")


class Drawing:
    """Draws pages."""

    def __init__(self, services: Services, assets: Assets) -> None:
        self._services = services
        self._environment = _make_environment(assets.address)

    def draw(
        self, template: str, page: Struct, wanted: Wanted, *, title: str = "", section: str = ""
    ) -> str:
        """The page, as text."""
        translator = Translator(wanted.language)
        return self._environment.get_template(template).render(
            page=page,
            layout=self._make_layout(wanted, title, section),
            t=translator,
            translator=translator,
        )

    def warm_up(self) -> None:
        """Load the templates that somebody is most likely to see first."""
        for name in _FIRST_TEMPLATES:
            self._environment.get_template(name)

    def _make_layout(self, wanted: Wanted, title: str, section: str) -> Layout:
        known = self._services.shelf.known
        return Layout(
            title=title,
            section=section,
            path=wanted.path,
            language=wanted.language,
            languages=LANGUAGES,
            theme=wanted.theme,
            version=__version__,
            is_demo=self._services.settings.is_demo,
            is_listed=known.is_listed,
            is_searchable=known.is_searchable,
            failure=known.failure,
        )


def answer_html(text: str, status: int = 200) -> Response:
    """An answer with a page; half of a surrogate pair cannot be sent and becomes a sign for it."""
    return Response(text.encode("utf-8", "replace"), status_code=status, media_type=HTML)


def _make_environment(address: Callable[[str], str]) -> Environment:
    environment = Environment(
        loader=PackageLoader("recollect.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["asset"] = address
    environment.filters.update(
        number=formats.show_number,
        short=formats.show_short,
        bytes=formats.show_bytes,
        money=formats.show_money,
        exact_money=formats.show_exact_money,
        rate=formats.show_rate,
        duration=formats.show_duration,
        moment=formats.show_moment,
        iso=formats.show_iso,
        time=formats.show_time,
        days_left=formats.count_days_left,
        base_name=formats.show_base_name,
        urlencode=_quote,
        pieces=_cut_snippet,
    )
    return environment


def _cut_snippet(snippet: Snippet) -> list[tuple[str, bool]]:
    """A snippet in pieces, and whether each was sought."""
    pieces, end = [], 0
    for start, stop in snippet.marks:
        pieces += [(snippet.text[end:start], False), (snippet.text[start:stop], True)]
        end = stop
    return [*pieces, (snippet.text[end:], False)]


def _quote(value: str | Mapping[str, object]) -> str:
    """A text for an address, or a whole query; what is no text becomes a question mark."""
    if isinstance(value, Mapping):
        return urlencode(value, errors="replace")
    return quote(value, errors="replace")
