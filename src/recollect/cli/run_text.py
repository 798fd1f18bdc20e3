"""The output of `recollect run`: text as in `follow`, or JSON Lines.

JSON messages are passed through as the client printed them, except for secrets, so that scripts can
use messages that are unknown to this version. In a terminal, a block that is still being written is
shown in transient lines below the permanent ones; they never exceed the terminal height, because
lines that have scrolled away cannot be erased.
"""

import shutil
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol

import click
from msgspec.structs import replace
from rich.text import Text

from recollect.cli.follow_text import TurnWindow, render_notice
from recollect.cli.json_output import format_line
from recollect.cli.stream_masks import STREAM, MessageMask, PartialMask, mask_words
from recollect.cli.terminal_output import is_terminal
from recollect.documents.command_reports import RUN_SCHEMA, RunDocument, RunFigures
from recollect.documents.kinds import ToolStatus
from recollect.documents.turn_documents import TextStep, ThinkingStep, ToolStep
from recollect.launch import stream_session
from recollect.launch.client_process import StderrLine, StdoutMessage
from recollect.live.live_events import EventSubject
from recollect.locations import TranscriptKind
from recollect.quantities import format_count, format_dollars, format_duration
from recollect.reader.line_blocks import mask_value
from recollect.reader.stream_reader import StreamItem
from recollect.records.decoding import decode_value
from recollect.records.envelope import Damaged, Torn
from recollect.records.system_records import CompactBoundary
from recollect.render.terminal import safe_line, safe_text
from recollect.render.terminal.canvas import MIN_COLUMNS, Canvas, RenderOptions, indent
from recollect.render.terminal.terminal_turns import render_call, render_text, render_thinking
from recollect.render.views.part_builders import join_facts, show_prose


def describe_start(pid: int, arguments: tuple[str, ...]) -> RunDocument:
    """Return the first document."""
    return RunDocument(schema=RUN_SCHEMA, event="started", pid=pid, arguments=arguments)


def describe_message(output: StdoutMessage | StderrLine) -> RunDocument | None:
    """Return the document of some output of the client; None for an empty line."""
    if isinstance(output, StderrLine):
        return RunDocument(schema=RUN_SCHEMA, event="stderr", text=output.text)
    message = decode_value(output.raw, dict[str, Any])
    if message is not None:
        return RunDocument(schema=RUN_SCHEMA, event="message", message=message)
    text = output.raw.decode(errors="replace").strip()
    return RunDocument(schema=RUN_SCHEMA, event="text", text=text) if text else None


def describe_end(session: stream_session.StreamSession, code: int) -> RunDocument:
    """Return the last document."""
    return RunDocument(
        schema=RUN_SCHEMA,
        event="ended",
        session_id=session.session_id,
        code=code,
        figures=session.figures,
    )


_MARGIN = 2
"""Terminal lines to leave free: the line of the cursor and one above it."""


class Screen:
    """Prints permanent lines above transient ones."""

    def __init__(self) -> None:
        self._transient: list[str] = []

    def print(self, lines: Sequence[str]) -> None:
        """Print permanent lines."""
        if lines:
            transient = self._transient
            self.show(())
            click.echo("\n".join(lines), color=True)
            self.show(transient)

    def show(self, lines: Sequence[str]) -> None:
        """Replace the transient lines."""
        room = max(shutil.get_terminal_size().lines - _MARGIN, 1)
        shown = list(lines)[-room:]
        if shown == self._transient:
            return
        wipe = f"\x1b[{len(self._transient)}A\r\x1b[J" if self._transient else ""
        click.echo(wipe + "".join(f"{line}\n" for line in shown), nl=False, color=True)
        self._transient = shown


TURNS: Final = 20
"""Number of turns to keep: a run has one, plus a few when background tasks report."""

MAX_PARTIAL_LENGTH: Final = 8000
"""Maximum length of a partial block to render, from its end: more than fits on a screen."""

_NESTED: Final = "  ┃ "
_SUCCESS: Final = "success"


