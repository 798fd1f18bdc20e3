"""`--tools full` omits nothing of a call: every string of it is rendered."""

import json
import re
from collections.abc import Iterator
from itertools import count
from types import NoneType, UnionType
from typing import Union, get_args, get_origin

import pytest
from msgspec import Raw, Struct
from msgspec.structs import fields

from recollect.documents.turn_documents import Hunk, ToolStep
from recollect.records.tools import ToolOutput
from recollect.records.tools.tool_parsing import INPUTS, RESULTS, Variants
from recollect.render.terminal.canvas import Canvas, RenderOptions, ToolDetail
from recollect.render.terminal.terminal_turns import render_call
from recollect.render.views.turn_views import build_turn_views
from recollect.render.views.whole_calls import show_whole_calls
from recollect.session.session import Session
from tests.session.chains import answer, reply, use, user

_COLUMNS = 20_000
_numbers = count()


def _list_results() -> list[tuple[str, dict[str, object], type[ToolOutput]]]:
    """List each tool with each class of its result, and the field that selects the class."""
    found: list[tuple[str, dict[str, object], type[ToolOutput]]] = []
    for name, entry in RESULTS.items():
        if isinstance(entry, Variants):
            marks = ((entry.key, mark, kind) for mark, kind in entry.classes.items())
            found += [(name, {key: mark} if mark else {}, kind) for key, mark, kind in marks]
        else:
            found.append((name, {}, entry))
    return found


def _fill(kind: object, depth: int = 0) -> object:
    """Return a value of a type with a unique text in every string."""
    options = [each for each in get_args(kind) if each is not NoneType]
    if get_origin(kind) in (Union, UnionType):
        return _fill(next((each for each in options if each is not bool), options[0]), depth)
    if get_origin(kind) is tuple:
        return [_fill(options[0], depth + 1), _fill(options[0], depth + 1)]
    if get_origin(kind) is dict:
        return {f"key{next(_numbers)}": _fill(options[1], depth + 1)}
    assert isinstance(kind, type), kind
    return _fill_struct(kind, depth) if issubclass(kind, Struct) else _fill_scalar(kind)


def _fill_scalar(kind: type) -> object:
    if kind in (str, Raw):
        return f"a word{next(_numbers)} and more\nline{next(_numbers)} of it"
    return kind(next(_numbers))


def _fill_struct(kind: type[Struct], depth: int) -> dict[str, object]:
    if kind is Hunk:
        lines = [f" kept{next(_numbers)}", f"-gone{next(_numbers)}", f"+new{next(_numbers)}"]
        return {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": lines}
    config = kind.__struct_config__
    tag: dict[str, object] = {config.tag_field or "type": config.tag} if config.tag else {}
    if depth > 6:
        return tag
    values = {each.encode_name: _fill(each.type, depth + 1) for each in fields(kind)}
    return {**tag, **values}


def _iter_strings(value: object) -> Iterator[str]:
    """Yield the strings in a JSON value, except the bytes of images."""
    match value:
        case str():
            yield value
        case dict():
            for name, inner in value.items():
                yield from _iter_strings(inner if name != "base64" else None)
        case list():
            for inner in value:
                yield from _iter_strings(inner)


def _draw(name: str, wanted: object, content: object, result: object, is_error: bool) -> str:
    """Return the text of a call with `--tools full`."""
    assert isinstance(wanted, dict)
    call = {**use("t1", name), "input": wanted}
    answered = user("r", [answer("t1", content, is_error=is_error)], "a", toolUseResult=result)
    session = Session([user("p"), reply("a", call, parent="p"), answered])
    (view,) = build_turn_views(session)
    (step,) = (step for step in show_whole_calls(view, session).steps if isinstance(step, ToolStep))
    canvas = Canvas(RenderOptions(columns=_COLUMNS, tools=ToolDetail.FULL))
    return _words("\n".join(render_call(step, canvas, _COLUMNS)))


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text))


def _find_missing(values: tuple[object, ...], drawn: str) -> list[str]:
    """Return the strings in `values` with a line that was rendered neither as text nor as JSON."""
    return [
        text
        for value in values
        for text in _iter_strings(value)
        if not all(_words(line) in drawn for line in text.split("\n"))
        and _words(json.dumps(text)) not in drawn
    ]


@pytest.mark.parametrize("is_error", [False, True])
@pytest.mark.parametrize("name", INPUTS)
def test_nothing_of_an_input_is_left_out(name: str, is_error: bool) -> None:
    """Every string in the input is rendered, however the call ended."""
    wanted = _fill_struct(INPUTS[name], 0)
    drawn = _draw(name, wanted, "what the model saw\nin two lines", None, is_error)
    assert _find_missing((wanted, "what the model saw\nin two lines"), drawn) == []


@pytest.mark.parametrize(
    ("name", "mark", "kind"), _list_results(), ids=lambda value: getattr(value, "__name__", None)
)
def test_nothing_of_a_result_is_left_out(
    name: str, mark: dict[str, object], kind: type[ToolOutput]
) -> None:
    """Every string in the result is rendered, and the text for the model."""
    result = {**_fill_struct(kind, 0), **mark}
    wanted = _fill_struct(INPUTS[name], 0) if name in INPUTS else {}
    seen = "what the model saw\nin two lines"
    drawn = _draw(name, wanted, seen, result, is_error=False)
    assert _find_missing((wanted, seen, result), drawn) == []
