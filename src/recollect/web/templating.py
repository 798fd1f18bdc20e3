"""Translations, and pages rendered from templates.

Everything is escaped, and an undefined name is an error. A template gets `page`, the frozen context
of its page; `layout`, which all pages share; and `t`, the translations. It gets nothing else that
could reach the server. A missing translation is a bug: a test compares the catalogues.
"""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from typing import Final
from urllib.parse import quote, urlencode

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from recollect import __version__
from recollect.documents.search_results import Snippet
from recollect.render.terminal import safe_text
from recollect.web.assets import Assets
from recollect.web.hit_links import address_hit
from recollect.web.services import Services
from recollect.web.template_filters import FILTERS

COOKIE: Final = "recollect-language"
LANGUAGES: Final = {"en": "English", "zh": "简体中文"}
DEFAULT: Final = "en"
ONE: Final = ".one"
"""Suffix of the key of a singular."""


class Translator:
    """Translates into one language."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._words = load_catalogue(language)

    def __call__(self, key: str, **values: object) -> str:
        """Return the text of a key with its values; without any, placeholders are for a script.

        If the count is 1 and the key has a singular, that is used.
        """
        is_one = str(values.get("count", values.get("days"))) == "1"
        words = (is_one and self._words.get(f"{key}{ONE}")) or self._words[key]
        return words.format(**values) if values else words

    def translate(self, words: str) -> str:
        """Translate an English text that is itself a key; unchanged if there is no translation."""
        return self._words.get(words, words)


@cache
def load_catalogue(language: str) -> dict[str, str]:
    """Load all texts of a language, by key."""
    path = resources.files("recollect.web") / "locales" / f"{language}.json"
    return msgspec.json.decode(path.read_bytes(), type=dict[str, str])


def choose_language(request: Request) -> str:
    """Return the chosen language, or else the first supported one that the browser accepts."""
    chosen = request.cookies.get(COOKIE)
    if chosen in LANGUAGES:
        return chosen
    for tag in _list_wanted(request.headers.get("accept-language", "")):
        if tag in LANGUAGES:
            return tag
    return DEFAULT


def _list_wanted(header: str) -> list[str]:
    wanted: list[tuple[float, str]] = []
    for part in header.split(",")[:20]:
        tag, _, weight = part.partition(";")
        language = tag.strip().lower().partition("-")[0]
        wanted.append((-_read_weight(weight), language))
    return [language for _, language in sorted(wanted, key=lambda each: each[0])]


def _read_weight(text: str) -> float:
    try:
        return float(text.strip().removeprefix("q=") or 1)
    except ValueError:
        return 0.0


class PageContent(Struct, frozen=True):
    """A page before it is rendered."""

    template: str
    page: Struct
    title: str = ""
    section: str = ""


HTML = "text/html; charset=utf-8"
THEME_COOKIE = "recollect-theme"
_FIRST_TEMPLATES = ("session.html", "sessions.html", "base.html", "turns.html", "call.html")
_THEMES = frozenset({"light", "dark"})


class Layout(Struct, frozen=True, kw_only=True):
    """What every page shows around its content."""

    title: str
    """The key of the translated title, or the title itself."""
    section: str
    """The current entry of the navigation: sessions, running, search, usage, health or api."""
    path: str
    language: str
    languages: dict[str, str]
    theme: str
    """`light`, `dark`, or empty for the system's."""
    version: str
    is_demo: bool
    is_listed: bool
    is_searchable: bool
    sessions: int
    live: int
    failure: str | None
    allow_run: bool
    waiting: int
    """Conversations of this server that wait for a person."""


class Preferences(Struct, frozen=True):
    """What a browser sends besides the URL."""

    path: str
    language: str
    theme: str


def read_preferences(request: Request) -> Preferences:
    """Return language and theme of a request."""
    theme = request.cookies.get(THEME_COOKIE, "")
    return Preferences(
        request.url.path, choose_language(request), theme if theme in _THEMES else ""
    )


class Templates:
    """Renders pages."""

    def __init__(self, services: Services, assets: Assets) -> None:
        self._services = services
        self._environment = _make_environment(assets.address)

    def draw(
        self,
        template: str,
        page: Struct,
        wanted: Preferences,
        *,
        title: str = "",
        section: str = "",
    ) -> str:
        """Render a page."""
        translator = Translator(wanted.language)
        return self._environment.get_template(template).render(
            page=page,
            layout=self._make_layout(wanted, title, section),
            t=translator,
            translator=translator,
        )

    def warm_up(self) -> None:
        """Load the templates that are most likely to be needed first."""
        for name in _FIRST_TEMPLATES:
            self._environment.get_template(name)

    def _make_layout(self, wanted: Preferences, title: str, section: str) -> Layout:
        known = self._services.workspace.catalog.snapshot
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
            sessions=sum(not each.is_subagent for each in known.sessions),
            live=len(known.present.live),
            failure=known.failure,
            allow_run=self._services.permits.allow_run,
            waiting=sum(
                bool(each.waiting) for each in self._services.conversations.document.conversations
            ),
        )


def html_response(text: str, status: int = 200) -> Response:
    """Return a page; a lone surrogate cannot be sent and is replaced."""
    return Response(text.encode("utf-8", "replace"), status_code=status, media_type=HTML)


def _make_environment(address: Callable[[str], str]) -> Environment:
    environment = Environment(
        loader=PackageLoader("recollect.web"),
        autoescape=True,
        finalize=_show,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["asset"] = address
    environment.filters.update(
        FILTERS, urlencode=_quote, pieces=_cut_snippet, hit_address=address_hit
    )
    return environment


def _show(value: object) -> object:
    """Return a value as templates print it, without characters that reorder or hide text."""
    return safe_text(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _cut_snippet(snippet: Snippet) -> list[tuple[str, bool]]:
    """Split a snippet into pieces, and whether each is a match."""
    pieces, end = [], 0
    for start, stop in snippet.marks:
        pieces += [(snippet.text[end:start], False), (snippet.text[start:stop], True)]
        end = stop
    return [*pieces, (snippet.text[end:], False)]


def _quote(value: str | Mapping[str, object]) -> str:
    """Quote a text for a URL, or a whole query; lone surrogates become question marks."""
    if isinstance(value, Mapping):
        return urlencode(value, errors="replace")
    return quote(value, errors="replace")
