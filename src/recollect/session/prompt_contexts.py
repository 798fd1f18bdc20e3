"""Separate the user's own text in a prompt from what was attached to it, and attach contexts.

Editors and the client wrap what they add in tags; claude-code-plus writes a Markdown quote with one
line per context. Only whole wrappers at the edges of the text are removed: text about
`<system-reminder>` stays unchanged.

What Recollect attaches itself is written as claude-code-plus does, so that every reader of that
format can show it. A text that belongs to a context, such as terminal output, comes after the
user's own in `<pasted_content context="2">`: the number says which line of the quote it belongs to.
"""

import re
from collections.abc import Iterable, Sequence

from msgspec import Raw, structs

from recollect.documents.kinds import Context, ContextKind
from recollect.records.decoding import decode_value
from recollect.records.envelope import is_absent
from recollect.session.record_texts import read_strings

_TAGS = {
    "ide_selection": ContextKind.IDE_SELECTION,
    "ide_opened_file": ContextKind.IDE_OPENED_FILE,
    "ide_diagnostics": ContextKind.IDE_DIAGNOSTICS,
    "system-reminder": ContextKind.REMINDER,
    "pasted_content": ContextKind.PASTED,
    "user-prompt-submit-hook": ContextKind.HOOK,
    "session-start-hook": ContextKind.HOOK,
}
_OPENING = re.compile(rf"<({'|'.join(_TAGS)})((?:\s[^<>]*)?)>")
_NUMBERED = re.compile(r' context="(\d{1,3})"')
_SPACE = " \t\r\n"
_SELECTED = re.compile(r"selected the lines (\d{1,9}) to (\d{1,9}) from (.+?)(?::?\n|\Z)")
_OPENED = ("opened the file ", " in the IDE")

_PLUS_BLOCK = re.compile(r"\A> \*\*上下文资料\*\*[ \t\r]*\n(?:>[ \t\r]*\n)?((?:> - .+(?:\n|\Z))+)")
_PLUS_BULLET = "> - "
_VARIATION_SELECTOR = "\ufe0f"
_PLUS_PATH = re.compile(r"`([^`]+)`|(https?://\S+)")
_PLUS_ICONS = {
    "📄": ContextKind.FILE,
    "🌐": ContextKind.WEB,
    "📁": ContextKind.FOLDER,
    "🔗": ContextKind.SYMBOL,
    "💻": ContextKind.TERMINAL,
    "⚠": ContextKind.PROBLEMS,
    "🔀": ContextKind.GIT,
    "✏": ContextKind.SELECTION,
    "🏠": ContextKind.WORKSPACE,
}
_REFERENCES = {kind.value: kind for kind in _PLUS_ICONS.values()}
_ICONS = {kind: icon for icon, kind in _PLUS_ICONS.items()}
_PLUS_HEADING = "> **上下文资料**\n>\n"
_CONTENT_TAG = "pasted_content"
_COUNTED = re.compile(r"(?:selection|terminal output|problems) \((\d+ lines?)\)")
"""The line that Recollect writes for a pasted text."""


def attach_contexts(words: str, contexts: Sequence[Context], contents: Sequence[str] = ()) -> str:
    """Return the prompt with `contexts` in a quote before the user's words.

    `contents` are the texts of contexts, by position; one that is empty is left out.
    `separate_words` is the inverse.
    """
    if not contexts:
        return words
    lines = "".join(f"{_PLUS_BULLET}{_write_line(each)}\n" for each in contexts)
    texts = (
        f'\n\n<{_CONTENT_TAG} context="{number}">\n{_defuse(text)}\n</{_CONTENT_TAG}>'
        for number, text in enumerate(contents, 1)
        if text
    )
    return f"{_PLUS_HEADING}{lines}\n{words}{''.join(texts)}"


def _write_line(context: Context) -> str:
    return f"{_ICONS.get(context.kind, '📄')} {' '.join(context.text.split())}"


def _defuse(text: str) -> str:
    """Return `text` with closing tags escaped, which would end it early."""
    return re.sub(rf"<(?=/?{_CONTENT_TAG})", "<\\\\", text)


def name_context(context: Context) -> str:
    """Return what a context refers to, apart from its kind: its path, or its text in the quote.

    Empty for contexts that a client wraps in tags, because the quote has no line for them.
    """
    if context.path or context.kind not in _ICONS:
        return context.path or ""
    line = context.text.partition("\n")[0]
    counted = _COUNTED.fullmatch(line)
    return counted[1] if counted else line


def summarize_prompt(text: str) -> str:
    """Return the user's own text in a prompt; if there is none, the names of its contexts."""
    words, contexts = separate_words(text)
    return words or ", ".join(filter(None, map(name_context, contexts)))


