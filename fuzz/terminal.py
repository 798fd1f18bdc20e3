"""Feed hostile strings to the sanitizer: `python -m fuzz.terminal --strings 1000000`.

Strings are combined from control sequences and from characters that scripts need, so that sequences
come out complete, truncated and nested. Whatever goes in, only harmless text may come out, and it
must show what went in. Rendering is expensive, so only some strings are rendered. The first string
that breaks a law is printed with the seed that reproduces it.
"""

import argparse
import random
import re
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence

from fuzz import runs
from fuzz.laws import LawBroken
from recollect.render.terminal import ESCAPE_SIGN, safe_line, safe_text
from recollect.render.terminal.ansi_output import iter_runs

RENDER_EVERY = 500
"""One string in this many is rendered as well."""

_HUES = {None, "red", "green", "yellow", "blue", "magenta", "cyan"}
_NAMED = re.compile("\u2039U\\+([0-9A-F]{4,6})\u203a")
_SGR = re.compile(r"\x1b\[[0-9;:]{0,200}m")
_OUR_SGR = re.compile(r"\x1b\[[0-9;]*m")
_HIDDEN = {"Cc", "Cs", "Zl", "Zp"}
_REORDERING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
_INVISIBLE = {*"\u061c\u200b\u200e\u200f\u2060\ufeff\u00ad\u034f\u115f\u1160\u3164\uffa0"}

_SEQUENCES = (
    *("\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1b_", "\x1b^", "\x1bX", "\x1b\\", "\x1b(", "\x1bc"),
    *("\x9b", "\x9d", "\x90", "\x9c", "\x07", "\r", "\n", "\t", "\x08", "\x00", "\x7f", "\x85"),
    *("0;", "8;;", "52;c;", "2J", "H", "3A", "6n", "m", "38;5;9m", "48:2::1:2:3m", "\x1b[0m"),
    *("\x1b[8m", "\x1b[30;40m", "\x1b[1;31m", "\x1b]0;t\x07", "\x1b[?1049h", "\x1b[201~"),
    *("\u202e", "\u2066", "\u2069", "\u200f", "\u2028", "\u200b", "\ufeff", "\u00ad", "\u3164"),
    *("\u200d", "\u200c", "\ufe0f", "\ufe01", "\U000e0100", "\U000e0041", "\u0301", "\u0489"),
    *(
        "\ud83d",
        "\udc00",
        "👩",
        "🍳",
        "麻",
        "é",
        "ن",
        "क",
        "ก",
        "a",
        "Z",
        "7",
        " ",
        "<",
        "&#x202e;",
    ),
    *("**", "`", "```\n", "[x](y)", "| a |\n|-|\n| b | c |\n", "# ", "- ", "<!-- ", "[//]: # (c)"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 1 if a law was broken."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.terminal", description=__doc__)
    parser.add_argument("--strings", type=int, default=100_000, help="to make (%(default)s)")
    runs.add_seed(parser)
    runs.add_jobs(parser)
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    found = runs.split(fuzz, options.strings, options.seed, options.jobs)
    failures = [failure for failure in found if failure]
    done = f"{options.strings} strings in {time.perf_counter() - start:.0f} s, seed {options.seed}"
    print(f"{done}, {len(failures)} failures")
    return runs.report(failures)


def fuzz(strings: int, seed: str) -> str:
    """Return the first failure, or an empty string."""
    render = _make_renderer()
    for number in range(strings):
        rng = random.Random(f"{seed}:{number}")
        text = make_text(rng)
        try:
            check_safe(text)
            check_runs(text)
            if number % RENDER_EVERY == 0:
                check_rendered(text, render(text, rng.choice((1, 20, 80))))
        except Exception as error:  # noqa: BLE001 - any exception is a finding
            return f"seed {seed}:{number}: {error!r} on this string:\n{text!a}"
    return ""


def make_text(rng: random.Random) -> str:
    """Return a string of control sequences, scripts and arbitrary characters."""
    pieces = rng.choices(_SEQUENCES, k=rng.randrange(1, 16))
    for _ in range(rng.randrange(3)):
        pieces.insert(rng.randrange(len(pieces) + 1), chr(rng.randrange(0x110000)))
    if rng.random() < 0.1:
        pieces *= rng.randrange(2, 9)
    return "".join(pieces)


def check_safe(text: str) -> None:
    """The output is harmless, sanitizing it again changes nothing, and nothing is lost."""
    safe = safe_text(text)
    _require(all(character in "\n\t" or is_harmless(character) for character in safe), "unsafe")
    _require(safe_text(safe) == safe, "not idempotent")
    _require(read_back(safe) == read_back(text), "something was lost")
    _require(safe.encode().decode() == safe, "cannot be encoded")
    line = safe_line(text)
    _require(all(map(is_harmless, line)), "unsafe on a single line")


def check_runs(text: str) -> None:
    """Colours are from our palette, and everything else is safe text."""
    runs = list(iter_runs(text))
    for words, ink in runs:
        _require(safe_text(words) == words, "unsafe run")
        _require(ink.hue in _HUES, "unknown hue")
    joined = read_back("".join(words for words, _ in runs))
    _require(joined == read_back(_SGR.sub("", text)), "a run was lost")


def check_rendered(text: str, lines: Sequence[str]) -> None:
    """Rendered lines contain our colours, harmless text, and every letter."""
    shown = _OUR_SGR.sub("", "".join(lines))
    _require(all(map(is_harmless, shown)), "unsafe rendering")
    letters = {character for character in safe_text(text) if character.isalpha()}
    _require(letters <= set(shown), "a letter was lost")


def is_harmless(character: str) -> bool:
    """Return whether a terminal only shows a character, by the Unicode tables and not our own."""
    return (
        unicodedata.category(character) not in _HIDDEN
        and unicodedata.bidirectional(character) not in _REORDERING
        and character not in _INVISIBLE
        and not 0xE0000 <= ord(character) <= 0xE007F
    )


def read_back(safe: str) -> str:
    """Undo the visible replacements."""
    return _NAMED.sub(lambda found: chr(int(found[1], 16)), safe.replace(ESCAPE_SIGN, "\x1b"))


def _require(holds: bool, law: str) -> None:
    if not holds:
        raise LawBroken(law)


Render = Callable[[str, int], list[str]]


def _make_renderer() -> Render:
    """Return a function that renders a string as every kind of part with free text."""
    from recollect.documents import turn_documents
    from recollect.render.terminal.canvas import (
        Canvas,  # loads rich
        RenderOptions,
    )
    from recollect.render.terminal.terminal_parts import render_part

    canvas = Canvas(RenderOptions(is_coloured=True))

    def iter_lines(text: str, columns: int) -> Iterator[str]:
        for make in (
            turn_documents.Prose,
            turn_documents.Plain,
            turn_documents.Code,
            turn_documents.Output,
            turn_documents.Json,
        ):
            yield from render_part(make(text), canvas, columns)
        yield from render_part(turn_documents.Fields(((text, text),)), canvas, columns)
        yield from render_part(turn_documents.Question(text, text, answer=text), canvas, columns)

    return lambda text, columns: list(iter_lines(text, columns))


if __name__ == "__main__":
    sys.exit(main())
