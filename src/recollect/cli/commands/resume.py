"""`recollect resume`: resume a session in Claude Code."""

from collections.abc import Sequence
from pathlib import Path

import click

from recollect.cli.command_workspace import command_workspace
from recollect.cli.commands.run import PassthroughCommand, get_client_arguments
from recollect.cli.options import claude_dir_option, json_option, session_argument
from recollect.documents.command_reports import ResumeDocument
from recollect.documents.session_listing import LiveProcess
from recollect.errors import NothingFound
from recollect.launch.resuming import Resumption, check_resume, check_shown, resume
from recollect.render.terminal import safe_text
from recollect.workspace.session_questions import plan_earlier


@click.command("resume", cls=PassthroughCommand)
@session_argument()
@click.option("--fork", is_flag=True, help="Continue in a copy and leave the session unchanged.")
@click.option(
    "--at",
    type=click.IntRange(min=1),
    metavar="TURN",
    help="Continue after this turn, in a copy without the later ones.",
)
@click.option(
    "--print", "only_print", is_flag=True, help="Print the command instead of running it."
)
@claude_dir_option
@json_option
def command(
    session: str,
    *,
    fork: bool,
    at: int | None,
    only_print: bool,
    claude_dirs: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Resume a session in Claude Code.

    Changes to the directory of SESSION and starts your `claude --resume` there. SESSION is given as
    for `recollect show`. With --json the command is printed, not run. Everything after `--` is
    passed to claude unchanged.

    --at copies the session up to that turn and resumes the copy; the session itself stays as it is.
    Your files are not changed. To get them as they were after turn 2, run `recollect restore
    SESSION --checkpoint 3`; the last turn has no such checkpoint.

    \b
      recollect resume latest
      recollect resume "flaky tide" --fork
      recollect resume latest --at 3
      recollect resume 8facb961 --print
      recollect resume -2 -- --model opus

    Exits with 3 if the transcript or the directory no longer exists, or `claude` is not found.
    """
    with command_workspace(claude_dirs) as workspace:
        if at is None:
            plan = workspace.plan_resume(session, fork=fork, extra_arguments=get_client_arguments())
            process = workspace.find_process(session)
        else:
            plan = plan_earlier(workspace, session, at, get_client_arguments())
            process = None
    if as_json:
        from recollect.cli.json_output import format_document  # only for JSON

        click.echo(format_document(_describe(plan)))
    elif only_print:
        check_shown(plan)
        click.echo(plan.shell_command)
    else:
        check_resume(plan)
        _warn_if_open(process, plan.session_id)
        resume(plan)
    return 0


def plan_named(session: str, claude_dirs: Sequence[Path]) -> Resumption:
    """Plan how to resume the session that `session` names."""
    with command_workspace(claude_dirs) as workspace:
        return workspace.plan_resume(session)


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


def _warn_if_open(process: LiveProcess | None, session_id: str) -> None:
    if process is not None:
        name = safe_text(process.name or session_id, single_line=True)
        click.echo(
            f"recollect: {name} is already open in process {process.pid}. Both will write to the "
            "same transcript.",
            err=True,
        )
