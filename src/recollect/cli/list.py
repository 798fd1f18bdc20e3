"""`recollect list`: the sessions there are, the most recently active first."""

from datetime import UTC, datetime
from pathlib import Path

import click
import msgspec
from msgspec import Struct

from recollect.cli.options import claude_dir_option, json_option
from recollect.cli.tables import count_columns, iter_table
from recollect.errors import NothingFound
from recollect.locations import Transcript, TranscriptKind, discover_root, resolve_roots
from recollect.render.terminal import safe_text
from recollect.store.listings import Listing
from recollect.store.place import find_data_directory
from recollect.sync.listings import list_level

SCHEMA = "recollect.list/1"
DEFAULT_LIMIT = 20
_ID_LENGTH = 8


class ListDocument(Struct, frozen=True, kw_only=True):
    """What `--json` prints: one page of sessions, and how many there are in all."""

    schema: str = SCHEMA
    total: int
    sessions: list[Listing]


@click.command("list")
@click.argument("text", required=False)
@click.option("--project", metavar="TEXT", help="Only work directories that hold this text.")
@click.option("--branch", metavar="NAME", help="Only sessions that ended on this git branch.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), help="Active on this day or later.")
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), help="Begun before this day.")
@click.option("--subagents", is_flag=True, help="Show subagents too.")
@click.option(
    "-n", "--limit", default=DEFAULT_LIMIT, show_default=True, help="Most rows; 0 for all."
)
@claude_dir_option
@json_option
def command(  # noqa: PLR0913 - one argument for each option
    text: str | None,
    *,
    project: str | None,
    branch: str | None,
    since: datetime | None,
    until: datetime | None,
    subagents: bool,
    limit: int,
    claude_dirs: tuple[Path, ...],
    as_json: bool,
) -> int:
    """List sessions, the most recently active first.

    TEXT is looked for in titles and first prompts. An id, or its first characters, is what every
    other command takes to name the session.

    \b
      recollect list
      recollect list flaky --project tidepool --since 2026-11-01
    """
    transcripts = _find(claude_dirs, include_subagents=subagents)
    wanted = [
        each
        for each in list_level(find_data_directory(), transcripts)
        if (subagents or not each.is_subagent)
        and _holds(text, each.title, each.first_prompt, each.id)
        and _holds(project, each.cwd, each.project)
        and branch in (None, each.git_branch)
        and (since is None or each.activity >= _seconds(since))
        and (until is None or _begun(each) < _seconds(until))
    ]
    if not wanted:
        raise NothingFound("No session fits. Try fewer conditions, or `recollect list -n 0`.")
    shown = wanted[:limit] if limit else wanted
    if as_json:
        document = ListDocument(total=len(wanted), sessions=shown)
        click.echo(msgspec.json.format(msgspec.json.encode(document), indent=2))
        return 0
    _print(shown, len(wanted))
    return 0


def _find(claude_dirs: tuple[Path, ...], *, include_subagents: bool) -> list[Transcript]:
    return [
        each
        for root in resolve_roots(claude_dirs)
        for each in discover_root(root).transcripts
        if include_subagents or each.kind is TranscriptKind.SESSION
    ]


def _holds(wanted: str | None, *texts: str | None) -> bool:
    return wanted is None or any(wanted.casefold() in (text or "").casefold() for text in texts)


def _seconds(day: datetime) -> float:
    return day.astimezone().timestamp()


def _begun(listing: Listing) -> float:
    try:
        return datetime.fromisoformat(listing.created or "").timestamp()
    except ValueError:
        return listing.modified


def _print(sessions: list[Listing], total: int) -> None:
    columns = count_columns()
    rows = [
        (
            datetime.fromtimestamp(each.activity, UTC).astimezone().strftime("%Y-%m-%d %H:%M"),
            safe_text(each.id[:_ID_LENGTH], single_line=True),
            safe_text(Path(each.cwd or each.project).name, single_line=True),
            safe_text(each.title or each.first_prompt or "(no prompt)", single_line=True),
        )
        for each in sessions
    ]
    click.echo("\n".join(iter_table(rows, "<<<<", columns, indent="")))
    if len(sessions) < total:
        click.echo(f"… and {total - len(sessions):,} more: -n 0 shows all.", err=True)
