"""Generate docs/cli.md and the man pages from the commands: `python -m tools.generate_docs`.

The help text of a command is the single source of its documentation; a test fails when the
generated files are out of date.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from recollect import __version__
from recollect.archive import VARIABLE as ARCHIVE_VARIABLE
from recollect.archive.encryption import IDENTITY_VARIABLE, PASSPHRASE_VARIABLE
from recollect.cli.clock import NOW_VARIABLE
from recollect.cli.effective_settings import PRICES_VARIABLE
from recollect.cli.exit_codes import DEBUG_VARIABLE
from recollect.live.watching import POLL_VARIABLE
from recollect.locations.claude_directories import CONFIG_VARIABLE
from recollect.store.data_directory import VARIABLE as DATA_VARIABLE
from recollect.workspace.config_file import VARIABLE as CONFIG_FILE_VARIABLE
from tools.command_pages import Page, list_exit_codes, list_pages
from tools.manual import format_manual

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "cli.md"
MANUALS = ROOT / "man"

ENVIRONMENT: Final[Mapping[str, str]] = {
    CONFIG_VARIABLE: "The Claude directory, or a comma-separated list of them.",
    CONFIG_FILE_VARIABLE: "Path of the config file.",
    DATA_VARIABLE: "Directory for Recollect's own files, such as the index.",
    ARCHIVE_VARIABLE: "Directory of the archive; the default is in the data directory.",
    IDENTITY_VARIABLE: "File with the age identity of an encrypted archive.",
    PASSPHRASE_VARIABLE: "Passphrase of an encrypted archive or bundle.",
    PRICES_VARIABLE: "Your own price file; same as --prices.",
    POLL_VARIABLE: "If set, poll for changes instead of using file-system events.",
    NOW_VARIABLE: "Use this time instead of the clock, for example 2026-11-13T12:00:00Z.",
    DEBUG_VARIABLE: "If set, internal errors include a traceback.",
    "NO_COLOR": "If set, disables colours.",
    "FORCE_COLOR, CLICOLOR_FORCE": "If set and not 0, forces colours, even in pipes.",
    "CLICOLOR": "If 0, disables colours.",
    "COLUMNS": "Width of the output; by default, tables in a pipe are not cut.",
    "PAGER, LESS": "Pager for long output, and options for less.",
}

INTRODUCTION = """\
# The command line

Generated from the help texts by `make docs`. The package also installs them as man pages:
`man recollect`, `man recollect-list` and so on.

Data is written to standard output, everything else to standard error. Nearly every command that
outputs data supports `--json`; see [json.md](json.md). Colours, paging and progress are only used
in a terminal.
"""


def main() -> None:
    """Write all files, and remove man pages of commands that no longer exist."""
    MANUALS.mkdir(exist_ok=True)
    wanted = {MANUALS / name: text for name, text in make_manuals().items()}
    for path in set(MANUALS.glob("*.1")) - set(wanted):
        path.unlink()
    for path, text in {**wanted, PAGE: make_page()}.items():
        path.write_text(text, encoding="utf-8")


def make_manuals() -> dict[str, str]:
    """Return the man pages by file name."""
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
    """Return the page with all commands."""
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
