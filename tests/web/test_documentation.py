"""docs/api.md and docs/web.md say what the router says."""

import re
from pathlib import Path

from recollect.web.endpoints import ENDPOINTS
from recollect.web.pages.table import PAGES

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_every_endpoint_is_documented() -> None:
    """The table of the page lists the endpoints that there are, and no others."""
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(/api/[^`]*)` \|", page, flags=re.MULTILINE))
    assert listed == {each.path for each in ENDPOINTS} | {"/api/events"}


def test_every_page_is_documented() -> None:
    """Each page that a reader can go to stands in the table of pages."""
    page = (DOCS / "web.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(/[^`]*)` \|", page, flags=re.MULTILINE))
    fragments = {"/s/{id}/turns", "/s/{id}/calls/{call}", "/s/{id}/agents/{agent}"}
    known = {each.path for each in PAGES} - fragments - {"/usage/explain"}
    assert listed == {path.replace("{id}", "ID").replace("{uuid}", "UUID") for path in known}
