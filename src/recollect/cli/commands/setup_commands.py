"""`recollect config`: the effective settings and their origin; and `recollect demo`: any command on
sample sessions in a temporary directory.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from recollect.cli import clock, effective_settings, json_output, terminal_output
from recollect.cli.options import claude_dir_option, json_option
from recollect.demo import CLAUDE_DIRECTORY
from recollect.documents.command_reports import ConfigDocument, Effective, SettingOrigin
from recollect.library.listings import iter_sessions
from recollect.locations.claude_directories import CONFIG_VARIABLE
from recollect.render.terminal import display_path
from recollect.store.data_directory import VARIABLE
from recollect.workspace import config_file

NOW = "2026-11-13T12:00:00Z"
"""The day after the last sample session, so that "today" and "7d" have results."""


@click.command(
    "demo",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[COMMAND] [ARGUMENTS]...")
@click.pass_context
def demo_command(ctx: click.Context, arguments: tuple[str, ...]) -> int:
    """Try any command on sample sessions.

    Runs COMMAND (default: list) on a copy of the sample sessions that come with Recollect. Your own
    sessions are neither read nor changed, and nothing is left behind. The clock is set to the day
    after the last sample session.

    \b
      recollect demo
      recollect demo show latest
      recollect demo usage --breakdown
      recollect demo search harbour
    """
    program = ctx.find_root().command
    with tempfile.TemporaryDirectory(prefix="recollect-demo-") as folder:
        os.environ[CONFIG_VARIABLE] = str(copy_demo(Path(folder) / "claude"))
        os.environ[VARIABLE] = str(Path(folder) / "data")
        os.environ.setdefault(clock.NOW_VARIABLE, NOW)
        with program.make_context("recollect demo", list(arguments or ("list",))) as inner:
            code = program.invoke(inner)
    return code if isinstance(code, int) else 0


def copy_demo(target: Path) -> Path:
    """Copy the sample sessions to `target`, with modification times that match their records."""
    shutil.copytree(CLAUDE_DIRECTORY, target)
    for listing in iter_sessions(include_subagents=True, root=target):
        os.utime(listing.path, (listing.activity, listing.activity))
    return target


_BUILT_IN = "default"


@click.group("config", invoke_without_command=True)
@click.pass_context
def config_command(ctx: click.Context) -> int:
    """Show the effective settings and where they come from.

    Settings are read from `config.toml`, which is optional. Options override the environment, and
    the environment overrides the file. Without a subcommand, runs `config show`.

    \b
      recollect config show
      recollect config show --json
    """
    if ctx.invoked_subcommand is not None:
        return 0
    code = ctx.invoke(show, timezone=None, prices=None, claude_dirs=(), as_json=False)
    return code if isinstance(code, int) else 0


@config_command.command("show")
@click.option("--timezone", metavar="NAME", help="Show the settings with this option applied.")
@click.option("--prices", metavar="FILE", help="Show the settings with this option applied.")
@claude_dir_option
@json_option
def show(
    *, timezone: str | None, prices: str | None, claude_dirs: tuple[Path, ...], as_json: bool
) -> int:
    """Show each setting, its value and its origin.

    The options are those of other commands; pass them to see their effect. Exits with 2 and names
    the line if the file is invalid.

    \b
      recollect config show
      recollect config show --timezone UTC
    """
    options = {"roots": tuple(map(str, claude_dirs)), "timezone": timezone, "prices": prices}
    path = config_file.find_path()
    document = ConfigDocument(
        path=str(path),
        exists=path.is_file(),
        settings=tuple(effective_settings.find_effective(options)),
    )
    text = json_output.format_document(document) if as_json else "\n".join(_iter_text(document))
    click.echo(text)
    return 0


def _iter_text(document: ConfigDocument) -> Iterator[str]:
    columns = terminal_output.count_columns()
    state = "" if document.exists else " (does not exist)"
    yield from terminal_output.wrap(
        f"File: {display_path(Path(document.path))}{state}", columns, ""
    )
    yield ""
    rows = [
        (each.name, _name_origin(each), value) if number == 0 else ("", "", value)
        for each in document.settings
        for number, value in enumerate(_list_values(each))
    ]
    yield from terminal_output.iter_table(
        [("Setting", "Origin", "Value"), *rows], "<<<", columns, ""
    )


def _list_values(setting: Effective) -> list[str]:
    match setting.value:
        case None | ():
            return ["(none)"]
        case str():
            return [display_path(Path(setting.value))]
    if setting.name.startswith("redact."):
        return list(setting.value)
    return [display_path(Path(value)) for value in setting.value]


def _name_origin(setting: Effective) -> str:
    if setting.origin is SettingOrigin.DEFAULT:
        return _BUILT_IN
    return f"{setting.origin.value}: {setting.place}"
