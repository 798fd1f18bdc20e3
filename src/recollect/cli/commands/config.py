"""`recollect config`: which defaults apply, and where each of them comes from."""

from collections.abc import Iterator
from pathlib import Path

import click
from msgspec import Struct

from recollect.cli.config.file import find_path
from recollect.cli.config.values import Effective, Origin, find_effective
from recollect.cli.documents import format_document
from recollect.cli.options import claude_dir_option, json_option
from recollect.cli.tables import count_columns, iter_table, wrap
from recollect.health.sources import describe_place

SCHEMA = "recollect.config/1"
_BUILT_IN = "built in"


class ConfigDocument(Struct, frozen=True, kw_only=True):
    """What `config show --json` prints."""

    schema: str = SCHEMA
    path: str
    exists: bool
    settings: list[Effective]


@click.group("config", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> int:
    """Show the defaults that apply, and where each comes from.

    Defaults stand in a file of your own, `config.toml`, which need not exist. Options win over the
    environment, the environment over the file. Without a command it shows them.

    \b
      recollect config show
      recollect config show --json
    """
    if ctx.invoked_subcommand is not None:
        return 0
    code = ctx.invoke(show, timezone=None, prices=None, claude_dirs=(), as_json=False)
    return code if isinstance(code, int) else 0


@command.command("show")
@click.option("--timezone", metavar="NAME", help="Show what applies together with this option.")
@click.option("--prices", metavar="FILE", help="Show what applies together with this option.")
@claude_dir_option
@json_option
def show(
    *, timezone: str | None, prices: str | None, claude_dirs: tuple[Path, ...], as_json: bool
) -> int:
    """Show every setting with its value and its origin.

    The options are those of other commands: given here, they show what they would change. Exits
    with 2 if the file cannot be followed, and says in which line.

    \b
      recollect config show
      recollect config show --timezone UTC
    """
    options = {"roots": tuple(map(str, claude_dirs)), "timezone": timezone, "prices": prices}
    path = find_path()
    document = ConfigDocument(
        path=str(path), exists=path.is_file(), settings=find_effective(options)
    )
    text = format_document(document) if as_json else "\n".join(_iter_text(document))
    click.echo(text)
    return 0


def _iter_text(document: ConfigDocument) -> Iterator[str]:
    columns = count_columns()
    state = "" if document.exists else " (there is none yet)"
    yield from wrap(f"File: {describe_place(Path(document.path))}{state}", columns, "")
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
        case bool():
            return ["yes" if setting.value else "no"]
        case str():
            return [describe_place(Path(setting.value))]
    return [describe_place(Path(value)) for value in setting.value]


def _name_origin(setting: Effective) -> str:
    if setting.origin is Origin.DEFAULT:
        return _BUILT_IN
    return f"{setting.origin.value}: {setting.place}"
