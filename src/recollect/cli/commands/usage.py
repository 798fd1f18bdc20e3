"""`recollect usage`: tokens and cost by group, and explanations of single figures.

Modules that only some reports need are imported where they are used, so that a report without
new transcripts is immediate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict, Unpack

import click

from recollect.cli.archive_access import use_archive
from recollect.cli.clock import read_clock
from recollect.cli.json_output import format_document
from recollect.cli.options import claude_dir_option, json_option, prices_option
from recollect.cli.paging import show_text
from recollect.cli.program import is_given
from recollect.cli.progress import progress_line, show_progress
from recollect.cli.tables import count_columns
from recollect.cli.usage_text import iter_usage
from recollect.demo import CLAUDE_DIRECTORY
from recollect.documents.kinds import Group
from recollect.errors import NothingFound, UnreadableInput, UsageError
from recollect.locations import Transcript, resolve_roots
from recollect.render.terminal import safe_text
from recollect.store.data_directory import INDEX_NAME, find_data_directory
from recollect.sync import find_transcripts
from recollect.usage.ledger_access import (
    UsageLedger,
    ask_ledger,
    count_in_memory,
    find_pace,
    load_rows,
)
from recollect.usage.reports import ReportOrder, UsageQuestion, make_report
from recollect.usage.usage_documents import describe_report
from recollect.usage.zones import Zone, load_zone

if TYPE_CHECKING:
    from recollect.store.usage_queries import UsageQueries
    from recollect.sync import SyncProgress

EXPLAIN = "explain"
TIP = "To see a sample report: recollect usage --demo"


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
    prices: Path | None
    claude_dirs: tuple[Path, ...]
    as_json: bool


class _Output(NamedTuple):
    """The complete output; printed only after the index has been read."""

    text: str
    is_empty: bool
    problems: Mapping[str, str]


@click.command("usage")
@click.argument(
    "group",
    default=Group.DAY.value,
    metavar="[GROUP | explain TARGET]",
    type=click.Choice([*(group.value for group in Group), EXPLAIN]),
)
@click.argument("target", required=False, metavar="")
@click.option(
    "--since",
    metavar="DATE",
    help="Count from DATE on: 2026-11-15, 2026-11, yesterday, 7d, 2w.",
)
@click.option("--until", metavar="DATE", help="Count up to and including DATE.")
@click.option(
    "--project", default="", metavar="TEXT", help="Only projects whose path contains TEXT."
)
@click.option("--model", default="", metavar="TEXT", help="Only models whose name contains TEXT.")
@click.option(
    "--timezone",
    metavar="NAME",
    help="Time zone of days: Europe/Berlin, UTC, or local (the default).",
)
@click.option("--breakdown", is_flag=True, help="Split each row by model.")
@click.option(
    "--order",
    type=click.Choice([order.value for order in ReportOrder]),
    help="Sort by key or by cost. Default: dates ascending, other groups by highest cost.",
)
@click.option(
    "--client-cost",
    is_flag=True,
    help="With `session`: also show Claude Code's own total. Reads all transcripts.",
)
@click.option("--compact", is_flag=True, help="Abbreviate numbers even in a wide terminal.")
@click.option("--demo", is_flag=True, help="Use the sample sessions that come with Recollect.")
@click.option(
    "--pager/--no-pager", "paged", default=True, help="Use a pager for long output in a terminal."
)
@prices_option
@claude_dir_option
@json_option
def command(group: str, target: str | None, **options: Unpack[_Options]) -> int:
    """Report tokens and cost by day, model, project and more.

    GROUP is day (the default), week, month, session, project, model, branch, version, entrypoint,
    tool, mcp-server, subagent, or block (the 5-hour blocks of a subscription).

    `explain TARGET` breaks a figure down: what was counted, what was not, and why. TARGET is a
    session, a subagent, a day or a message id.

    Every message is counted once, however many lines and files contain it. Costs are estimates at
    list prices. Exits with 3 if there is no usage and with 4 if a transcript could not be read.

    \b
      recollect usage
      recollect usage model --since 7d
      recollect usage session --project tidepool --order cost-desc
      recollect usage explain 2026-11-12
    """
    _check(group, target, options)
    zone = load_zone(options["timezone"])
    roots = (CLAUDE_DIRECTORY,) if options["demo"] else _find_roots(options["claude_dirs"])

    def question(queries: UsageQueries, transcripts: Sequence[Transcript]) -> _Output:
        ledger = UsageLedger(queries, roots, options["prices"])
        if target is not None:
            return _explain(ledger, target, zone, options)
        return _report(ledger, transcripts, _make_question(Group(group), zone, options), options)

    output = _query(roots, question, options)
    if options["as_json"]:
        click.echo(output.text)
    else:
        show_text(output.text, is_paged=options["paged"])
    if output.problems:
        return UnreadableInput.exit_code
    return NothingFound.exit_code if output.is_empty else 0


def _check(group: str, target: str | None, options: _Options) -> None:
    if options["demo"] and is_given("claude_dirs"):
        raise UsageError("Use only one of --claude-dir and --demo.")
    if group == EXPLAIN and target is None:
        raise UsageError("Specify what to explain, as in `recollect usage explain 2026-11-15`.")
    if group != EXPLAIN and target is not None:
        raise UsageError("Only `explain` takes a TARGET: `recollect usage explain 2026-11-15`.")
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
            raise UsageError(f"--{given[0]} cannot be used with `explain`.")
    if options["client_cost"] and group != Group.SESSION.value:
        raise UsageError("--client-cost works only with `recollect usage session`.")


def _find_roots(given: Sequence[Path]) -> tuple[Path, ...]:
    try:
        roots = resolve_roots(given)
    except NothingFound as error:
        raise NothingFound(f"{error}\n{TIP}") from error
    use_archive(roots)
    return roots


def _query(
    roots: Sequence[Path],
    question: Callable[[UsageQueries, Sequence[Transcript]], _Output],
    options: _Options,
) -> _Output:
    """Run `question` on an updated index, and print warnings about what is missing."""
    transcripts = find_transcripts(roots)
    directory, prices, failure = find_data_directory(), options["prices"], None
    if not transcripts and not (directory / INDEX_NAME).exists():
        looked_at = "".join(f"\n  {root}" for root in roots)
        raise NothingFound(f"No transcripts found. Looked in:{looked_at}\n{TIP}")
    with progress_line("files") as line:

        def watch(progress: SyncProgress) -> None:
            line.show(progress.files_done, progress.files)

        if options["demo"]:
            queries = count_in_memory(transcripts, prices=prices, on_progress=watch)
            output = question(queries, transcripts)
        else:
            output, failure = ask_ledger(
                directory,
                transcripts,
                lambda queries: question(queries, transcripts),
                prices=prices,
                on_progress=watch,
            )
    _warn(failure, output.problems)
    return output


def _warn(failure: str | None, problems: Mapping[str, str]) -> None:
    if failure is not None:
        _say(
            f"{failure}\n"
            "Counted from existing files; transcripts that Claude Code has deleted are missing."
        )
    for path, reason in problems.items():
        _say(f"Not counted: {path}: {reason}")


def _say(message: str) -> None:
    click.echo(f"recollect: {safe_text(message)}", err=True)


def _make_question(group: Group, zone: Zone, options: _Options) -> UsageQuestion:
    first, last = _find_days(options["since"], options["until"], zone)
    order = options["order"]
    return UsageQuestion(
        group=group,
        zone=zone,
        since=first,
        until=last,
        project=options["project"],
        model=options["model"],
        order=ReportOrder(order) if order else None,
        breakdown=options["breakdown"],
    )


def _find_days(since: str | None, until: str | None, zone: Zone) -> tuple[date | None, date | None]:
    if not since and not until:
        return None, None
    from recollect.session.calendar import parse_day_range  # not for every report

    now = read_clock()
    return parse_day_range(since, until, zone.find_local(int(now.timestamp())) or now)


def _find_today(zone: Zone) -> date:
    now = read_clock()
    return zone.find_day(int(now.timestamp())) or now.date()


def _report(
    ledger: UsageLedger,
    transcripts: Sequence[Transcript],
    question: UsageQuestion,
    options: _Options,
) -> _Output:
    report = make_report(load_rows(ledger, question), question)
    if question.group is Group.SESSION:
        from recollect.usage.ledger_access import add_titles  # not for every report

        directory = None if options["demo"] else find_data_directory()
        report = add_titles(report, ledger, transcripts, directory)
    if options["client_cost"]:
        from recollect.usage.client_costs import add_client_costs  # reads transcripts

        report = add_client_costs(report, ledger, lambda rows: show_progress(rows, "files"))
    pace = find_pace(report, ledger, read_clock().timestamp())
    if options["as_json"]:
        text = format_document(describe_report(report, pace))
    else:
        text = "\n".join(iter_usage(report, count_columns(), pace, is_compact=options["compact"]))
    return _Output(text, not report.rows, ledger.problems)


def _explain(ledger: UsageLedger, target: str, zone: Zone, options: _Options) -> _Output:
    from recollect.cli.explain_text import iter_explanation  # reads transcripts
    from recollect.usage.explain import explain
    from recollect.usage.explain_document import describe_explanation

    explanation = explain(
        ledger, target, zone, _find_today(zone), track=lambda files: show_progress(files, "files")
    )
    if options["as_json"]:
        text = format_document(describe_explanation(explanation))
    else:
        text = "\n".join(iter_explanation(explanation, zone, count_columns()))
    return _Output(text, is_empty=False, problems=ledger.problems)
