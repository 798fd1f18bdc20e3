"""A session as Markdown with front matter; as JSON in the shape of `recollect show --json`, one
turn per line; as its original lines, byte for byte; and as a digest that fits a token budget.

A digest keeps prompts and conclusions first, then the tool calls, then other replies, then the
trimmed output of tools. Unless everything fits, a text is cut to a quarter of the budget, and the
output of a call to less. Omissions are marked where they occur, and at the top. Tokens are
estimated: one for every four ASCII characters, and one for every other character.
"""

import json
import sys
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import partial
from typing import Final

from msgspec import Struct

from recollect.documents import json_text, session_documents, turn_documents
from recollect.export.export_content import ExportContent, SessionPart, iter_files
from recollect.export.export_options import ExportOptions, Images, Level, select_steps
from recollect.export.writing import Piece
from recollect.quantities import format_count
from recollect.reader.transcript_reader import read_transcript
from recollect.render import markdown
from recollect.render.terminal import safe_line
from recollect.render.views.turn_views import iter_turn_views, keep_prompts
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
    shown = safe_line(value) if isinstance(value, str) else value
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


_ASCII_PER_TOKEN: Final = 4
_MIN_OUTPUT: Final = 300
"""Minimum number of characters to keep of the input and output of a tool call, for any budget."""
_TOLERANCE: Final = 0.01
"""Share of the budget that may stay unused although more would fit."""


class Rank(IntEnum):
    """The priority of a block; the lowest is kept first."""

    PROMPT = 0
    CONCLUSION = 1
    CALL = 2
    REPLY = 3
    OUTPUT = 4


_NAMES: Final = {
    Rank.PROMPT: ("prompt", "prompts"),
    Rank.CONCLUSION: ("conclusion", "conclusions"),
    Rank.CALL: ("tool call", "tool calls"),
    Rank.REPLY: ("reply", "replies"),
    Rank.OUTPUT: ("tool output", "tool outputs"),
}


