"""Whether a record fulfils a query, without an index: for records that were written just now.

The same language and the same texts as in a search: one text of the record must fulfil all of it.
What a search finds inside longer words, when it finds too little, is not looked for here.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from msgspec import Struct

from recollect.live.events import Source
from recollect.locations import TranscriptKind, encode_project_path
from recollect.records.envelope import Chain, Record
from recollect.search import parse_query
from recollect.search.fields import ROLES
from recollect.search.regexes import check_regexes, compile_regex
from recollect.search.spans import find_spans
from recollect.search.tree import (
    And,
    Bound,
    Field,
    Leaf,
    Node,
    Not,
    Or,
    Phrase,
    Query,
    Regex,
    TextField,
)
from recollect.session.times import parse_time
from recollect.store.text import Part
from recollect.sync.documents import Document, list_documents

_KINDS: Final[Mapping[str, tuple[Part, ...]]] = {
    "command": (Part.COMMAND,),
    "prompt": (Part.PROMPT, Part.COMMAND),
    "summary": (Part.SUMMARY,),
    "thinking": (Part.THINKING,),
}
_NAMING_PATHS: Final = (Part.TOOL_INPUT, Part.COMMAND, Part.PROMPT)


class Candidate(Struct, frozen=True):
    """A text, and what is known around it; `tool` is the one that it went to or came from."""

    document: Document
    record: Record
    source: Source
    tool: str | None

    def read(self, name: str) -> str:
        """A field of the record, in lower case; "" if it has none."""
        value = getattr(self.record, name, None)
        return value.casefold() if isinstance(value, str) else ""


class Matcher:
    """One query; raises `QueryError` when it cannot be read."""

    def __init__(self, text: str) -> None:
        self._query = parse_query(text)
        check_regexes(self._query)

    def find(self, record: Record, source: Source, tools: Mapping[str, str]) -> str | None:
        """The first text of `record` that fulfils the query; `tools` are known calls by id."""
        is_subagent = source.kind is not TranscriptKind.SESSION
        for document in list_documents(record, is_subagent=is_subagent):
            tool = document.tool or tools.get(document.owner)
            if self._fits(self._query.root, Candidate(document, record, source, tool)):
                return document.text
        return None

    def _fits(self, node: Node, candidate: Candidate) -> bool:
        fits = partial(self._fits, candidate=candidate)
        match node:
            case And():
                return all(map(fits, node.parts))
            case Or():
                return any(map(fits, node.parts))
            case Not():
                return not fits(node.part)
            case Regex():
                pattern = compile_regex(node, str(self._query))
                return pattern.search(candidate.document.text) is not None
        return _holds(node, candidate)


def _holds(leaf: Leaf, candidate: Candidate) -> bool:
    if isinstance(leaf, Bound):
        return _is_within(leaf, candidate)
    if isinstance(leaf, Field):
        return _FIELDS[leaf.name](leaf.value.casefold(), candidate)
    return bool(find_spans(candidate.document.text, Query(leaf)))


def _is_within(bound: Bound, candidate: Candidate) -> bool:
    moment = parse_time(getattr(candidate.record, "timestamp", None))
    if moment is None:
        return False
    return moment >= bound.moment if bound.name == "since" else moment < bound.moment


def _is_in_project(wanted: str, candidate: Candidate) -> bool:
    is_named = encode_project_path(wanted) in candidate.source.project.casefold()
    return is_named or wanted in candidate.read("cwd")


def _is_by_model(wanted: str, candidate: Candidate) -> bool:
    message = getattr(candidate.record, "message", None)
    return wanted in (getattr(message, "model", None) or "").casefold()


def _names_file(wanted: str, candidate: Candidate) -> bool:
    is_there = bool(find_spans(candidate.document.text, Query(Phrase(wanted))))
    return is_there and candidate.document.part in _NAMING_PATHS


def _is_of_tool(wanted: str, candidate: Candidate) -> bool:
    tool = (candidate.tool or "").casefold()
    return tool == wanted or (tool.startswith("mcp__") and wanted in tool)


def _is_kind(kind: str, candidate: Candidate) -> bool:
    if kind == "error":
        return candidate.document.is_error
    if kind == "subagent":
        is_inline = isinstance(candidate.record, Chain) and candidate.record.is_sidechain
        return is_inline or candidate.source.kind is not TranscriptKind.SESSION
    return candidate.document.part in _KINDS[kind]


_FIELDS: Final[Mapping[TextField, Callable[[str, Candidate], bool]]] = {
    "project": _is_in_project,
    "session": lambda wanted, it: it.source.session_id.casefold().startswith(wanted),
    "role": lambda wanted, it: it.document.part in ROLES[wanted],
    "tool": _is_of_tool,
    "file": _names_file,
    "model": _is_by_model,
    "branch": lambda wanted, it: wanted in it.read("git_branch"),
    "is": _is_kind,
}
