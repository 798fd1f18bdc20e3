"""Pages → files for `man`, in the roff language with its `man` macros.

Knows the few macros that a manual of a command needs. Every text is escaped: a line that begins
with a dot or an apostrophe would be a request, a backslash begins an escape, and a plain hyphen
may be typeset as one that a shell does not know.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tools.command_pages import Page

_SYMBOLS = {"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}


def format_manual(
    page: Page, version: str, sections: Mapping[str, Sequence[tuple[str, str]]]
) -> str:
    """The manual of a command; `sections` are lists of names and their meanings."""
    title = "-".join(page.words)
    lines = [
        f'.TH {escape(title.upper())} 1 "" "recollect {version}" "Recollect Manual"',
        ".SH NAME",
        escape(f"{title} - {page.summary[0].lower()}{page.summary[1:]}"),
        ".SH SYNOPSIS",
        rf"\fB{escape(page.name)}\fR{escape(page.usage.removeprefix(page.name))}",
        *_iter_description(page),
        *_iter_examples(page.examples),
    ]
    for heading, entries in sections.items():
        lines += _iter_entries(heading, entries)
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """`text` as roff has to be told it, on one line."""
    escaped = "".join(_SYMBOLS.get(character, character) for character in text)
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _iter_description(page: Page) -> Iterator[str]:
    yield ".SH DESCRIPTION"
    yield escape(f"{page.summary}.")
    for paragraph in page.paragraphs:
        yield from (".PP", escape(paragraph))


def _iter_examples(examples: Sequence[str]) -> Iterator[str]:
    if examples:
        yield ".SH EXAMPLES"
    for example in examples:
        yield from (".PP", ".nf", *map(escape, example.splitlines()), ".fi")


def _iter_entries(heading: str, entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    if entries:
        yield f".SH {heading}"
    for name, meaning in entries:
        yield from (".TP", rf"\fB{escape(name)}\fR", escape(meaning))
