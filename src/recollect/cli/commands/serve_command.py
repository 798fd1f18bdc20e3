"""`recollect serve`: the web app, for one user on this machine."""

import contextlib
import logging
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.archive import find_archive_directory
from recollect.archive.deleted_sessions import use_archive
from recollect.cli import clock, command_workspace, exit_codes, options
from recollect.cli.browser import open_browser
from recollect.demo import CLAUDE_DIRECTORY
from recollect.errors import NothingFound, UsageError
from recollect.locations import resolve_roots
from recollect.render.terminal import safe_text
from recollect.store.data_directory import find_data_directory

if TYPE_CHECKING:
    from recollect.web.server import Running


MAX_PORT = 65535


@click.command("serve")
@click.option(
    "--port",
    metavar="PORT",
    type=click.IntRange(0, MAX_PORT),
    help="Port to listen on; 0 picks a free one. Default: the last port used (initially 8765), "
    "or the next free one.",
)
@click.option("--no-open", is_flag=True, help="Don't open a browser.")
@click.option(
    "--print-url",
    is_flag=True,
    help="Print the one-time sign-in URL, for example for an SSH tunnel.",
)
@click.option("--demo", is_flag=True, help="Use the sample sessions that come with Recollect.")
@click.option(
    "--demo-if-empty", is_flag=True, help="Use the sample sessions if you have none of your own."
)
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on.",
)
@click.option("--allow-remote", is_flag=True, help="Allow a --host that other machines can reach.")
@click.option(
    "--allow-run",
    is_flag=True,
    help="Let the web app run your `claude`. Not with a --host that other machines can reach.",
)
@options.claude_dir_option
def serve_command(  # noqa: PLR0913 - one parameter per option
    *,
    port: int | None,
    no_open: bool,
    print_url: bool,
    demo: bool,
    demo_if_empty: bool,
    host: str,
    allow_remote: bool,
    allow_run: bool,
    claude_dirs: tuple[Path, ...],
) -> int:
    """Browse, search and follow sessions in the browser.

    The server listens on this machine only and opens a one-time sign-in URL in your browser; no
    one else has access. Press Ctrl+C to stop it.

    \b
      recollect serve
      recollect serve --print-url    # for ssh -L 8765:127.0.0.1:8765
      recollect serve --allow-run    # chat with Claude Code in the browser
      recollect serve --demo
    """
    from recollect.web.server import check_host, serve  # slow to import
    from recollect.web.settings import Settings
    from recollect.workspace.config_file import load_policy

    if demo and claude_dirs:
        raise UsageError("Use only one of --claude-dir and --demo.")
    check_host(host, allow_remote=allow_remote, allow_run=allow_run)
    roots = () if demo else _find_roots(claude_dirs)
    is_demo = demo or (demo_if_empty and not _has_sessions(roots))
    _set_up_log()
    with _choose_data(is_demo=is_demo) as data_directory:
        settings = Settings(
            roots=(CLAUDE_DIRECTORY,) if is_demo else roots,
            data_directory=data_directory,
            now=clock.read_clock,
            host=host,
            port=port,
            is_demo=is_demo,
            allow_run=allow_run,
            redaction=load_policy,
            shows_errors=bool(os.environ.get(exit_codes.DEBUG_VARIABLE)),
        )
        serve(settings, lambda running: _announce(running, print_url=print_url, opens=not no_open))
    return 0


def _find_roots(claude_dirs: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the Claude directories; none is not an error, because the page explains it."""
    try:
        roots = resolve_roots(claude_dirs)
    except NothingFound:
        if claude_dirs:
            raise
        return ()
    directory = find_archive_directory()
    if failure := use_archive(
        roots, directory, command_workspace.use_configured_keys, is_server=True
    ):
        click.echo(f"recollect: {safe_text(failure)}", err=True)
    return roots


def _has_sessions(roots: tuple[Path, ...]) -> bool:
    from recollect.sync import find_transcripts  # rarely needed

    return bool(find_transcripts(roots))


@contextlib.contextmanager
def _choose_data(*, is_demo: bool) -> Iterator[Path]:
    """Yield the data directory, or a temporary one for sample sessions."""
    if not is_demo:
        yield find_data_directory()
        return
    with tempfile.TemporaryDirectory(prefix="recollect-demo-") as name:
        yield Path(name)


def _set_up_log() -> None:
    """Log errors only if RECOLLECT_DEBUG is set: a log may contain private data."""
    level = logging.DEBUG if os.environ.get(exit_codes.DEBUG_VARIABLE) else logging.CRITICAL
    logging.getLogger("recollect.web").setLevel(level)
    if level == logging.DEBUG:
        logging.basicConfig()


def _announce(running: "Running", *, print_url: bool, opens: bool) -> None:
    if running.taken is not None:
        click.echo(
            f"recollect: Port {running.taken} is in use, so earlier links will not work.",
            err=True,
        )
    if print_url:
        click.echo(running.launch_url)
    else:
        click.echo(f"Serving on {running.url} (press Ctrl+C to stop)", err=True)
    if opens and not print_url:
        open_browser(running.launch_url)
