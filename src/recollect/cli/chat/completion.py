"""Completion while typing a prompt: files and folders after `@`, commands after `/`."""

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from recollect.launch.client_replies import SlashCommand
from recollect.launch.context_references import ProjectPath, list_paths, match_paths
from recollect.render.terminal import clip, safe_text

LISTING_SECONDS: Final = 10.0
"""How long a listing of the project is used: a new file should turn up soon."""

MAX_DESCRIPTION: Final = 60


class PromptCompleter(Completer):
    """Completes the word before the cursor."""

    def __init__(
        self, directory: str, commands: Callable[[], Iterable[SlashCommand]], limit: int = 12
    ) -> None:
        self._directory = Path(directory)
        self._commands = commands
        self._limit = limit
        self._paths: tuple[ProjectPath, ...] = ()
        self._listed = float("-inf")

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        """Yield what the word before the cursor may become."""
        before = document.text_before_cursor
        word = before.split()[-1] if before and not before[-1].isspace() else ""
        if word.startswith("@"):
            yield from self._complete_path(word[1:])
        elif before.startswith("/") and before == word:
            yield from self._complete_command(word[1:])

    def _complete_path(self, typed: str) -> Iterator[Completion]:
        for found in match_paths(self._list_paths(), typed, self._limit):
            path = f"{found.path}/" if found.is_folder else found.path
            shown = safe_text(path, single_line=True)
            if shown == path and " " not in path:
                # The client takes a path up to the next blank.
                yield Completion(path, -len(typed), display=shown)

    def _complete_command(self, typed: str) -> Iterator[Completion]:
        for command in self._commands():
            if command.name.startswith(typed):
                about = safe_text(command.description, single_line=True)
                shown = safe_text(f"/{command.name} {command.argument_hint}", single_line=True)
                yield Completion(
                    command.name,
                    -len(typed),
                    display=shown.rstrip(),
                    display_meta=clip(about, MAX_DESCRIPTION),
                )

    def _list_paths(self) -> tuple[ProjectPath, ...]:
        now = time.monotonic()
        if now - self._listed > LISTING_SECONDS:
            self._paths = list_paths(self._directory)
            self._listed = now
        return self._paths
