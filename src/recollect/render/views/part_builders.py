"""Build parts from texts, listings, JSON, diffs and content blocks.

There are few phrases and they are in English, because every surface shows them unchanged. Flat JSON
becomes named values, other JSON is indented. Comparing texts takes quadratic time on hostile input,
so there is a limit; beyond it there is no diff, and the caller shows both texts. Tool calls and
results are not handled here: they are steps, not parts.
"""

from collections.abc import Callable, Iterable, Iterator
from difflib import SequenceMatcher
from typing import Final

import msgspec

from recollect.documents import kinds, turn_documents
from recollect.records import blocks
from recollect.records.decoding import decode_value
from recollect.records.envelope import REFUSED, is_absent
from recollect.records.tools import split_mcp_name
from recollect.records.tools.file_tools import PatchHunk
from recollect.redact.quick_masks import cut_text


def shorten_path(path: str, directory: str | None) -> str:
    """Return a path below `directory` relative to it, and any other text as it is."""
    if not directory:
        return path
    rest = path.removeprefix(directory)
    return rest[1:] if rest != path and rest[:1] in {"/", "\\"} else path


def shorten_entries(
    entries: turn_documents.Entries, directory: str | None
) -> turn_documents.Entries:
    """Return a listing whose paths below `directory` are relative to it."""
    if not directory:
        return entries
    return msgspec.structs.replace(
        entries, entries=tuple(_shorten_entry(each, directory) for each in entries.entries)
    )


def _shorten_entry(entry: turn_documents.Entry, directory: str) -> turn_documents.Entry:
    if entry.path is None:
        return entry
    path = shorten_path(entry.path, directory)
    return msgspec.structs.replace(
        entry, path=path, text=path if entry.text == entry.path else entry.text
    )


def find_inside(text: str, tag: str) -> str:
    """Return the text in the first `tag`, to its end or the end of `text`; "" if none."""
    return text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0].strip("\n")


def split_at(text: str, tag: str) -> Iterator[str]:
    """Yield the texts inside all `tag`s of `text`."""
    for piece in text.split(f"<{tag}>")[1:]:
        yield piece.partition(f"</{tag}>")[0]


def name_tool(call: turn_documents.ToolStep) -> str:
    """Return the display name of a call's tool."""
    return label_tool(call.tool, call.mcp_server)


def label_tool(tool: str, server: str | None) -> str:
    """Return the display name of a tool: `create_issue` of a server becomes `create issue`."""
    if not server:
        return tool
    return ": ".join(name.replace("_", " ").strip() or name for name in (server, tool))


LINE_LIMIT = 300
"""Maximum length of a title or summary; longer text is shown in full below it."""

FACT_SEPARATOR = " · "
"""Separates the facts in one line."""

_ELLIPSIS = "…"


PART_NAMES: Final[dict[kinds.ContextPartKind, str]] = {
    kinds.ContextPartKind.PROMPT: "Prompt",
    kinds.ContextPartKind.TOOL: "Tool results",
    kinds.ContextPartKind.SUBAGENTS: "Subagents",
    kinds.ContextPartKind.REPLY: "Replies",
    kinds.ContextPartKind.THINKING: "Thinking",
    kinds.ContextPartKind.FILES: "Attached files",
    kinds.ContextPartKind.REMINDERS: "Reminders",
    kinds.ContextPartKind.SUMMARY: "Summary",
    kinds.ContextPartKind.SYSTEM_PROMPT: "System prompt",
    kinds.ContextPartKind.MEMORY_FILES: "Memory files",
    kinds.ContextPartKind.SKILLS: "Skills",
    kinds.ContextPartKind.CUSTOM_AGENTS: "Custom agents",
    kinds.ContextPartKind.MCP_TOOLS: "MCP tools",
    kinds.ContextPartKind.COMPACTION: "Compaction",
    kinds.ContextPartKind.REMOVED: "No longer sent",
    kinds.ContextPartKind.UNRECORDED: "Not in the transcript",
}
"""Labels of the parts of the context, as keys of translations."""


def name_part(part: turn_documents.ContextPart, translate: Callable[[str], str] = str) -> str:
    """Return the tool that filled a part of the context, or what else it is."""
    if not part.name:
        return translate(PART_NAMES[part.kind])
    server, tool = split_mcp_name(part.name) or (None, part.name)
    return label_tool(tool, server)


