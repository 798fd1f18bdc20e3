"""Program output as runs of safe text, each with its style.

Only escape sequences for colours and emphasis (SGR) are interpreted; others are shown. None is
passed through: colours are reduced to the six hues of the terminal's palette, which are readable,
and a background becomes reverse video in that hue. Text therefore never has the colour of its
background, and cannot be hidden.
"""

import re
from collections.abc import Iterator

from msgspec import Struct, structs

from recollect.render.terminal import safe_text

_SGR = re.compile(r"\x1b\[([0-9;:]{0,200})m")

_HUES = (None, "red", "green", "yellow", "blue", "magenta", "cyan", None)
_FOREGROUND, _BACKGROUND = 38, 48
_DEFAULT_FOREGROUND, _DEFAULT_BACKGROUND = 39, 49
_BY_NUMBER, _BY_RGB = 5, 2
_FIRST_OF_CUBE, _FIRST_GREY, _LAST_COLOUR = 16, 232, 255
_CUBE_LEVELS = (0, 95, 135, 175, 215, 255)
_MIN_COLOUR = 48
"""Minimum distance of red, green and blue for a colour that is not grey."""
_LIGHT = 160
"""Minimum brightness of a grey that counts as white."""


class TextRunStyle(Struct, frozen=True, kw_only=True):
    """The style of a run of text; a hue with `reverse` is a background of that hue."""

    hue: str | None = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False
    reverse: bool = False


class _Colour(Struct, frozen=True):
    """A simplified colour: a hue, or a light or dark grey."""

    hue: str | None
    is_light: bool


class _State(Struct, frozen=True, kw_only=True):
    """The state set by the sequences so far."""

    foreground: _Colour | None = None
    background: _Colour | None = None
    ink: TextRunStyle = TextRunStyle()


_FLAGS = {
    1: {"bold": True},
    2: {"dim": True},
    3: {"italic": True},
    4: {"underline": True},
    7: {"reverse": True},
    9: {"strike": True},
    21: {"underline": True},
    22: {"bold": False, "dim": False},
    23: {"italic": False},
    24: {"underline": False},
    27: {"reverse": False},
    29: {"strike": False},
}
_PALETTE = {
    **{30 + number: (False, number) for number in range(8)},
    **{40 + number: (True, number) for number in range(8)},
    **{90 + number: (False, 8 + number) for number in range(8)},
    **{100 + number: (True, 8 + number) for number in range(8)},
}
"""The colour number of each code, and whether it is a background."""


def iter_runs(text: str) -> Iterator[tuple[str, TextRunStyle]]:
    """Yield runs of safe text with their style."""
    state = _State()
    pieces = _SGR.split(text)
    for piece, parameters in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        if piece:
            yield safe_text(piece), _choose_ink(state)
        state = _apply(state, parameters)


def _choose_ink(state: _State) -> TextRunStyle:
    """Return the style for a state, with different text and background colours."""
    ink, front, back = state.ink, state.foreground, state.background
    if back is not None and (back.hue or back.is_light):
        return structs.replace(ink, hue=back.hue, reverse=True)
    if front is not None and front.hue is None and not front.is_light:
        return structs.replace(ink, dim=True)
    return structs.replace(ink, hue=front.hue if front else None)


def _apply(state: _State, parameters: str) -> _State:
    codes = iter(parameters.split(";"))
    for code in codes:
        number, *details = (int(part or 0) for part in code.split(":"))
        if number in (_FOREGROUND, _BACKGROUND):
            colour = _read_colour(details or _take_details(codes))
            state = _set_colour(state, colour, is_background=number == _BACKGROUND)
        else:
            state = _apply_one(state, number)
    return state


def _take_details(codes: Iterator[str]) -> list[int]:
    """Return the numbers after 38 or 48 in the common form, in which each is a separate code."""
    numbers = (int(code) if code.isdecimal() else 0 for code in codes)
    kind = next(numbers, 0)
    wanted = {_BY_NUMBER: 1, _BY_RGB: 3}.get(kind, 0)
    return [kind, *(next(numbers, 0) for _ in range(wanted))]


def _read_colour(details: list[int]) -> _Colour | None:
    match details:
        case [5, number, *_]:
            return _find_colour(number)
        case [2, *_, red, green, blue]:
            return _mix(red, green, blue)
    return None


def _apply_one(state: _State, code: int) -> _State:
    if code in _FLAGS:
        return structs.replace(state, ink=structs.replace(state.ink, **_FLAGS[code]))
    if code in _PALETTE:
        is_background, number = _PALETTE[code]
        return _set_colour(state, _find_colour(number), is_background=is_background)
    if code in (_DEFAULT_FOREGROUND, _DEFAULT_BACKGROUND):
        return _set_colour(state, None, is_background=code == _DEFAULT_BACKGROUND)
    return _State() if code == 0 else state


def _set_colour(state: _State, colour: _Colour | None, *, is_background: bool) -> _State:
    if is_background:
        return structs.replace(state, background=colour)
    return structs.replace(state, foreground=colour)


def _find_colour(number: int) -> _Colour | None:
    """Return the colour with this number in the 256-colour palette."""
    if number < _FIRST_OF_CUBE:
        return _Colour(_HUES[number % 8], is_light=number in (7, 15)) if number else None
    if number < _FIRST_GREY:
        place = number - _FIRST_OF_CUBE
        return _mix(*(_CUBE_LEVELS[place // step % 6] for step in (36, 6, 1)))
    return _mix(*[8 + 10 * (min(number, _LAST_COLOUR) - _FIRST_GREY)] * 3)


def _mix(red: int, green: int, blue: int) -> _Colour:
    weakest, strongest = min(red, green, blue), max(red, green, blue)
    if strongest - weakest < _MIN_COLOUR:
        return _Colour(None, is_light=strongest >= _LIGHT)
    middle = (strongest + weakest) / 2
    number = (red > middle) + 2 * (green > middle) + 4 * (blue > middle)
    return _Colour(_HUES[number], is_light=False)
