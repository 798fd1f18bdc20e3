"""The workspace of a command: its Claude directories, prices, clock and progress line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from recollect.cli.archive_keys import prepare_archive
from recollect.cli.clock import read_clock
from recollect.cli.progress import ProgressLine
from recollect.errors import NothingFound
from recollect.reader.line_masking import LineMask, mask_by_default
from recollect.render.terminal import safe_text
from recollect.workspace.workspace import NoSessions, Workspace

if TYPE_CHECKING:
    from recollect.reader.line_blocks import LineBlock
    from recollect.redact import RedactionPolicy

TIP: Final = "To try it with sample sessions: recollect demo"


@contextmanager
def command_workspace(
    claude_dirs: Sequence[Path] = (),
    *,
    prices: Path | None = None,
    is_demo: bool = False,
    tip: str = TIP,
) -> Iterator[Workspace]:
    """Open a workspace that shows its progress; without any sessions, `tip` says what to try.

    The progress line is erased at the end, so print the answer after the `with` statement.
    """
    line = ProgressLine()
    prepare_archive()
    workspace = Workspace(_find_roots(claude_dirs, is_demo), None, prices, read_clock, line.show)
    workspace.load_redaction = _load_policy
    mask_by_default(_make_mask(workspace))
    try:
        with workspace:
            if is_demo:
                workspace.use_temporary_index()
            yield workspace
            if workspace.archive_failure:
                line.clear()
                click.echo(f"recollect: {safe_text(workspace.archive_failure)}", err=True)
    except NoSessions as error:
        raise NothingFound(f"{error}\n{tip}") from error
    finally:
        line.clear()


def _find_roots(claude_dirs: Sequence[Path], is_demo: bool) -> Sequence[Path]:
    if not is_demo:
        return claude_dirs
    from recollect.demo import CLAUDE_DIRECTORY  # rarely needed

    return (CLAUDE_DIRECTORY,)


def _make_mask(workspace: Workspace) -> LineMask:
    """Return a mask that is loaded with the first line that is read: a list may need none."""

    @cache
    def load() -> LineMask:
        from recollect.workspace.secret_masks import make_mask

        return make_mask(workspace)

    def mask(file: str, block: LineBlock) -> Mapping[int, bytes]:
        return load()(file, block)

    return mask


def _load_policy() -> RedactionPolicy:
    from recollect.cli.effective_settings import load_policy  # the rules, rarely needed

    return load_policy()
