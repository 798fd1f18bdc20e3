"""Parse a page: texts and links of the elements that a test checks."""

from collections.abc import Callable
from html.parser import HTMLParser

VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "rect", "line"})
Attributes = dict[str, str | None]


class _Finder(HTMLParser):
    """Collects the texts and the links inside elements that fit."""

    def __init__(self, fits: Callable[[str, Attributes], bool]) -> None:
        super().__init__()
        self._fits = fits
        self._depth = 0
        self.texts: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self._part()
        if not self._depth and self._fits(tag, found):
            self._depth = 1
            self.texts.append("")
        elif self._depth and tag not in VOID:
            self._depth += 1
        if self._depth and found.get("href"):
            self.links.append(found["href"] or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Nothing opens with these."""

    def handle_endtag(self, tag: str) -> None:
        self._part()
        if self._depth and tag not in VOID:
            self._depth -= 1

    def _part(self) -> None:
        # Elements part words, as boxes and cells do on a screen.
        if self._depth:
            self.texts[-1] += " "

    def handle_data(self, data: str) -> None:
        if self._depth:
            self.texts[-1] += data


def find_texts(page: bytes, tag: str, **wanted: str) -> list[str]:
    """Return the texts of elements of that kind whose attributes contain these words."""
    return [" ".join(text.split()) for text in _find(page, tag, wanted).texts]


def find_links(page: bytes, tag: str, **wanted: str) -> list[str]:
    """The links inside such elements."""
    return _find(page, tag, wanted).links


def _find(page: bytes, tag: str, wanted: dict[str, str]) -> _Finder:
    names = {name.rstrip("_").replace("_", "-"): value for name, value in wanted.items()}

    def fits(found: str, attributes: Attributes) -> bool:
        return found == tag and all(
            name in attributes and value in [*(attributes[name] or "").split(), ""]
            for name, value in names.items()
        )

    finder = _Finder(fits)
    finder.feed(page.decode())
    return finder
