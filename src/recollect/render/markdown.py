"""Sessions as Markdown that is clean on GitHub and for a model: no HTML, no remote images. Turns,
their steps and each kind of part, at the requested level of detail.

Prompts and replies are already Markdown, but not meant to be part of another document: they have
their own headings, fences that are never closed, HTML and remote images. Lines are rewritten as
little as possible, and the result is checked with a real parser: text that still contains HTML, or
would absorb the text after it, becomes a code block.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import comrak
from msgspec import Struct

from recollect.documents import turn_documents
from recollect.documents.kinds import Context, InputKind, ToolStatus
from recollect.quantities import format_duration
from recollect.render.terminal import safe_text
from recollect.render.terminal.ansi_output import iter_runs
from recollect.render.views.notice_runs import NoticeRun, fold_notices
from recollect.render.views.part_builders import join_facts, name_tool, shorten_path

if TYPE_CHECKING:
    from comrak import ExtensionOptions


_FENCE: Final = re.compile(r" {0,12}(?:[-*+>] +|\d{1,3}[.)] +)*(`{3,}|~{3,})([^`\n]*)")
_HEADING: Final = re.compile(r"( {0,3})(#{1,6})(?=[ \t]|$)")
_UNDERLINE: Final = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_TEXT_LINE: Final = re.compile(r" {0,3}(?![-*+>#|]|\d+[.)]\s)\S")
_CODE_SPAN: Final = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")
_AUTOLINK: Final = re.compile(r"<(https?://[^\s<>]+|[\w.+-]+@[\w.-]+)>")
_IMAGE: Final = re.compile(r"!\[([^\]\n]*)\](?=\(|\[)")
_LEADING_TAB: Final = re.compile(r"\A *\t[ \t]*")
_DANGEROUS: Final = re.compile(
    r"\[(?=[^\]\n]{0,500}\]\(\s*<?(?:javascript|vbscript|data|file):)", re.IGNORECASE
)
"""The start of a link that no renderer should follow; renderers that are safe leave its URL out."""
_SPECIAL: Final = re.compile(r"[\\`*\[\]<>|~&]|(?<![^\W_])_|_(?![^\W_])|^(?:[#+-]|\d+[.)])(?=\s)")
_BACKTICKS: Final = re.compile(r"`+")
_OMITTED: Final = "<!-- raw HTML omitted -->"
_SHALLOW: Final = re.compile(r"<h[123]>")
_SENTINEL: Final = "recollect-sentinel"
_INNERMOST: Final = 6
_DEMOTED: Final = 3
"""Number of heading levels that the document itself uses."""


def write_prose(text: str) -> str:
    """Return Markdown text so that it can be part of a document, without a trailing newline."""
    text = safe_text(text).strip("\n")
    written = "\n".join(_iter_lines(text.split("\n")))
    # In a quote, tabs are narrower than outside it, so code in a list may end earlier.
    is_safe = _is_contained(written) and ("\t" not in written or _is_contained(quote(written)))
    return written if is_safe else write_block(text)


def write_block(text: str, language: str = "") -> str:
    """Return text as a code block with a fence that the text does not contain."""
    text = safe_text(text).strip("\n")
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def write_code(text: str) -> str:
    """Return text as a code span on one line."""
    line = " ".join(safe_text(text).split())
    longest = max((len(run) for run in _BACKTICKS.findall(line)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}" if line else ""


def write_words(text: str) -> str:
    """Return plain text on one line, with Markdown escaped."""
    line = " ".join(safe_text(text).split())
    return _SPECIAL.sub(lambda found: _escape(found[0]), line)


def quote(text: str) -> str:
    """Return Markdown as a block quote."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _escape(found: str) -> str:
    return f"{found[:-1]}\\{found[-1]}"


def _iter_lines(lines: list[str]) -> Iterator[str]:
    """Yield lines with headings demoted, HTML escaped, images as links, and all fences closed."""
    fence = ""
    for number, line in enumerate(lines):
        found = _FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not found[2].strip():
                fence = ""
            yield line
        elif found:
            fence = found[1]
            yield line
        elif _is_underline(lines, number):
            continue
        elif number + 1 < len(lines) and _is_underline(lines, number + 1):
            yield "#" * (_DEMOTED + 1) + " " + _rewrite(line.strip())
        else:
            yield _rewrite(_demote(_indent_with_blanks(line)))
    if fence:
        yield fence


