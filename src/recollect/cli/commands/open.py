"""`recollect open`: the link of a session in the web app."""

from pathlib import Path

import click
from msgspec import Struct

from recollect.cli.naming import find_named
from recollect.cli.options import SessionName, claude_dir_option, json_option
from recollect.errors import NothingFound
from recollect.launch.web_link import find_server, make_link, make_path, split_target
from recollect.locations.transcript_files import name_of
from recollect.store.place import find_data_directory

SCHEMA = "recollect.open/1"


class OpenDocument(Struct, frozen=True, kw_only=True):
    """What `--json` prints; without a web app that runs there is a path and no link."""

    schema: str = SCHEMA
    session_id: str
    record: str | None
    path: str
    link: str | None


@click.command("open")
@click.argument("target", type=SessionName(), metavar="SESSION[#UUID]")
@click.option("--browser", is_flag=True, help="Open the link in your browser, too.")
@claude_dir_option
@json_option
def command(target: str, *, browser: bool, claude_dirs: tuple[Path, ...], as_json: bool) -> int:
    """Print the link of a session in the web app.

    SESSION is an id or its first characters, words of a title, a path, `latest`, or -1, -2 and so
    on; a link of the web app will do as well. With #UUID the link leads to that record. A link
    stays what it is: it names the session and not its place in a list.

    \b
      recollect open latest
      recollect open 8facb961 --browser

    Exits with 3 if there is no such session, or if the web app does not run.
    """
    name, record = split_target(target)
    session_id = name_of(find_named(name, claude_dirs))
    path = make_path(session_id, record)
    server = find_server(find_data_directory())
    link = make_link(server, path) if server else None
    if as_json:
        from recollect.cli.documents import format_document  # noqa: PLC0415 - not for people

        document = OpenDocument(session_id=session_id, record=record, path=path, link=link)
        click.echo(format_document(document))
    elif link is not None:
        click.echo(link)
    if link is None:
        raise NothingFound(
            f"The web app does not run. Start it with `recollect serve`; the session is at {path} "
            "there."
        )
    if browser:
        click.launch(link)
    return 0
