"""`recollect completion`: a script for the shell, and the sessions that it offers.

Whatever goes wrong while a line is typed stays silent: nobody has asked for anything yet. What is
offered is what the index knows, because a shell waits for it at every key.
"""

import os
from pathlib import Path
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
from recollect.cli.session_labels import label_title
from recollect.errors import RecollectError, UsageError
from recollect.locations import resolve_roots
from recollect.locations.names import PROJECTS_DIRECTORY
from recollect.locations.references import LATEST
from recollect.render.terminal import safe_text, shorten
from recollect.store.listings import Listing
from recollect.store.place import find_data_directory
from recollect.sync.listings import list_known

MOST_OFFERED: Final = 50
_TITLE_WIDTH: Final = 60

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
    """Completion in PowerShell, which click does not know."""

    name = "powershell"
    source_template = _POWERSHELL

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words of the line, and the one that is being typed."""
        words = split_arg_string(os.environ.get("COMP_WORDS", ""))[1:]
        incomplete = os.environ.get("COMP_CWORD", "")
        if incomplete and words and words[-1] == incomplete:
            words.pop()
        return words, incomplete

    def format_completion(self, item: CompletionItem) -> str:
        """One line: the value, and what there is to say about it."""
        return f"{item.value}\t{item.help}" if item.help else str(item.value)


def answer(program: click.Command, instruction: str) -> int:
    """Print what a script asked for, and return the exit code."""
    return shell_complete(program, {}, "recollect", COMPLETION_VARIABLE, instruction)


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish", "powershell"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print a script that completes commands and sessions.

    \b
      bash        eval "$(recollect completion bash)"                 in ~/.bashrc
      zsh         eval "$(recollect completion zsh)"                  in ~/.zshrc
      fish        recollect completion fish | source                  in config.fish
      powershell  recollect completion powershell | Out-String | Invoke-Expression

    Sessions are offered by id, with their titles, as the last list showed them.
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise UsageError(f"There is no completion for {shell}.")
    click.echo(kind(ctx.find_root().command, {}, "recollect", COMPLETION_VARIABLE).source())


def complete_session(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Ids that begin with what was typed, or whose titles hold it, the newest first."""
    try:
        roots = resolve_roots(ctx.params.get("claude_dirs") or ())
        known = list_known(find_data_directory())
    except (RecollectError, OSError):
        return []
    places = [root / PROJECTS_DIRECTORY for root in roots]
    fitting = (each for each in known if _is_plain(each) and _fits(each, incomplete))
    offered = [CompletionItem(LATEST)] if LATEST.startswith(incomplete) else []
    for each in fitting:
        path = Path(each.path)
        if any(path.is_relative_to(place) for place in places) and path.exists():
            offered.append(CompletionItem(each.id, help=_describe(each)))
        if len(offered) >= MOST_OFFERED:
            break
    return offered


def _is_plain(listing: Listing) -> bool:
    """Whether its id can be typed; a shell would show any other as it is, and obey it."""
    return not listing.is_subagent and safe_text(listing.id, single_line=True) == listing.id


def _fits(listing: Listing, typed: str) -> bool:
    return listing.id.startswith(typed) or typed.casefold() in (listing.title or "").casefold()


def _describe(listing: Listing) -> str:
    return shorten(label_title(listing.title, listing.first_prompt), _TITLE_WIDTH)
