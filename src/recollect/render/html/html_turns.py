"""Render turns and their steps as HTML, with the templates beside this module.

The details of a tool call are left out unless requested, because the page of a long session would
be fifty times as large. The line of the call links to them.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from markupsafe import Markup
from msgspec import Struct, structs

from recollect.documents.kinds import ToolStatus
from recollect.documents.turn_documents import Diff, Fields, Part, Step, ToolStep, TurnView
from recollect.quantities import format_duration, format_short_number
from recollect.records.tools.file_tools import FILE_TOOLS
from recollect.render.html.html_parts import DEFAULT_OPTIONS, PartOptions, render_parts
from recollect.render.html.html_text import add_chips, render_markdown, show_text
from recollect.render.views.notice_runs import NoticeRun, fold_notices, split_title
from recollect.render.views.part_builders import name_part, name_tool, shorten_path
from recollect.session.figures import STEP_NAMES, classify_call
from recollect.session.prompt_contexts import name_context

if TYPE_CHECKING:
    from jinja2 import Environment


_TITLED_BY_US = frozenset(
    """
    CronCreate CronDelete EnterPlanMode ExitWorktree SendMessage StructuredOutput TaskGet TaskOutput
    TaskStop TaskUpdate TodoWrite
    """.split()
)
"""Tools whose titles are made by views, such as `task 3`; the titles of others are quoted from
their input."""


def keep_english(words: str) -> str:
    """Return `words` unchanged, because the templates are in English."""
    return words


class Frame(Struct, frozen=True, kw_only=True):
    """Options of the page that a conversation is rendered for."""

    url: str
    """URL path of the session; details of calls are below it."""
    query: str = ""
    """Query string for those paths, such as `?project=…`."""
    translate: Callable[[str], str] = keep_english
    translate_phrase: Callable[[str], str] = keep_english
    """Translates summaries, titles of notices and other lines that views generate."""
    language: str = "en"
    """The language of units, such as those of a duration."""
    is_whole: bool = False
    """Whether the details of calls are in the page itself instead of fetched when they are
    opened."""
    has_details: bool = False
    """Whether the details of calls are in the page, for browsers that cannot fetch them."""
    directory: str | None = None
    """The session's directory: paths below it are relative."""
    has_raw: bool = True
    """Whether there are pages of raw records."""
    can_fork: bool = False
    """Whether replies offer to continue from them in a copy of the session."""
    reveals: bool = False
    """Whether a click may show a masked secret: pages can ask for one, files cannot."""
    show_cost: Callable[[TurnView], str] | None = None
    """Formats the cost of a turn; this module has no prices."""
    parts: PartOptions = DEFAULT_OPTIONS
    """How parts are rendered."""
    is_nested: bool = False
    """Whether the turns are those of a subagent inside another turn."""

    file_page: Callable[[str], str] | None = None
    """Returns the URL of a file's history, by its absolute path."""
    show_agent_cost: Callable[[str], str] | None = None
    """Formats the cost of a subagent, by its id."""
    show_total: Callable[[TurnView], str] | None = None
    """Formats the cost of the session up to the end of a turn."""

    def shorten(self, path: str) -> str:
        """Return a path below the working directory relative to it, and any other text as it is."""
        return shorten_path(path, self.directory)

    def show_title(self, call: ToolStep) -> str:
        """Return the title of a call: its description, ours, or one quoted from its input."""
        if call.description:
            return call.description
        is_ours = call.tool in _TITLED_BY_US
        return self.translate_phrase(call.title) if is_ours else self.shorten(call.title)


def list_input(call: ToolStep) -> tuple[Part, ...]:
    """Return the input of a call without the description, which its line already shows."""
    said = ("description", call.description)
    parts = (_leave_out(part, said) for part in call.input)
    return tuple(part for part in parts if part is not None)


def _leave_out(part: Part, field: tuple[str, str]) -> Part | None:
    if not isinstance(part, Fields) or field not in part.fields:
        return part
    others = tuple(each for each in part.fields if each != field)
    return Fields(others) if others else None


