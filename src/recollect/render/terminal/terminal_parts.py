"""Render each kind of part as lines for a terminal, and the header of a session: title, place, time
and figures.
"""

import binascii
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.text import Text

from recollect.documents import turn_documents
from recollect.documents.session_documents import TokenShares
from recollect.documents.session_listing import Metadata
from recollect.quantities import format_bytes, format_count, format_dollars, format_time_range
from recollect.render.terminal import measure, safe_line, safe_text, terminal_prose
from recollect.render.terminal.ansi_output import TextRunStyle, iter_runs
from recollect.render.terminal.canvas import Canvas, RenderOptions, indent
from recollect.render.views.part_builders import join_facts, name_part, shorten_entries, take_line
from recollect.session.session import Session
from recollect.session.times import parse_time

_MAX_NAME_WIDTH = 20
_BOXES = {
    turn_documents.CheckState.PENDING: ("☐", ""),
    turn_documents.CheckState.ACTIVE: ("▶", "bold yellow"),
    turn_documents.CheckState.DONE: ("✓", "green"),
    turn_documents.CheckState.DROPPED: ("✗", "dim strike"),
}
_WORD_STYLES = {
    turn_documents.CheckState.PENDING: "",
    turn_documents.CheckState.ACTIVE: "bold",
    turn_documents.CheckState.DONE: "dim",
    turn_documents.CheckState.DROPPED: "dim strike",
}


