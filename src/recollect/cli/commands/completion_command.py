"""`recollect completion`: shell completion scripts, and the completion of session ids.

Errors while completing are silent, since the user has not run anything yet. Sessions come from the
index without updating it, because the shell waits for the result.
"""

import os
import re
from typing import Final

import click
from click.shell_completion import (
    CompletionItem,
    ShellComplete,
    add_completion_class,
    get_completion_class,
    shell_complete,
    split_arg_string,
)

from recollect.cli import COMPLETION_VARIABLE
from recollect.cli.terminal_output import label_title
from recollect.documents.session_listing import SessionListing
from recollect.errors import RecollectError, UsageError
from recollect.locations.references import LATEST
from recollect.render.terminal import clip
from recollect.workspace.workspace import Workspace

MAX_OFFERED: Final = 50
_TITLE_WIDTH: Final = 60
_PLAIN_ID: Final = re.compile(r"[\w.-]+", re.ASCII)

_POWERSHELL: Final = """\
Register-ArgumentCompleter -Native -CommandName %(prog_name)s -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $env:COMP_WORDS = $commandAst.ToString()
    $env:COMP_CWORD = $wordToComplete
    $env:%(complete_var)s = "powershell_complete"
    try {
        %(prog_name)s | ForEach-Object {
            $value, $help = $_ -split "`t", 2
            [System.Management.Automation.CompletionResult]::new(
                $value, $value, "ParameterValue", $(if ($help) { $help } else { $value }))
        }
    } finally {
        Remove-Item Env:COMP_WORDS, Env:COMP_CWORD, Env:%(complete_var)s
    }
}
"""


@add_completion_class
class PowerShellComplete(ShellComplete):
    """Completion for PowerShell, which click does not support."""

    name = "powershell"
    source_template = _POWERSHELL

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words of the line and the incomplete one."""
        words = split_arg_string(os.environ.get("COMP_WORDS", ""))[1:]
        incomplete = os.environ.get("COMP_CWORD", "")
        if incomplete and words and words[-1] == incomplete:
            words.pop()
        return words, incomplete

    def format_completion(self, item: CompletionItem) -> str:
        """Return the value and its description on one line."""
        return f"{item.value}\t{item.help}" if item.help else str(item.value)


def run_completion(program: click.Command, instruction: str) -> int:
    """Run an instruction of a completion script and return the exit code."""
    return shell_complete(program, {}, "recollect", COMPLETION_VARIABLE, instruction)


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish", "powershell"]))
@click.pass_context
def completion_command(ctx: click.Context, shell: str) -> None:
    """Print a shell completion script.

    \b
      bash        eval "$(recollect completion bash)"                 in ~/.bashrc
      zsh         eval "$(recollect completion zsh)"                  in ~/.zshrc
      fish        recollect completion fish | source                  in config.fish
      powershell  recollect completion powershell | Out-String | Invoke-Expression

    Session ids are completed from the index, with their titles.
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise UsageError(f"Completion is not available for {shell}.")
    click.echo(kind(ctx.find_root().command, {}, "recollect", COMPLETION_VARIABLE).source())


def complete_session(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Return sessions whose id starts with, or whose title contains, `incomplete`."""
    try:
        known = Workspace(ctx.params.get("claude_dirs") or ()).list_cached(
            lambda each: _is_plain(each) and _matches(each, incomplete), MAX_OFFERED
        )
    except (RecollectError, OSError):
        return []
    offered = [CompletionItem(LATEST)] if LATEST.startswith(incomplete) else []
    offered += [CompletionItem(each.id, help=_describe(each)) for each in known]
    return offered[:MAX_OFFERED]


def _is_plain(listing: SessionListing) -> bool:
    """Return whether its id needs no quoting: shells insert completions as they are."""
    return not listing.is_subagent and _PLAIN_ID.fullmatch(listing.id) is not None


def _matches(listing: SessionListing, typed: str) -> bool:
    return listing.id.startswith(typed) or typed.casefold() in (listing.title or "").casefold()


def _describe(listing: SessionListing) -> str:
    return clip(label_title(listing.title, listing.first_prompt), _TITLE_WIDTH)
