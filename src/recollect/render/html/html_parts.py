"""Render each kind of part as HTML.

Only structure and class names: the look is up to the style sheet, because a page may not have
styles of its own. The lines of a hunk are highlighted together, without their signs: a lexer needs
the lines around a line, and old and new ones are close enough for that.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

from markupsafe import Markup, escape
from msgspec import Struct

from recollect.documents.turns import (
    Checklist,
    Code,
    Diff,
    Entries,
    Entry,
    Fields,
    Hunk,
    Json,
    Output,
    Part,
    Picture,
    Plain,
    Prose,
    Question,
)
from recollect.render.html.html_code import (
    MAX_COLOURED_LENGTH,
    colour_lines,
    render_code,
    show_block,
    show_text,
)
from recollect.render.html.images import render_picture
from recollect.render.html.markdown import render_markdown
from recollect.render.terminal.ansi_output import Ink, iter_runs

_PLAIN = Ink()
_EMPHASIS = ("bold", "dim", "italic", "underline", "strike", "reverse")


class PartOptions(Struct, frozen=True, kw_only=True):
    """What the page around parts determines."""

    show_picture: Callable[[Picture], Markup] = render_picture
    max_coloured: int = MAX_COLOURED_LENGTH
    """Characters of code above which it is not highlighted."""


DEFAULT_OPTIONS = PartOptions()


def render_output(text: str, kind: str = "") -> Markup:
    """Render program output; line breaks of other systems count as ours."""
    runs = Markup().join(
        _render_run(run, ink) for run, ink in iter_runs(text.replace("\r\n", "\n"))
    )
    return Markup('<pre class="output{}">{}</pre>').format(kind and f" {kind}", runs)


def _render_run(text: str, ink: Ink) -> Markup:
    if ink == _PLAIN:
        return escape(text)
    return Markup('<span class="{}">{}</span>').format(" ".join(_iter_classes(ink)), text)


def _iter_classes(ink: Ink) -> Iterator[str]:
    if ink.hue:
        yield f"ink-{ink.hue}"
    for name in _EMPHASIS:
        if getattr(ink, name):
            yield f"ink-{name}"


_GAP = Markup('<tr class="gap"><td colspan="4">@@ -{},{} +{},{} @@</td></tr>')
_CLASSES = {"+": "added", "-": "removed", " ": "kept"}


def render_diff(diff: Diff, max_coloured: int = MAX_COLOURED_LENGTH) -> Markup:
    """Render a change as a table under the name of its file."""
    caption = (
        Markup("<figcaption>{}</figcaption>").format(show_text(diff.path)) if diff.path else ""
    )
    rows = "".join(
        row
        for number, hunk in enumerate(diff.hunks)
        for row in _iter_rows(
            hunk, diff.path, max_coloured, is_first=number == 0 and diff.is_new_file
        )
    )
    return Markup('<figure class="diff">{}<table><tbody>{}</tbody></table></figure>').format(
        caption,
        Markup(rows),  # noqa: S704 - numbers, and lines that were escaped
    )


def _iter_rows(hunk: Hunk, path: str | None, max_coloured: int, *, is_first: bool) -> Iterator[str]:
    if not is_first:
        yield _GAP.format(hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines)
    text = "\n".join(line[1:] for line in hunk.lines)
    coloured = colour_lines(text, path=path, max_coloured=max_coloured)
    old, new = hunk.old_start, hunk.new_start
    # A line that ends in a carriage return, or is empty at the end, may have no highlighted line.
    for line, shown in zip(hunk.lines, coloured, strict=False):
        sign = line[:1] or " "
        if sign not in _CLASSES:
            yield _draw_row("remark", "", "", "", show_text(line.lstrip("\\ ")))
            continue
        yield _draw_row(
            _CLASSES[sign],
            "" if sign == "+" else str(old),
            "" if sign == "-" else str(new),
            "" if sign == " " else sign,
            shown,
        )
        old += sign != "+"
        new += sign != "-"


def _draw_row(css_class: str, old: str, new: str, sign: str, shown: str) -> str:
    # A string: there are thousands of rows, and formatting Markup is slow.
    return (
        f'<tr class="{css_class}"><td class="number" data-line="{old}"></td>'
        f'<td class="number" data-line="{new}"></td><td class="sign" data-sign="{sign}"></td>'
        f'<td class="text"><code>{shown}</code></td></tr>'
    )


MAX_BLOCK_LENGTH = 200_000
"""Characters of one block in a page; the raw record has the rest."""


def render_parts(parts: Iterable[Part], options: PartOptions = DEFAULT_OPTIONS) -> Markup:
    """Render parts one after the other."""
    return Markup("\n").join(render_part(part, options) for part in parts)


def render_part(part: Part, options: PartOptions = DEFAULT_OPTIONS) -> Markup:
    """Render `part` as a block."""
    match part:
        case Picture():
            return options.show_picture(part)
        case Diff():
            return render_diff(part, options.max_coloured)
        case Code():
            return _render_code(part, options.max_coloured)
        case Json():
            return _render_code(Code(part.text, language="json"), options.max_coloured)
    return _RENDERERS[type(part)](part)


def _cut(text: str) -> str:
    if len(text) <= MAX_BLOCK_LENGTH:
        return text
    return f"{text[:MAX_BLOCK_LENGTH]}\n… {len(text) - MAX_BLOCK_LENGTH:,} more characters"


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
    rows = "".join([_render_entry(entry) for entry in entries.entries])
    more = f'<li class="more">… {entries.omitted:,} more</li>' if entries.omitted else ""
    return Markup(f'<ul class="entries">{rows}{more}</ul>')  # noqa: S704 - all of it was escaped


def _render_entry(entry: Entry) -> str:
    place = Markup()
    if entry.path and entry.path != entry.text:
        line = "" if entry.line is None else f":{entry.line}"
        place = Markup('<span class="path">{}{}</span> ').format(show_text(entry.path), line)
    text = show_text(entry.text)
    if entry.url and _is_web_address(entry.url):
        link = Markup('<a href="{}" target="_blank" rel="noopener noreferrer nofollow">{}</a>')
        text = link.format(show_text(entry.url), text)
    return f"<li>{place}<span>{text}</span>{_note(entry.note)}</li>"


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


def _render_code(code: Code, max_coloured: int) -> Markup:
    return render_code(
        _cut(code.text),
        path=code.path,
        language=code.language,
        first_line=code.first_line,
        max_coloured=max_coloured,
    )


def _name_stream(output: Output) -> str:
    return "error" if output.is_error else "stderr" if output.is_stderr else ""


_RENDERERS: dict[type[Part], Callable[[Any], Markup]] = {
    Prose: lambda prose: Markup('<div class="prose">{}</div>').format(
        render_markdown(_cut(prose.text))
    ),
    Plain: lambda plain: show_block(_cut(plain.text), "plain"),
    Output: lambda output: render_output(_cut(output.text), _name_stream(output)),
    Checklist: _render_checklist,
    Entries: _render_entries,
    Fields: _render_fields,
    Question: _render_question,
}
