"""Parse HTML as a browser does, and list everything in it that could act."""

from html.parser import HTMLParser

ALLOWED_TAGS = frozenset(
    "a article blockquote br code dd del details div dl dt em figcaption figure footer h1 h2 h3 h4 "
    "h5 h6 header hr img button input li ol p pre section small span strong sub summary sup table "
    "tbody td th thead time tr ul".split()
)
ALLOWED_ATTRIBUTES = frozenset(
    "align alt aria-expanded aria-label checked class colspan datetime disabled download href id "
    "loading rel src start tabindex target title type".split()
)
LINKS = ("http://", "https://", "mailto:", "/", "#", "data:application/pdf;base64,")


class _Scanner(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.findings: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ALLOWED_TAGS:
            self.findings.append(f"tag {tag}")
        for name, value in attrs:
            self._check(tag, name, value or "")

    def _check(self, tag: str, name: str, value: str) -> None:
        if name not in ALLOWED_ATTRIBUTES and not name.startswith("data-"):
            self.findings.append(f"attribute {name} of {tag}")
        if name == "href" and not value.startswith(LINKS):
            self.findings.append(f"link to {value}")
        if name == "src" and not value.startswith("data:image/"):
            self.findings.append(f"source {value}")

    def handle_decl(self, decl: str) -> None:
        self.findings.append(f"declaration {decl}")

    def handle_pi(self, data: str) -> None:
        self.findings.append(f"instruction {data}")

    def handle_comment(self, data: str) -> None:
        self.findings.append(f"comment {data}")


def find_dangers(html: str) -> list[str]:
    """Return everything in `html` that a conversation does not need."""
    scanner = _Scanner()
    scanner.feed(html)
    scanner.close()
    return scanner.findings
