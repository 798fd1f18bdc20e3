"""Translations, static files, and pages rendered from templates.

The name of a static file is looked up, never joined to a path. URLs contain a hash of all files, so
browsers may cache them forever, and modules can import each other by relative URLs.

Everything is escaped, and an undefined name is an error. A template gets `page`, the frozen context
of its page; `layout`, which all pages share; and `t`, the translations. It gets nothing else that
could reach the server. A missing translation is a bug: a test compares the catalogues.

Views are English data that terminal, JSON and pages share, and their summaries quote from
transcripts. Pages therefore translate the phrases that they recognise, one by one: fixed phrases,
and those with numbers or quotations in them. Anything else is shown unchanged. Error messages have
a separate phrasebook, so that views are not matched against them.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final
from urllib.parse import quote, unquote, urlencode

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from recollect import __version__
from recollect.documents.search_results import Hit, Snippet
from recollect.locations.place_names import make_path
from recollect.render.terminal import safe_text
from recollect.render.views.part_builders import FACT_SEPARATOR
from recollect.web import middleware, template_filters
from recollect.web.services import Services

PREFIX: Final = "/static"
FOREVER: Final = "public, max-age=31536000, immutable"
PUBLIC: Final = frozenset({"sign-in.css", "sign-in.js", "favicon.svg"})
"""Files of the sign-in page, which need no key."""

_HASH_LENGTH: Final = 16
_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "png": "image/png",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
    "woff2": "font/woff2",
}


class Asset(msgspec.Struct, frozen=True):
    """A static file."""

    data: bytes
    media_type: str


class Assets:
    """All static files."""

    def __init__(self) -> None:
        own = _load(resources.files("recollect.web") / "static", "")
        # The style sheet of conversations is in the renderer's package, because exports use it too.
        shared = _load(resources.files("recollect.render.html") / "css", "css/")
        self._assets = dict([*own, *shared])
        digest = hashlib.sha256()
        for name in sorted(self._assets):
            digest.update(name.encode() + b"\0" + self._assets[name].data)
        self.version = digest.hexdigest()[:_HASH_LENGTH]

    def url(self, name: str) -> str:
        """Return the URL of a static file; raises KeyError if there is none."""
        if name not in self._assets:
            raise KeyError(name)
        return f"{PREFIX}/{self.version}/{name}"

    def is_public(self, path: str) -> bool:
        """Return whether a path belongs to a public file."""
        start = f"{PREFIX}/{self.version}/"
        return path.startswith(start) and path[len(start) :] in PUBLIC

    async def serve(self, request: Request) -> Response:
        """Serve a static file; 404 for one of another version."""
        asset = self._assets.get(request.path_params["name"])
        if asset is None or request.path_params["version"] != self.version:
            raise HTTPException(404)
        return Response(
            asset.data, media_type=asset.media_type, headers={middleware.CACHE_CONTROL: FOREVER}
        )


def _load(directory: Traversable, prefix: str) -> list[tuple[str, Asset]]:
    found: list[tuple[str, Asset]] = []
    for each in directory.iterdir():
        name = f"{prefix}{each.name}"
        if each.is_dir():
            found += _load(each, f"{name}/")
        elif (kind := _TYPES.get(each.name.rpartition(".")[2])) is not None:
            found.append((name, Asset(each.read_bytes(), kind)))
    return found


_MAX_WORDS = 12
_MAX_LENGTH = 120
"""Maximum length of a marked word or phrase in a URL."""


def make_hit_url(hit: Hit) -> str:
    """Return the URL of a hit; its page marks the same words as the snippet."""
    record = unquote(hit.link.partition("#")[2])
    parameters: dict[str, str | int] = {}
    if record:
        parameters["at"] = record
    if hit.uuid and hit.offset is not None:
        parameters["offset"] = hit.offset
    if words := list_marks(hit.snippet):
        parameters["mark"] = "\n".join(words)
    query = f"?{urlencode(parameters, quote_via=quote)}" if parameters else ""
    return f"{make_path(hit.session_id)}{query}" + (f"#{quote(record, safe='')}" if record else "")


def list_marks(snippet: Snippet) -> list[str]:
    """Return the distinct words that a snippet marks, ignoring case."""
    words = (snippet.text[start:end][:_MAX_LENGTH] for start, end in snippet.marks)
    return list({word.casefold(): word for word in words}.values())[:_MAX_WORDS]


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
        self._phrases = load_phrasebook(language)
        self._messages = load_phrasebook(language, "messages")

    def __call__(self, key: str, **values: object) -> str:
        """Return the text of a key with its values; without values, placeholders stay for scripts.

        If the count is 1, the singular of the key is used, if it has one.
        """
        is_one = str(values.get("count", values.get("days"))) == "1"
        words = (is_one and self._words.get(f"{key}{ONE}")) or self._words[key]
        return words.format(**values) if values else words

    def translate(self, words: str) -> str:
        """Translate an English text that is itself a key; unchanged if there is no translation."""
        return self._words.get(words, words)

    def translate_phrase(self, text: str) -> str:
        """Translate the recognised phrases in a line of a view."""
        return self._phrases.translate(text)

    def translate_message(self, text: str) -> str:
        """Translate the message of an error; unchanged if there is no translation."""
        return self._messages.translate(text)


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


class PageContent(msgspec.Struct, frozen=True):
    """A page before it is rendered."""

    template: str
    page: msgspec.Struct
    title: str = ""
    section: str = ""


HTML = "text/html; charset=utf-8"
THEME_COOKIE = "recollect-theme"
_FIRST_TEMPLATES = (
    *("home.html", "session.html", "sessions.html", "base.html", "turns.html", "call.html"),
    *("search.html", "results.html"),
)
_THEMES = frozenset({"light", "dark"})


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """The parts that every page shows around its content."""

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
    """Number of this server's conversations that are waiting for the user."""


