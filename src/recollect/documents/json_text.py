"""Documents as JSON text.

Non-ASCII characters are escaped, so that text from a transcript cannot control the terminal at the
end of a pipe.
"""

import json

import msgspec


def format_document(document: object) -> str:
    """Return a document as indented JSON."""
    return _format(document, indent=2)


def format_line(document: object) -> str:
    """Return a document as JSON on one line."""
    return _format(document, indent=None)


def _format(document: object, indent: int | None) -> str:
    # DEL is ASCII, so JSON does not escape it, but terminals may interpret it.
    return json.dumps(msgspec.to_builtins(document), indent=indent).replace("\x7f", "\\u007f")
