"""A session as Markdown with front matter; as JSON in the shape of `recollect show --json`, one
turn per line; and as its original lines, byte for byte.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from recollect.documents import json_text, session_documents, turn_documents
from recollect.export.export_content import ExportContent, SessionPart, iter_files
from recollect.export.export_options import ExportOptions, Images, Level, select_steps
from recollect.export.writing import Piece
from recollect.reader.transcript_reader import read_transcript
from recollect.render import markdown
from recollect.render.terminal import safe_text
from recollect.render.views.turn_views import iter_turn_views
from recollect.session.session import Session
from recollect.sources.safe_files import open_file

_END: Final = "\n\n"

Link = tuple[str, str]
"""The URL of another page, and its title."""


def iter_document(
    content: ExportContent,
    options: ExportOptions,
    *,
    show_picture: markdown.ShowPicture = markdown.describe_picture,
    turns: Sequence[turn_documents.TurnView] | None = None,
    links: Sequence[Link] = (),
) -> Iterator[Piece]:
    """Yield a document piece by piece; `turns` are its turns if there are several."""
    shown = content.turns if turns is None else turns
    wanted = make_options(content, options, show_picture)
    yield write_front_matter(content)
    yield f"# {markdown.write_words(content.title)}{_END}"
    yield from _iter_links(links)
    for turn in shown:
        yield partial(_render_turn, select_steps(turn, options.level), wanted)
    if turns is None or (shown and shown[-1] is content.turns[-1]):
        yield from _iter_end(content, wanted)
    yield from _iter_links(links)


def _render_turn(turn: turn_documents.TurnView, options: markdown.MarkdownOptions) -> str:
    return "".join(f"{block}{_END}" for block in markdown.write_turn(turn, options))


def make_options(
    content: ExportContent, options: ExportOptions, show_picture: markdown.ShowPicture
) -> markdown.MarkdownOptions:
    """Return Markdown options for the exported part of a turn."""
    is_full = options.level is Level.FULL
    return markdown.MarkdownOptions(
        tools=is_full or options.level is Level.TOOLS,
        everything=is_full,
        directory=content.metadata.cwd,
        show_picture=show_picture if options.images is Images.BESIDE else markdown.describe_picture,
    )


def write_front_matter(content: ExportContent, **more: object) -> str:
    """Return the front matter in YAML; each value is also JSON."""
    about = content.metadata
    fields: dict[str, object] = {
        "title": content.title,
        "session": about.id,
        "project": about.cwd,
        "branch": about.git_branch,
        "created": about.created,
        "last_active": about.last_active,
        "turns": len(content.turns),
        **more,
    }
    lines = [f"{name}: {_write_value(value)}" for name, value in fields.items() if value]
    return "\n".join(["---", *lines, "---"]) + _END


def iter_index(title: str, rows: Iterable[tuple[Link, str]]) -> Iterator[str]:
    """Yield a document with links to others, each with some facts."""
    yield f"# {markdown.write_words(title)}{_END}"
    for (address, name), facts in rows:
        about = f" ({markdown.write_words(facts)})" if facts else ""
        yield f"- [{markdown.write_words(name)}](<{address}>){about}\n"


def _write_value(value: object) -> str:
    shown = safe_text(value, single_line=True) if isinstance(value, str) else value
    return json.dumps(shown, ensure_ascii=False)


def _iter_links(links: Sequence[Link]) -> Iterator[str]:
    if links:
        named = (f"[{markdown.write_words(name)}](<{address}>)" for address, name in links)
        yield " · ".join(named) + _END


def _iter_end(content: ExportContent, options: markdown.MarkdownOptions) -> Iterator[str]:
    for stray in content.strays:
        about = markdown.write_words(stray.description or stray.agent_id)
        yield f"## Subagent {markdown.write_words(stray.agent_type or '')}: {about}{_END}"
        for turn in stray.turns or ():
            yield markdown.quote(_END.join(markdown.write_turn(turn, options, 3))) + _END
    for notice in content.notices:
        yield f"## {markdown.write_words(notice.title)}{_END}"
        yield "".join(f"{block}{_END}" for block in markdown.write_parts(notice.parts))


def iter_json(content: ExportContent) -> Iterator[str]:
    """Yield a `recollect.show` document piece by piece."""
    head = json_text.format_line(session_documents.ShowHead(session=content.metadata))
    yield f'{head.removesuffix("}")}, "turns": ['
    for number, turn in enumerate(content.turns):
        yield f"{',' if number else ''}\n{json_text.format_line(turn)}"
    yield "\n]}\n"


_PIECE: Final = 1 << 20


def iter_lines(part: SessionPart) -> Iterator[bytes]:
    """Yield the bytes of the session's files, or the lines of the chosen turns."""
    if part.turns is not None:
        yield from _iter_turns(part.session, part.turns)
        return
    is_open_line = False
    for path in iter_files(part.session):
        if is_open_line:
            # The last line of the previous file has no line end.
            yield b"\n"
        for piece in iter_file(path):
            is_open_line = not piece.endswith(b"\n")
            yield piece


def iter_file(path: str) -> Iterator[bytes]:
    """Yield the bytes of a transcript."""
    with open_file(path) as file:
        while piece := file.read(_PIECE):
            yield piece


def _iter_turns(session: Session, turns: Iterable[int]) -> Iterator[bytes]:
    path = session.metadata.path or ""
    wanted = {uuid for view in iter_turn_views(session, turns) for uuid in view.uuids}
    with open_file(path) as file:
        for record in read_transcript(path):
            if record.span and getattr(record, "uuid", None) in wanted:
                file.seek(record.span.offset)
                yield file.read(record.span.length)
