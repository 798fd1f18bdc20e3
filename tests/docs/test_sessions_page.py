"""docs/sessions.md matches the commands about sessions and their JSON."""

import re
from pathlib import Path

import pytest
from msgspec.structs import fields

from recollect.documents.command_reports import (
    OpenDocument,
    ResumeDocument,
    ToolsDocument,
    ToolUsageRow,
)
from recollect.documents.session_documents import ListDocument
from recollect.documents.session_listing import SessionListing
from tests.process import RunRecollect

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "sessions.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    """Return the text below a heading, up to the next one of its level or above."""
    level, _, _ = title.partition(" ")
    found = re.search(
        rf"^{re.escape(title)}\n(.*?)(?=^#{{1,{len(level)}}} |\Z)", PAGE, re.MULTILINE | re.DOTALL
    )
    assert found, title
    return found[1]


@pytest.mark.parametrize("name", ["list", "tools", "resume", "open"])
def test_every_option_is_documented(run_recollect: RunRecollect, name: str) -> None:
    """Each option of a command is below its heading."""
    shown = set(re.findall(r"(?<![\w-])--[a-z-]+", run_recollect(name, "--help").stdout))
    described = set(re.findall(r"--[a-z-]+", section(f"## `recollect {name}`")))
    assert shown - described - {"--help"} == set()


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ("recollect.list/2", (ListDocument, SessionListing)),
        ("recollect.tools/1", (ToolsDocument, ToolUsageRow)),
        ("recollect.resume/1", (ResumeDocument,)),
        ("recollect.open/1", (OpenDocument,)),
    ],
)
def test_every_field_is_documented(schema: str, types: tuple[type, ...]) -> None:
    """The tables have all fields of the documents, in order."""
    documented = re.findall(r"^\| `(\w+)` \|", section(f"### `{schema}`"), flags=re.MULTILINE)
    assert documented == [field.name for kind in types for field in fields(kind)]
    assert f"`{schema}`" in section(f"### `{schema}`")