class StreamRenderer:
    """Renders the records of a stream session as lines, with a window for each subagent."""

    def __init__(self, canvas: Canvas, session: stream_session.StreamSession) -> None:
        self._canvas = canvas
        self._session = session
        self._windows: dict[str | None, TurnWindow] = {}
        self._waiting: dict[str | None, None] = {}
        self._current: str | None = None
        self._is_waiting_for_summary = False
        self._partial_mask = PartialMask()

    def feed(
        self, item: stream_session.StreamRecord | stream_session.StreamNotice | None
    ) -> Iterator[str]:
        """Yield the lines that must not be delayed."""
        match item:
            case stream_session.StreamRecord(agent=agent, record=record):
                if agent not in self._waiting:
                    # Keep the order across subagents.
                    yield from self.flush()
                self._find_window(agent).add(record)
                self._waiting[agent] = None
                # Its summary is the next message and is rendered together with it.
                self._is_waiting_for_summary = isinstance(record, CompactBoundary)
            case stream_session.StreamNotice(text=text):
                yield from self.flush()
                yield from render_notice(text, self._canvas)

    def flush(self) -> Iterator[str]:
        """Yield the lines of what was fed since the last flush."""
        if self._is_waiting_for_summary:
            return
        waiting, self._waiting = self._waiting, {}
        for agent in waiting:
            lines = list(self._windows[agent].render(self._canvas, self._room(agent)))
            if lines:
                if agent is None and self._current and lines[0]:
                    yield ""
                yield from self._announce(agent)
                yield from self._nest(agent, lines)

    def render_partial(self) -> list[str]:
        """Return the lines of the block that is being written, if any."""
        found = self._session.partial
        if found is None:
            return []
        agent, block = found
        return self._render_block(agent, replace(block, text=self._partial_mask.mask(block.text)))

    def _render_block(self, agent: str | None, block: stream_session.PartialBlock) -> list[str]:
        return ["", *self._nest(agent, _render_partial(block, self._canvas, self._room(agent)))]

    def finish(self, code: int | None = None) -> Iterator[str]:
        """Yield the remaining lines, the outcome and the summary."""
        self._is_waiting_for_summary = False
        yield from self.flush()
        if self._session.partial is not None:
            agent, block = self._session.partial
            yield from self._render_block(agent, replace(block, text=mask_words(block.text)))
            yield from render_notice("interrupted here", self._canvas)
        yield ""
        for result in self._session.results:
            if result.subtype not in (None, _SUCCESS):
                reasons = "; ".join(result.errors)
                yield from render_notice(
                    join_facts(f"ended: {result.subtype}", reasons), self._canvas
                )
        if code:
            yield from render_notice(f"claude exited with {code}", self._canvas)
        yield from render_notice(describe_figures(self._session.figures), self._canvas)
        if self._session.session_id:
            yield from render_notice(f"session {self._session.session_id}", self._canvas)

    def _find_window(self, agent: str | None) -> TurnWindow:
        if agent not in self._windows:
            kind = TranscriptKind.SUBAGENT if agent else TranscriptKind.SESSION
            source = EventSubject(path="", session_id="", agent_id=agent, kind=kind, project="")
            self._windows[agent] = TurnWindow(source, TURNS)
        return self._windows[agent]

    def _room(self, agent: str | None) -> int:
        columns = self._canvas.options.columns
        return columns if agent is None else max(columns - len(_NESTED), MIN_COLUMNS)

    def _announce(self, agent: str | None) -> Iterator[str]:
        """Yield a heading when another subagent continues."""
        if agent is not None and agent != self._current:
            about = self._session.agents.get(agent, stream_session.Agent())
            name = join_facts(about.kind, about.description) or "subagent"
            shown = safe_line(name)
            line = Text.assemble(("  ↳ ", "magenta"), (shown, "bold magenta"))
            yield ""
            yield from self._canvas.fold(line, self._canvas.options.columns)
        self._current = agent

    def _nest(self, agent: str | None, lines: list[str]) -> Iterator[str]:
        margin = self._canvas.styled(_NESTED, "magenta") if agent else ""
        return (line.rstrip() for line in indent(lines, margin))


def describe_figures(figures: RunFigures) -> str:
    """Return the figures of a run in one line."""
    tokens = figures.tokens
    return join_facts(
        format_count(figures.turns, "turn"),
        format_count(figures.replies, "reply", "replies"),
        format_count(figures.tool_calls, "tool call"),
        f"{format_count(tokens.total, 'token')} ({tokens.output:,} written)",
        None if figures.cost_usd is None else format_dollars(figures.cost_usd, 4),
        None if figures.duration_ms is None else format_duration(figures.duration_ms),
    )