class _Block(Struct, frozen=True):
    """A piece of a digest, in the order of the session."""

    rank: Rank
    text: str
    whole: int
    """Number of tokens before it was cut."""

    @property
    def tokens(self) -> int:
        return estimate_tokens(self.text) + 1


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens of a text."""
    ascii_count = len(text.encode("ascii", "ignore"))
    return ascii_count // _ASCII_PER_TOKEN + len(text) - ascii_count + 1


def iter_digest(content: ExportContent, budget: int) -> Iterator[str]:
    """Yield a digest of at most about `budget` tokens."""
    turns = _fit_blocks(content, budget)
    yield from _find_longest(content, turns, budget)


def _find_longest(
    content: ExportContent, turns: Sequence[Sequence[_Block]], budget: int
) -> Sequence[str]:
    """Return the longest digest that fits, in pieces, or one without any block.

    The length of the front matter and the remarks depends on what is left out, so the number of
    tokens for blocks is found by bisection.
    """
    longest = list(_write(content, turns, set()))
    fitting, room = 0, budget
    excessive = budget
    while True:
        pieces = list(_write(content, turns, _choose(turns, room)))
        if estimate_tokens("".join(pieces)) <= budget:
            longest, fitting = pieces, room
        else:
            excessive = room
        if excessive - fitting <= budget * _TOLERANCE:
            return longest
        room = (fitting + excessive) // 2


def _fit_blocks(content: ExportContent, budget: int) -> list[list[_Block]]:
    """Return the blocks of each turn, cut only as much as needed for all of them to fit."""
    turns: list[list[_Block]] = []
    shares = (budget, budget // 4, budget // 16)
    lengths = ((budget, max(share, _MIN_OUTPUT)) for share in shares)
    for max_length, max_output in ((sys.maxsize, sys.maxsize), *lengths):
        turns = _list_blocks(content, max_length, max_output)
        if sum(block.tokens for turn in turns for block in turn) <= budget:
            break
    return turns


def _list_blocks(content: ExportContent, max_length: int, max_output: int) -> list[list[_Block]]:
    """Return the blocks of each turn, with texts and outputs of at most this many characters."""
    return [list(_iter_blocks(turn, content, max_length, max_output)) for turn in content.turns]


def _write(
    content: ExportContent, turns: Sequence[Sequence[_Block]], kept: Container[int]
) -> Iterator[str]:
    blocks = [block for turn in turns for block in turn]
    total = sum(block.whole for block in blocks)
    left_out = Counter(block.rank for block in blocks if id(block) not in kept)
    used = sum(block.tokens for block in blocks if id(block) in kept)
    yield write_front_matter(content, digest=f"about {used:,} of {total:,} tokens")
    yield f"# {markdown.write_words(content.title)}\n\n"
    if left_out:
        named = _list_ranks(left_out)
        yield f"> This is a digest. Left out: {named}. Long texts are cut where marked.\n\n"
    elif used < total:
        yield "> This is a digest. Long texts are cut where marked.\n\n"
    else:
        yield "> This is a digest: all prompts, replies and tool calls, without thinking.\n\n"
    missing: Counter[Rank] = Counter()
    for block in blocks:
        if id(block) in kept:
            yield _write_missing(missing)
            yield f"{block.text}\n\n"
        elif block.rank is not Rank.OUTPUT:
            missing[block.rank] += 1
    yield _write_missing(missing)


def _choose(turns: Sequence[Sequence[_Block]], budget: int) -> set[int]:
    """Return the blocks that fit: by rank, and in each rank from the newest turns first.

    The first block of a turn is its prompt, which the other blocks need to make sense.
    """
    kept: set[int] = set()
    for rank in Rank:
        for turn in reversed(turns):
            for block in turn:
                is_understood = rank is Rank.PROMPT or id(turn[0]) in kept
                if block.rank is rank and block.tokens <= budget and is_understood:
                    kept.add(id(block))
                    budget -= block.tokens
    return kept


def _write_missing(missing: Counter[Rank]) -> str:
    if not missing:
        return ""
    named = _list_ranks(missing)
    missing.clear()
    return f"*\\[… {named} left out\\]*\n\n"


def _list_ranks(counts: Mapping[Rank, int]) -> str:
    return ", ".join(format_count(counts[rank], *_NAMES[rank]) for rank in sorted(counts))


def _iter_blocks(
    turn: turn_documents.TurnView, content: ExportContent, max_length: int, max_output: int
) -> Iterator[_Block]:
    directory = content.metadata.cwd
    options = markdown.MarkdownOptions(replies=False, everything=False, directory=directory)
    heading, *prompt = markdown.write_turn(turn, options)
    yield _make_block(Rank.PROMPT, [heading, *prompt], max_length)
    ranks = {id(step): Rank.PROMPT for step in keep_prompts(turn).steps}
    ranks[id(_find_conclusion(turn.steps))] = Rank.CONCLUSION
    for step in turn.steps:
        match step:
            case turn_documents.TextStep():
                yield from _list_text(step, ranks.get(id(step), Rank.REPLY), max_length)
            case turn_documents.ToolStep():
                yield _make_block(Rank.CALL, [markdown.name_call(step, directory)], max_length)
                details = [*markdown.write_parts((*step.input, *step.output))]
                if details:
                    yield _make_block(Rank.OUTPUT, details, max_output)


def _find_conclusion(steps: Sequence[turn_documents.Step]) -> turn_documents.TextStep | None:
    replies = (step for step in reversed(steps) if isinstance(step, turn_documents.TextStep))
    return next((step for step in replies if step.role == "assistant"), None)


def _list_text(step: turn_documents.TextStep, rank: Rank, max_length: int) -> Iterator[_Block]:
    parts = [*markdown.write_parts(step.parts)]
    if parts:
        is_reply = step.role == "assistant"
        yield _make_block(rank, parts if is_reply else [*map(markdown.quote, parts)], max_length)


def _make_block(rank: Rank, parts: Sequence[str], length: int) -> _Block:
    whole = estimate_tokens("\n\n".join(parts)) + 1
    return _Block(rank, "\n\n".join(_cut(part, length) for part in parts), whole)


def _cut(block: str, length: int) -> str:
    """Return a block with its middle left out if it is too long; the result is still Markdown."""
    if len(block) <= length:
        return block
    omitted = len(block) - length
    if block.startswith("`"):
        fence, _, body = block.partition("\n")
        body = body.rpartition("\n")[0]
        ticks = fence[: len(fence) - len(fence.lstrip("`"))]
        cut = f"{body[: length // 2]}\n… {omitted:,} characters left out …\n{body[-length // 2 :]}"
        return f"{fence}\n{cut}\n{ticks}"
    is_quoted = block.startswith(">")
    text = "\n".join(line.removeprefix(">").removeprefix(" ") for line in block.split("\n"))
    text = text if is_quoted else block
    cut = f"{text[: length // 2]}\n\n… {omitted:,} characters left out …\n\n{text[-length // 2 :]}"
    return markdown.quote(markdown.write_prose(cut)) if is_quoted else markdown.write_prose(cut)
