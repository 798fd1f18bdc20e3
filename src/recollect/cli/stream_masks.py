"""Mask secrets in the output of a running client before it is shown or passed on.

Complete messages are masked when they are decoded. This module handles the rest: text that is still
being written, permission requests, and messages that are passed on to programs.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from recollect.reader.line_blocks import find_mask, mask_text, mask_value
from recollect.redact.growing_text import GrowingText

STREAM: Final = ""
"""The name of the one stream of a command."""

_DELTA: Final = "content_block_delta"
_TEXT_FIELDS: Final = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "input_json_delta": "partial_json",
}

Json = dict[str, Any]


def mask_words(text: str) -> str:
    """Return a text with secrets masked."""
    return mask_text(STREAM, text)


class PartialMask:
    """The masked text of a growing block."""

    def __init__(self) -> None:
        self._start_over()

    def _start_over(self) -> None:
        self._growing = GrowingText(mask_words)
        self._seen = ""
        self._shown = ""

    def mask(self, text: str) -> str:
        """Return the masked form of a text: the previous one with more appended, or a new one."""
        if find_mask() is None:
            return text
        if not text.startswith(self._seen):
            self._start_over()
        self._shown += self._growing.add(text[len(self._seen) :])
        self._seen = text
        return self._shown


class MessageMask:
    """Masks the messages of a client for programs.

    Pieces of a text are held back until it is clear that they contain no secret, and the last one
    until the block is complete.
    """

    def __init__(self) -> None:
        self._blocks: dict[tuple[object, object], tuple[Json, GrowingText]] = {}

    def iter_masked(self, message: Json) -> Iterator[Json]:
        """Yield the pieces that were held back, then the masked message."""
        event = message.get("event")
        agent = message.get("parent_tool_use_id")
        if find_mask() is None or not isinstance(event, Mapping):
            if message.get("type") == "assistant":
                for each in [block for block in self._blocks if block[0] == agent]:
                    yield from self._finish(each)
            yield mask_value(STREAM, message)
            return
        block = agent, event.get("index")
        text = _find_text(event)
        if text is not None:
            _, growing = self._blocks.get(block) or (message, GrowingText(mask_words))
            self._blocks[block] = message, growing
            yield _replace_text(message, growing.add(text))
            return
        yield from self._finish(block)
        yield mask_value(STREAM, message)

    def _finish(self, block: tuple[object, object]) -> Iterator[Json]:
        if block in self._blocks:
            last, growing = self._blocks.pop(block)
            if rest := growing.finish():
                yield _replace_text(last, rest)


def _find_text(event: Mapping[str, Any]) -> str | None:
    """Return the text of a piece; None if an event is something else."""
    delta = event.get("delta")
    if event.get("type") != _DELTA or not isinstance(delta, Mapping):
        return None
    text = delta.get(_TEXT_FIELDS.get(str(delta.get("type")), ""))
    return text if isinstance(text, str) else None


def _replace_text(message: Json, text: str) -> Json:
    event = message["event"]
    delta = event["delta"]
    return {
        **message,
        "event": {**event, "delta": {**delta, _TEXT_FIELDS[delta["type"]]: text}},
    }
