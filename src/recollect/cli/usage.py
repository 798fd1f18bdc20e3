"""`recollect usage`: tokens and what they cost, by anything, and where a figure comes from.

What only some answers need is imported by the function that needs it: with nothing new on disk an
answer should come at once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from recollect.cli.options import claude_dir_option, json_option
from recollect.cli.paging import show_text
from recollect.cli.progress import progress_line, show_progress
from recollect.cli.tables import count_columns
from recollect.cli.usage_text import iter_usage
from recollect.demo import CLAUDE_DIRECTORY
from recollect.errors import NothingFound, UnreadableInput, UsageError
from recollect.locations import resolve_roots
from recollect.render.terminal import safe_text
from recollect.store.place import INDEX_NAME, find_data_directory
from recollect.sync.level import find_transcripts
from recollect.usage.current import find_pace
from recollect.usage.days import parse_days
from recollect.usage.groups import Group
from recollect.usage.loading import Books, load_rows, open_books
from recollect.usage.opening import Opened, count_in_memory, open_level
from recollect.usage.report_document import Document, describe_report
from recollect.usage.reports import Order, Question, make_report
from recollect.usage.zones import Zone, load_zone

if TYPE_CHECKING:
    from recollect.sync.engine import Progress

EXPLAIN = "explain"
TIP = "To see what a report looks like: recollect usage --demo"


class _Options(TypedDict):
    since: str | None
    until: str | None
    project: str
    model: str
    timezone: str | None
    order: str | None
    breakdown: bool
    client_cost: bool
    compact: bool
    demo: bool
    paged: bool
    claude_dirs: tuple[Path, ...]
    as_json: bool


@click.command("usage")
@click.argument(
    "group",
    default=Group.DAY.value,
    metavar="[GROUP | explain TARGET]",
    type=click.Choice([*(group.value for group in Group), EXPLAIN]),
)
@click.argument("target", required=False, metavar="")
@click.option("--since", metavar="DATE", help="Count from this day on: 2026-11-15, 2026-11, 7d.")
@click.option("--until", metavar="DATE", help="Count up to and including this day.")
@click.option(
    "--project", default="", metavar="TEXT", help="Only work directories with this in their path."
)
@click.option("--model", default="", metavar="TEXT", help="Only models with this in their name.")
@click.option(
    "--timezone", metavar="NAME", help="Whose days: Europe/Berlin, UTC, or local, the default."
)
@click.option("--breakdown", is_flag=True, help="Split each row by model.")
@click.option(
    "--order",
    type=click.Choice([order.value for order in Order]),
    help="By key or by cost. By default times rise, and other rows start with the costliest.",
)
@click.option(
    "--client-cost",
    is_flag=True,
    help="With `session`: show Claude Code's own total too. Reads all transcripts.",
)
@click.option("--compact", is_flag=True, help="Show short numbers, however wide the terminal is.")
@click.option("--demo", is_flag=True, help="Count the sessions that come with Recollect.")
@click.option("--pager/--no-pager", "paged", default=True, help="Page long output in a terminal.")
@claude_dir_option
@json_option
def command(group: str, target: str | None, **options: Unpack[_Options]) -> int:
    """Count tokens and their list price, by day or by anything else.

    GROUP is day (the default), week, month, session, project, model, branch, version, entrypoint,
    tool, mcp-server, subagent or block, the 5-hour blocks of a subscription.

    `explain TARGET` takes a figure apart: what was counted, what was not, and why. TARGET is a
    session, a subagent, a day or the id of a message.

    Every message counts once, whatever number of lines and files it stands in. Costs are an
    estimate at list prices. Exits with 3 if nothing was counted and with 4 if a transcript could
    not be read.
    """
    _check(group, target, options)
    zone = load_zone(options["timezone"])
    roots = (CLAUDE_DIRECTORY,) if options["demo"] else _find_roots(options["claude_dirs"])
    opened = _open(roots, is_demo=options["demo"])
    try:
        books = open_books(opened.ledger, roots)
        _warn(opened.failure, books)
        if target is not None:
            _explain(books, target, zone, options)
            is_empty = False
        else:
            is_empty = _report(books, _make_question(Group(group), zone, options), options)
    finally:
        opened.ledger.close()
    if books.problems:
        return UnreadableInput.exit_code
    return NothingFound.exit_code if is_empty else 0


def _check(group: str, target: str | None, options: _Options) -> None:
    if options["demo"] and options["claude_dirs"]:
        raise UsageError("Give --claude-dir or --demo: each says what to count.")
    if (group == EXPLAIN) != (target is not None):
        raise UsageError("Give what to explain, as in `recollect usage explain 2026-11-15`.")
    if group == EXPLAIN:
        names = (
            "since",
            "until",
            "project",
            "model",
            "breakdown",
            "order",
            "client_cost",
            "compact",
        )
        given = [name.replace("_", "-") for name in names if options.get(name)]
        if given:
            raise UsageError(f"--{given[0]} is for reports and does not go with `explain`.")
    if options["client_cost"] and group != Group.SESSION.value:
        raise UsageError("--client-cost goes with `recollect usage session` only.")


def _find_roots(given: Sequence[Path]) -> tuple[Path, ...]:
    try:
        return resolve_roots(given)
    except NothingFound as error:
        raise NothingFound(f"{error}\n{TIP}") from error


def _open(roots: Sequence[Path], *, is_demo: bool) -> Opened:
    transcripts = find_transcripts(roots)
    directory = find_data_directory()
    if not transcripts and not (directory / INDEX_NAME).exists():
        looked_at = "".join(f"\n  {root}" for root in roots)
        raise NothingFound(f"No transcripts found. Looked at:{looked_at}\n{TIP}")
    with progress_line("files") as line:

        def watch(progress: Progress) -> None:
            line.show(progress.files_done, progress.files)

        if is_demo:
            return Opened(count_in_memory(transcripts, watch))
        return open_level(directory, transcripts, watch)


def _warn(failure: str | None, books: Books) -> None:
    if failure is not None:
        _say(
            f"{failure}\n"
            "Counted from the files that are there; what Claude Code has deleted is missing."
        )
    for path, reason in books.problems.items():
        _say(f"Not counted: {path}: {reason}")


def _say(message: str) -> None:
    click.echo(f"recollect: {safe_text(message)}", err=True)


def _make_question(group: Group, zone: Zone, options: _Options) -> Question:
    today = _find_today(zone)
    since, until, order = options["since"], options["until"], options["order"]
    return Question(
        group=group,
        zone=zone,
        since=parse_days(since, today)[0] if since else None,
        until=parse_days(until, today)[1] if until else None,
        project=options["project"],
        model=options["model"],
        order=Order(order) if order else None,
        breakdown=options["breakdown"],
    )


def _find_today(zone: Zone) -> date:
    return zone.find_day(int(time.time())) or datetime.now(UTC).date()


def _report(books: Books, question: Question, options: _Options) -> bool:
    """Print a report, and tell whether it is empty."""
    report = make_report(load_rows(books, question), question)
    if options["client_cost"]:
        from recollect.usage.comparison import add_client_costs  # noqa: PLC0415 - reads transcripts

        report = add_client_costs(report, books, lambda rows: show_progress(rows, "files"))
    pace = find_pace(report, books, time.time())
    if options["as_json"]:
        _print_json(describe_report(report, pace))
    else:
        lines = iter_usage(report, count_columns(), pace, is_compact=options["compact"])
        show_text("\n".join(lines), is_paged=options["paged"])
    return not report.rows


def _explain(books: Books, target: str, zone: Zone, options: _Options) -> None:
    from recollect.cli.explain_text import iter_explanation  # noqa: PLC0415 - reads transcripts
    from recollect.usage.explain import explain  # noqa: PLC0415
    from recollect.usage.explain_document import describe_explanation  # noqa: PLC0415

    explanation = explain(
        books, target, zone, _find_today(zone), track=lambda files: show_progress(files, "files")
    )
    if options["as_json"]:
        _print_json(describe_explanation(explanation))
    else:
        lines = iter_explanation(explanation, zone, count_columns())
        show_text("\n".join(lines), is_paged=options["paged"])


def _print_json(document: Document) -> None:
    """Escaped beyond ASCII, so that no name out of a transcript can drive a terminal."""
    click.echo(json.dumps(document, indent=2))
