"""Indexes of several sessions and of split ones, and the pages that they link to."""

import re
from pathlib import Path
from random import Random

import pytest

from recollect.demo import CLAUDE_DIRECTORY
from recollect.export import ExportOptions, Format
from recollect.export.export_content import SessionPart
from recollect.export.exporter import Exporter
from recollect.workspace.workspace import open_workspace
from tests.export.sessions import open_demo, reply, say, write_session
from tests.export.test_formats import GOLDEN, stabilise
from tests.golden import check_golden
from tests.redact.made_up_secrets import FAMILIES

SUFFIXES = {Format.HTML: "html", Format.MARKDOWN: "md"}
NAMES = ("harbour", "json flag", "Document the theme interface")


def export_to(folder: Path, names: str | tuple[str, ...], options: ExportOptions) -> None:
    """Export sessions of the demo data."""
    with open_workspace(CLAUDE_DIRECTORY, temporary=True) as workspace:
        workspace.export(names, folder, options)


@pytest.mark.parametrize("kind", SUFFIXES)
def test_an_index_leads_to_all_sessions(tmp_path: Path, kind: Format) -> None:
    """Newest first; each link is a file beside it."""
    export_to(tmp_path, NAMES, ExportOptions(format=kind))
    index = tmp_path / f"index.{SUFFIXES[kind]}"
    text = index.read_text("utf-8")
    check_golden(GOLDEN / f"sessions-{index.name}", stabilise(text))
    links = re.findall(r'href="([^"#]+)"|\]\(<([^>]+)>\)', text)
    files = {path.name for path in tmp_path.iterdir()} - {index.name}
    assert {one or other for one, other in links} == files


@pytest.mark.parametrize("kind", [Format.HTML, Format.TEXT, Format.JSONL])
@pytest.mark.parametrize("force", [False, True])
def test_copies_of_a_session_do_not_replace_each_other(
    tmp_path: Path, kind: Format, *, force: bool
) -> None:
    """A session in two projects gets two files."""
    exporter = Exporter(ExportOptions(format=kind, redaction=None, force=force))
    exporter.write_many([SessionPart(open_demo()), SessionPart(open_demo())], tmp_path)
    first, second = [each for each in sorted(tmp_path.iterdir()) if each.stem != "index"]
    assert first.stem == f"{second.stem}-2"
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("kind", SUFFIXES)
def test_a_split_session_has_an_index_of_its_prompts(tmp_path: Path, kind: Format) -> None:
    """And pages that link to their neighbours."""
    export_to(tmp_path, "harbour", ExportOptions(format=kind, split=2))
    suffix = SUFFIXES[kind]
    names = [f"index.{suffix}", f"page-001.{suffix}", f"page-002.{suffix}"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    for name in (names[0], names[2]):
        text = (tmp_path / name).read_text("utf-8")
        check_golden(GOLDEN / f"split-{name}", stabilise(text))


def test_pages_hold_every_turn_once(tmp_path: Path) -> None:
    """In order, whatever the page size."""
    export_to(tmp_path, "harbour", ExportOptions(format=Format.HTML, split=3))
    pages = sorted(tmp_path.glob("page-*.html"))
    found = [
        re.findall(r'<article class="[^"]*" id="(turn-\d+)"', page.read_text()) for page in pages
    ]
    assert found == [["turn-1", "turn-2", "turn-3"], ["turn-4"]]


@pytest.mark.parametrize("length", [100, 110, 280, 290])
def test_the_titles_of_an_index_hold_only_whole_tags(tmp_path: Path, length: int) -> None:
    """Wherever a secret starts, titles of pages and sessions cut no tag."""
    token = FAMILIES["github"].make(Random(5)).text
    prompt = f"{'a' * length} {token} and so on".ljust(400, "z")
    records = [say(prompt), reply({"type": "text", "text": "no"})]
    names = tuple(str(write_session(tmp_path / "claude", records, name)) for name in ("s1", "s2"))
    with open_workspace(tmp_path / "claude", temporary=True) as workspace:
        workspace.export(names[0], tmp_path / "pages", ExportOptions(format=Format.HTML, split=1))
        workspace.export(names, tmp_path / "many", ExportOptions(format=Format.HTML))
    for index in (tmp_path / "pages" / "index.html", tmp_path / "many" / "index.html"):
        title = re.findall(r'<a href="[^"]+">([^<]*)</a>', index.read_text("utf-8"))[0]
        assert re.search(r"\[redacted(?!:github-token#1\])|\[[a-z]*$", title) is None, title
