"""Commands for one session: `recollect star` and `recollect note`; `recollect resume`, which
resumes it in Claude Code; and `recollect open`, which prints its link to the web app.
"""

from collections.abc import Sequence
from pathlib import Path

import click

from recollect.cli.browser import open_browser
from recollect.cli.command_workspace import command_workspace
from recollect.cli.commands.run_commands import PassthroughCommand, get_client_arguments
from recollect.cli.options import SessionName, claude_dir_option, json_option, session_argument
from recollect.documents.command_reports import OpenDocument, ResumeDocument
from recollect.documents.session_listing import LiveProcess
from recollect.errors import NothingFound, UsageError
from recollect.launch.client_commands import Resumption, check_resume, format_command, resume
from recollect.launch.web_link import find_server, make_link, make_sign_in_link
from recollect.locations.place_names import make_path
from recollect.render.terminal import safe_line, safe_text
from recollect.workspace.session_queries import plan_resume_at


@click.command("star")
@click.argument("names", nargs=-1, required=True, type=SessionName(), metavar="SESSION...")
@click.option("--remove", is_flag=True, help="Remove the star.")
@claude_dir_option
def star_command(names: tuple[str, ...], *, remove: bool, claude_dirs: tuple[Path, ...]) -> int:
    """Star sessions to find them again.

    See `recollect show` for how to specify SESSION. Stars are stored in Recollect's own data
    directory, never in the Claude directory; `recollect list --starred` lists them.

    \b
      recollect star latest
      recollect star 8facb961 --remove

    Exits with 3 if there is no such session.
    """
    with command_workspace(claude_dirs) as workspace:
        for name in names:
            workspace.mark(name, starred=not remove)
    return 0


@click.command("note")
@click.argument("name", type=SessionName(), metavar="SESSION")
@click.argument("text", required=False)
@click.option("--remove", is_flag=True, help="Remove the note.")
@claude_dir_option
def note_command(
    name: str, text: str | None, *, remove: bool, claude_dirs: tuple[Path, ...]
) -> int:
    """Show or set your note on a session.

    See `recollect show` for how to specify SESSION. Notes are private: they are stored in
    Recollect's own data directory, never in the Claude directory, and are never exported.

    \b
      recollect note latest "the approach that worked"
      recollect note latest
      recollect note latest --remove

    Exits with 3 if there is no such session.
    """
    if remove and text is not None:
        raise UsageError("Use either TEXT or --remove.")
    with command_workspace(claude_dirs) as workspace:
        mark = workspace.mark(name, note="" if remove else text)
    if text is None and not remove and mark.note:
        click.echo(safe_text(mark.note))
    return 0


@click.command("open")
@click.argument("target", type=SessionName(), metavar="[PLACE]", required=False)
@click.option("--browser", is_flag=True, help="Also open it in your browser, signed in.")
@claude_dir_option
@json_option
def open_command(
    target: str | None, *, browser: bool, claude_dirs: tuple[Path, ...], as_json: bool
) -> int:
    """Print the web app's link to a session.

    PLACE is a session, specified as for `recollect show`, or a place in one: SESSION#UUID or
    SESSION:TURN. Without it, prints the link to the app itself. Links are permanent: they contain
    the id of the session.

    \b
      recollect open latest
      recollect open 8facb961:3 --browser

    Exits with 3 if there is no such session or the web app is not running.
    """
    with command_workspace(claude_dirs) as workspace:
        found = workspace.find_place(target) if target else None
        server = find_server(workspace.data_directory)
    session_id = found.transcript.name if found else None
    record = found.place.record if found else None
    path = make_path(session_id, found.place.anchor) if found and session_id else "/"
    link = make_link(server, path) if server else None
    if as_json:
        from recollect.cli.json_output import format_document  # only for JSON

        document = OpenDocument(session_id=session_id, record=record, path=path, link=link)
        click.echo(format_document(document))
    elif link is not None:
        click.echo(link)
    if link is None:
        place = "" if path == "/" else f", then open {path} there"
        raise NothingFound(f"The web app is not running. Start it with `recollect serve`{place}.")
    if browser and server:
        open_browser(make_sign_in_link(server, path))
    return 0


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
def resume_command(
    session: str,
    *,
    fork: bool,
    at: int | None,
    only_print: bool,
    claude_dirs: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Resume a session in Claude Code.

    Changes to the directory of SESSION and runs your `claude --resume` there. See `recollect show`
    for how to specify SESSION. With --json the command is printed, not run. Everything after `--`
    is passed to claude unchanged.

    --at copies the session up to that turn and resumes the copy; neither the session nor your
    files are changed. The copy is in the Claude directory, and is written with --print and --json
    too. To restore files to their state after turn 2, run `recollect restore SESSION
    --checkpoint 3`; there is no checkpoint after the last turn.

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
            plan = plan_resume_at(workspace, session, at, get_client_arguments())
            process = None
    if as_json:
        from recollect.cli.json_output import format_document  # only for JSON

        click.echo(format_document(_describe(plan)))
    elif only_print:
        click.echo(format_command(plan))
    else:
        check_resume(plan)
        _warn_if_open(process, plan.session_id)
        resume(plan)
    return 0


def plan_named(session: str, claude_dirs: Sequence[Path]) -> Resumption:
    """Return the plan for resuming a session."""
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
        name = safe_line(process.name or session_id)
        click.echo(
            f"recollect: {name} is already open in process {process.pid}. Both will write to the "
            "same transcript.",
            err=True,
        )
