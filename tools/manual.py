"""Format the documentation of commands as man pages, in roff with the `man` macros.

All text is escaped: a leading dot or apostrophe starts a request, a backslash starts an escape, and
a plain hyphen may be typeset as one that shells do not accept.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tools.command_pages import Page

_SYMBOLS = {"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}


def format_manual(
    page: Page, version: str, sections: Mapping[str, Sequence[tuple[str, str]]]
) -> str:
    """Return the man page of a command; `sections` are lists of names and descriptions."""
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
    """Escape a line of text for roff."""
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
