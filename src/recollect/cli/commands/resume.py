"""`recollect resume`: resume a session in Claude Code."""

from collections.abc import Sequence
from pathlib import Path

import click

from recollect.cli.commands.run import PassthroughCommand, get_client_arguments
from recollect.cli.options import claude_dir_option, json_option, session_argument
from recollect.cli.session_names import find_named
from recollect.documents.command_reports import ResumeDocument
from recollect.errors import AmbiguousSession, NothingFound
from recollect.launch.resuming import Resumption, check_resume, check_shown, plan_resume, resume
from recollect.library.processes import find_live_processes
from recollect.locations import Transcript, find_root_of
from recollect.render.terminal import safe_text
from recollect.store.data_directory import find_data_directory
from recollect.sync import find_gone, list_current


@click.command("resume", cls=PassthroughCommand)
@session_argument()
@click.option("--fork", is_flag=True, help="Continue in a copy and leave the session unchanged.")
@click.option(
    "--print", "only_print", is_flag=True, help="Print the command instead of running it."
)
@claude_dir_option
@json_option
def command(
    session: str, *, fork: bool, only_print: bool, claude_dirs: tuple[Path, ...], as_json: bool
) -> int:
    """Resume a session in Claude Code.

    Changes to the directory of SESSION and starts your `claude --resume` there. SESSION is given as
    for `recollect show`. With --json the command is printed, not run. Everything after `--` is
    passed to claude unchanged.

    \b
      recollect resume latest
      recollect resume "flaky tide" --fork
      recollect resume 8facb961 --print
      recollect resume -2 -- --model opus

    Exits with 3 if the transcript or the directory no longer exists, or `claude` is not found.
    """
    transcript = _find(session, claude_dirs)
    plan = plan_resume(
        transcript, _find_cwd(transcript), fork=fork, extra_arguments=get_client_arguments()
    )
    if as_json:
        from recollect.cli.json_output import format_document  # only for JSON

        click.echo(format_document(_describe(plan)))
    elif only_print:
        check_shown(plan)
        click.echo(plan.shell_command)
    else:
        check_resume(plan)
        _warn_if_open(transcript, plan.session_id)
        resume(plan)
    return 0


def plan_named(session: str, claude_dirs: Sequence[Path]) -> Resumption:
    """Plan how to resume the session that `session` names."""
    transcript = _find(session, claude_dirs)
    return plan_resume(transcript, _find_cwd(transcript))


def _find(session: str, claude_dirs: Sequence[Path]) -> Transcript:
    try:
        return find_named(session, claude_dirs)
    except AmbiguousSession:
        raise
    except NothingFound as error:
        gone = find_gone(session, find_data_directory())
        if gone is None:
            raise
        raise NothingFound(
            f"Cannot resume {gone.id}: its transcript no longer exists: {gone.path}\n"
            "Claude Code deletes old transcripts; `recollect doctor` shows which are next."
        ) from error


def _find_cwd(transcript: Transcript) -> str | None:
    listings = list_current(find_data_directory(), [transcript])
    return listings[0].cwd if listings else None


def _describe(plan: Resumption) -> ResumeDocument:
    try:
        check_resume(plan)
        problem = None
    except NothingFound as error:
        problem = str(error)
    return ResumeDocument(
        session_id=plan.session_id,
        directory=plan.directory,
        arguments=plan.arguments,
        environment=plan.environment,
        shell_command=plan.shell_command,
        problem=problem,
    )


def _warn_if_open(transcript: Transcript, session_id: str) -> None:
    root = find_root_of(transcript)
    process = find_live_processes(root).get(session_id) if root else None
    if process is not None:
        name = safe_text(process.name or session_id, single_line=True)
        click.echo(
            f"recollect: {name} is already open in process {process.pid}. Both will write to the "
            "same transcript.",
            err=True,
        )