def _is_underline(lines: list[str], number: int) -> bool:
    """Return whether a line turns the line above it into a heading."""
    if number == 0 or not _UNDERLINE.fullmatch(lines[number]):
        return False
    is_first = number == 1 or not lines[number - 2].strip()
    return is_first and _TEXT_LINE.match(lines[number - 1]) is not None


def _indent_with_blanks(line: str) -> str:
    """Return a line without leading tabs, which have another width in a quote."""
    return _LEADING_TAB.sub(lambda found: found[0].expandtabs(4), line)


def _demote(line: str) -> str:
    found = _HEADING.match(line)
    if found is None:
        return line
    level = min(len(found[2]) + _DEMOTED, _INNERMOST)
    return f"{found[1]}{'#' * level}{line[found.end() :]}"


def _rewrite(line: str) -> str:
    """Escape the HTML of a line and turn its images into links, except in code spans."""
    if "<" not in line and "](" not in line and "![" not in line:
        return line
    pieces, at = [], 0
    for code in _CODE_SPAN.finditer(line):
        pieces += [_rewrite_text(line[at : code.start()]), code[0]]
        at = code.end()
    return "".join([*pieces, _rewrite_text(line[at:])])


def _rewrite_text(text: str) -> str:
    text = _IMAGE.sub(lambda found: f"[{found[1] or 'image'}]", text)
    text = _DANGEROUS.sub(r"\\[", text)
    links = _AUTOLINK.finditer(text)
    kept = {link.start() for link in links}
    return _TAG.sub(lambda found: found[0] if found.start() in kept else f"\\{found[0]}", text)


def _is_contained(written: str) -> bool:
    """Return whether a parser finds no HTML, shallow heading, dangerous link or open block."""
    # Without tables, lines that look like one may be part of a heading.
    readers = (_extensions(), None) if "|" in written else (_extensions(),)
    return all(_is_contained_for(written, extensions) for extensions in readers)


def _is_contained_for(written: str, extensions: "ExtensionOptions | None") -> bool:
    rendered = comrak.render_markdown(f"{written}\n\n{_SENTINEL}\n", extensions)
    return (
        rendered.endswith(f"<p>{_SENTINEL}</p>\n")
        and _OMITTED not in rendered
        and _SHALLOW.search(rendered) is None
        and "<img" not in rendered
        and '<a href="">' not in rendered
    )


@lru_cache(maxsize=1)
def _extensions() -> "ExtensionOptions":
    extensions = comrak.ExtensionOptions()
    extensions.table = extensions.strikethrough = extensions.tasklist = True
    return extensions


_LANGUAGES: Final = {
    "py": "python", "js": "javascript", "mjs": "javascript", "ts": "typescript", "tsx": "tsx",
    "jsx": "jsx", "rs": "rust", "rb": "ruby", "sh": "sh", "bash": "bash", "md": "markdown",
    "yml": "yaml", "yaml": "yaml", "json": "json", "toml": "toml", "html": "html", "css": "css",
    "go": "go", "java": "java", "kt": "kotlin", "c": "c", "h": "c", "cpp": "cpp", "cs": "csharp",
    "sql": "sql", "xml": "xml", "swift": "swift", "php": "php",
}  # fmt: skip
_DONE: Final = frozenset({turn_documents.CheckState.DONE, turn_documents.CheckState.DROPPED})
_MAX_INLINE: Final = 200

ShowPicture = Callable[[turn_documents.Picture], str]
"""Writes an image: as a link to a file, or as a line about it."""


def describe_picture(picture: turn_documents.Picture) -> str:
    """Write one line about an image that is not included in the document."""
    return f"*[{write_words(picture.name or picture.media_type)}]*"


def write_parts(
    parts: Iterable[turn_documents.Part], show_picture: ShowPicture = describe_picture
) -> Iterator[str]:
    """Yield each part as a block of Markdown."""
    for part in parts:
        written = (
            show_picture(part)
            if isinstance(part, turn_documents.Picture)
            else _WRITERS[type(part)](part)
        )
        if written:
            yield written


def _write_code_part(code: turn_documents.Code) -> str:
    suffix = (code.path or "").rpartition(".")[2].lower()
    language = code.language or _LANGUAGES.get(suffix, "")
    return write_block(code.text, language if language.isalnum() else "")