def take_line(text: str) -> str:
    """Return the first line of `text` that is not blank, marked if there is more."""
    start = text.strip()
    line, _, rest = start.partition("\n")
    line = line.rstrip()
    if len(line) > LINE_LIMIT:
        return cut_text(line, LINE_LIMIT) + _ELLIPSIS
    return f"{line} {_ELLIPSIS}" if rest else line


def join_lines(text: str) -> str:
    """Return the start of `text` in one line, marked if there is more."""
    words = " ".join(text.split(maxsplit=LINE_LIMIT)[:LINE_LIMIT])
    return words if len(words) <= LINE_LIMIT else cut_text(words, LINE_LIMIT) + _ELLIPSIS


def fold_progress(text: str) -> str:
    """Return program output with only the last state of each line that was overwritten."""
    if "\r" not in text:
        return text
    return "\n".join(map(_take_last_state, text.split("\n")))


def _take_last_state(line: str) -> str:
    states = line.split("\r")
    return next((state for state in reversed(states) if state.strip()), states[-1])


def join_facts(*facts: str | None) -> str:
    """Join the non-empty `facts` in one line."""
    return FACT_SEPARATOR.join(fact for fact in facts if fact)


_NESTED = (b"{", b"[")


def show_json(raw: msgspec.Raw | bytes) -> turn_documents.Json:
    """Return `raw` indented; unchanged if it is not JSON."""
    data = bytes(raw)
    try:
        data = msgspec.json.format(data, indent=2)
    except REFUSED:
        return turn_documents.Json(data.decode(errors="replace"))
    return turn_documents.Json(data.decode(errors="replace"))


def show_value(raw: msgspec.Raw | bytes) -> tuple[turn_documents.Part, ...]:
    """Return a flat object as named values, anything else as JSON, and nothing for no value."""
    data = msgspec.Raw(bytes(raw))
    if is_absent(data):
        return ()
    values = decode_value(data, dict[str, msgspec.Raw])
    if values is None:
        return (show_json(data),)
    if any(bytes(value).lstrip().startswith(_NESTED) for value in values.values()):
        return (show_json(data),)
    return show_fields(*((name, show_scalar(value)) for name, value in values.items()))


def show_scalar(raw: msgspec.Raw) -> str:
    """Return the text of a string; other values as written."""
    text = decode_value(raw, str) if bytes(raw).lstrip().startswith(b'"') else None
    return bytes(raw).decode(errors="replace").strip() if text is None else text


def show_prose(text: str | None) -> tuple[turn_documents.Part, ...]:
    """Return Markdown text as a part."""
    return (turn_documents.Prose(text),) if text and text.strip() else ()


def show_plain(text: str | None) -> tuple[turn_documents.Part, ...]:
    """Return plain text as a part."""
    return (turn_documents.Plain(text),) if text and text.strip() else ()


def show_entries(
    entries: Iterable[turn_documents.Entry], omitted: int = 0
) -> tuple[turn_documents.Part, ...]:
    """Return a listing as a part."""
    listed = tuple(entries)
    return (turn_documents.Entries(listed, omitted),) if listed else ()


def show_fields(*fields: tuple[str, object]) -> tuple[turn_documents.Part, ...]:
    """Return the `fields` that have a value as one part, or none."""
    known = tuple((name, _show(value)) for name, value in fields if value not in (None, "", ()))
    return (turn_documents.Fields(known),) if known else ()


