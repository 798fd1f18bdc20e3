"""One function per kind of part → HTML.

Structure and class names only: how it looks is for the style sheet of the page.
"""

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

from markupsafe import Markup

from recollect.render.html.ansi import render_output
from recollect.render.html.code import render_code
from recollect.render.html.diff import render_diff
from recollect.render.html.markdown import render_markdown
from recollect.render.html.pictures import render_picture
from recollect.render.html.text import show_block, show_text
from recollect.render.views.parts import (
    Checklist,
    Code,
    Diff,
    Entries,
    Entry,
    Fields,
    Json,
    Output,
    Part,
    Picture,
    Plain,
    Prose,
    Question,
)

LONGEST_BLOCK = 200_000
"""Characters of one block in a page; the raw record has the rest."""


def render_parts(parts: Iterable[Part]) -> Markup:
    """The parts one after the other."""
    return Markup("\n").join(render_part(part) for part in parts)


def render_part(part: Part) -> Markup:
    """`part` as a block of a page."""
    return _RENDERERS[type(part)](part)


def _cut(text: str) -> str:
    if len(text) <= LONGEST_BLOCK:
        return text
    return f"{text[:LONGEST_BLOCK]}\n… {len(text) - LONGEST_BLOCK:,} more characters"


def _render_checklist(checklist: Checklist) -> Markup:
    row = Markup('<li class="{}" data-state="{}">{}{}</li>')
    rows = (
        row.format(
            item.state.value.replace("_", "-"), item.state, show_text(item.text), _note(item.note)
        )
        for item in checklist.items
    )
    return Markup('<ul class="checklist">{}</ul>').format(Markup().join(rows))


def _note(note: str | None) -> Markup:
    return Markup(' <small class="note">{}</small>').format(show_text(note)) if note else Markup()


def _render_entries(entries: Entries) -> Markup:
    rows = Markup().join(_render_entry(entry) for entry in entries.entries)
    more = Markup('<li class="more">… {:,} more</li>').format(entries.omitted)
    return Markup('<ul class="entries">{}{}</ul>').format(rows, more if entries.omitted else "")


def _render_entry(entry: Entry) -> Markup:
    place = ""
    if entry.path and entry.path != entry.text:
        line = "" if entry.line is None else f":{entry.line}"
        place = Markup('<span class="path">{}{}</span> ').format(show_text(entry.path), line)
    text = show_text(entry.text)
    if entry.url and _is_web_address(entry.url):
        link = Markup('<a href="{}" target="_blank" rel="noopener noreferrer nofollow">{}</a>')
        text = link.format(show_text(entry.url), text)
    return Markup("<li>{}<span>{}</span>{}</li>").format(place, text, _note(entry.note))


def _is_web_address(url: str) -> bool:
    try:
        return urlsplit(url).scheme in {"http", "https"}
    except ValueError:
        return False


def _render_fields(fields: Fields) -> Markup:
    row = Markup("<dt>{}</dt><dd>{}</dd>")
    rows = (row.format(show_text(name), show_text(_cut(value))) for name, value in fields.fields)
    return Markup('<dl class="fields">{}</dl>').format(Markup().join(rows))


def _render_question(question: Question) -> Markup:
    row = Markup('<li class="{}"><strong>{}</strong> {}</li>')
    choices = (
        row.format(
            "chosen" if choice.is_chosen else "offered",
            show_text(choice.label),
            show_text(choice.description),
        )
        for choice in question.choices
    )
    answer = (
        Markup('<p class="answer">{}</p>').format(show_text(question.answer))
        if question.answer
        else Markup()
    )
    return Markup(
        '<div class="question"><p><small>{}</small> {}</p><ul class="choices">{}</ul>{}</div>'
    ).format(show_text(question.header), show_text(question.text), Markup().join(choices), answer)


def _render_code(code: Code) -> Markup:
    return render_code(
        _cut(code.text), path=code.path, language=code.language, first_line=code.first_line
    )


_RENDERERS: dict[type[Part], Callable[[Any], Markup]] = {
    Prose: lambda prose: Markup('<div class="prose">{}</div>').format(
        render_markdown(_cut(prose.text))
    ),
    Plain: lambda plain: show_block(_cut(plain.text), "plain"),
    Code: _render_code,
    Output: lambda output: render_output(_cut(output.text), is_error=output.is_error),
    Diff: render_diff,
    Checklist: _render_checklist,
    Entries: _render_entries,
    Fields: _render_fields,
    Question: _render_question,
    Picture: render_picture,
    Json: lambda value: render_code(_cut(value.text), language="json"),
}
