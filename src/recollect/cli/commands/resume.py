"""`recollect resume`: take a session up again in Claude Code."""

from collections.abc import Sequence
from pathlib import Path

import click
from msgspec import Struct

from recollect.cli.naming import find_named
from recollect.cli.options import claude_dir_option, json_option, session_argument
from recollect.cli.run.words import PassingCommand, list_passed_on
from recollect.errors import AmbiguousSession, NothingFound
from recollect.launch.resume import Resumption, check_resume, check_shown, plan_resume, resume
from recollect.library.processes import find_live_processes
from recollect.locations import Transcript, find_root_of
from recollect.render.terminal import safe_text
from recollect.store.place import find_data_directory
from recollect.sync.listings import list_level
from recollect.sync.naming import find_gone

SCHEMA = "recollect.resume/1"


class ResumeDocument(Struct, frozen=True, kw_only=True):
    """What `--json` prints: the command, and why it would not work if it would not."""

    schema: str = SCHEMA
    session_id: str
    directory: str
    arguments: tuple[str, ...]
    environment: dict[str, str]
    shell_command: str
    problem: str | None = None


@click.command("resume", cls=PassingCommand)
@session_argument()
@click.option("--fork", is_flag=True, help="Go on in a copy, and leave the session as it is.")
@click.option("--print", "only_print", is_flag=True, help="Print the command and run nothing.")
@claude_dir_option
@json_option
def command(
    session: str, *, fork: bool, only_print: bool, claude_dirs: tuple[Path, ...], as_json: bool
) -> int:
    """Take a session up again in Claude Code.

    Goes to the directory in which SESSION was held and starts your own `claude --resume` there.
    SESSION is an id or its first characters, words of a title, a path, `latest`, or -1, -2 and so
    on for the newest, the one before it. With --json the command is printed and nothing is run.
    What stands behind `--` is passed on to `claude` as it is.

    \b
      recollect resume latest
      recollect resume "flaky tide" --fork
      recollect resume 8facb961 --print
      recollect resume -2 -- --model opus

    Exits with 3, and says why, if the transcript or the directory is gone or `claude` is not found.
    """
    transcript = _find(session, claude_dirs)
    plan = plan_resume(transcript, _find_cwd(transcript), fork=fork, passed_on=list_passed_on())
    if as_json:
        from recollect.cli.documents import format_document  # noqa: PLC0415 - not for people

        click.echo(format_document(_describe(plan)))
    elif only_print:
        check_shown(plan)
        click.echo(plan.shell_command)
    else:
        check_resume(plan)
        _warn_of_others(transcript, plan.session_id)
        resume(plan)
    return 0


def plan_named(session: str, claude_dirs: Sequence[Path]) -> Resumption:
    """How to go on with the session that `session` names."""
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
            f"The transcript of {gone.id} is gone, and with it what Claude Code could resume: "
            f"{gone.path}\nClaude Code deletes transcripts after a time; `recollect doctor` tells "
            "which are next."
        ) from error


def _find_cwd(transcript: Transcript) -> str | None:
    listings = list_level(find_data_directory(), [transcript])
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


def _warn_of_others(transcript: Transcript, session_id: str) -> None:
    root = find_root_of(transcript)
    process = find_live_processes(root).get(session_id) if root else None
    if process is not None:
        name = safe_text(process.name or session_id, single_line=True)
        click.echo(
            f"recollect: {name} is open already, in process {process.pid}. What both write is "
            "mixed in one transcript.",
            err=True,
        )