class Preferences(msgspec.Struct, frozen=True):
    """Preferences that a browser sends in headers and cookies."""

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
        self._environment = _make_environment(assets.url)

    def render(
        self,
        template: str,
        page: msgspec.Struct,
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

    def preload(self) -> None:
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
            allow_run=self._services.run_access.allow_run,
            waiting=sum(
                bool(each.waiting) for each in self._services.conversations.document.conversations
            ),
        )


def html_response(text: str, status: int = 200) -> Response:
    """Return a page; a lone surrogate cannot be sent and is replaced."""
    return Response(text.encode("utf-8", "replace"), status_code=status, media_type=HTML)


def _make_environment(make_asset_url: Callable[[str], str]) -> Environment:
    environment = Environment(
        loader=PackageLoader("recollect.web"),
        autoescape=True,
        finalize=_show,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["asset"] = make_asset_url
    environment.filters.update(
        template_filters.FILTERS, urlencode=_quote, pieces=_cut_snippet, hit_url=make_hit_url
    )
    return environment


def _show(value: object) -> object:
    """Return a value for a template, without characters that reorder or hide text."""
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


_OWN = "en"
"""The language of the views."""
_PLACEHOLDER = re.compile(r"\{n?\}")
_GROUPS = {"{}": "(.+)", "{n}": r"([\d,.]+)"}
"""`{}` stands for anything, and `{n}` for a number."""


class Phrasebook:
    """Translates phrases into one language; an empty phrasebook returns them unchanged."""

    def __init__(self, phrases: Mapping[str, str]) -> None:
        self._whole = {key: value for key, value in phrases.items() if "{" not in key}
        # Longest first: "failed with exit code {n}: {}" before "failed: {}".
        templates = sorted(phrases.keys() - self._whole.keys(), key=len, reverse=True)
        self._templates = [(_compile(key), phrases[key]) for key in templates]
        self.translate = lru_cache(maxsize=4096)(self._translate)

    def _translate(self, text: str) -> str:
        if not self._whole:
            return text
        return FACT_SEPARATOR.join(map(self._translate_fact, text.split(FACT_SEPARATOR)))

    def _translate_fact(self, fact: str) -> str:
        if fact in self._whole:
            return self._whole[fact]
        for pattern, template in self._templates:
            if found := pattern.fullmatch(fact):
                return _fill(template, map(self._translate_fact, found.groups()))
        return fact


def _compile(key: str) -> re.Pattern[str]:
    literals = map(re.escape, _PLACEHOLDER.split(key))
    groups = (_GROUPS[each] for each in _PLACEHOLDER.findall(key))
    return re.compile(next(literals) + "".join(map(str.__add__, groups, literals)), re.DOTALL)


def _fill(template: str, values: Iterable[str]) -> str:
    waiting = iter(values)
    return _PLACEHOLDER.sub(lambda _: next(waiting), template)


@cache
def load_phrasebook(language: str, name: str = "phrases") -> Phrasebook:
    """Load the phrases or the `messages` of errors in a language; English needs none."""
    if language == _OWN:
        return Phrasebook({})
    path = resources.files("recollect.web") / "locales" / f"{name}-{language}.json"
    return Phrasebook(msgspec.json.decode(path.read_bytes(), type=dict[str, str]))
