"""`recollect serve`: the web app on this machine, for one person."""

import contextlib
import logging
import os
import tempfile
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.clock import read_clock
from recollect.cli.options import claude_dir_option
from recollect.cli.outcome import DEBUG_VARIABLE
from recollect.demo import CLAUDE_DIRECTORY
from recollect.errors import NothingFound, UsageError
from recollect.locations import resolve_roots
from recollect.store.place import find_data_directory

if TYPE_CHECKING:
    from recollect.web.server import Running

MOST_PORT = 65535


@click.command("serve")
@click.option(
    "--port", default=0, type=click.IntRange(0, MOST_PORT), help="Listen here; any free one if 0."
)
@click.option("--no-open", is_flag=True, help="Do not open the browser.")
@click.option(
    "--print-url", is_flag=True, help="Print the address that lets one browser in, for a tunnel."
)
@click.option("--demo", is_flag=True, help="Show the sessions that come with Recollect.")
@click.option(
    "--demo-if-empty", is_flag=True, help="Show them if there are no sessions of your own."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--allow-remote", is_flag=True, help="Let --host be one that other machines can reach."
)
@claude_dir_option
def command(  # noqa: PLR0913 - one argument for each option
    *,
    port: int,
    no_open: bool,
    print_url: bool,
    demo: bool,
    demo_if_empty: bool,
    host: str,
    allow_remote: bool,
    claude_dirs: tuple[Path, ...],
) -> int:
    """Read, search and watch sessions in the browser.

    The server runs on this machine only and lets in nobody without the key in the address that it
    opens, which works once. It ends with Ctrl+C.

    \b
      recollect serve
      recollect serve --port 8765 --print-url    # for ssh -L 8765:127.0.0.1:8765
      recollect serve --demo
    """
    from recollect.web.server import check_host, serve  # noqa: PLC0415 - a framework
    from recollect.web.settings import Settings  # noqa: PLC0415

    if demo and claude_dirs:
        raise UsageError("Give --claude-dir or --demo: each says what to show.")
    check_host(host, allow_remote=allow_remote)
    roots = () if demo else _find_roots(claude_dirs)
    is_demo = demo or (demo_if_empty and not _has_sessions(roots))
    _set_up_log()
    with _choose_data(is_demo=is_demo) as data_directory:
        settings = Settings(
            roots=(CLAUDE_DIRECTORY,) if is_demo else roots,
            data_directory=data_directory,
            now=read_clock,
            host=host,
            port=port,
            is_demo=is_demo,
            shows_errors=bool(os.environ.get(DEBUG_VARIABLE)),
        )
        serve(settings, lambda running: _announce(running, print_url=print_url, opens=not no_open))
    return 0


def _find_roots(claude_dirs: tuple[Path, ...]) -> tuple[Path, ...]:
    """The Claude directories; none is no error here, since the page says what to do."""
    try:
        return resolve_roots(claude_dirs)
    except NothingFound:
        if claude_dirs:
            raise
        return ()


def _has_sessions(roots: tuple[Path, ...]) -> bool:
    from recollect.sync.level import find_transcripts  # noqa: PLC0415 - hardly ever

    return bool(find_transcripts(roots))


@contextlib.contextmanager
def _choose_data(*, is_demo: bool) -> Iterator[Path]:
    """Our own directory; for made-up sessions one that is thrown away."""
    if not is_demo:
        yield find_data_directory()
        return
    with tempfile.TemporaryDirectory(prefix="recollect-demo-") as name:
        yield Path(name)


def _set_up_log() -> None:
    """Show where a bug is only to those who ask for it: a log may hold somebody's words."""
    level = logging.DEBUG if os.environ.get(DEBUG_VARIABLE) else logging.CRITICAL
    logging.getLogger("recollect.web").setLevel(level)
    if level == logging.DEBUG:
        logging.basicConfig()


def _announce(running: "Running", *, print_url: bool, opens: bool) -> None:
    if print_url:
        click.echo(running.launch_address)
    else:
        click.echo(f"Recollect is at {running.address} - end it with Ctrl+C.", err=True)
    if opens and not print_url and not webbrowser.open(running.launch_address):
        click.echo(f"No browser could be opened. Open this once: {running.launch_address}")
