"""Writes docs/cli.md and the manual pages from the commands: `python -m tools.generate_docs`.

The help of a command is the only place where it is described in words; everything here is made of
it, and a test fails when the files are older than the code.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from recollect import __version__
from recollect.cli.clock import NOW_VARIABLE
from recollect.cli.config.file import VARIABLE as CONFIG_FILE_VARIABLE
from recollect.cli.config.values import PRICES_VARIABLE
from recollect.cli.outcome import DEBUG_VARIABLE
from recollect.live.watching import POLL_VARIABLE
from recollect.locations.roots import CONFIG_VARIABLE
from recollect.store.place import VARIABLE as DATA_VARIABLE
from tools.command_pages import Page, list_exit_codes, list_pages
from tools.manual import format_manual

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "cli.md"
MANUALS = ROOT / "man"

ENVIRONMENT: Final[Mapping[str, str]] = {
    CONFIG_VARIABLE: "The Claude directory, or several of them with commas between.",
    CONFIG_FILE_VARIABLE: "The file with your defaults, instead of the usual one.",
    DATA_VARIABLE: "Where Recollect keeps its own files, instead of the usual place.",
    PRICES_VARIABLE: "A price file of your own, as --prices takes it.",
    POLL_VARIABLE: "If set, growing files are looked at now and then instead of being watched.",
    NOW_VARIABLE: "The time to go by instead of the clock, as 2026-11-13T12:00:00Z.",
    DEBUG_VARIABLE: "If set, a bug is reported with the place where it happened.",
    "NO_COLOR": "If set, nothing is coloured.",
    "FORCE_COLOR, CLICOLOR_FORCE": "If set to anything but 0, colours are used in pipes too.",
    "CLICOLOR": "If 0, nothing is coloured.",
    "COLUMNS": "How wide the output may be.",
    "PAGER, LESS": "How long output is paged in a terminal.",
}

INTRODUCTION = """\
# The command line

Made from the program's own help by `make docs`. Manual pages of the same content come with the
package: `man recollect`, `man recollect-list` and so on.

Data goes to standard output, everything else to standard error. Every command with data takes
`--json`; [json.md](json.md) lists the shapes. Output is coloured, paged and accompanied by progress
in a terminal only.
"""


def main() -> None:
    """Write all files, and remove the manuals of commands that are no more."""
    MANUALS.mkdir(exist_ok=True)
    wanted = {MANUALS / name: text for name, text in make_manuals().items()}
    for path in set(MANUALS.glob("*.1")) - set(wanted):
        path.unlink()
    for path, text in {**wanted, PAGE: make_page()}.items():
        path.write_text(text, encoding="utf-8")


def make_manuals() -> dict[str, str]:
    """The manuals by the names of their files."""
    pages = list_pages()
    return {f"{'-'.join(page.words)}.1": _make_manual(page, pages) for page in pages}


def _make_manual(page: Page, pages: list[Page]) -> str:
    is_program = page is pages[0]
    related = ["recollect(1)"] if not is_program else []
    related += [f"recollect-{name}(1)" for name, _ in page.commands if is_program]
    sections = {
        "COMMANDS": page.commands,
        "OPTIONS": page.options,
        "ENVIRONMENT": list(ENVIRONMENT.items()) if is_program else [],
        "EXIT STATUS": list_exit_codes(),
        "SEE ALSO": [(", ".join(related), "")],
    }
    return format_manual(page, __version__, sections)


def make_page() -> str:
    """The page with all commands."""
    pages = list_pages()
    lines = [INTRODUCTION, *_iter_table("| command | |", pages[0].commands, link=True)]
    for page in pages[1:]:
        lines += _iter_command(page)
    lines += ["", "## Environment", "", *_iter_table("| variable | |", ENVIRONMENT.items())]
    lines += ["", "## Exit codes", "", *_iter_table("| code | |", list_exit_codes())]
    return "\n".join(lines) + "\n"


def _iter_command(page: Page) -> Iterator[str]:
    level = "#" * len(page.words)
    yield from ("", f"{level} {page.name}", "", f"{page.summary}.", "")
    yield from ("```", page.usage, "```")
    for paragraph in page.paragraphs:
        yield from ("", paragraph)
    for example in page.examples:
        yield from ("", "```sh", example, "```")
    yield from ("", *_iter_table("| option | |", page.options))


def _iter_table(
    heading: str, rows: Iterable[tuple[str, str]], *, link: bool = False
) -> Iterator[str]:
    yield from (heading, "|---|---|")
    for name, meaning in rows:
        shown = f"[`{name}`](#recollect-{name})" if link else f"`{_escape(name)}`"
        yield f"| {shown} | {_escape(meaning)} |"


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    main()
