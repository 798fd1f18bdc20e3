"""`recollect usage`: tokens and what they cost, by anything, and where a figure comes from.

What only some answers need is imported by the function that needs it: with nothing new on disk an
answer should come at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict, Unpack

import click

from recollect.cli.clock import read_clock
from recollect.cli.config.defaults import is_given
from recollect.cli.documents import format_document
from recollect.cli.options import claude_dir_option, json_option, prices_option
from recollect.cli.paging import show_text
from recollect.cli.progress import progress_line, show_progress
from recollect.cli.tables import count_columns
from recollect.cli.usage.text import iter_usage
from recollect.demo import CLAUDE_DIRECTORY
from recollect.errors import NothingFound, UnreadableInput, UsageError
from recollect.locations import resolve_roots
from recollect.render.terminal import safe_text
from recollect.store.place import INDEX_NAME, find_data_directory
from recollect.sync.level import find_transcripts
from recollect.usage.current import find_pace
from recollect.usage.groups import Group
from recollect.usage.loading import Books, load_rows, open_books
from recollect.usage.opening import ask_ledger, count_in_memory
from recollect.usage.report_document import describe_report
from recollect.usage.reports import Order, Question, make_report
from recollect.usage.zones import Zone, load_zone

if TYPE_CHECKING:
    from recollect.store.usage_queries import Ledger
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
    prices: Path | None
    claude_dirs: tuple[Path, ...]
    as_json: bool


class _Answer(NamedTuple):
    """All that is to be printed; nothing is until the index has told it to the end."""

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
@prices_option
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

    \b
      recollect usage
      recollect usage model --since 7d
      recollect usage session --project tidepool --order cost-desc
      recollect usage explain 2026-11-12
    """
    _check(group, target, options)
    zone = load_zone(options["timezone"])
    roots = (CLAUDE_DIRECTORY,) if options["demo"] else _find_roots(options["claude_dirs"])

    def question(ledger: Ledger) -> _Answer:
        books = open_books(ledger, roots, options["prices"])
        if target is not None:
            return _explain(books, target, zone, options)
        return _report(books, _make_question(Group(group), zone, options), options)

    answer = _ask(roots, question, options)
    if options["as_json"]:
        click.echo(answer.text)
    else:
        show_text(answer.text, is_paged=options["paged"])
    if answer.problems:
        return UnreadableInput.exit_code
    return NothingFound.exit_code if answer.is_empty else 0


def _check(group: str, target: str | None, options: _Options) -> None:
    if options["demo"] and is_given("claude_dirs"):
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


def _ask(
    roots: Sequence[Path], question: Callable[[Ledger], _Answer], options: _Options
) -> _Answer:
    """The answer; what is missing in it has been said."""
    transcripts = find_transcripts(roots)
    directory, prices, failure = find_data_directory(), options["prices"], None
    if not transcripts and not (directory / INDEX_NAME).exists():
        looked_at = "".join(f"\n  {root}" for root in roots)
        raise NothingFound(f"No transcripts found. Looked at:{looked_at}\n{TIP}")
    with progress_line("files") as line:

        def watch(progress: Progress) -> None:
            line.show(progress.files_done, progress.files)

        if options["demo"]:
            answer = question(count_in_memory(transcripts, prices=prices, watch=watch))
        else:
            answer, failure = ask_ledger(
                directory, transcripts, question, prices=prices, watch=watch
            )
    _warn(failure, answer.problems)
    return answer


def _warn(failure: str | None, problems: Mapping[str, str]) -> None:
    if failure is not None:
        _say(
            f"{failure}\n"
            "Counted from the files that are there; what Claude Code has deleted is missing."
        )
    for path, reason in problems.items():
        _say(f"Not counted: {path}: {reason}")


def _say(message: str) -> None:
    click.echo(f"recollect: {safe_text(message)}", err=True)


def _make_question(group: Group, zone: Zone, options: _Options) -> Question:
    first, last = _find_days(options["since"], options["until"], zone)
    order = options["order"]
    return Question(
        group=group,
        zone=zone,
        since=first,
        until=last,
        project=options["project"],
        model=options["model"],
        order=Order(order) if order else None,
        breakdown=options["breakdown"],
    )


def _find_days(since: str | None, until: str | None, zone: Zone) -> tuple[date | None, date | None]:
    if not since and not until:
        return None, None
    from recollect.usage.days import parse_days  # noqa: PLC0415 - not for every answer

    today = _find_today(zone)
    first = parse_days(since, today)[0] if since else None
    return first, parse_days(until, today)[1] if until else None


def _find_today(zone: Zone) -> date:
    now = read_clock()
    return zone.find_day(int(now.timestamp())) or now.date()


def _report(books: Books, question: Question, options: _Options) -> _Answer:
    report = make_report(load_rows(books, question), question)
    if question.group is Group.SESSION:
        from recollect.usage.titles import add_titles  # noqa: PLC0415 - not for every answer

        report = add_titles(report, books)
    if options["client_cost"]:
        from recollect.usage.comparison import add_client_costs  # noqa: PLC0415 - reads transcripts

        report = add_client_costs(report, books, lambda rows: show_progress(rows, "files"))
    pace = find_pace(report, books, read_clock().timestamp())
    if options["as_json"]:
        text = format_document(describe_report(report, pace))
    else:
        text = "\n".join(iter_usage(report, count_columns(), pace, is_compact=options["compact"]))
    return _Answer(text, not report.rows, books.problems)


def _explain(books: Books, target: str, zone: Zone, options: _Options) -> _Answer:
    from recollect.cli.usage.explain_text import iter_explanation  # noqa: PLC0415 - reads transcripts
    from recollect.usage.explain import explain  # noqa: PLC0415
    from recollect.usage.explain_document import describe_explanation  # noqa: PLC0415

    explanation = explain(
        books, target, zone, _find_today(zone), track=lambda files: show_progress(files, "files")
    )
    if options["as_json"]:
        text = format_document(describe_explanation(explanation))
    else:
        text = "\n".join(iter_explanation(explanation, zone, count_columns()))
    return _Answer(text, is_empty=False, problems=books.problems)