def _write_output(output: turn_documents.Output) -> str:
    text = "".join(run for run, _ in iter_runs(output.text.replace("\r\n", "\n")))
    return write_block(text, "text") if text.strip() else ""


def _write_diff(diff: turn_documents.Diff) -> str:
    lines = [line for hunk in diff.hunks for line in _iter_hunk(hunk)]
    if not diff.path:
        return write_block("\n".join(lines), "diff")
    before = "/dev/null" if diff.is_new_file else diff.path
    return write_block("\n".join([f"--- {before}", f"+++ {diff.path}", *lines]), "diff")


def _iter_hunk(hunk: turn_documents.Hunk) -> Iterator[str]:
    yield f"@@ -{hunk.old_start},{hunk.old_lines} +{hunk.new_start},{hunk.new_lines} @@"
    yield from hunk.lines


def _write_checklist(checklist: turn_documents.Checklist) -> str:
    return "\n".join(map(_write_item, checklist.items))


def _write_item(item: turn_documents.CheckItem) -> str:
    box = "x" if item.state in _DONE else " "
    words = write_words(item.text)
    shown = {
        turn_documents.CheckState.ACTIVE: f"**{words}**",
        turn_documents.CheckState.DROPPED: f"~~{words}~~",
    }.get(item.state, words)
    note = f" ({write_words(item.note)})" if item.note else ""
    return f"- [{box}] {shown}{note}"


def _write_entries(entries: turn_documents.Entries) -> str:
    lines = [*map(_write_entry, entries.entries)]
    if entries.omitted:
        lines.append(f"… {entries.omitted:,} more")
    return write_block("\n".join(lines), "text") if lines else ""


def _write_entry(entry: turn_documents.Entry) -> str:
    place = ""
    if entry.path and entry.path != entry.text:
        place = entry.path if entry.line is None else f"{entry.path}:{entry.line}"
    facts = (f"{place}:" if place else "", entry.text, entry.url or "", entry.note or "")
    return "  ".join(fact for fact in facts if fact)


def _write_fields(fields: turn_documents.Fields) -> str:
    return "\n".join(_write_field(name, value) for name, value in fields.fields)


def _write_field(name: str, value: str) -> str:
    label = f"- **{write_words(name)}:**"
    if "\n" in value or len(value) > _MAX_INLINE:
        block = write_block(value).replace("\n", "\n  ")
        return f"{label}\n\n  {block}"
    return f"{label} {write_code(value)}".rstrip()


def _write_question(question: turn_documents.Question) -> str:
    header = f"{write_words(question.header)}: " if question.header else ""
    lines = [f"**{header}{write_words(question.text)}**", ""]
    for choice in question.choices:
        about = f": {write_words(choice.description)}" if choice.description else ""
        lines.append(f"- [{'x' if choice.is_chosen else ' '}] {write_words(choice.label)}{about}")
    if question.answer:
        lines += ["", f"Answer: {write_words(question.answer)}"]
    return "\n".join(lines)


_WRITERS: Final[dict[type[turn_documents.Part], Callable[[Any], str]]] = {
    turn_documents.Prose: lambda prose: write_prose(prose.text) if prose.text.strip() else "",
    turn_documents.Plain: lambda plain: (
        write_block(plain.text, "text") if plain.text.strip() else ""
    ),
    turn_documents.Code: _write_code_part,
    turn_documents.Output: _write_output,
    turn_documents.Diff: _write_diff,
    turn_documents.Checklist: _write_checklist,
    turn_documents.Entries: _write_entries,
    turn_documents.Fields: _write_fields,
    turn_documents.Question: _write_question,
    turn_documents.Json: lambda value: write_block(value.text, "json"),
}


_MINUTES: Final = 16
"""Length of a timestamp up to the minute."""


class MarkdownOptions(Struct, frozen=True, kw_only=True):
    """What to include in a document."""

    replies: bool = True
    tools: bool = True
    everything: bool = True
    """Whether to include thinking, notices, full contexts, and subagents."""
    directory: str | None = None
    """The session's directory: paths below it are relative."""
    show_picture: ShowPicture = describe_picture


