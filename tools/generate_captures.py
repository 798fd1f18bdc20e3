"""Generate the terminal images of the README: `python -m tools.generate_captures`.

Each is an SVG of a terminal after a command on the sample sessions, using the terminal emulator of
the tests. The images load nothing external; text is positioned on a grid, so that columns line up
in any fixed-width font.
"""

import re
import tempfile
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

from pyte.screens import Char
from rich.ansi import AnsiDecoder
from rich.console import Console
from rich.style import Style
from rich.text import Text

from recollect.cli.commands.setup_commands import NOW, copy_demo
from recollect.render.terminal import measure
from tests.terminal import Terminal, open_terminal

CAPTURES: Final = Path(__file__).resolve().parent.parent / "docs" / "captures"
COLUMNS: Final = 100
PICKER_LINES: Final = 18

SCENES: Final[dict[str, tuple[str, ...]]] = {
    "list": ("list",),
    "show": ("show", "flaky", "--no-pager"),
    "search": ("search", "tide", "--no-pager"),
    "usage": ("usage", "--no-pager"),
    "picker": (),
}
"""The arguments of `recollect` for each image."""

_PALETTE: Final = {
    "red": "#f7768e",
    "green": "#9ece6a",
    "yellow": "#e0af68",
    "blue": "#7aa2f7",
    "magenta": "#bb9af7",
    "cyan": "#7dcfff",
    "brightblack": "#737aa2",
}
_ORDER: Final = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_GROUND: Final = "#1a1b26"
_LETTERS: Final = "#c0caf5"
_FAINT: Final = "#737aa2"
_WIDTH, _HEIGHT, _SIZE = 8.4, 19, 14
_MARGIN: Final = 18
_FONTS: Final = (
    "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', "
    "'Noto Sans Mono CJK SC', monospace"
)


class TextStyle(NamedTuple):
    """The style of some text."""

    colour: str = _LETTERS
    ground: str | None = None
    is_bold: bool = False
    is_italic: bool = False


class Run(NamedTuple):
    """A run of text with the same style."""

    text: str
    look: TextStyle = TextStyle()


Line = Sequence[Run]


def main() -> None:
    """Write all images."""
    CAPTURES.mkdir(exist_ok=True)
    for name, svg in make_captures().items():
        (CAPTURES / f"{name}.svg").write_text(svg, encoding="utf-8")


def make_captures() -> dict[str, str]:
    """Return the images by name."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        copy_demo(home / "claude")
        return {name: draw(_capture(words, home)) for name, words in SCENES.items()}


def _capture(words: Sequence[str], home: Path) -> list[Line]:
    """Return what a terminal shows after `recollect` with these arguments."""
    environment = {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / "claude"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "RECOLLECT_DATA_DIR": str(home / "data"),
        "RECOLLECT_CONFIG": "",
        "RECOLLECT_NOW": NOW,
        "TZ": "UTC",
        "NO_COLOR": "",
    }
    with open_terminal(
        *words, columns=COLUMNS, lines=PICKER_LINES, env=environment, cwd=home
    ) as terminal:
        if not words:
            return _capture_picker(terminal)
        terminal.wait_for_end()
        return [_prompt(words), *map(_read_line, _split(terminal.received.decode()))]


def _capture_picker(terminal: Terminal) -> list[Line]:
    terminal.wait_for_text("session ba574db1")
    terminal.send("\x1b[B\x1b[B")
    terminal.wait_for_text("session 94791a87")
    return [_prompt(()), *map(_read_cells, terminal.cells)]


def _prompt(words: Sequence[str]) -> Line:
    shown = [word for word in words if word != "--no-pager"]
    return (
        Run("$ ", TextStyle(_PALETTE["green"])),
        Run(" ".join(["recollect", *shown]), TextStyle(is_bold=True)),
    )


def _split(output: str) -> list[str]:
    return output.replace("\r\n", "\n").rstrip("\n").split("\n")


def _read_line(line: str) -> Line:
    (text,) = AnsiDecoder().decode(line) if line else (Text(),)
    segments = text.render(Console(color_system="standard"))
    return [Run(each.text, _read_style(each.style)) for each in segments if each.text.strip("\n")]


def _read_style(style: Style | None) -> TextStyle:
    if style is None:
        return TextStyle()
    number = style.color.number if style.color else None
    plain = _FAINT if style.dim else _LETTERS
    colour = plain if number is None else _PALETTE.get(_ORDER[number], plain)
    return TextStyle(colour, None, bool(style.bold), bool(style.italic))


def _read_cells(cells: Sequence[Char]) -> Line:
    groups = groupby(cells, key=_read_text_style)
    return [Run("".join(cell.data for cell in group), look) for look, group in groups]


def _read_text_style(cell: Char) -> TextStyle:
    colour = _PALETTE.get(cell.fg, _LETTERS)
    if cell.reverse:
        return TextStyle(_GROUND, colour, cell.bold, cell.italics)
    return TextStyle(colour, None, cell.bold, cell.italics)


def draw(lines: Sequence[Line]) -> str:
    """Return the image of some lines."""
    width = COLUMNS * _WIDTH + 2 * _MARGIN
    height = len(lines) * _HEIGHT + 2 * _MARGIN
    body = "\n".join(
        element
        for number, line in enumerate(lines)
        for element in _iter_elements(line, _MARGIN + number * _HEIGHT)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}"'
        f' width="{width:g}" height="{height:g}">\n'
        f'<rect width="100%" height="100%" rx="8" fill="{_GROUND}"/>\n'
        f'<g font-family="{_FONTS}" font-size="{_SIZE}" xml:space="preserve">\n{body}\n</g>\n'
        "</svg>\n"
    )


def _iter_elements(line: Line, top: int) -> Iterator[str]:
    column = 0
    for run in line:
        if run.look.ground:
            yield (
                f'<rect x="{_MARGIN + column * _WIDTH:g}" y="{top}" height="{_HEIGHT}"'
                f' width="{measure(run.text) * _WIDTH:g}" fill="{run.look.ground}"/>'
            )
        for piece in _cut(run.text):
            left, width = _MARGIN + column * _WIDTH, measure(piece) * _WIDTH
            if piece.strip():
                yield _draw_text(piece, run.look, (left, top, width))
            column += measure(piece)


def _draw_text(text: str, look: TextStyle, position: tuple[float, int, float]) -> str:
    left, top, width = position
    style = ' font-weight="bold"' * look.is_bold + ' font-style="italic"' * look.is_italic
    return (
        f'<text x="{left:g}" y="{top + _SIZE}" textLength="{width:g}" fill="{look.colour}"{style}>'
        f"{escape(text, quote=False)}</text>"
    )


def _cut(text: str) -> list[str]:
    """Split text into words and spaces; each wide character is a piece of its own."""
    return re.findall(r"[ ]+|[\u1100-\uffdc]|[^ \u1100-\uffdc]+", text)


if __name__ == "__main__":
    main()
