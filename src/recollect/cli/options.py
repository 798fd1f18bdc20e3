"""Options that several commands share, so that they mean the same everywhere."""

from pathlib import Path

import click

claude_dir_option = click.option(
    "--claude-dir",
    "claude_dirs",
    multiple=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Read this Claude directory instead of the default ones. May be repeated.",
)

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON of a documented, versioned shape."
)