def write_turn(
    turn: turn_documents.TurnView, options: MarkdownOptions, depth: int = 2
) -> Iterator[str]:
    """Yield the blocks of a turn; `depth` is the level of its heading."""
    yield f"{'#' * depth} {_name_turn(turn)}"
    yield from _write_prompt(turn, options)
    if options.replies:
        for step in fold_notices(turn.steps):
            if not isinstance(step, NoticeRun):
                yield from write_step(step, options, depth)
            elif options.everything:
                yield from _write_run(step, options)


def _name_turn(turn: turn_documents.TurnView) -> str:
    who = "You" if turn.is_by_person else str(turn.kind or "session").replace("_", " ")
    return join_facts(
        f"{turn.number}",
        who,
        write_words((turn.start or "")[:_MINUTES].replace("T", " ")),
        None if turn.is_on_main_path else "abandoned branch",
    )


def _write_prompt(turn: turn_documents.TurnView, options: MarkdownOptions) -> Iterator[str]:
    if turn.command:
        yield quote(write_code(f"{turn.command} {turn.words}".strip()))
    elif turn.kind is InputKind.SHELL:
        yield quote(write_code(f"! {turn.words}"))
    elif turn.words.strip():
        yield quote(write_prose(turn.words))
    for picture in write_parts(turn.media, options.show_picture):
        yield quote(picture)
    for context in turn.contexts:
        yield from _write_context(context, options)


def _write_context(context: Context, options: MarkdownOptions) -> Iterator[str]:
    place = shorten_path(context.path or "", options.directory)
    if place and context.first_line:
        place += f":{context.first_line}-{context.last_line or context.first_line}"
    label = f"*{write_words(str(context.kind).replace('_', ' '))}* {write_code(place)}"
    yield quote(label.rstrip())
    if options.everything and context.text.strip():
        yield quote(write_block(context.text, "text"))


def write_step(
    step: turn_documents.Step, options: MarkdownOptions, depth: int = 2
) -> Iterator[str]:
    """Yield the blocks of a step; none if it is not included."""
    match step:
        case turn_documents.TextStep():
            for task in step.tasks:
                yield quote(f"→ {write_words(task.title)} (turn {task.turn})")
            for part in write_parts(step.parts, options.show_picture):
                yield part if step.role == "assistant" else quote(part)
        case turn_documents.ToolStep() if options.tools:
            yield from _write_call(step, options, depth)
        case turn_documents.ThinkingStep() if options.everything and step.text.strip():
            yield "*Thinking*"
            yield quote(write_prose(step.text))
        case turn_documents.NoticeStep() if options.everything:
            yield f"*{write_words(step.title)}*"
            yield from write_parts(step.parts, options.show_picture)


def _write_run(run: NoticeRun, options: MarkdownOptions) -> Iterator[str]:
    yield f"*{write_words(run.words)} {run.count}*"
    if facts := run.list_facts():
        yield "\n".join(f"- {write_words(each)}" for each in facts)
    yield from write_parts(run.list_parts(), options.show_picture)


def name_call(call: turn_documents.ToolStep, directory: str | None = None) -> str:
    """Return one line about a tool call."""
    took = format_duration(call.duration_ms) if call.duration_ms is not None else None
    status = None if call.status is ToolStatus.SUCCESS else call.status.value
    end = join_facts(status, write_words(call.summary), took)
    title = write_code(shorten_path(call.title, directory))
    return " ".join(piece for piece in (f"**{write_words(name_tool(call))}**", title, end) if piece)


def _write_call(
    call: turn_documents.ToolStep, options: MarkdownOptions, depth: int
) -> Iterator[str]:
    yield name_call(call, options.directory)
    yield from write_parts(call.input, options.show_picture)
    yield from write_parts(call.output, options.show_picture)
    for hook in call.hooks:
        yield from write_step(hook, options, depth)
    for child in call.subagents:
        yield from _write_subagent(child, options, depth)


def _write_subagent(
    child: turn_documents.SubagentReference, options: MarkdownOptions, depth: int
) -> Iterator[str]:
    name = write_words(child.agent_type or "subagent")
    about = write_words(child.description or child.agent_id)
    yield f"**Subagent {name}:** {about}"
    if options.everything:
        for turn in child.turns or ():
            yield quote("\n\n".join(write_turn(turn, options, min(depth + 1, 6))))