def _render_partial(block: stream_session.PartialBlock, canvas: Canvas, columns: int) -> list[str]:
    text = block.text[-MAX_PARTIAL_LENGTH:]
    match block.kind:
        case stream_session.PartialKind.TEXT:
            said = TextStep(uuid=None, message_id="", role="assistant", parts=show_prose(text))
            return list(render_text(said, canvas, columns))
        case stream_session.PartialKind.THINKING:
            return list(
                render_thinking(ThinkingStep(uuid=None, message_id="", text=text), canvas, columns)
            )
    call = ToolStep(
        uuid=None,
        message_id="",
        call_id="",
        tool=block.tool,
        mcp_server=None,
        title="",
        summary="",
        status=ToolStatus.PENDING,
    )
    return list(render_call(call, canvas, columns))


DRAW_SECONDS: Final = 0.1
DRAW_SHARE: Final = 5
"""Rendering takes at most a fifth of the time, however long the conversation is."""


class Printer(Protocol):
    """Receives the events of a run."""

    def start(self, pid: int) -> None:
        """The client was started."""

    def on_message(self, message: StdoutMessage | StderrLine | None) -> None:
        """The client printed something; None means a pause."""

    def finish(self, code: int) -> None:
        """The client has exited."""


class JsonPrinter:
    """Prints the messages of the client as JSON Lines."""

    def __init__(self, session: stream_session.StreamSession, arguments: tuple[str, ...]) -> None:
        self._session = session
        self._arguments = arguments
        self._mask = MessageMask()

    def start(self, pid: int) -> None:
        """Print the first document."""
        self._print(describe_start(pid, self._arguments))

    def on_message(self, message: StdoutMessage | StderrLine | None) -> None:
        """Print the message."""
        if isinstance(message, StdoutMessage):
            self._session.feed(message.item)
        document = describe_message(message) if message is not None else None
        if document is None:
            return
        if document.message is None:
            self._print(document)
            return
        for masked in self._mask.iter_masked(document.message):
            click.echo(format_line(replace(document, message=masked)))

    def finish(self, code: int) -> None:
        """Print the last document."""
        self._print(describe_end(self._session, code))

    @staticmethod
    def _print(document: RunDocument) -> None:
        click.echo(format_line(mask_value(STREAM, document)))


class TextPrinter:
    """Prints complete steps, and in a terminal also the one being written."""

    def __init__(
        self, session: stream_session.StreamSession, prompt: str | None, options: RenderOptions
    ) -> None:
        self._session = session
        self._renderer = StreamRenderer(Canvas(options), session)
        self._screen = Screen()
        self._is_live = is_terminal()
        self._prompt = prompt
        self._due = 0.0

    def start(self, pid: int) -> None:
        """Show the prompt."""
        if self._prompt is not None:
            prompt = mask_words(self._prompt)
            self._show(self._renderer.feed(self._session.add_prompt(prompt)))
        self.flush()

    def on_message(self, message: StdoutMessage | StderrLine | None) -> None:
        """Show the message, now or with the next flush."""
        text = _find_text(message)
        if text is not None:
            self._screen.show(())
            click.echo(f"claude: {safe_text(mask_words(text))}", err=True)
        elif isinstance(message, StdoutMessage):
            self.add(message.item)
        if message is None or time.monotonic() >= self._due:
            self.flush()

    def add(self, item: StreamItem) -> None:
        """Add a message."""
        self._show(self._renderer.feed(self._session.feed(item)))

    def flush(self) -> None:
        """Show everything that was added."""
        start = time.monotonic()
        lines = list(self._renderer.flush())
        partial = self._renderer.render_partial() if self._is_live else []
        if lines:
            self._screen.show(())
            self._screen.print(lines)
        self._screen.show(partial)
        took = time.monotonic() - start
        self._due = start + max(DRAW_SECONDS, DRAW_SHARE * took)

    def finish(self, code: int = 0) -> None:
        """Show the rest and the summary."""
        self._screen.show(())
        self._show(self._renderer.finish(code))

    def _show(self, lines: Iterator[str]) -> None:
        self._screen.print(list(lines))


def _find_text(message: StdoutMessage | StderrLine | None) -> str | None:
    """Return plain text from the client: stderr, or lines between messages that are not JSON."""
    match message:
        case StderrLine(text=text):
            return text
        case StdoutMessage(item=Damaged() | Torn(), raw=raw):
            return raw.decode(errors="replace").strip() or None
    return None
