"""A change of a file → a table: both line numbers, the sign, the line with its colours.

The lines of a hunk are coloured together, without their signs: a lexer needs the lines around a
line to understand it, and old and new lines are near enough to each other for that.
"""

from collections.abc import Iterator

from markupsafe import Markup

from recollect.records.tools.patch import PatchHunk
from recollect.render.html.code import colour_lines
from recollect.render.html.text import show_text
from recollect.render.views.parts import Diff

_ROW = Markup(
    '<tr class="{}"><td class="number" data-line="{}"></td><td class="number" data-line="{}"></td>'
    '<td class="sign" data-sign="{}"></td><td class="text"><code>{}</code></td></tr>'
)
_GAP = Markup('<tr class="gap"><td colspan="4">@@ -{},{} +{},{} @@</td></tr>')
_CLASSES = {"+": "added", "-": "removed", " ": "kept"}


def render_diff(diff: Diff) -> Markup:
    """The change as a table under the name of its file."""
    caption = (
        Markup("<figcaption>{}</figcaption>").format(show_text(diff.path)) if diff.path else ""
    )
    rows = Markup().join(
        row
        for number, hunk in enumerate(diff.hunks)
        for row in _iter_rows(hunk, diff.path, is_first=number == 0 and diff.is_new_file)
    )
    return Markup('<figure class="diff">{}<table><tbody>{}</tbody></table></figure>').format(
        caption, rows
    )


def _iter_rows(hunk: PatchHunk, path: str | None, *, is_first: bool) -> Iterator[Markup]:
    if not is_first:
        yield _GAP.format(hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines)
    coloured = colour_lines("\n".join(line[1:] for line in hunk.lines), path=path)
    old, new = hunk.old_start, hunk.new_start
    # A line that ends in a carriage return or is empty at the end may cost the colours a line.
    for line, shown in zip(hunk.lines, coloured, strict=False):
        sign = line[:1] or " "
        if sign not in _CLASSES:
            yield _ROW.format("remark", "", "", "", show_text(line.lstrip("\\ ")))
            continue
        yield _ROW.format(
            _CLASSES[sign],
            "" if sign == "+" else old,
            "" if sign == "-" else new,
            "" if sign == " " else sign,
            shown,
        )
        old += sign != "+"
        new += sign != "-"
