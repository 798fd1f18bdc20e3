"""A session as a Markdown document with front matter."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from recollect.documents.turns import TurnView
from recollect.export.material import Material
from recollect.export.options import ExportOptions, Images, Level, select_steps
from recollect.render.markdown.markdown_parts import ShowPicture, describe_picture, write_parts
from recollect.render.markdown.markdown_prose import quote, write_words
from recollect.render.markdown.markdown_turns import MarkdownOptions, write_turn
from recollect.render.terminal import safe_text

_END: Final = "\n\n"

Link = tuple[str, str]
"""The address of another page, and what it is called."""


def iter_document(
    material: Material,
    options: ExportOptions,
    *,
    show_picture: ShowPicture = describe_picture,
    turns: Sequence[TurnView] | None = None,
    links: Sequence[Link] = (),
) -> Iterator[str]:
    """Yield a document piece by piece; `turns` are those of one page of several."""
    shown = material.turns if turns is None else turns
    wanted = make_options(material, options, show_picture)
    yield write_front_matter(material)
    yield f"# {write_words(material.title)}{_END}"
    yield from _iter_links(links)
    for turn in shown:
        blocks = write_turn(select_steps(turn, options.level), wanted)
        yield "".join(f"{block}{_END}" for block in blocks)
    if turns is None or (shown and shown[-1] is material.turns[-1]):
        yield from _iter_end(material, wanted)
    yield from _iter_links(links)


def make_options(
    material: Material, options: ExportOptions, show_picture: ShowPicture
) -> MarkdownOptions:
    """Return what of a turn is written."""
    is_full = options.level is Level.FULL
    return MarkdownOptions(
        replies=options.level is not Level.PROMPTS,
        tools=is_full or options.level is Level.TOOLS,
        everything=is_full,
        directory=material.metadata.cwd,
        show_picture=show_picture if options.images is Images.BESIDE else describe_picture,
    )


def write_front_matter(material: Material, **more: object) -> str:
    """Return the front matter: YAML, of which each value is also JSON."""
    about = material.metadata
    fields: dict[str, object] = {
        "title": material.title,
        "session": about.id,
        "project": about.cwd,
        "branch": about.git_branch,
        "created": about.created,
        "last_active": about.last_active,
        "turns": len(material.turns),
        **more,
    }
    lines = [f"{name}: {_write_value(value)}" for name, value in fields.items() if value]
    return "\n".join(["---", *lines, "---"]) + _END


def iter_index(title: str, rows: Iterable[tuple[Link, str]]) -> Iterator[str]:
    """Yield a document with links to others, each with a few facts."""
    yield f"# {write_words(title)}{_END}"
    for (address, name), facts in rows:
        about = f" ({write_words(facts)})" if facts else ""
        yield f"- [{write_words(name)}](<{address}>){about}\n"


def _write_value(value: object) -> str:
    shown = safe_text(value, single_line=True) if isinstance(value, str) else value
    return json.dumps(shown, ensure_ascii=False)


def _iter_links(links: Sequence[Link]) -> Iterator[str]:
    if links:
        named = (f"[{write_words(name)}](<{address}>)" for address, name in links)
        yield " · ".join(named) + _END


def _iter_end(material: Material, options: MarkdownOptions) -> Iterator[str]:
    for stray in material.strays:
        about = write_words(stray.description or stray.agent_id)
        yield f"## Subagent {write_words(stray.agent_type or '')}: {about}{_END}"
        for turn in stray.turns or ():
            yield quote(_END.join(write_turn(turn, options, 3))) + _END
    for notice in material.notices:
        yield f"## {write_words(notice.title)}{_END}"
        yield "".join(f"{block}{_END}" for block in write_parts(notice.parts))
