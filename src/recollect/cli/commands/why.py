"""`recollect why`: the prompts behind a commit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from recollect.cli.command_workspace import command_workspace
from recollect.cli.commands.commits import repo_option
from recollect.cli.json_output import format_document
from recollect.cli.options import claude_dir_option, json_option
from recollect.cli.paging import pager_option, show_lines
from recollect.cli.session_labels import join_lines, label_id
from recollect.cli.tables import GAP, colour_option, count_columns, faint, pad, strong
from recollect.documents.file_versions import PromptLines, WhyDocument
from recollect.errors import UsageError
from recollect.quantities import format_count, format_date
from recollect.render.terminal import measure, safe_text
from recollect.render.terminal.safe_text import clip
from recollect.session.times import parse_time

_SHORT = 10
_MIN_PROMPT_WIDTH = 10


@click.command("why")
@click.argument("commit", default="HEAD")
@repo_option
@click.option(
    "--write-note",
    is_flag=True,
    help="Save this as a git-ai note (refs/notes/ai) on the commit.",
)
@pager_option
@colour_option
@claude_dir_option
@json_option
def command(
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
    as `recollect blame` does. Nothing is written to the repository, unless --write-note asks for a
    note.

    \b
      recollect why
      recollect why HEAD~3
      recollect why v1.2 --json | jq '.prompts[].prompt'

    Exits with 3 if there is no such commit.
    """
    from recollect.workspace.commit_questions import explain_commit

    with command_workspace(claude_dirs) as workspace:
        found = explain_commit(workspace, commit, repo or Path.cwd())
    document = found.document
    if write_note:
        if not document.prompts:
            raise UsageError("No line of the commit is known to be from a session, so no note.")
        found.repository.write_note(document.commit, found.note)
    if as_json:
        click.echo(format_document(document))
        return
    show_lines(_iter_lines(document, count_columns()), is_paged=paged)
    if write_note:
        click.echo(f"Added a git-ai note to {document.commit[:_SHORT]}.")


def _iter_lines(document: WhyDocument, columns: int) -> Iterator[str]:
    yield strong(f"{document.commit[:_SHORT]}  {join_lines(document.subject)}")
    yield from iter_prompts(document.prompts, columns)
    rest = {"not by Claude Code": document.other, "unknown": document.unknown}
    yield from iter_rest(rest, document.added)
    for each in document.sessions:
        name = label_id(each.session)
        at = f", turn {each.turn}" if each.turn else ""
        yield faint(f"Session {safe_text(name, single_line=True)}{at}: by {_HOW[each.how]}.")


_HOW = {
    "printed": "the output of its command",
    "note": "a git-ai note",
    "trailer": "a trailer of Entire",
}


def iter_prompts(prompts: Sequence[PromptLines], columns: int) -> Iterator[str]:
    """Yield a line for each prompt: how many lines it wrote, its turn, its model and its words."""
    if not prompts:
        return
    rows = [("lines", "turn", "when", "model"), *map(_make_cells, prompts)]
    widths = [max(map(measure, column)) for column in zip(*rows, strict=True)]
    room = max(columns - sum(widths) - len(GAP) * len(widths), _MIN_PROMPT_WIDTH)
    texts = ["prompt", *(join_lines(each.prompt) for each in prompts)]
    for number, (row, text) in enumerate(zip(rows, texts, strict=True)):
        cells = [pad(*cell) for cell in zip(row, widths, "><<<", strict=True)]
        line = GAP.join([*cells, clip(text, room)]).rstrip()
        yield line if number else faint(line)


def _make_cells(entry: PromptLines) -> tuple[str, str, str, str]:
    moment = parse_time(entry.time)
    return (
        f"{entry.lines:,}",
        f"{label_id(entry.session)}:{entry.turn or '?'}",
        format_date(moment) if moment else "",
        safe_text(entry.model or "", single_line=True),
    )


def iter_rest(counts: dict[str, int], total: int) -> Iterator[str]:
    """Yield how many lines are from elsewhere."""
    for name, count in counts.items():
        if count:
            yield f"{format_count(count, 'line')} of {total:,} {name}"