_LINE_COUNTS = re.compile(r"(?<!\S)\+([\d,]+) -([\d,]+)(?!\S)")
_COLOURED_COUNTS = (
    r'<span class="added-count">+\1</span> <span class="removed-count">&minus;\2</span>'
)


def render_summary(call: ToolStep, frame: Frame) -> Markup:
    """Render the summary of a result; added and removed lines are coloured."""
    text = show_text(frame.translate_phrase(call.summary))
    if call.tool not in FILE_TOOLS:
        return text
    return Markup(_LINE_COUNTS.sub(_COLOURED_COUNTS, str(text)))  # noqa: S704 - escaped by show_text


def render_turn(turn: TurnView, frame: Frame) -> Markup:
    """Render a turn with all of its steps."""
    changes = count_changes(turn)
    html = _render("turn.html", turn=turn, frame=frame, drawn=None, kept=0, changed=changes)
    return _add_chips(html, frame)


def render_step(step: Step | NoticeRun, frame: Frame) -> Markup:
    """Render one step of a turn, or a run of notices."""
    return _add_chips(_render("step.html", each=step, frame=frame), frame)


def count_elements(step: Step | NoticeRun) -> int:
    """Return how many elements a step is rendered as: a call is followed by its subagents."""
    return 1 + len(step.subagents) if isinstance(step, ToolStep) else 1


def render_grown_turn(
    turn: TurnView, frame: Frame, steps: Sequence[Markup], *, kept: int, changes: "TurnChanges"
) -> Markup:
    """Render a turn with these steps, which follow the first `kept` elements of those on a page."""
    html = _render("turn.html", turn=turn, frame=frame, drawn=steps, kept=kept, changed=changes)
    return _add_chips(html, frame)


def _render_nested(turn: TurnView, frame: Frame) -> Markup:
    """Render a turn of a subagent: only turns of the session around it show their numbers."""
    return render_turn(turn, frame if frame.is_nested else structs.replace(frame, is_nested=True))


def render_call(call: ToolStep, frame: Frame, *, has_more: bool = False) -> Markup:
    """Render the details of a call, with a link to all of its fields if there are more."""
    return _add_chips(_render("call.html", call=call, frame=frame, has_more=has_more), frame)


def _add_chips(html: Markup, frame: Frame) -> Markup:
    if not frame.reveals:
        return html
    return add_chips(html, f"{frame.url}/reveal{frame.query}", frame.translate("Reveal"))


_TICK = Markup('<span class="tick tick-{} long-{}"></span>')
_MAX_TICK = 6


def render_tick(kind: str, milliseconds: float | None = None) -> Markup:
    """Render the mark of a step on the rail; its length depends on the duration."""
    # Uses classes, because a page may not contain styles; a step of 0.1 s is 1, of 1,000 s 5.
    length = 1 + round(math.log10(1 + (milliseconds or 0) / 100))
    return _render_tick(kind, min(length, _MAX_TICK))


@lru_cache(maxsize=128)
def _render_tick(kind: str, length: int) -> Markup:
    return _TICK.format(kind, length)


def find_changed_file(call: ToolStep) -> str | None:
    """Return the absolute path of the file that a call changed."""
    for part in (*call.input, *call.output):
        if isinstance(part, Diff) and part.path and PurePath(part.path).is_absolute():
            return part.path
    return None


def split_path(title: str, tool: str) -> tuple[str, str]:
    """Return the folder and the name of a path, so that the name is never cut off."""
    if tool not in FILE_TOOLS:
        return "", title
    at = max(title.rfind("/"), title.rfind("\\")) + 1
    return title[:at], title[at:]


class StepChanges(Struct, frozen=True, gc=False):
    """The changes of a call: paths of files, and lines as far as diffs show them."""

    paths: tuple[str | None, ...] = ()
    added: int = 0
    removed: int = 0


