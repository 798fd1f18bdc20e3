"""The catalogues have every text that a page may need, including composed keys."""

import re
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import get_args

import pytest

from recollect.documents.kinds import ContextKind, InputKind, SubagentOutcome, TextKind, ToolStatus
from recollect.documents.usage_groups import Group
from recollect.export import Level, Table
from recollect.launch.context_references import ReferenceKind
from recollect.launch.conversation_events import ConversationStatus
from recollect.lineage import Relation
from recollect.reader import transcript_reader
from recollect.redact.findings import Confidence
from recollect.render.views.part_builders import PART_NAMES
from recollect.render.views.record_notices import PLAN, TASKS, TODOS
from recollect.search.query_tree import CHOICES
from recollect.sources.safe_files import Refusal
from recollect.usage.causes import Cause
from recollect.usage.explain import Status
from recollect.usage.reports import ReportOrder
from recollect.usage.scopes import ScopeKind
from recollect.versions.evidence import CauseKind
from recollect.web.conversations.registry import MODES
from recollect.web.export_review import OFFERED
from recollect.web.history_endpoints import ListOrder
from recollect.web.pages.explain_page import NOTES
from recollect.web.pages.home_page import MEASURES
from recollect.web.pages.list_pages import Grouping
from recollect.web.templating import LANGUAGES, ONE, load_catalogue

DESTINATIONS = ("session", "localSettings", "projectSettings", "userSettings")
FACETS = ("project", "role", "tool", "error", "model", "date")
WEB = Path(str(resources.files("recollect.web")))
TEMPLATES = Path(str(resources.files("recollect.render.html"))) / "templates"


def _read(*paths: Path) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in sorted(paths))


def _list_examples() -> list[str]:
    return re.findall(r", '(\w+)'\)", _read(WEB / "templates" / "search.html"))


def _name(prefix: str, kinds: Iterable[str]) -> set[str]:
    return {f"{prefix}{kind}" for kind in kinds}


FAMILIES: dict[str, set[str]] = {
    "bars of a timeline": _name(
        "timeline.",
        ("turn", "call", "change", "failed", "waiting", "agent", "compaction", "cost"),
    ),
    "version grades": {
        f"file.{name}{suffix}"
        for name in ("exact", "replayed", "inferred", "partial", "outside")
        for suffix in ("", "_means")
    },
    "files on disk": _name("file.disk_", ("equal", "earlier", "other", "missing")),
    "causes of outside changes": {f"file.by_{kind.replace(' ', '_')}" for kind in CauseKind},
    "examples of queries": _name("search.example_", _list_examples()),
    "rows without a key": _name("unset.", ("date", "branch", "tool", "mcp-server", "other")),
    "groups": _name("group.", Group),
    "statuses of lines": _name("status.", Status) | _name("explain.why_", Status),
    "what is explained": _name("explain.kind_", ScopeKind),
    "orders of reports": _name("usage.order_", ReportOrder),
    "orders of sessions": _name("order.", get_args(ListOrder)),
    "groupings of sessions": _name(
        "sessions.group_", (each or "none" for each in get_args(Grouping))
    ),
    "parts of a session": _name("part.", (part.name.lower() for part in TextKind)),
    "verdicts": _name("health.verdict_", ("well", "news", "trouble")),
    "how sure a finding is": _name("health.", Confidence),
    "buttons of chips": {"Reveal"},
    "exports": _name("export.", (*OFFERED, *Level)) | _name("export.table_", Table),
    "leftovers": _name("health.orphan_", ("session", "tasks", "file-history", "todo")),
    "facets of a search": _name("search.facet_", FACETS),
    "roles": _name("search.role_", CHOICES["role"]),
    "statuses of conversations": _name("status_of.", ConversationStatus),
    "permission modes": _name("mode.", MODES) | _name("mode_help.", MODES),
    "references": _name("context.", get_args(ReferenceKind)) - {"context.folder"}
    | {"context.image"},
    "where rules are kept": _name("destination.", DESTINATIONS),
    "states of todos": _name("todo.", ("pending", "in_progress", "completed")),
    "charts": _name("usage.chart_", ("cost", "tokens")) | _name("usage.share_", ("cost", "tokens")),
    "states of running sessions": _name("home.is_", ("waiting", "busy", "idle")),
    "measures of activity": _name("home.measure_", (*MEASURES, "failures")),
    "tabs of an outline": _name("outline.", ("prompts", "failures", "files", "agents")),
    "relatives": {
        f"session.{side}_{relation}"
        for side in ("before", "after")
        for relation in (Relation.FORK, Relation.CONTINUATION, Relation.CLEAR)
    },
    "joints of threads": _name("thread.", (Relation.FORK, Relation.CONTINUATION, Relation.CLEAR)),
    "causes": _name("cause.", Cause) | _name("cause.why_", Cause),
    "kinds of input": _name("", InputKind),
    "kinds of context": _name("", ContextKind),
    "parts of the context": set(PART_NAMES.values()),
    "statuses of calls": _name("", ToolStatus),
    "outcomes of subagents": _name("", SubagentOutcome),
    "refusals": _name("", Refusal),
    "damage": {
        transcript_reader.NO_RECORD,
        transcript_reader.NUL_BYTES,
        transcript_reader.CUT_SHORT,
        transcript_reader.SHARES_LINE,
    },
    "remarks": set(NOTES),
    "lists beside a session": {PLAN, TASKS, TODOS},
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_families_are_complete(language: str, family: str) -> None:
    """There is a text for every possible value."""
    assert FAMILIES[family] - load_catalogue(language).keys() == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_phrases_of_conversations_are_translated(language: str) -> None:
    """Every English phrase in rendered conversations is in the catalogue."""
    asked = _list_phrases()
    assert len(asked) > 8
    assert asked - load_catalogue(language).keys() == set()


def _list_phrases() -> set[str]:
    text = _read(*TEMPLATES.glob("*.html"))
    return {found[1] for found in re.findall(r"""\b(?:translate|t)\((['"])(.+?)\1\)""", text)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_used(language: str) -> None:
    """A key is in a template, a script or a module, or is composed from a value's name."""
    sources = _read(*(path for kind in ("html", "js", "py") for path in WEB.rglob(f"*.{kind}")))
    quoted = set(re.findall(r"""(?<=['"])[a-z_]+\.[^'"\s]+(?=['"])""", sources))
    used = set().union(*FAMILIES.values(), _list_phrases(), quoted)
    said = {key.removesuffix(ONE) for key in load_catalogue(language)}
    assert said - used == set()


def test_chinese_is_chinese() -> None:
    """Only names and signs are the same in both languages."""
    english, chinese = load_catalogue("en"), load_catalogue("zh")
    same = {key for key in english if english[key] == chinese[key]}
    assert same == {"api.title", "converse.client", "git", "search.role_assistant"}
