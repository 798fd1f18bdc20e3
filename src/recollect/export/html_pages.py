"""A session as one HTML file that is readable offline, without scripts and without any request.
Images may be separate files beside it.

It looks like the web app and uses the same style sheets and templates. The content security policy
of a page allows only its own style, and images inside it or beside it.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from importlib import resources
from typing import Final

from markupsafe import Markup
from msgspec.structs import replace

from recollect.documents import turn_documents
from recollect.export.export_content import ExportContent
from recollect.export.export_options import ExportOptions, Images, Theme, select_steps
from recollect.export.writing import Piece
from recollect.redact.quick_masks import cut_text
from recollect.render.html import html_parts
from recollect.render.html.html_text import MAX_COLOURED_LENGTH, show_text
from recollect.render.html.html_turns import Frame, render_turn
from recollect.render.markdown import describe_picture, write_words
from recollect.render.views.part_builders import take_line

_SHEETS: Final = ("base.css", "conversation.css", "code.css", "export.css")
_PRINT: Final = "print.css"
_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
_BLANKS: Final = re.compile(r"\s+")
_MAX_LINE: Final = 120
_MAX_COLOURED: Final = 100_000
"""Maximum number of characters of code to highlight, shortest blocks first. It takes a quarter of a
second."""

Link = tuple[str, str]
"""The URL of another page, and its title."""
ShowPicture = Callable[[turn_documents.Picture], Markup]


def iter_page(
    content: ExportContent,
    options: ExportOptions,
    *,
    show_picture: ShowPicture = html_parts.render_picture,
    turns: Sequence[turn_documents.TurnView] | None = None,
    links: Sequence[Link] = (),
) -> Iterator[Piece]:
    """Yield a page piece by piece; `turns` are its turns if there are several pages."""
    shown = content.turns if turns is None else turns
    frame = Frame(
        url="",
        is_whole=True,
        translate=name_in_english,
        directory=content.metadata.cwd,
        parts=html_parts.PartOptions(
            show_picture=_omit_picture if options.images is Images.NONE else show_picture,
            max_coloured=_choose_limit(shown),
            directory=content.metadata.cwd,
        ),
    )
    yield from _start(content, options, shown, links)
    for turn in shown:
        yield partial(render_turn, select_steps(turn, options.level), frame)
    if turns is None or (shown and shown[-1] is content.turns[-1]):
        yield from _end_session(content, frame)
    yield f"</div>{_render_links(links)}</div></article></main></body></html>\n"


def name_in_english(word: str) -> str:
    """Return the English name of a kind of input or context; other words are returned unchanged."""
    return "You" if word == "typed" else word.replace("_", " ")


def iter_index(title: str, rows: Iterable[tuple[Link, str]], theme: Theme) -> Iterator[str]:
    """Yield a page with links to other pages, each with some facts."""
    yield from _open_document(title, theme, Images.INLINE)
    yield (
        f'<main class="export-index"><div class="session-bar"><h1>{show_text(title)}</h1>'
        f'<div class="session-actions">{_THEMES}</div></div><ul>'
    )
    for (address, name), facts in rows:
        link = Markup('<li><a href="{}">{}</a> <small>{}</small></li>\n')
        yield link.format(show_text(address), show_text(name), show_text(facts))
    yield "</ul></main></body></html>\n"


def name_turn(turn: turn_documents.TurnView) -> str:
    """Return the first line of a prompt."""
    line = take_line(f"{turn.command or ''} {turn.words}".strip())
    fallback = name_in_english(turn.kind or "session")
    return cut_text(line, _MAX_LINE) or fallback


def _start(
    content: ExportContent,
    options: ExportOptions,
    turns: Sequence[turn_documents.TurnView],
    links: Sequence[Link],
) -> Iterator[str]:
    about = content.metadata
    yield from _open_document(content.title, options.theme, options.images)
    chip = Markup('<span class="mark-chip">{}</span>')
    chips = [chip.format(show_text(text)) for text in (about.cwd, about.git_branch) if text]
    fact = Markup("<div><dt>{}</dt><dd>{}</dd></div>")
    started = f"{about.created[:16].replace('T', ' ')} UTC" if about.created else ""
    facts = (("session", about.id), ("started", started))
    shown = [fact.format(name, show_text(text)) for name, text in (*facts, *content.facts) if text]
    yield (
        '<main id="main"><article class="session"><header class="session-head">'
        f'<div class="session-bar"><h1>{show_text(content.title)}</h1>{Markup().join(chips)}'
        f'<div class="session-actions">{_OUTLINE_SWITCH}{_THEMES}</div></div>'
        f'<dl class="session-facts">{Markup().join(shown)}</dl></header>\n'
        '<nav class="outline" aria-label="Prompts"><h2>Prompts</h2><ol>'
    )
    for turn in turns:
        yield _render_outline_entry(turn)
    yield f'</ol></nav>\n<div class="conversation">{_render_links(links)}<div class="turns">\n'


def _render_outline_entry(turn: turn_documents.TurnView) -> str:
    failed = sum(
        isinstance(each, turn_documents.ToolStep) and each.status == "failed" for each in turn.steps
    )
    errors = f'<span class="errors">✗ {failed}</span>' if failed else ""
    css_class = "" if turn.is_on_main_path else ' class="off-path"'
    return (
        f'<li{css_class}><a href="#turn-{turn.number}"><span class="number">{turn.number}</span>'
        f'<span class="line">{show_text(name_turn(turn))}</span>{errors}</a></li>'
    )


def _end_session(content: ExportContent, frame: Frame) -> Iterator[Piece]:
    for stray in content.strays:
        yield partial(_render_stray, stray, frame)
    row = Markup('<details class="sidecar"><summary>{}</summary>{}</details>')
    for notice in content.notices:
        yield str(
            row.format(show_text(notice.title), html_parts.render_parts(notice.parts, frame.parts))
        )


def _render_stray(stray: turn_documents.SubagentReference, frame: Frame) -> Markup:
    nested = replace(frame, is_nested=True)
    return Markup(
        '<details class="child"><summary><span class="tool">{}</span> <span class="title">{}</span>'
        '</summary><div class="child-body">{}</div></details>'
    ).format(
        show_text(stray.agent_type or "subagent"),
        show_text(stray.description or stray.agent_id),
        Markup().join(render_turn(turn, nested) for turn in stray.turns or ()),
    )


def _render_links(links: Sequence[Link]) -> Markup:
    link = Markup('<a class="button" href="{}">{}</a> ')
    drawn = Markup().join(link.format(show_text(a), show_text(name)) for a, name in links)
    return Markup('<p class="export-pages">{}</p>').format(drawn) if links else Markup()


def _omit_picture(picture: turn_documents.Picture) -> Markup:
    name = show_text(picture.name or picture.media_type)
    return Markup('<span class="picture absent">[{}]</span>').format(name)


def _choose_limit(turns: Iterable[turn_documents.TurnView]) -> int:
    """Return the maximum length of a block to highlight: this takes most of a long page's time."""
    left = _MAX_COLOURED
    for length in sorted(length for turn in turns for length in _iter_lengths(turn)):
        left -= length
        if left < 0:
            return length - 1
    return MAX_COLOURED_LENGTH


