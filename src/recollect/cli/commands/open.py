"""`recollect open`: a session's link in the web app."""

from pathlib import Path

import click

from recollect.cli.command_workspace import command_workspace
from recollect.cli.options import SessionName, claude_dir_option, json_option
from recollect.documents.command_reports import OpenDocument
from recollect.errors import NothingFound
from recollect.launch.web_link import find_server, make_link, make_sign_in_link
from recollect.locations.place_names import make_path
from recollect.locations.transcript_files import name_of


@click.command("open")
@click.argument("target", type=SessionName(), metavar="[PLACE]", required=False)
@click.option("--browser", is_flag=True, help="Also open it in your browser, signed in.")
@claude_dir_option
@json_option
def command(
    target: str | None, *, browser: bool, claude_dirs: tuple[Path, ...], as_json: bool
) -> int:
    """Print a session's link in the web app.

    PLACE is a session, named as for `recollect show`, or a place in one: SESSION#UUID or
    SESSION:TURN; without it, the link is that of the app. Links are permanent: they contain the id
    of the session.

    \b
      recollect open latest
      recollect open 8facb961:3 --browser

    Exits with 3 if there is no such session or the web app is not running.
    """
    with command_workspace(claude_dirs) as workspace:
        found = workspace.find_place(target) if target else None
        server = find_server(workspace.data_directory)
    session_id = name_of(found.transcript) if found else None
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
        raise NothingFound(
            f"The web app is not running. Start it with `recollect serve`; its path is {path}."
        )
    if browser and server:
        click.launch(make_sign_in_link(server, path))
    return 0
