"""Write each kind of part as Markdown."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from recollect.documents.turns import (
    CheckItem,
    Checklist,
    CheckState,
    Code,
    Diff,
    Entries,
    Entry,
    Fields,
    Hunk,
    Json,
    Output,
    Part,
    Picture,
    Plain,
    Prose,
    Question,
)
from recollect.render.markdown.markdown_prose import (
    write_block,
    write_code,
    write_prose,
    write_words,
)
from recollect.render.terminal.ansi_output import iter_runs

_LANGUAGES: Final = {
    "py": "python", "js": "javascript", "mjs": "javascript", "ts": "typescript", "tsx": "tsx",
    "jsx": "jsx", "rs": "rust", "rb": "ruby", "sh": "sh", "bash": "bash", "md": "markdown",
    "yml": "yaml", "yaml": "yaml", "json": "json", "toml": "toml", "html": "html", "css": "css",
    "go": "go", "java": "java", "kt": "kotlin", "c": "c", "h": "c", "cpp": "cpp", "cs": "csharp",
    "sql": "sql", "xml": "xml", "swift": "swift", "php": "php",
}  # fmt: skip
_DONE: Final = frozenset({CheckState.DONE, CheckState.DROPPED})
_MAX_INLINE: Final = 200

ShowPicture = Callable[[Picture], str]
"""Writes an image: a link to a file, or a line about it."""


def describe_picture(picture: Picture) -> str:
    """Write one line about an image that is not part of the document."""
    return f"*[{write_words(picture.name or picture.media_type)}]*"


def write_parts(
    parts: Iterable[Part], show_picture: ShowPicture = describe_picture
) -> Iterator[str]:
    """Yield each part as a block of Markdown."""
    for part in parts:
        written = show_picture(part) if isinstance(part, Picture) else _WRITERS[type(part)](part)
        if written:
            yield written


def _write_code_part(code: Code) -> str:
    suffix = (code.path or "").rpartition(".")[2].lower()
    language = code.language or _LANGUAGES.get(suffix, "")
    return write_block(code.text, language if language.isalnum() else "")


def _write_output(output: Output) -> str:
    text = "".join(run for run, _ in iter_runs(output.text.replace("\r\n", "\n")))
    return write_block(text, "text") if text.strip() else ""


def _write_diff(diff: Diff) -> str:
    lines = [line for hunk in diff.hunks for line in _iter_hunk(hunk)]
    if not diff.path:
        return write_block("\n".join(lines), "diff")
    before = "/dev/null" if diff.is_new_file else diff.path
    return write_block("\n".join([f"--- {before}", f"+++ {diff.path}", *lines]), "diff")


def _iter_hunk(hunk: Hunk) -> Iterator[str]:
    yield f"@@ -{hunk.old_start},{hunk.old_lines} +{hunk.new_start},{hunk.new_lines} @@"
    yield from hunk.lines


def _write_checklist(checklist: Checklist) -> str:
    return "\n".join(map(_write_item, checklist.items))


def _write_item(item: CheckItem) -> str:
    box = "x" if item.state in _DONE else " "
    words = write_words(item.text)
    shown = {
        CheckState.ACTIVE: f"**{words}**",
        CheckState.DROPPED: f"~~{words}~~",
    }.get(item.state, words)
    note = f" ({write_words(item.note)})" if item.note else ""
    return f"- [{box}] {shown}{note}"


def _write_entries(entries: Entries) -> str:
    lines = [*map(_write_entry, entries.entries)]
    if entries.omitted:
        lines.append(f"… {entries.omitted:,} more")
    return write_block("\n".join(lines), "text") if lines else ""


def _write_entry(entry: Entry) -> str:
    place = ""
    if entry.path and entry.path != entry.text:
        place = entry.path if entry.line is None else f"{entry.path}:{entry.line}"
    facts = (f"{place}:" if place else "", entry.text, entry.url or "", entry.note or "")
    return "  ".join(fact for fact in facts if fact)


def _write_fields(fields: Fields) -> str:
    return "\n".join(_write_field(name, value) for name, value in fields.fields)


def _write_field(name: str, value: str) -> str:
    label = f"- **{write_words(name)}:**"
    if "\n" in value or len(value) > _MAX_INLINE:
        block = write_block(value).replace("\n", "\n  ")
        return f"{label}\n\n  {block}"
    return f"{label} {write_code(value)}".rstrip()


def _write_question(question: Question) -> str:
    header = f"{write_words(question.header)}: " if question.header else ""
    lines = [f"**{header}{write_words(question.text)}**", ""]
    for choice in question.choices:
        about = f": {write_words(choice.description)}" if choice.description else ""
        lines.append(f"- [{'x' if choice.is_chosen else ' '}] {write_words(choice.label)}{about}")
    if question.answer:
        lines += ["", f"Answer: {write_words(question.answer)}"]
    return "\n".join(lines)


_WRITERS: Final[dict[type[Part], Callable[[Any], str]]] = {
    Prose: lambda prose: write_prose(prose.text) if prose.text.strip() else "",
    Plain: lambda plain: write_block(plain.text, "text") if plain.text.strip() else "",
    Code: _write_code_part,
    Output: _write_output,
    Diff: _write_diff,
    Checklist: _write_checklist,
    Entries: _write_entries,
    Fields: _write_fields,
    Question: _write_question,
    Json: lambda value: write_block(value.text, "json"),
}
