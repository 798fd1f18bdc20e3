"""`recollect config`: the effective settings and their origin."""

from collections.abc import Iterator
from pathlib import Path

import click

from recollect.cli.config_file import find_path
from recollect.cli.effective_settings import find_effective
from recollect.cli.json_output import format_document
from recollect.cli.options import claude_dir_option, json_option
from recollect.cli.tables import count_columns, iter_table, wrap
from recollect.documents.command_reports import ConfigDocument, Effective, SettingOrigin
from recollect.health.survey import display_path

_BUILT_IN = "default"


@click.group("config", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> int:
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


@command.command("show")
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
    path = find_path()
    document = ConfigDocument(
        path=str(path), exists=path.is_file(), settings=tuple(find_effective(options))
    )
    text = format_document(document) if as_json else "\n".join(_iter_text(document))
    click.echo(text)
    return 0


def _iter_text(document: ConfigDocument) -> Iterator[str]:
    columns = count_columns()
    state = "" if document.exists else " (does not exist)"
    yield from wrap(f"File: {display_path(Path(document.path))}{state}", columns, "")
    yield ""
    rows = [
        (each.name, _name_origin(each), value) if number == 0 else ("", "", value)
        for each in document.settings
        for number, value in enumerate(_list_values(each))
    ]
    yield from iter_table([("Setting", "Origin", "Value"), *rows], "<<<", columns, "")


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
