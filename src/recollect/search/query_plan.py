"""Translate a syntax tree into an FTS5 expression and a condition that filters its results.

The expression drives the search: top-level parts that consist of words go into it, everything else
into the condition. Terms are quoted and cannot contain quotes, so nothing of a query reaches FTS5
as syntax. A regular expression is run by RE2 over texts read from the transcripts, narrowed down to
texts that contain its literals. Names are compared here, by Unicode case folding, and looked up in
the index by number.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Raw, Struct

from recollect.documents.kinds import TextKind
from recollect.errors import UnreadableInput
from recollect.locations import encode_project_path
from recollect.reader.line_blocks import mask_line
from recollect.reader.transcript_reader import decode_bytes, read_span
from recollect.records.blocks import MCP_PREFIX
from recollect.records.envelope import Record, Span
from recollect.search import query_tree, regexes
from recollect.search.terms import CUT, TERM_LIMIT, TermSequence, query_terms
from recollect.session.searchable_texts import ListFile, list_searchable_texts
from recollect.store import IndexedFile, text_conditions
from recollect.store.text_queries import TextQueries
from recollect.sync import is_list_file

MakeCondition = Callable[[query_tree.Leaf], text_conditions.Condition]
"""Returns the condition of a field, a bound or a regular expression."""

Candidates = Callable[[query_tree.Regex], str | None]
"""Returns an FTS5 expression for all texts that a regular expression may match."""


_MAX_JOINED: Final = 32
_NO_TERM: Final = CUT * 2
NEAR_WORDS: Final = 8
"""Maximum number of other words between words that are close together."""


class SearchPlan(Struct, frozen=True):
    """An FTS5 expression and a condition; without an expression every text is checked."""

    match: str | None
    condition: text_conditions.Condition


def make_search_plan(
    query: query_tree.Query,
    make_condition: MakeCondition,
    find_candidates: Candidates,
) -> SearchPlan:
    """Return the plan for a query."""
    parts = query.root.parts if isinstance(query.root, query_tree.And) else (query.root,)
    worded = [part for part in parts if to_match(_positive(part)) is not None]
    match = to_match(query_tree.And(tuple(worded)))
    rest = [part for part in parts if match is None or part not in worded]
    narrowed = [_narrow(part, find_candidates) for part in rest]
    matches = [found for found in (match, *narrowed) if found is not None]
    condition = text_conditions.all_of([_to_condition(part, make_condition) for part in rest])
    return SearchPlan(" AND ".join(matches) or None, condition)


def to_match(node: query_tree.Node) -> str | None:
    """Return the FTS5 expression of a node; None if it has other leaves than words, or only NOT."""
    match node:
        case query_tree.Word() | query_tree.Phrase():
            return join_any(map(quote_terms, query_terms(node.text)))
        case query_tree.Prefix():
            return join_any(map(quote_terms, query_terms(node.text, prefix=True)))
        case query_tree.NamePart():
            found = query_terms(node.text, prefix=True)[0]
            terms = (text_conditions.ANY_OF.join(node.heads), *found.terms[1:])
            return quote_terms(TermSequence(terms, found.ends_open))
        case query_tree.Or():
            matches = [to_match(part) for part in node.parts]
            return None if None in matches else join_any(filter(None, matches))
        case query_tree.And():
            return _match_all(node.parts)
    return None


def to_near_match(words: Sequence[query_tree.Word]) -> str | None:
    """Return the FTS5 expression for words close to each other; None if there are not several."""
    sequences = [sequence for word in words for sequence in query_terms(word.text)[:1]]
    if len(sequences) < 2 or any(sequence.ends_open for sequence in sequences):  # noqa: PLR2004
        return None
    return f"NEAR({' '.join(map(quote_terms, sequences))}, {NEAR_WORDS})"


def _narrow(node: query_tree.Node, find_candidates: Candidates) -> str | None:
    """Return an expression for all texts that may match a node; None if any text may."""
    match node:
        case query_tree.Regex():
            return find_candidates(node) if node.narrows else None
        case query_tree.Or():
            found = [_narrow(part, find_candidates) for part in node.parts]
            return None if None in found else join_any(filter(None, found))
        case query_tree.And():
            return _join_all(filter(None, (_narrow(part, find_candidates) for part in node.parts)))
    return to_match(node)


def _positive(node: query_tree.Node) -> query_tree.Node:
    return node.part if isinstance(node, query_tree.Not) else node


def _match_all(parts: Sequence[query_tree.Node]) -> str | None:
    wanted = [to_match(part) for part in parts if not isinstance(part, query_tree.Not)]
    unwanted = [to_match(part.part) for part in parts if isinstance(part, query_tree.Not)]
    if not wanted or None in wanted or None in unwanted:
        return None
    found = " AND ".join(filter(None, wanted))
    return f"(({found}) NOT {join_any(filter(None, unwanted))})" if unwanted else f"({found})"


def join_any(matches: Iterable[str]) -> str | None:
    """Join FTS5 expressions with OR; None if there are none.

    FTS5 evaluates all joined expressions for each text, so many of them are joined in nested
    groups. It would flatten nested ORs, but not if a group excludes a term that no text has.
    """
    joined = list(matches)
    while len(joined) > _MAX_JOINED:
        starts = range(0, len(joined), _MAX_JOINED)
        groups = (" OR ".join(joined[start : start + _MAX_JOINED]) for start in starts)
        joined = [f'(({group}) NOT "{_NO_TERM}")' for group in groups]
    return f"({' OR '.join(joined)})" if joined else None


def quote_terms(sequence: TermSequence) -> str:
    """Return the FTS5 phrase for a sequence of terms."""
    terms = " ".join(sequence.terms).replace('"', "")
    return f'"{terms}"{" *" if sequence.ends_open else ""}'


def _to_condition(
    node: query_tree.Node, make_condition: MakeCondition
) -> text_conditions.Condition:
    match node:
        case query_tree.And():
            return text_conditions.all_of(
                [_to_condition(part, make_condition) for part in node.parts]
            )
        case query_tree.Or():
            return text_conditions.any_of(
                [_to_condition(part, make_condition) for part in node.parts]
            )
        case query_tree.Not():
            return text_conditions.none_of(_to_condition(node.part, make_condition))
    match = to_match(node)
    return make_condition(node) if match is None else text_conditions.matches_words(match)


MIN_LENGTH: Final = 3
MAX_TERMS: Final = 400
"""Maximum number of terms that contain a word: looking up more takes as long as reading the
texts."""

# Only characters that folding never changes, whatever is next to them.
_PIECE: Final = re.compile(r"([0-9A-Za-z]+)|([\u3400-\u4dbf\u4e00-\u9fff]+)")
_SEPARATORS: Final = frozenset(map(chr, range(128))) - frozenset(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)


def find_candidates(regex: query_tree.Regex, queries: TextQueries) -> str | None:
    """Return an FTS5 expression for all texts that may match; None if any text may.

    Texts that were only partly indexed are always candidates.
    """
    found = _Candidates(queries).make_expression(regexes.find_required_literals(regex.pattern))
    return None if found is None else f'({found} OR "{CUT}")'


class _Candidates:
    """Turns required literals into terms.

    A word of a literal is a whole term only if the literal shows where it starts and ends, and a
    prefix if it shows only the start. Otherwise it may be part of any term that contains it.
    """

    def __init__(self, queries: TextQueries) -> None:
        self._queries = queries

    def make_expression(self, requirement: regexes.Requirement) -> str | None:
        """Return the expression for a requirement; None if it does not narrow the search."""
        match requirement:
            case regexes.Literal():
                return _join_all(filter(None, self._iter_words(requirement.text)))
            case regexes.AllOf():
                return _join_all(filter(None, map(self.make_expression, requirement.parts)))
            case regexes.AnyOf():
                found = [self.make_expression(part) for part in requirement.parts]
                return None if None in found else join_any(filter(None, found))

    def _iter_words(self, text: str) -> Iterator[str | None]:
        for match in _PIECE.finditer(text):
            if match[2]:
                yield join_any(map(quote_terms, query_terms(match[2])))
                continue
            word = match[1].lower()
            starts_term = text[match.start() - 1 : match.start()] in _SEPARATORS
            ends_term = text[match.end() : match.end() + 1] in _SEPARATORS
            if len(word) > TERM_LIMIT:
                continue
            if starts_term:
                yield quote_terms(TermSequence((word,), ends_open=not ends_term))
            else:
                yield self._express_substring(word, ends_term=ends_term)

    def _express_substring(self, word: str, *, ends_term: bool) -> str | None:
        if len(word) < MIN_LENGTH or not self._queries.has_all_terms:
            return None
        terms = self._queries.find_terms(word, MAX_TERMS + 1)
        if len(terms) > MAX_TERMS:
            return None
        wanted = [term for term in terms if not ends_term or term.endswith(word)]
        return join_any(quote_terms(TermSequence((term,))) for term in wanted or [word])


def _join_all(expressions: Iterable[str]) -> str | None:
    joined = " AND ".join(expressions)
    return f"({joined})" if joined else None


class TextReader:
    """Reads texts from transcripts: the index has only their positions.

    If a file has changed since, the text may be another one or None.
    """

    def __init__(self, files: Mapping[int, IndexedFile]) -> None:
        self._files = files

    def read(self, file_id: int, position: int, length: int, number: int) -> str | None:
        """Return the text with this number in the record at `position`; None if there is none."""
        record = self.read_record(file_id, position, length)
        texts = [] if record is None else list_searchable_texts(record)
        return texts[number].text if number < len(texts) else None

    def read_record(self, file_id: int, position: int, length: int) -> Record | None:
        """Return the record at `position`; None if the file cannot be read."""
        path = self._files[file_id].path
        try:
            data = read_span(Span(path, position, length))
        except (UnreadableInput, OSError):
            return None
        if is_list_file(path):
            # A list is one value over several lines, and is masked as one.
            masked = mask_line(path, position, data.replace(b"\n", b" "))
            return ListFile(span=Span(path, position, length), raw=Raw(masked))
        # With a newline, the last record of a broken line is repaired as it was when indexed.
        line = data if data.endswith(b"\n") else data + b"\n"
        return next(iter(decode_bytes(path, position, line)), None)


ROLES: Final = {
    "user": (TextKind.PROMPT, TextKind.COMMAND, TextKind.QUEUED),
    "assistant": (TextKind.REPLY, TextKind.THINKING, TextKind.TOOL_INPUT),
    "tool": (TextKind.TOOL_RESULT,),
    "system": (TextKind.SUMMARY, TextKind.TITLE, TextKind.NOTICE, TextKind.OTHER),
}
_KINDS: Final = {
    "command": (TextKind.COMMAND,),
    "prompt": (TextKind.PROMPT, TextKind.COMMAND, TextKind.QUEUED),
    "summary": (TextKind.SUMMARY,),
    "thinking": (TextKind.THINKING,),
}
_PATHS: Final = (TextKind.TOOL_INPUT, TextKind.COMMAND, TextKind.PROMPT, TextKind.QUEUED)


class ConditionBuilder:
    """Turns leaves of one query into conditions, and collects the checks that they need."""

    def __init__(self, queries: TextQueries, reader: TextReader, query: query_tree.Query) -> None:
        self._queries = queries
        self._reader = reader
        self._query = str(query)
        self.checks: list[text_conditions.Check] = []

    def make_condition(self, leaf: query_tree.Leaf) -> text_conditions.Condition:
        """Return the condition of a field, a bound or a regular expression."""
        match leaf:
            case query_tree.Bound(name="since"):
                return text_conditions.is_since(int(leaf.moment.timestamp()))
            case query_tree.Bound():
                return text_conditions.is_until(int(leaf.moment.timestamp()))
            case query_tree.Regex():
                return self._match_regex(leaf)
            case query_tree.FieldTerm():
                return self._match_field(leaf.name, leaf.value)
        return text_conditions.NEVER

    def _match_regex(self, regex: query_tree.Regex) -> text_conditions.Condition:
        pattern = regexes.compile_regex(regex, self._query)

        def check(file_id: int, position: int, length: int, number: int) -> bool:
            text = self._reader.read(file_id, position, length, number)
            return text is not None and pattern.search(text) is not None

        self.checks.append(check)
        return text_conditions.passes(len(self.checks) - 1)

    def _match_field(self, name: query_tree.TextField, value: str) -> text_conditions.Condition:
        makers: dict[query_tree.TextField, Callable[[str], text_conditions.Condition]] = {
            "project": self._match_project,
            "session": self._match_session,
            "role": lambda role: text_conditions.has_part(ROLES[role]),
            "tool": lambda tool: self._has_name("tool", lambda name: is_tool(name, tool)),
            "file": self._match_file,
            "model": lambda model: self._has_name("model", lambda name: is_model(name, model)),
            "branch": lambda branch: self._has_name("branch", lambda name: branch in name),
            "is": self._match_kind,
        }
        return makers[name](value.casefold())

    def _match_project(self, project: str) -> text_conditions.Condition:
        wanted = ProjectName(project)
        files = self._in_files(lambda file: wanted.is_of_file(file.project))
        return text_conditions.any_of([self._has_name("cwd", wanted.is_in), files])

    def _match_session(self, session: str) -> text_conditions.Condition:
        return self._in_files(lambda file: file.session_id.casefold().startswith(session))

    def _match_file(self, path: str) -> text_conditions.Condition:
        """Match tool calls, commands and prompts that mention the path."""
        match = to_match(query_tree.Phrase(path))
        return (
            text_conditions.all_of(
                [text_conditions.matches_words(match), text_conditions.has_part(_PATHS)]
            )
            if match
            else text_conditions.NEVER
        )

    def _match_kind(self, kind: str) -> text_conditions.Condition:
        if kind == "error":
            return text_conditions.is_error()
        return (
            text_conditions.is_of_subagent()
            if kind == "subagent"
            else text_conditions.has_part(_KINDS[kind])
        )

    def _in_files(self, matches: Callable[[IndexedFile], bool]) -> text_conditions.Condition:
        files = self._queries.files.items()
        return text_conditions.in_files(number for number, file in files if matches(file))

    def _has_name(
        self, column: text_conditions.NamedColumn, matches: Callable[[str], bool]
    ) -> text_conditions.Condition:
        numbers: Iterable[int] = (
            number for number, name in self._queries.names.items() if matches(name.casefold())
        )
        return text_conditions.has_name(column, numbers)


def is_tool(name: str, wanted: str) -> bool:
    """Match a tool by name; for MCP tools, which have long names, any part is enough."""
    return name == wanted or (name.startswith(MCP_PREFIX) and wanted in name)


def is_model(name: str, wanted: str) -> bool:
    """Match a model by any part of its name."""
    return wanted in name


class ProjectName:
    """A part of the path of a project, in lower case: the value of `project:`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._encoded = encode_project_path(text).casefold()

    def is_in(self, cwd: str) -> bool:
        """Whether a working directory, in lower case, contains it."""
        return self._text in cwd

    def is_of_file(self, project: str) -> bool:
        """Whether the project directory of a transcript contains it."""
        return self._encoded in project.casefold()