def _iter_lengths(turn: turn_documents.TurnView) -> Iterator[int]:
    """Yield the lengths of all blocks of code, including those of subagents."""
    for step in turn.steps:
        if isinstance(step, turn_documents.ToolStep):
            yield from map(_measure, (*step.input, *step.output))
            for child in step.subagents:
                for inner in child.turns or ():
                    yield from _iter_lengths(inner)


def _measure(part: turn_documents.Part) -> int:
    match part:
        case turn_documents.Code() | turn_documents.Json():
            return len(part.text)
        case turn_documents.Diff():
            return sum(len(line) for hunk in part.hunks for line in hunk.lines)
    return 0


def _open_document(title: str, theme: Theme, images: Images) -> Iterator[str]:
    style, policy = _load_style()
    if images is Images.BESIDE:
        # A page that was opened from a file has the scheme `file`.
        policy = policy.replace("img-src", "img-src 'self' file:")
    chosen = "" if theme is Theme.SYSTEM else f' data-theme="{theme.value}"'
    yield (
        f'<!doctype html>\n<html lang="en"{chosen}><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        '<meta name="referrer" content="no-referrer">'
        '<meta name="robots" content="noindex"><meta name="generator" content="Recollect">'
        f"<title>{show_text(title)}</title><style>{style}</style></head>\n<body>"
    )


@cache
def _load_style() -> tuple[str, str]:
    """Return the joined style sheets, and the content security policy that allows them."""
    folder = resources.files("recollect.render.html") / "css"
    sheets = [(folder / name).read_text("utf-8") for name in _SHEETS]
    sheets.append(f"@media print {{ {(folder / _PRINT).read_text('utf-8')} }}")
    style = _BLANKS.sub(" ", _COMMENT.sub("", "\n".join(sheets))).strip()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return style, policy


_OUTLINE_SWITCH: Final = (
    '<details class="menu-switch"><summary class="button">Outline</summary></details>'
)
"""Expands the facts and prompts on a phone; the style sheet does the rest."""
_THEMES: Final = (
    '<fieldset class="themes"><legend class="out-of-sight">Theme</legend>'
    '<label><input type="radio" name="theme" id="theme-system" checked>System</label>'
    '<label><input type="radio" name="theme" id="theme-light">Light</label>'
    '<label><input type="radio" name="theme" id="theme-dark">Dark</label></fieldset>'
)


_SUFFIXES: Final = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
}
_HASH_LENGTH: Final = 16


class PictureFiles:
    """Collects the images of an export; each is one file, even if it is shown several times."""

    def __init__(self, folder: str) -> None:
        """Start without images; `folder` is their directory, relative to the page."""
        self.folder = folder
        self.files: dict[str, bytes] = {}

    def show_in_page(self, picture: turn_documents.Picture) -> Markup:
        """Render an image as a link to its file, for a page."""
        address = self._add(picture)
        if address is None:
            return html_parts.render_picture(picture)
        image = Markup('<img class="picture" loading="lazy" alt="{}" src="{}">')
        return image.format(show_text(picture.name or picture.media_type), address)

    def show_in_document(self, picture: turn_documents.Picture) -> str:
        """Render an image as a link to its file, for a Markdown document."""
        address = self._add(picture)
        if address is None:
            return describe_picture(picture)
        return f"![{write_words(picture.name or picture.media_type)}]({address})"

    def _add(self, picture: turn_documents.Picture) -> str | None:
        try:
            data = base64.b64decode(picture.data, validate=True)
        except (binascii.Error, ValueError):
            return None
        kind = html_parts.recognise_image(data)
        if kind is None:
            return None
        name = hashlib.sha256(data).hexdigest()[:_HASH_LENGTH] + _SUFFIXES[kind]
        self.files[name] = data
        return f"{self.folder}/{name}"