def _show(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


MAX_COMPARISONS = 100_000
"""Maximum product of the two texts' line counts."""

_CONTEXT = 3


def compare(before: str, after: str) -> tuple[turn_documents.Hunk, ...] | None:
    """Return the hunks that turn `before` into `after`; None if there is too much to compare."""
    removed, added = split_lines(before), split_lines(after)
    if len(removed) * len(added) > MAX_COMPARISONS:
        return None
    groups = SequenceMatcher(None, removed, added, autojunk=False).get_grouped_opcodes(_CONTEXT)
    return tuple(_make_hunk(group, removed, added) for group in groups)


def show_addition(text: str) -> tuple[turn_documents.Hunk, ...]:
    """Return the hunk of a new file."""
    lines = tuple(f"+{line}" for line in split_lines(text))
    return (turn_documents.Hunk(new_start=1, new_lines=len(lines), lines=lines),) if lines else ()


def show_patch(patch: Iterable[PatchHunk]) -> tuple[turn_documents.Hunk, ...]:
    """Return the hunks of a patch by the client."""
    return tuple(
        turn_documents.Hunk(
            old_start=hunk.old_start,
            old_lines=hunk.old_lines,
            new_start=hunk.new_start,
            new_lines=hunk.new_lines,
            lines=hunk.lines,
        )
        for hunk in patch
    )


def split_lines(text: str) -> list[str]:
    """Split `text` into lines at line feeds only, as in the client's own patches."""
    return text.removesuffix("\n").split("\n") if text else []


def _make_hunk(
    group: list[tuple[str, int, int, int, int]], removed: list[str], added: list[str]
) -> turn_documents.Hunk:
    lines: list[str] = []
    for tag, first, last, new_first, new_last in group:
        if tag == "equal":
            lines += [f" {line}" for line in removed[first:last]]
        else:
            lines += [f"-{line}" for line in removed[first:last]]
            lines += [f"+{line}" for line in added[new_first:new_last]]
    return turn_documents.Hunk(
        old_start=group[0][1] + 1,
        old_lines=group[-1][2] - group[0][1],
        new_start=group[0][3] + 1,
        new_lines=group[-1][4] - group[0][3],
        lines=tuple(lines),
    )


AnyBlock = blocks.ContentBlock | blocks.NestedBlock | str

_UNKNOWN_MEDIA = "application/octet-stream"


def show_blocks(
    content: Iterable[AnyBlock], *, as_prose: bool = False
) -> tuple[turn_documents.Part, ...]:
    """Return the parts of `content`; text is Markdown only if a person or a model wrote it."""
    words = turn_documents.Prose if as_prose else turn_documents.Plain
    parts: list[turn_documents.Part] = []
    for block in content:
        text = block.words if isinstance(block, blocks.Text) else block
        if not isinstance(text, str):
            parts += _show_block(text)
        elif text.strip():
            parts.append(words(text))
    return tuple(parts)


def _show_block(block: AnyBlock) -> tuple[turn_documents.Part, ...]:
    match block:
        case blocks.Image():
            return show_source(block.source, None)
        case blocks.Document():
            return _show_document(block)
        case blocks.ContainerUpload(file_id=name):
            return show_fields(("file", name))
        case blocks.Fallback(origin=origin, target=target):
            return show_fields(
                ("from", origin.model if origin else None), ("to", target.model if target else None)
            )
    return _show_reference(block)


def _show_document(block: blocks.Document) -> tuple[turn_documents.Part, ...]:
    parts = show_source(block.source, block.title)
    # An image has a name; a document shown as text would lose its title.
    is_named = any(isinstance(part, turn_documents.Picture) for part in parts)
    title = None if is_named else block.title
    return (*parts, *show_fields(("title", title), ("context", block.context)))


def _show_reference(block: AnyBlock) -> tuple[turn_documents.Part, ...]:
    match block:
        case blocks.ToolReference(tool_name=name):
            return show_entries((turn_documents.Entry(name),))
        case blocks.ResourceLink():
            link = show_entries(
                (turn_documents.Entry(block.name or block.uri or "", note=block.uri),)
            )
            return (*link, *show_fields(("description", block.description)))
        case blocks.SearchResult():
            found = show_entries(
                (turn_documents.Entry(block.title or block.source or "", note=block.source),)
            )
            return (*found, *show_value(block.content))
    return _show_raw(block)


def _show_raw(block: AnyBlock) -> tuple[turn_documents.Part, ...]:
    match block:
        case blocks.Resource():
            return show_value(block.resource)
        case blocks.UnknownBlock():
            return (show_json(block.raw),)
    return _show_foreign(block)


def _show_foreign(block: AnyBlock) -> tuple[turn_documents.Part, ...]:
    """Return a block that only models write, found in a message that is not a model's."""
    match block:
        case blocks.Thinking():
            return show_plain(block.thinking)
        case blocks.ToolUse() | blocks.ServerToolUseBlock() | blocks.McpToolUse():
            server = block.server_name if isinstance(block, blocks.McpToolUse) else None
            return (
                *show_fields(("tool", block.name), ("server", server)),
                *show_value(block.input),
            )
        case blocks.ServerToolResult():
            return show_value(block.content)
    return ()


def show_source(source: blocks.Source | None, name: str | None) -> tuple[turn_documents.Part, ...]:
    """Return the image or document in `source`; a document may be plain text or a reference."""
    if source is None:
        return (turn_documents.Picture(_UNKNOWN_MEDIA, "", name),)
    if source.type == "text" and source.data is not None:
        return (turn_documents.Plain(source.data),)
    if not is_absent(source.content):
        return (show_json(source.content),)
    return (
        turn_documents.Picture(
            source.media_type or _UNKNOWN_MEDIA,
            source.data or "",
            name or source.url or source.file_id,
        ),
    )
