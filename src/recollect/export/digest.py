"""A session in as many tokens as a model has room for.

Prompts and conclusions come first, then what tools were called, then other replies, then the
output of tools, trimmed. What was left out is said where it would have been, and at the top.
Tokens are estimated: four characters of ASCII are one, and so is every other character.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Final

from msgspec import Struct

from recollect.documents.turns import Step, TextStep, ToolStep, TurnView
from recollect.export.markdown_pages import write_front_matter
from recollect.export.material import Material
from recollect.quantities import format_count
from recollect.render.markdown.markdown_parts import write_parts
from recollect.render.markdown.markdown_prose import quote, write_prose, write_words
from recollect.render.markdown.markdown_turns import MarkdownOptions, name_call, write_turn

_MIN_TOKENS: Final = 200
_ASCII_PER_TOKEN: Final = 4
_OVERHEAD: Final = 400
"""Tokens for the front matter and the remark about what was left out."""
_TRIMMED: Final = 1_200
"""Characters that are kept of the input and output of one tool call."""
_LONG: Final = 4_000
"""Characters that are kept of one prompt or reply."""


class Rank(IntEnum):
    """What is kept first."""

    PROMPT = 0
    CONCLUSION = 1
    CALL = 2
    REPLY = 3
    OUTPUT = 4


_NAMES: Final = {
    Rank.PROMPT: "prompt",
    Rank.CONCLUSION: "conclusion",
    Rank.CALL: "tool call",
    Rank.REPLY: "reply",
    Rank.OUTPUT: "tool output",
}


class _Block(Struct, frozen=True):
    """A piece of a digest, in the order of the session."""

    rank: Rank
    text: str
    whole: int
    """Tokens before it was cut."""

    @property
    def tokens(self) -> int:
        return estimate_tokens(self.text) + 1


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a model makes of a text."""
    ascii_count = len(text.encode("ascii", "ignore"))
    return ascii_count // _ASCII_PER_TOKEN + len(text) - ascii_count + 1


def iter_digest(material: Material, budget: int) -> Iterator[str]:
    """Yield a digest of about `budget` tokens at most."""
    turns = [list(_iter_blocks(turn, material)) for turn in material.turns]
    blocks = [block for turn in turns for block in turn]
    total = sum(block.whole for block in blocks)
    kept = _choose(turns, max(budget, _MIN_TOKENS) - _OVERHEAD)
    left_out = Counter(block.rank for block in blocks if id(block) not in kept)
    used = sum(block.tokens for block in blocks if id(block) in kept)
    yield write_front_matter(material, digest=f"about {used:,} of {total:,} tokens")
    yield f"# {write_words(material.title)}\n\n"
    if left_out:
        named = ", ".join(format_count(left_out[rank], _NAMES[rank]) for rank in sorted(left_out))
        yield f"> This is a digest. Left out: {named}. Long texts are cut where it says so.\n\n"
    elif used < total:
        yield "> This is a digest. Long texts are cut where it says so.\n\n"
    for turn in turns:
        yield from _write_turn(turn, kept)


def _choose(turns: Sequence[Sequence[_Block]], budget: int) -> set[int]:
    """Return the blocks that fit: by rank, and of each rank the newest turns first."""
    kept: set[int] = set()
    for rank in Rank:
        for turn in reversed(turns):
            for block in turn:
                if block.rank is rank and block.tokens <= budget:
                    kept.add(id(block))
                    budget -= block.tokens
    return kept


def _write_turn(blocks: Sequence[_Block], kept: set[int]) -> Iterator[str]:
    missing: Counter[Rank] = Counter()
    for block in blocks:
        if id(block) in kept:
            yield _write_missing(missing)
            yield f"{block.text}\n\n"
        elif block.rank is not Rank.OUTPUT:
            missing[block.rank] += 1
    yield _write_missing(missing)


def _write_missing(missing: Counter[Rank]) -> str:
    if not missing:
        return ""
    named = ", ".join(format_count(missing[rank], _NAMES[rank]) for rank in sorted(missing))
    missing.clear()
    return f"*\\[… {named} left out\\]*\n\n"


def _iter_blocks(turn: TurnView, material: Material) -> Iterator[_Block]:
    directory = material.metadata.cwd
    options = MarkdownOptions(replies=False, everything=False, directory=directory)
    heading, *prompt = write_turn(turn, options)
    yield _make_block(Rank.PROMPT, [heading, *prompt], _LONG)
    conclusion = _find_conclusion(turn.steps)
    for step in turn.steps:
        match step:
            case TextStep():
                rank = Rank.CONCLUSION if step is conclusion else Rank.REPLY
                yield from _list_text(step, rank)
            case ToolStep():
                yield _make_block(Rank.CALL, [name_call(step, directory)], _LONG)
                details = [*write_parts((*step.input, *step.output))]
                if details:
                    yield _make_block(Rank.OUTPUT, details, _TRIMMED)


def _find_conclusion(steps: Sequence[Step]) -> TextStep | None:
    replies = (step for step in reversed(steps) if isinstance(step, TextStep))
    return next((step for step in replies if step.role == "assistant"), None)


def _list_text(step: TextStep, rank: Rank) -> Iterator[_Block]:
    parts = [*write_parts(step.parts)]
    if parts:
        is_reply = step.role == "assistant"
        yield _make_block(rank, parts if is_reply else [*map(quote, parts)], _LONG)


def _make_block(rank: Rank, parts: Sequence[str], length: int) -> _Block:
    whole = estimate_tokens("\n\n".join(parts)) + 1
    return _Block(rank, "\n\n".join(_cut(part, length) for part in parts), whole)


def _cut(block: str, length: int) -> str:
    """Return a block with its middle left out if it is long; it stays a block of Markdown."""
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
    return quote(write_prose(cut)) if is_quoted else write_prose(cut)
