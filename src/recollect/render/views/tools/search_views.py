"""Views of tools that search files, text, symbols and web pages, with one match per line."""

import re
from collections.abc import Iterator

from msgspec import Raw, Struct

from recollect.documents.turn_documents import Entry, Part
from recollect.quantities import format_bytes, format_count
from recollect.records.blocks import ServerToolResult
from recollect.records.decoding import decode_value
from recollect.records.tools import lookup_tools
from recollect.render.views import part_builders
from recollect.render.views.tools.tool_view import Case, ToolView

_MATCH = re.compile(r"(.+?):(\d{1,9}):")
_MATCH_IN_FILE = re.compile(r"(\d{1,9})[:-]")
_FOUND_NOTHING = ("No files found", "No matches found")
_FOUND = re.compile(r"Found \d")


def describe_glob(case: Case) -> ToolView | None:
    """Describe a search for files by name."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, lookup_tools.GlobInput) or not wanted.pattern:
        return None
    if isinstance(result, lookup_tools.GlobResult):
        names = result.filenames
        total = max(result.total_matches or 0, len(names))
        cut = "cut" if result.truncated and total == len(names) else None
    else:
        names = _read_names(case.text)
        total, cut = len(names), None
    return ToolView(
        title=wanted.pattern,
        summary=part_builders.join_facts(_count(total, "file"), cut),
        input=part_builders.show_fields(("path", wanted.path)),
        output=_list_files(names, total - len(names)),
    )


def _count(number: int, noun: str, plural: str | None = None) -> str:
    return format_count(number, noun, plural) if number else "no matches"


def _read_names(text: str) -> tuple[str, ...]:
    """Return the lines of a text result, except those that only give a count."""
    if text.startswith(_FOUND_NOTHING):
        return ()
    return tuple(line for line in text.split("\n") if line.strip() and not _FOUND.match(line))


def _list_files(names: tuple[str, ...], omitted: int) -> tuple[Part, ...]:
    return part_builders.show_entries((Entry(name, path=name) for name in names), omitted)


def describe_grep(case: Case) -> ToolView | None:
    """Describe a search for text in files."""
    wanted = case.input
    if not isinstance(wanted, lookup_tools.GrepInput) or not wanted.pattern:
        return None
    result = (
        case.result
        if isinstance(case.result, lookup_tools.GrepResult)
        else _read_answer(wanted, case.text)
    )
    summary, output = _show_matches(wanted, result)
    return ToolView(
        title=wanted.pattern,
        summary=summary,
        input=part_builders.show_fields(
            ("path", wanted.path),
            ("glob", wanted.glob),
            ("type", wanted.type),
            ("ignore case", wanted.ignore_case),
            ("multiline", wanted.multiline),
        ),
        output=output,
    )


def _read_answer(wanted: lookup_tools.GrepInput, text: str) -> lookup_tools.GrepResult:
    """Parse a text result."""
    mode = wanted.output_mode or "files_with_matches"
    names = _read_names(text)
    if mode == "files_with_matches":
        return lookup_tools.GrepResult(mode=mode, filenames=names)
    return lookup_tools.GrepResult(mode=mode, content="\n".join(names))


def _show_matches(
    wanted: lookup_tools.GrepInput, result: lookup_tools.GrepResult
) -> tuple[str, tuple[Part, ...]]:
    if result.content is None or result.mode == "files_with_matches":
        names = result.filenames
        omitted = max((result.total_files or 0) - len(names), 0)
        return _count(len(names) + omitted, "file"), _list_files(names, omitted)
    lines = result.content.split("\n") if result.content.strip() else []
    omitted = max((result.total_lines or 0) - len(lines), 0)
    found = result.num_matches if result.mode == "count" else len(lines) + omitted
    noun = "match" if result.mode == "count" else "line"
    counted = _count(found or 0, noun, f"{noun}es" if noun == "match" else None)
    return counted, part_builders.show_entries(_read_lines(lines, wanted.path), omitted)


def _read_lines(lines: list[str], path: str | None) -> Iterator[Entry]:
    """Parse ripgrep's `path:12:text`, `path-12-text` for context, `12:text` for a single file."""
    last = None
    for line in lines:
        if found := _MATCH.match(line):
            last = found[1]
            yield Entry(line[found.end() :], path=last, line=int(found[2]))
        elif last and (around := re.match(r"-(\d{1,9})-", line.removeprefix(last))):
            text = line.removeprefix(last)[around.end() :]
            yield Entry(text, path=last, line=int(around[1]))
        elif found := _MATCH_IN_FILE.match(line):
            yield Entry(line[found.end() :], path=path, line=int(found[1]))
        else:
            yield Entry(line)


