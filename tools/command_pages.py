"""Extract the documentation of commands from click: usage, description, examples, options."""

import inspect
import re
from collections.abc import Iterator
from typing import NamedTuple

import click

from recollect.cli import exit_codes
from recollect.cli.program import program

VERBATIM = "\b"
"""Marks a paragraph that click does not wrap; all of ours are examples."""


class Page(NamedTuple):
    """The documentation of one command."""

    words: tuple[str, ...]
    usage: str
    summary: str
    paragraphs: list[str]
    examples: list[str]
    options: list[tuple[str, str]]
    commands: list[tuple[str, str]]
    """Names and summaries of its subcommands."""

    @property
    def name(self) -> str:
        """The full name, such as `recollect config show`."""
        return " ".join(self.words)

    @property
    def flags(self) -> set[str]:
        """The names of its options."""
        return {word for row, _ in self.options for word in re.findall(r"-[-\w]+", row)}


def list_pages() -> list[Page]:
    """Return the pages of the program and its commands, in order."""
    settings = {"help_option_names": program.context_settings["help_option_names"]}
    return list(_iter_pages(program, click.Context(program, info_name="recollect", **settings)))


def list_exit_codes() -> list[tuple[str, str]]:
    """Return the exit codes and their meanings from the docstring of `recollect.cli.exit_codes`."""
    rows = re.findall(r"^\| ([\d, ]+) \| (.+) \|$", exit_codes.__doc__ or "", flags=re.MULTILINE)
    return [(str(code), str(meaning)) for code, meaning in rows]


def _iter_pages(command: click.Command, context: click.Context) -> Iterator[Page]:
    children = _list_children(command, context)
    yield _describe(command, context, children)
    for name, child in children:
        yield from _iter_pages(child, click.Context(child, info_name=name, parent=context))


def _list_children(
    command: click.Command, context: click.Context
) -> list[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        return []
    found = [(name, command.get_command(context, name)) for name in command.list_commands(context)]
    return [(name, child) for name, child in found if child is not None and not child.hidden]


def _describe(
    command: click.Command, context: click.Context, children: list[tuple[str, click.Command]]
) -> Page:
    blocks = inspect.cleandoc(command.help or "").split("\n\n")
    texts = [" ".join(block.split()) for block in blocks if not block.startswith(VERBATIM)]
    examples = [_read_example(block) for block in blocks if block.startswith(VERBATIM)]
    records = [
        param.get_help_record(context)
        for param in command.get_params(context)
        if isinstance(param, click.Option)
    ]
    return Page(
        words=tuple(context.command_path.split()),
        usage=" ".join([context.command_path, *command.collect_usage_pieces(context)]),
        summary=texts[0].rstrip("."),
        paragraphs=texts[1:],
        examples=examples,
        options=[record for record in records if record],
        commands=[(name, (child.help or "").splitlines()[0]) for name, child in children],
    )


def _read_example(block: str) -> str:
    return inspect.cleandoc(block.removeprefix(VERBATIM))
