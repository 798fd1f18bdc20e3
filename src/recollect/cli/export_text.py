"""What an export says on stderr, and the review of what it masks."""

from collections.abc import Iterator, Sequence
from typing import Final

import click

from recollect.documents.command_reports import ExportDocument
from recollect.export.review import Suspect
from recollect.quantities import format_bytes, format_count
from recollect.render.terminal import safe_text

_MAX_NAMED: Final = 3
_MAX_VALUE: Final = 200


def describe_export(document: ExportDocument) -> Iterator[str]:
    """Yield which files were written, and what was masked in them."""
    for path in document.unread:
        yield f"recollect: Could not read {safe_text(path, single_line=True)}"
    yield from _describe_files(document)
    if not document.is_redacted:
        yield "Nothing was masked. Check the export for secrets before you share it."
    elif not document.masked:
        yield "No secrets found."
    else:
        total = sum(each.count for each in document.masked)
        kinds = ", ".join(f"{each.count} {each.kind}" for each in document.masked)
        yield f"Masked {format_count(total, 'secret')}: {kinds}."


def _describe_files(document: ExportDocument) -> Iterator[str]:
    for file in document.files[:_MAX_NAMED]:
        name = safe_text(file.path, single_line=True)
        yield f"Wrote {name} ({format_bytes(file.size)})"
    rest = document.files[_MAX_NAMED:]
    if rest:
        size = format_bytes(sum(file.size for file in rest))
        yield f"and {format_count(len(rest), 'more file')} ({size})"


def review(suspects: Sequence[Suspect]) -> list[Suspect]:
    """Ask about each value; return those that are no secrets."""
    kept: list[Suspect] = []
    for number, suspect in enumerate(suspects, start=1):
        for line in _describe(suspect):
            click.echo(line, err=True)
        answer = click.prompt(
            f"Mask it? ({number} of {len(suspects)}; a masks all others)",
            type=click.Choice(["y", "n", "a"]),
            default="y",
            err=True,
        )
        if answer == "a":
            break
        if answer == "n":
            kept.append(suspect)
    return kept


def _describe(suspect: Suspect) -> Iterator[str]:
    place = f"session {suspect.session_id[:8]}, turn {suspect.turn}"
    times = "" if suspect.count == 1 else f", {suspect.count} times"
    yield ""
    yield click.style(
        safe_text(f"{suspect.kind} ({suspect.confidence}), {place}{times}"), bold=True
    )
    value = suspect.value if len(suspect.value) <= _MAX_VALUE else f"{suspect.value[:_MAX_VALUE]}…"
    pieces = (
        safe_text(suspect.before, single_line=True),
        click.style(safe_text(value, single_line=True), reverse=True),
        safe_text(suspect.after, single_line=True),
    )
    yield f"  {''.join(pieces)}"
