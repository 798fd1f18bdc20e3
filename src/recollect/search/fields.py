"""Fields, bounds and regular expressions of a query → conditions that the index can check.

Names are compared here, ignoring case as Unicode does, and the index is asked for their numbers.
A regular expression goes to RE2, which is linear in time, and looks at the texts themselves.
"""

from collections.abc import Callable, Iterable
from typing import Final

from recollect.locations import encode_project_path
from recollect.search.match import to_match
from recollect.search.readback import TextReader
from recollect.search.regexes import compile_regex
from recollect.search.tree import Bound, Field, Leaf, Phrase, Query, Regex, TextField
from recollect.store.text import Part, TextFile
from recollect.store.text_queries import (
    NEVER,
    Check,
    Condition,
    NamedColumn,
    TextQueries,
    all_of,
    any_of,
    has_name,
    has_part,
    holds_words,
    in_files,
    is_error,
    is_of_subagent,
    is_since,
    is_until,
    passes,
)

_MCP: Final = "mcp__"
ROLES: Final = {
    "user": (Part.PROMPT, Part.COMMAND),
    "assistant": (Part.REPLY, Part.THINKING, Part.TOOL_INPUT),
    "tool": (Part.TOOL_RESULT,),
    "system": (Part.SUMMARY, Part.TITLE, Part.NOTICE, Part.OTHER),
}
_KINDS: Final = {
    "command": (Part.COMMAND,),
    "prompt": (Part.PROMPT, Part.COMMAND),
    "summary": (Part.SUMMARY,),
    "thinking": (Part.THINKING,),
}
_PATHS: Final = (Part.TOOL_INPUT, Part.COMMAND, Part.PROMPT)


class FieldReader:
    """Turns the leaves of one query into conditions, and keeps the checks they need."""

    def __init__(self, queries: TextQueries, reader: TextReader, query: Query) -> None:
        self._queries = queries
        self._reader = reader
        self._query = str(query)
        self.checks: list[Check] = []

    def ask(self, leaf: Leaf) -> Condition:
        """What a field, a bound or a regular expression asks for."""
        match leaf:
            case Bound(name="since"):
                return is_since(int(leaf.moment.timestamp()))
            case Bound():
                return is_until(int(leaf.moment.timestamp()))
            case Regex():
                return self._ask_regex(leaf)
            case Field():
                return self._ask_field(leaf.name, leaf.value)
        return NEVER

    def _ask_regex(self, regex: Regex) -> Condition:
        pattern = compile_regex(regex, self._query)

        def check(file_id: int, position: int, length: int, number: int) -> bool:
            text = self._reader.read(file_id, position, length, number)
            return text is not None and pattern.search(text) is not None

        self.checks.append(check)
        return passes(len(self.checks) - 1)

    def _ask_field(self, name: TextField, value: str) -> Condition:
        ask: dict[TextField, Callable[[str], Condition]] = {
            "project": self._ask_project,
            "session": self._ask_session,
            "role": lambda role: has_part(ROLES[role]),
            "tool": lambda tool: self._named("tool", lambda name: _is_tool(name, tool)),
            "file": self._ask_file,
            "model": lambda model: self._named("model", lambda name: model in name),
            "branch": lambda branch: self._named("branch", lambda name: branch in name),
            "is": self._ask_kind,
        }
        return ask[name](value.casefold())

    def _ask_project(self, project: str) -> Condition:
        encoded = encode_project_path(project).casefold()
        files = self._in_files(lambda file: encoded in file.project.casefold())
        return any_of([self._named("cwd", lambda cwd: project in cwd), files])

    def _ask_session(self, session: str) -> Condition:
        return self._in_files(lambda file: file.session_id.casefold().startswith(session))

    def _ask_file(self, path: str) -> Condition:
        """The call of a tool, a command or a prompt that names the path."""
        match = to_match(Phrase(path))
        return all_of([holds_words(match), has_part(_PATHS)]) if match else NEVER

    def _ask_kind(self, kind: str) -> Condition:
        if kind == "error":
            return is_error()
        return is_of_subagent() if kind == "subagent" else has_part(_KINDS[kind])

    def _in_files(self, fits: Callable[[TextFile], bool]) -> Condition:
        files = self._queries.files.items()
        return in_files(number for number, file in files if fits(file))

    def _named(self, column: NamedColumn, fits: Callable[[str], bool]) -> Condition:
        numbers: Iterable[int] = (
            number for number, name in self._queries.names.items() if fits(name.casefold())
        )
        return has_name(column, numbers)


def _is_tool(name: str, wanted: str) -> bool:
    """MCP tools have long names, of which any part will do."""
    return name == wanted or (name.startswith(_MCP) and wanted in name)