class TurnChanges(Struct, frozen=True):
    """The changes of a turn: files, and lines as far as diffs show them."""

    files: int = 0
    added: int = 0
    removed: int = 0


_NO_CHANGES = StepChanges()


def count_step_changes(step: Step | NoticeRun) -> StepChanges:
    """Count the files and lines that a step changed."""
    if not isinstance(step, ToolStep) or step.status is not ToolStatus.SUCCESS:
        return _NO_CHANGES
    diffs = [part for part in (*step.input, *step.output) if isinstance(part, Diff)]
    if not diffs:
        return _NO_CHANGES
    signs = [line[:1] for diff in diffs for hunk in diff.hunks for line in hunk.lines]
    paths = tuple(diff.path for diff in diffs)
    return StepChanges(paths, signs.count("+"), signs.count("-"))


def add_changes(steps: Iterable[StepChanges]) -> TurnChanges:
    """Return the combined changes of the steps of a turn."""
    changes = [each for each in steps if each is not _NO_CHANGES]
    return TurnChanges(
        len({path for each in changes for path in each.paths}),
        sum(each.added for each in changes),
        sum(each.removed for each in changes),
    )


def count_changes(turn: TurnView) -> TurnChanges:
    """Count the files and lines that the calls of a turn changed."""
    return add_changes(map(count_step_changes, turn.steps))


WINDOWS = (200_000, 1_000_000)
"""Context windows: transcripts do not say which one a model had."""


def render_context(tokens: int, added: int = 0) -> Markup:
    """Render how full the context was, in the smallest window that fits, and what a turn added."""
    window = next((size for size in WINDOWS if tokens <= size), tokens)
    share = round(100 * tokens / window)
    before = round(100 * (tokens - max(added, 0)) / window)
    return Markup(
        '<svg class="meter" width="100%" height="6" aria-hidden="true"><rect class="room" '
        'width="100%" height="6" rx="1"/><rect class="used" width="{}%" height="6" rx="1"/>'
        '<rect class="before" width="{}%" height="6" rx="1"/></svg>'
    ).format(share, before)


def format_growth(tokens: int) -> str:
    """Return a number of tokens with its sign."""
    return ("\N{MINUS SIGN}" if tokens < 0 else "+") + format_short_number(abs(tokens))


def render_call_tick(call: ToolStep) -> Markup:
    """Render the mark of a tool call."""
    kind = classify_call(call.tool, call.status, has_agent=bool(call.subagents))
    return render_tick(STEP_NAMES[kind], call.duration_ms)


def _render(template: str, **values: object) -> Markup:
    # Autoescape is on in every template, and they use nothing else to make text safe.
    return Markup(_environment().get_template(template).render(values))  # noqa: S704


_MODEL: Final = re.compile(r"claude-([a-z]+)-(\d+)(?:-(\d{1,2}))?(?:-\d{8})?")


def shorten_model(model: str) -> str:
    """Return the common name of a model: `claude-opus-5-5-20261101` is `opus 5.5`."""
    found = _MODEL.fullmatch(model)
    if found is None:
        return model
    family, major, minor = found.groups()
    return f"{family} {major}.{minor}" if minor else f"{family} {major}"


@lru_cache(maxsize=1)
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined  # 80 ms

    environment = Environment(
        loader=PackageLoader("recollect.render.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        kind=lambda step: type(step).__name__,
        folded=fold_notices,
        own_facts=lambda notice: split_title(notice)[1],
        markdown=render_markdown,
        nested=_render_nested,
        parts=render_parts,
        duration=format_duration,
        text=show_text,
        tick=render_tick,
        call_tick=render_call_tick,
        path_parts=split_path,
        changed_file=find_changed_file,
        own_input=list_input,
        result_line=render_summary,
        tool_name=name_tool,
        context=render_context,
        growth=format_growth,
        part_name=lambda part, frame: name_part(part, frame.translate),
        context_name=name_context,
        short=format_short_number,
        model_name=shorten_model,
    )
    return environment
