"""Ways to write the same text differently. What is found must not depend on them."""

import html
import json
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from tests.redact.labelled_set import Transform

_VALUE: Final = re.compile(r"(?<==)(?=\S)")


def _colour(text: str) -> str:
    return "\n".join(f"\x1b[38;5;214m{line}\x1b[0m" for line in text.split("\n"))


def _colour_values(text: str) -> str:
    return _VALUE.sub("\x1b[33m", text)


def _escape(times: int) -> Transform:
    def transform(text: str) -> str:
        for _ in range(times):
            text = json.dumps({"content": text})
        return text

    return transform


def _number_lines(text: str) -> str:
    lines = text.split("\n")
    return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(lines, 1))


TRANSFORMS: Final[Mapping[str, Transform]] = {
    "coloured lines": _colour,
    "coloured values": _colour_values,
    "JSON": _escape(1),
    "JSON twice": _escape(2),
    "JSON three times": _escape(3),
    "Windows line ends": lambda text: text.replace("\n", "\r\n"),
    "indented": lambda text: "\n".join("        " + line for line in text.split("\n")),
    "numbered lines": _number_lines,
    "quoted reply": lambda text: "\n".join("> " + line for line in text.split("\n")),
    "HTML": html.escape,
    "percent-encoded": lambda text: quote(text, safe="/:=&?\n "),
    "text around": lambda text: f"Here is what I found:\n\n{text}\n\nShall I go on? été 漢字",
}