def render_part(part: turn_documents.Part, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield the lines of a part, none wider than `columns`."""
    return _DRAW[type(part)](part, canvas, columns)


def _render_prose(part: turn_documents.Prose, canvas: Canvas, columns: int) -> Iterator[str]:
    return terminal_prose.render_prose(part.text, canvas, columns)


def _render_plain(part: turn_documents.Plain, canvas: Canvas, columns: int) -> Iterator[str]:
    return terminal_prose.render_plain(part.text, canvas, columns)


def _render_code(part: turn_documents.Code, canvas: Canvas, columns: int) -> Iterator[str]:
    return terminal_prose.render_code(part, canvas, columns)


def _render_json(part: turn_documents.Json, canvas: Canvas, columns: int) -> Iterator[str]:
    return terminal_prose.render_code(
        turn_documents.Code(part.text, language="json"), canvas, columns
    )


def _render_output(part: turn_documents.Output, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield the output of a program in its colours; errors are red."""
    line = Text()
    for words, ink in iter_runs(part.text.replace("\r\n", "\n").strip("\n")):
        style = _style_of(ink) or ("red" if part.is_error else "")
        first, *others = words.split("\n")
        line.append(first, style)
        for other in others:
            yield from canvas.fold(line, columns)
            line = Text(other, style)
    yield from canvas.fold(line, columns)


def _style_of(ink: TextRunStyle) -> str:
    flags = ("bold", "dim", "italic", "underline", "strike", "reverse")
    return " ".join([*([ink.hue] if ink.hue else []), *(f for f in flags if getattr(ink, f))])


def _render_diff(part: turn_documents.Diff, canvas: Canvas, columns: int) -> Iterator[str]:
    path = safe_line(part.path or "(unnamed)")
    title = Text.assemble((path, "bold"), (f"  {terminal_prose.describe_change(part)}", "dim"))
    yield from canvas.fold(title, columns)
    yield from terminal_prose.render_diff(part, canvas, columns)


def _render_checklist(
    part: turn_documents.Checklist, canvas: Canvas, columns: int
) -> Iterator[str]:
    for item in part.items:
        yield from _render_item(item, canvas, columns)


def _render_item(item: turn_documents.CheckItem, canvas: Canvas, columns: int) -> Iterator[str]:
    box, style = _BOXES[item.state]
    note = f"  {safe_text(item.note)}" if item.note else ""
    words = Text.assemble((safe_text(item.text), _WORD_STYLES[item.state]), (note, "dim"))
    yield from _hang_indent(box, style, words, canvas, columns)


def _render_entries(part: turn_documents.Entries, canvas: Canvas, columns: int) -> Iterator[str]:
    directory = None if canvas.options.is_full else canvas.options.directory
    for entry in shorten_entries(part, directory).entries:
        yield from canvas.fold(_describe_entry(entry), columns)
    if part.omitted:
        yield from canvas.fold(Text(f"… and {part.omitted:,} more", "dim"), columns)


def _describe_entry(entry: turn_documents.Entry) -> Text:
    """Return the text of an entry, after its location unless they are the same."""
    line = Text()
    place = entry.path or entry.url or ""
    if place and place != entry.text:
        line.append(safe_line(place), "cyan" if entry.path else "underline")
        line.append(f":{entry.line}" if entry.line is not None else "", "dim")
        line.append("  " if entry.text else "")
    line.append(safe_line(entry.text.expandtabs()))
    if entry.path and entry.url:
        line.append(f"  {safe_line(entry.url)}", "underline")
    if entry.note:
        line.append(f"  {safe_line(entry.note)}", "dim")
    return line


def _render_fields(part: turn_documents.Fields, canvas: Canvas, columns: int) -> Iterator[str]:
    names = [safe_line(name) for name, _ in part.fields]
    width = min(max(map(measure, names), default=0), _MAX_NAME_WIDTH, columns // 3)
    for name, (_, value) in zip(names, part.fields, strict=True):
        # A name that is too long gets its own line instead of being truncated.
        is_long = measure(name) > width
        if is_long:
            yield from canvas.fold(Text(name, "dim"), columns)
        label = "" if is_long else name
        margin = canvas.styled(label + " " * (width - measure(label) + 2), "dim")
        lines = terminal_prose.render_plain(value, canvas, max(columns - width - 2, 1))
        yield from indent(lines, margin, " " * (width + 2))


def _render_question(part: turn_documents.Question, canvas: Canvas, columns: int) -> Iterator[str]:
    question = Text()
    if part.header:
        question.append(f"{safe_text(part.header)}  ", "dim")
    question.append(safe_text(part.text), "bold")
    yield from canvas.wrap(question, columns)
    for choice in part.choices:
        yield from _render_choice(choice, canvas, columns)
    if part.answer is not None:
        yield from _hang_indent(
            ">", "green", Text(safe_text(part.answer), "green"), canvas, columns
        )


def _render_choice(choice: turn_documents.Choice, canvas: Canvas, columns: int) -> Iterator[str]:
    label = (safe_text(choice.label), "bold green" if choice.is_chosen else "")
    description = f"  {safe_text(choice.description)}" if choice.description else ""
    words = Text.assemble(label, (description, "dim"))
    sign, style = ("●", "green") if choice.is_chosen else ("○", "dim")
    yield from _hang_indent(sign, style, words, canvas, columns)


def _render_picture(part: turn_documents.Picture, canvas: Canvas, columns: int) -> Iterator[str]:
    words = [part.media_type, _describe_size(part.data), part.name or ""]
    label = ", ".join(safe_line(word) for word in words if word)
    yield from canvas.fold(Text(f"[{label}]", "magenta"), columns)


def render_growth(view: turn_documents.TurnView, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield how full the context was after a turn, and what the turn added to it."""
    growth = view.context_growth
    if growth is None or not growth.parts:
        return
    head = f"◇ Context: {view.context_tokens:,} tokens, {growth.tokens:+,} in this turn"
    yield from canvas.fold(Text(head, "dim"), columns)
    counts = [f"{'≈' if part.is_estimate else ''}{part.tokens:+,}" for part in growth.parts]
    width = max(map(len, counts))
    for part, count in zip(growth.parts, counts, strict=True):
        line = Text(f"{count:>{width}}  {safe_line(name_part(part))}", "dim")
        yield from indent(canvas.fold(line, max(columns - 4, 1)), canvas.styled("  │ ", "dim"))


def _describe_size(data: str) -> str:
    if not data:
        return "not in the transcript"
    try:
        return format_bytes(len(binascii.a2b_base64(data)))
    except (binascii.Error, ValueError):
        return f"{format_count(len(data), 'character')}, not base64"


def _hang_indent(sign: str, style: str, words: Text, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield text after a sign, with the following lines aligned to the first word."""
    lines = canvas.wrap(words, max(columns - 2, 1))
    yield from indent(lines, canvas.styled(sign, style) + " ", "  ")


_DRAW: dict[type, Callable[[Any, Canvas, int], Iterator[str]]] = {
    turn_documents.Prose: _render_prose,
    turn_documents.Plain: _render_plain,
    turn_documents.Code: _render_code,
    turn_documents.Json: _render_json,
    turn_documents.Output: _render_output,
    turn_documents.Diff: _render_diff,
    turn_documents.Checklist: _render_checklist,
    turn_documents.Entries: _render_entries,
    turn_documents.Fields: _render_fields,
    turn_documents.Question: _render_question,
    turn_documents.Picture: _render_picture,
}


def render_head(
    session: Session, canvas: Canvas, columns: int, shares: TokenShares | None = None
) -> Iterator[str]:
    """Yield the title, place, time and figures of a session.

    Without `shares`, copied tokens are only recognised from its own records.
    """
    about = session.contents.metadata
    title = take_line(about.title or about.first_prompt or "(no title)")
    yield from canvas.wrap(Text(safe_line(title), "bold"), columns)
    for facts in (_list_facts(about, canvas.options), _list_figures(session, shares)):
        known = [safe_line(fact) for fact in facts if fact]
        for line in _fill(known, columns):
            yield from canvas.wrap(Text(line, "dim"), columns)


def _fill(facts: Sequence[str], columns: int) -> Iterator[str]:
    """Yield lines of facts, wrapped between facts if each fits a line."""
    line = ""
    for fact in facts:
        longer = join_facts(line, fact)
        if line and measure(longer) > columns:
            yield line
            longer = fact
        line = longer
    yield line


def _list_facts(about: Metadata, options: RenderOptions) -> list[str | None]:
    when = format_time_range(parse_time(about.created), parse_time(about.last_active), options.zone)
    return [about.id, about.cwd, about.git_branch, when]


def _list_figures(session: Session, shares: TokenShares | None) -> list[str | None]:
    metrics = session.metrics
    own = shares.own if shares else metrics.tokens
    copied = shares.copied if shares else metrics.copied_tokens
    changed = (metrics.lines_added, metrics.lines_removed)
    return [
        format_count(len(session.contents.turns), "turn"),
        format_count(metrics.tool_calls, "tool call"),
        _count_subagents(session, shares),
        f"+{changed[0]:,} -{changed[1]:,} lines" if any(changed) else None,
        format_count(own.total, "token") if own.total else None,
        f"{copied.total:,} copied" if copied.total else None,
        *_list_costs(session, shares),
    ]


def _iter_inner(session: Session) -> Iterator[Session]:
    """Yield the sessions of all subagents, at any depth."""
    for child in session.contents.subagents:
        yield child.session
        yield from _iter_inner(child.session)


def _count_subagents(session: Session, shares: TokenShares | None) -> str | None:
    """Return the number of subagents and their figures, which the other figures exclude."""
    inner = [each.metrics for each in _iter_inner(session)]
    total = shares.subagents.total if shares else sum(each.tokens.total for each in inner)
    tokens = format_count(total, "token")
    if not inner:
        return f"{tokens} more by subagents" if total else None
    calls = format_count(sum(each.tool_calls for each in inner), "tool call")
    return f"{format_count(len(inner), 'subagent')} with {calls} and {tokens} more"


def _list_costs(session: Session, shares: TokenShares | None) -> list[str]:
    """Return the cost recorded by an old client, and our own if prices are known."""
    metrics = session.metrics
    if metrics.client_cost_usd is None:
        costs = [each.metrics.list_price_usd for each in (session, *_iter_inner(session))]
        known = [cost for cost in costs if cost is not None]
        if known and shares and shares.cost_usd is not None:
            known = [shares.cost_usd]
        return [f"{format_dollars(sum(known), 2)} at list prices"] if known else []
    noted = f"{format_dollars(metrics.client_cost_usd, 4)} recorded by Claude Code"
    if metrics.client_priced:
        return [f"{noted} ({format_count(metrics.client_priced, 'message')} without tokens)"]
    ours = metrics.list_price_usd
    return [f"{format_dollars(ours, 4)} at list prices", noted] if ours is not None else [noted]
