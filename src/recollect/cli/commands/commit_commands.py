"""`recollect commits` and `recollect why`: the commits that a session made, and the prompts behind
a commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import click

from recollect.cli import terminal_output
from recollect.cli.command_workspace import command_workspace
from recollect.cli.json_output import format_document
from recollect.cli.options import claude_dir_option, json_option, session_argument
from recollect.documents.file_versions import CommitEntry, CommitsDocument, PromptLines, WhyDocument
from recollect.errors import NothingFound, UsageError
from recollect.quantities import format_count, format_date, format_time
from recollect.render.terminal import clip, measure, safe_line
from recollect.session.times import parse_time

_repo_option = partial(click.option, "--repo", metavar="DIR", type=click.Path(path_type=Path))
_SHORT = 10
_MIN_SUBJECT_WIDTH = 10
_SIDES = "<<<<"


@click.command("commits")
@session_argument()
@_repo_option(help="Use this git repository. Default: the one in the session's directory.")
@terminal_output.pager_option
@terminal_output.colour_option
@claude_dir_option
@json_option
def commits_command(
    session: str,
    repo: Path | None,
    paged: bool,
    claude_dirs: tuple[Path, ...],
    as_json: bool,
) -> None:
    """List the commits that a session made.

    Each commit is listed with the evidence for it: `printed` (a command in the session printed its
    hash), `note` (a git-ai note names the session), `trailer` (an `Entire-Checkpoint` trailer,
    written by the Entire CLI, names the session), `content` (a file in it is exactly as the session
    left it, even if it was committed later or rebased), or `time`, which is only a hint: it is on
    the session's branch and was made during the session or within an hour of its end.

    \b
      recollect commits latest
      recollect commits latest --json | jq -r '.commits[].commit'

    Exits with 3 if there is no such session or no repository.
    """
    from recollect.workspace.commit_queries import find_commits

    with command_workspace(claude_dirs) as workspace:
        document = find_commits(workspace, session, repo)
    if as_json:
        click.echo(format_document(document))
    elif not document.commits:
        raise NothingFound(f"No commit in {document.repository} belongs to the session.")
    else:
        terminal_output.show_lines(
            _iter_commits(document, terminal_output.count_table_columns()), is_paged=paged
        )


def _iter_commits(document: CommitsDocument, columns: int) -> Iterator[str]:
    rows = [("commit", "when", "how", "turns"), *map(_make_commit_cells, document.commits)]
    widths = [max(map(measure, column)) for column in zip(*rows, strict=True)]
    room = max(columns - sum(widths) - len(terminal_output.GAP) * len(widths), _MIN_SUBJECT_WIDTH)
    subjects = ["subject", *(_name_subject(each) for each in document.commits)]
    for number, (row, subject) in enumerate(zip(rows, subjects, strict=True)):
        cells = [terminal_output.pad(*cell) for cell in zip(row, widths, _SIDES, strict=True)]
        line = terminal_output.GAP.join([*cells, clip(subject, room)]).rstrip()
        yield line if number else terminal_output.faint(line)


def _make_commit_cells(entry: CommitEntry) -> tuple[str, str, str, str]:
    turns = ", ".join(map(str, entry.turns))
    return entry.commit[:_SHORT], format_time(parse_time(entry.time)), entry.how, turns


def _name_subject(entry: CommitEntry) -> str:
    if entry.subject is None:
        return "(not in this repository: amended, rebased or elsewhere)"
    return terminal_output.join_lines(entry.subject)


_MIN_PROMPT_WIDTH = 10


@click.command("why")
@click.argument("commit", default="HEAD")
@_repo_option(help="Use this git repository. Default: the one in the current directory.")
@click.option(
    "--write-note",
    is_flag=True,
    help="Save this as a git-ai note (refs/notes/ai) on the commit.",
)
@terminal_output.pager_option
@terminal_output.colour_option
@claude_dir_option
@json_option
def why_command(
    *,
    commit: str,
    repo: Path | None,
    write_note: bool,
    paged: bool,
    claude_dirs: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Show the prompts behind a commit.

    COMMIT is HEAD by default. Each line that it added is attributed to the prompt that wrote it,
    as by `recollect blame`. Nothing is written to the repository unless you use --write-note.

    \b
      recollect why
      recollect why HEAD~3
      recollect why v1.2 --json | jq '.prompts[].prompt'

    Exits with 3 if there is no such commit.
    """
    from recollect.workspace.commit_queries import explain_commit

    with command_workspace(claude_dirs) as workspace:
        found = explain_commit(workspace, commit, repo or Path.cwd())
    document = found.document
    if write_note:
        if not document.prompts:
            raise UsageError(
                "No note was added: no line of the commit is known to be from a session."
            )
        found.repository.write_note(document.commit, found.note)
    if as_json:
        click.echo(format_document(document))
        return
    terminal_output.show_lines(
        _iter_reasons(document, terminal_output.count_columns()), is_paged=paged
    )
    if write_note:
        click.echo(f"Added a git-ai note to {document.commit[:_SHORT]}.")


def _iter_reasons(document: WhyDocument, columns: int) -> Iterator[str]:
    yield terminal_output.strong(
        f"{document.commit[:_SHORT]}  {terminal_output.join_lines(document.subject)}"
    )
    yield from iter_prompts(document.prompts, columns)
    rest = {"not by Claude Code": document.other, "unknown": document.unknown}
    yield from iter_other_counts(rest, document.added)
    for each in document.sessions:
        name = terminal_output.label_id(each.session)
        at = f", turn {each.turn}" if each.turn else ""
        yield terminal_output.faint(f"Session {safe_line(name)}{at}: by {_HOW[each.how]}.")


_HOW = {
    "printed": "the output of its command",
    "note": "a git-ai note",
    "trailer": "an Entire trailer",
}


def iter_prompts(prompts: Sequence[PromptLines], columns: int) -> Iterator[str]:
    """Yield a line for each prompt: how many lines it wrote, its turn, its model and its words."""
    if not prompts:
        return
    rows = [("lines", "turn", "when", "model"), *map(_make_prompt_cells, prompts)]
    widths = [max(map(measure, column)) for column in zip(*rows, strict=True)]
    room = max(columns - sum(widths) - len(terminal_output.GAP) * len(widths), _MIN_PROMPT_WIDTH)
    texts = ["prompt", *(terminal_output.join_lines(each.prompt) for each in prompts)]
    for number, (row, text) in enumerate(zip(rows, texts, strict=True)):
        cells = [terminal_output.pad(*cell) for cell in zip(row, widths, "><<<", strict=True)]
        line = terminal_output.GAP.join([*cells, clip(text, room)]).rstrip()
        yield line if number else terminal_output.faint(line)


def _make_prompt_cells(entry: PromptLines) -> tuple[str, str, str, str]:
    moment = parse_time(entry.time)
    return (
        f"{entry.lines:,}",
        f"{terminal_output.label_id(entry.session)}:{entry.turn or '?'}",
        format_date(moment) if moment else "",
        safe_line(entry.model or ""),
    )


def iter_other_counts(counts: dict[str, int], total: int) -> Iterator[str]:
    """Yield the number of lines from elsewhere, by kind."""
    for name, count in counts.items():
        if count:
            yield f"{format_count(count, 'line')} of {total:,} {name}"
