"""`recollect usage`: tokens and cost by group, and explanations of single figures.

Modules that only some reports need are imported where they are used, so that a report without
new transcripts is immediate.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypedDict, Unpack

import click

from recollect.cli import program, terminal_output, usage_text
from recollect.cli.command_workspace import command_workspace
from recollect.cli.options import claude_dir_option, json_option, prices_option
from recollect.documents.usage_groups import Group
from recollect.errors import NothingFound, UnreadableInput, UsageError
from recollect.render.terminal import safe_text
from recollect.usage.reports import ReportOrder
from recollect.workspace.workspace import Workspace

CAUSE = "cause"
EXPLAIN = "explain"
TIP = "To see a sample report: recollect usage --demo"


class GroupChoice(click.Choice[str]):
    """The groups, also accepted under their ccusage names."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the group."""
        return super().convert(program.USAGE_WORDS.get(value, value), param, ctx)


class _Options(TypedDict):
    since: str | None
    until: str | None
    project: str
    model: str
    timezone: str | None
    order: str | None
    breakdown: bool
    limit: int
    client_cost: bool
    compact: bool
    demo: bool
    paged: bool
    prices: Path | None
    claude_dirs: tuple[Path, ...]
    as_json: bool


@click.command("usage")
@click.argument(
    "group",
    default=Group.DAY.value,
    metavar="[GROUP | cause [CAUSE] | explain TARGET]",
    type=GroupChoice([*(group.value for group in Group), CAUSE, EXPLAIN]),
)
@click.argument("target", required=False, metavar="")
@click.option(
    "--since",
    metavar="DATE",
    help="Only usage since DATE: 2026-11-15, 2026-11, yesterday, 7d, 2w.",
)
@click.option("--until", metavar="DATE", help="Only usage on or before DATE.")
@click.option(
    "--project", default="", metavar="TEXT", help="Only projects whose path contains TEXT."
)
@click.option("--model", default="", metavar="TEXT", help="Only models whose name contains TEXT.")
@click.option(
    "--timezone",
    metavar="NAME",
    help="Time zone for grouping by day: Europe/Berlin, UTC, or local (the default).",
)
@click.option("--breakdown", is_flag=True, help="Split each row by model.")
@click.option(
    "--order",
    type=click.Choice([order.value for order in ReportOrder]),
    help="Sort by key or by cost. Default: dates ascending, other groups by highest cost.",
)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Show only the first N rows; the total still includes all rows.",
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
def usage_command(group: str, target: str | None, **options: Unpack[_Options]) -> int:
    """Report tokens and cost by day, model, project and more.

    GROUP is day (the default), week, month, session, project, model, branch, version, entrypoint,
    tool, mcp-server, subagent, or block (the 5-hour blocks of a subscription). The names of
    ccusage work too: daily, weekly, monthly, blocks.

    `cause` shows why tokens were spent: subagents, retries, compactions, cache-rebuilds,
    long-contexts, thinking, other. With a CAUSE, it lists the messages. The first
    run reads every transcript.

    `explain TARGET` breaks a figure down: what was counted, what was not, and why. TARGET is a
    session, a subagent, a day or a message id.

    Every message is counted once, however many lines and files contain it. Costs are estimates at
    list prices. Exits with 3 if there is no usage and with 4 if a transcript could not be read.

    \b
      recollect usage
      recollect usage model --since 7d
      recollect usage session --project tidepool -n 10
      recollect usage cause --since 30d
      recollect usage explain 2026-11-12
    """
    _check(group, target, options)
    if group == CAUSE:
        return _show_causes(target, options)
    if target is not None:
        return _explain(target, options)
    with _open(options) as workspace:
        answer = workspace.usage(
            group,
            since=options["since"],
            until=options["until"],
            project=options["project"],
            model=options["model"],
            timezone=options["timezone"],
            order=options["order"],
            breakdown=options["breakdown"],
            limit=options["limit"] or None,
            client_costs=options["client_cost"],
        )
    _warn(answer.failure, answer.problems)
    if options["as_json"]:
        from recollect.cli.json_output import format_document  # only for JSON
        from recollect.usage.usage_documents import describe_report

        click.echo(format_document(describe_report(answer.report, answer.burn_rate)))
    else:
        is_compact = options["compact"]
        lines = usage_text.iter_usage(
            answer.report,
            terminal_output.count_table_columns(),
            answer.burn_rate,
            is_compact=is_compact,
            omitted=answer.omitted_rows,
        )
        terminal_output.show_text("\n".join(lines), is_paged=options["paged"])
    if answer.problems:
        return UnreadableInput.exit_code
    return 0 if answer.report.rows else NothingFound.exit_code


def _open(options: _Options) -> AbstractContextManager[Workspace]:
    return command_workspace(
        options["claude_dirs"], prices=options["prices"], is_demo=options["demo"], tip=TIP
    )


def _check(group: str, target: str | None, options: _Options) -> None:
    if options["demo"] and program.is_given("claude_dirs"):
        raise UsageError("Use only one of --claude-dir and --demo.")
    if group == EXPLAIN and target is None:
        raise UsageError("Specify what to explain, as in `recollect usage explain 2026-11-15`.")
    if group not in (EXPLAIN, CAUSE) and target is not None:
        raise UsageError("Only `explain` takes a TARGET: `recollect usage explain 2026-11-15`.")
    drawn = ("breakdown", "order", "limit", "client_cost", "compact")
    refused = {EXPLAIN: ("since", "until", "project", "model", *drawn), CAUSE: drawn}
    given = [name for name in refused.get(group, ()) if options.get(name)]
    if given:
        raise UsageError(f"--{given[0].replace('_', '-')} cannot be used with `{group}`.")
    if options["client_cost"] and group != Group.SESSION.value:
        raise UsageError("--client-cost works only with `recollect usage session`.")


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


def _show_causes(cause: str | None, options: _Options) -> int:
    from recollect.cli.explain_text import iter_causes  # reads transcripts
    from recollect.cli.json_output import format_document
    from recollect.workspace.cost_causes import find_causes
    from recollect.workspace.usage_requests import UsageFilters

    filters = UsageFilters(
        since=options["since"],
        until=options["until"],
        project=options["project"],
        model=options["model"],
        timezone=options["timezone"],
    )
    with _open(options) as workspace:
        answer = find_causes(workspace, filters, cause)
    _warn(answer.failure, answer.problems)
    if options["as_json"]:
        click.echo(format_document(answer.document))
    else:
        terminal_output.show_text(
            "\n".join(iter_causes(answer.document)), is_paged=options["paged"]
        )
    if answer.problems:
        return UnreadableInput.exit_code
    return 0 if answer.document.rows else NothingFound.exit_code


def _explain(target: str, options: _Options) -> int:
    from recollect.cli.explain_text import iter_explanation  # reads transcripts
    from recollect.cli.json_output import format_document
    from recollect.usage.usage_documents import describe_explanation

    with _open(options) as workspace:
        answer = workspace.explain(target, timezone=options["timezone"])
    _warn(answer.failure, answer.problems)
    if options["as_json"]:
        click.echo(format_document(describe_explanation(answer.explanation)))
    else:
        lines = iter_explanation(
            answer.explanation, answer.zone, terminal_output.count_table_columns()
        )
        terminal_output.show_text("\n".join(lines), is_paged=options["paged"])
    if answer.problems:
        return UnreadableInput.exit_code
    return 0 if answer.explanation.lines else NothingFound.exit_code