def describe_ls(case: Case) -> ToolView | None:
    """Describe the listing of a directory."""
    wanted = case.input
    if not isinstance(wanted, lookup_tools.LsInput) or not wanted.path:
        return None
    lines = tuple(line for line in case.text.split("\n") if line.strip())
    return ToolView(
        title=wanted.path,
        summary=format_count(len(lines), "line"),
        input=part_builders.show_fields(("ignore", wanted.ignore)),
        output=part_builders.show_entries(map(Entry, lines)),
    )


def describe_lsp(case: Case) -> ToolView | None:
    """Describe a query to a language server."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, lookup_tools.LspInput) or not wanted.operation:
        return None
    place = wanted.file_path if wanted.line is None else f"{wanted.file_path}:{wanted.line}"
    found = result if isinstance(result, lookup_tools.LspResult) else lookup_tools.LspResult()
    text = found.result or case.text
    return ToolView(
        title=part_builders.join_facts(wanted.operation, place),
        summary=part_builders.take_line(text)
        if found.result_count is None
        else format_count(found.result_count, "result"),
        input=part_builders.show_fields(("query", wanted.query), ("character", wanted.character)),
        output=part_builders.show_plain(text),
    )


class _Query(Struct, frozen=True):
    """The input of a server-side tool."""

    query: str = ""
    url: str = ""


class _Hit(Struct, frozen=True):
    """A page found by a server-side search."""

    title: str | None = None
    url: str | None = None
    page_age: str | None = None


def describe_search(case: Case) -> ToolView | None:
    """Describe a query and the pages found."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, lookup_tools.WebSearchInput) or not wanted.query:
        return None
    found = result.results if isinstance(result, lookup_tools.WebSearchResult) else ()
    hits = sum(len(group.content) for group in found if isinstance(group, lookup_tools.WebHits))
    said = (
        part_builders.show_prose(case.text)
        if not isinstance(result, lookup_tools.WebSearchResult)
        else ()
    )
    return ToolView(
        title=part_builders.take_line(wanted.query),
        summary=format_count(hits, "result") if found else part_builders.take_line(case.text),
        input=part_builders.show_fields(
            ("only", wanted.allowed_domains), ("without", wanted.blocked_domains)
        ),
        output=(*(part for group in found for part in _show_group(group)), *said),
    )


def _show_group(group: lookup_tools.WebHits | str) -> tuple[Part, ...]:
    if isinstance(group, str):
        return part_builders.show_prose(group)
    return part_builders.show_entries(map(_show_hit, group.content))


def _show_hit(hit: lookup_tools.WebHit) -> Entry:
    return Entry(hit.title or hit.url or "", url=hit.url, note=hit.snippet)


def describe_fetch(case: Case) -> ToolView | None:
    """Describe a page and what was found in it."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, lookup_tools.WebFetchInput) or not wanted.url:
        return None
    page = (
        result if isinstance(result, lookup_tools.WebFetchResult) else lookup_tools.WebFetchResult()
    )
    code = None if page.code is None else f"{page.code} {page.code_text or ''}".rstrip()
    return ToolView(
        title=wanted.url,
        summary=part_builders.join_facts(
            code, None if page.bytes is None else format_bytes(page.bytes)
        ),
        input=(
            *part_builders.show_entries((Entry(wanted.url, url=wanted.url),)),
            *part_builders.show_prose(wanted.prompt),
        ),
        output=part_builders.show_prose(page.result or case.text),
    )


def describe_server_search(case: Case) -> ToolView | None:
    """Describe a server-side search."""
    query, hits = _read_query(case), _read_hits(case)
    if not query.query or hits is None:
        return None
    return ToolView(
        title=part_builders.take_line(query.query),
        summary=format_count(len(hits), "result"),
        output=part_builders.show_entries(
            Entry(hit.title or hit.url or "", url=hit.url, note=hit.page_age) for hit in hits
        ),
    )


def describe_server_fetch(case: Case) -> ToolView | None:
    """Describe a page fetched by the API."""
    query, block = _read_query(case), case.call.block
    if not query.url:
        return None
    found = (part_builders.show_json(block.content),) if isinstance(block, ServerToolResult) else ()
    link = part_builders.show_entries((Entry(query.url, url=query.url),))
    return ToolView(title=query.url, input=link, output=found)


def _read_query(case: Case) -> _Query:
    raw: Raw | bytes = case.call.raw_input
    if bytes(raw).startswith(b'"'):
        # Clients up to 2.0.77 keep the input of a server-side tool as JSON within a string.
        raw = (decode_value(raw, str) or "").encode(errors="replace")
    return decode_value(raw, _Query) or _Query()


def _read_hits(case: Case) -> tuple[_Hit, ...] | None:
    block = case.call.block
    raw = block.content if isinstance(block, ServerToolResult) else Raw(b"[]")
    return decode_value(raw, tuple[_Hit, ...])