def read_references(raw: Raw) -> tuple[Context, ...]:
    """Return the contexts in the field `contexts`, where claude-code-plus lists what it added."""
    if is_absent(raw):
        return ()
    return tuple(map(_read_reference, decode_value(raw, tuple[Raw, ...]) or ()))


def _read_reference(raw: Raw) -> Context:
    fields = decode_value(raw, dict[str, Raw])
    if fields is None:
        return Context(ContextKind.FILE, "\n".join(read_strings(raw)))
    name = "".join(read_strings(fields.pop("type", Raw()))).lower().removesuffix("reference")
    fields.pop("displayType", None)
    texts = {name: read_strings(value) for name, value in fields.items()}
    paths = (*texts.get("fullPath", ()), *texts.get("path", ()))
    words = dict.fromkeys(text for found in texts.values() for text in found)
    kind = _REFERENCES.get(name, ContextKind.FILE)
    return Context(kind, "\n".join(words), next(iter(paths), None))


def separate_words(text: str) -> tuple[str, tuple[Context, ...]]:
    """Return the user's own text in `text`, and the contexts around it, in order."""
    text = text.strip(_SPACE)
    before, start = _take_leading(text)
    behind, end = _take_trailing(text, start)
    words, listed = _take_plus_block(text[start:end].strip(_SPACE))
    return words, (*before, *_join_contents(listed, behind))


def _join_contents(
    listed: tuple[Context, ...], behind: Iterable[tuple[Context, int]]
) -> tuple[Context, ...]:
    """Return the listed contexts, each with its text, and the others after them."""
    joined, others = list(listed), []
    for context, number in behind:
        if 0 < number <= len(joined):
            line = joined[number - 1]
            joined[number - 1] = structs.replace(line, text=f"{line.text}\n{context.text}")
        else:
            others.append(context)
    return (*joined, *others)


def _take_leading(text: str) -> tuple[list[Context], int]:
    """Return the contexts that `text` starts with, and where they end."""
    found: list[Context] = []
    start = 0
    while opening := _OPENING.match(text, start):
        closing = text.find(f"</{opening[1]}>", opening.end())
        if closing < 0:
            break
        found.append(_make_context(opening[1], text[opening.end() : closing]))
        start = closing + len(f"</{opening[1]}>")
        while start < len(text) and text[start] in _SPACE:
            start += 1
    return found, start


def _take_trailing(text: str, start: int) -> tuple[list[tuple[Context, int]], int]:
    """Return the contexts that `text` ends with, from `start` on, and where they start.

    Each comes with the number of the listed context that it belongs to, or 0.
    """
    found: list[tuple[Context, int]] = []
    end = len(text)
    while name := next((name for name in _TAGS if text.endswith(f"</{name}>", start, end)), None):
        opening = _OPENING.match(text, max(text.rfind(f"<{name}", start, end), start), end)
        if opening is None or opening[1] != name:
            break
        numbered = _NUMBERED.fullmatch(opening[2])
        context = _make_context(name, text[opening.end() : end - len(f"</{name}>")])
        found.append((context, int(numbered[1]) if numbered else 0))
        end = opening.start()
        while end > start and text[end - 1] in _SPACE:
            end -= 1
    return found[::-1], end


def _make_context(name: str, text: str) -> Context:
    kind, text = _TAGS[name], text.strip(_SPACE)
    if kind is ContextKind.IDE_SELECTION and (found := _SELECTED.search(text)):
        first, last, path = found.groups()
        return Context(kind, text, path.strip(), int(first), int(last))
    if kind is ContextKind.IDE_OPENED_FILE:
        path, named, _ = text.partition(_OPENED[0])[2].partition(_OPENED[1])
        return Context(kind, text, path.strip() if named else None)
    return Context(kind, text)


def _take_plus_block(text: str) -> tuple[str, tuple[Context, ...]]:
    block = _PLUS_BLOCK.match(text)
    if block is None:
        return text, ()
    lines = block[1].rstrip("\n").split("\n")
    return text[block.end() :].strip(_SPACE), tuple(_read_plus_line(line) for line in lines)


def _read_plus_line(line: str) -> Context:
    line = line.removeprefix(_PLUS_BULLET).strip(_SPACE)
    icon, _, text = line.partition(" ")
    kind = _PLUS_ICONS.get(icon.removesuffix(_VARIATION_SELECTOR))
    if kind is None:
        kind, text = ContextKind.FILE, line
    path = _PLUS_PATH.search(text)
    return Context(kind, text.strip(_SPACE), path[1] or path[2] if path else None)
