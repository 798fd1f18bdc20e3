"""docs/statusline.md and docs/config.md match the program."""

import re
from pathlib import Path

from recollect.cli.statusline_setup import PAUSE_SECONDS
from recollect.documents.command_reports import ConfigDocument, Effective
from recollect.documents.usage_report import BlockDocument, Cost, StatuslineDocument, Today
from recollect.workspace.config_file import SETTINGS
from tests.docs.documented import fields_of, names
from tests.process import RunRecollect

DOCS = Path(__file__).resolve().parents[2] / "docs"
STATUSLINE = (DOCS / "statusline.md").read_text(encoding="utf-8")
CONFIG = (DOCS / "config.md").read_text(encoding="utf-8")


def rows(page: str) -> dict[str, str]:
    """Return the last column of the last table, by the first."""
    table = page[page.index("## The JSON form") :]
    return dict(re.findall(r"^\| `([^`]+)` \| [a-z ]+ \| (.+) \|$", table, flags=re.MULTILINE))


def options_of(help_text: str) -> set[str]:
    """Return the options in a help text."""
    return set(re.findall(r"--[a-z-]+", help_text)) - {"--help"}


def test_fields_of_a_status_line_are_documented() -> None:
    """The table has every field, and the parts of objects."""
    documented = rows(STATUSLINE)
    assert list(documented) == fields_of(StatuslineDocument)
    assert names(documented["session"]) == fields_of(Cost)
    assert sorted(names(documented["today"])) == sorted(fields_of(Today))
    assert names(documented["block"]) == fields_of(BlockDocument)


def test_fields_of_the_settings_are_documented() -> None:
    """The table has every field, and those of each setting."""
    documented = rows(CONFIG)
    assert list(documented) == fields_of(ConfigDocument)
    assert names(documented["settings"]) == fields_of(Effective)


def test_every_setting_is_documented() -> None:
    """The page lists exactly the settings of the program."""
    table = CONFIG[: CONFIG.index("The file is")]
    assert re.findall(r"^\| `([a-z._]+)`", table, flags=re.MULTILINE) == list(SETTINGS)


def test_options_are_documented(run_recollect: RunRecollect) -> None:
    """Every option of both commands is on its page."""
    for page, words in ((STATUSLINE, ["statusline"]), (CONFIG, ["config", "show"])):
        shown = options_of(run_recollect(*words, "--help").stdout)
        assert shown - options_of(page) == set()


def test_the_pause_is_that_of_the_code() -> None:
    """The page has the interval at which a sync is started."""
    assert f"at most every {PAUSE_SECONDS:.0f} seconds" in STATUSLINE
