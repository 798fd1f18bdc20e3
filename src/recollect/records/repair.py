"""JSON text that strict decoders refuse → the nearest text that they accept.

JavaScript writes lone surrogates, broken writers leave raw control characters, NaN or bytes that
are no UTF-8, and hostile ones nest without end. One linear pass over the tokens mends all of it,
so that a single decoder serves every line and each string in a record can be encoded again.
The original bytes stay reachable by the record's span.
"""

import re

MAX_DEPTH = 512
"""Levels of nesting that are kept; what lies deeper becomes null."""

MAX_DIGITS = 4000
"""Python refuses to convert longer integers; they become strings of their digits."""

_TOKEN = re.compile(
    r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'  # a string, of which the last may never close
    r"|[\[\]{}]"
    r"|-?(?:NaN|Infinity)"
    r"|-?\d[\d.eE+-]*+",
    re.DOTALL,
)
# Begins with plain characters, so that the rest of a long string is passed over at full speed.
_SURROGATE = re.compile(
    r"\\u(?:([dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_CONTROL = re.compile(r"[\x00-\x1f]")


def repair(line: bytes) -> bytes:
    """`line` as strict JSON in UTF-8, if it is JSON at all; else something that is still not."""
    text = line.decode("utf-8", "replace")
    return _flatten(_TOKEN.sub(_mend_token, text)).encode("utf-8", "replace")


def _mend_token(match: re.Match[str]) -> str:
    token = match.group()
    if token[0] == '"':
        return _mend_string(token)
    if token[-1] in "Ny":
        return "null"
    if len(token) > MAX_DIGITS and token.lstrip("-").isdecimal():
        return f'"{token}"'
    return token


def _mend_string(token: str) -> str:
    if "\\u" in token:
        token = _SURROGATE.sub(_mend_escape, token)
    return _CONTROL.sub(_escape_control, token)


def _mend_escape(match: re.Match[str]) -> str:
    start = before = match.start()
    while before and match.string[before - 1] == "\\":
        before -= 1
    is_text = (start - before) % 2
    return match.group() if match[1] or is_text else "\\ufffd"


def _escape_control(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"


def _flatten(text: str) -> str:
    """Replace by null each value that opens below `MAX_DEPTH`."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return text
    parts: list[str] = []
    depth = kept_to = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in "[{":
            depth += 1
            if depth == MAX_DEPTH + 1:
                parts.append(text[kept_to : match.start()])
        elif token in "]}":
            depth -= 1
            if depth == MAX_DEPTH:
                parts.append("null")
                kept_to = match.end()
    return "".join(parts) + text[kept_to:] if depth <= MAX_DEPTH else text
