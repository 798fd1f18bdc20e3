"""Tags of masked secrets as chips with a button, where a page can show one on request.

The page itself never has the secret: the button asks for it. Only text is searched for tags, not
attributes. Highlighting would take a tag apart, so it is written as one word meanwhile.
"""

import re
from typing import Final

from markupsafe import Markup, escape

_TAG: Final = re.compile(r"\[redacted:([a-z0-9\-]{1,60})#([0-9]{1,9})\]")
_TAG_OR_ELEMENT: Final = re.compile(r"""<(?:[^>"']|"[^"]*"|'[^']*')*>|""" + _TAG.pattern)
_WORD: Final = re.compile(r"zqredacted([0-9a-f]+)n([0-9]+)zq")
_CHIP: Final = Markup(
    '<span class="secret" data-kind="{kind}" data-number="{number}">'
    '<span class="tag">{kind} #{number}</span>'
    '<button type="button" data-address="{address}">{reveal}</button></span>'
)


def add_chips(html: str, address: str, reveal: str) -> Markup:
    """Return HTML with a chip for each tag; its button is labelled `reveal`."""
    if "[redacted:" not in html:
        return Markup(html)  # noqa: S704 - made by our own templates

    def replace(found: re.Match[str]) -> str:
        kind, number = found[1], found[2]
        if kind is None:
            return found[0]
        return _CHIP.format(kind=kind, number=number, address=address, reveal=reveal)

    return Markup(_TAG_OR_ELEMENT.sub(replace, html))  # noqa: S704 - the same with our chips in it


def join_tags(text: str) -> str:
    """Return source code with each tag as one word, which no lexer takes apart."""
    if "[redacted:" not in text:
        return text
    return _TAG.sub(lambda found: f"zqredacted{found[1].encode().hex()}n{found[2]}zq", text)


def split_tags(html: str) -> str:
    """Return highlighted code with the tags as they were."""
    return _WORD.sub(_write_tag, html) if "zqredacted" in html else html


def _write_tag(found: re.Match[str]) -> str:
    try:
        kind = bytes.fromhex(found[1]).decode()
    except ValueError:
        return found[0]
    return str(escape(f"[redacted:{kind}#{found[2]}]"))
