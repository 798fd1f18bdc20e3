"""The screenshots in the documentation: pages on the demo data.

`RECOLLECT_UPDATE_SCREENSHOTS=1 pytest …` retakes them. They are only compared with the same browser
and fonts, because otherwise every letter differs.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.browser.chromium import PHONE, PLAIN, Look, visit
from tests.web.browser.pictures import decode, measure_difference, pack
from tests.web.conversing import Talker, run_talker
from tests.web.running import NOW, RunningServer

pytestmark = pytest.mark.slow

VARIABLE = "RECOLLECT_UPDATE_SCREENSHOTS"
IS_UPDATE = bool(os.environ.get(VARIABLE))
"""Read at collection, because variables of the program are removed in tests."""

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "screenshots"
MADE_WITH = FOLDER / "made-with.json"
MAX_VALUE = 150_000
"""In bytes; a page of the documentation has to load quickly."""
TOLERANCE = 16
SHARE = 0.005
"""Tolerance of a channel, and the share of pixels that may exceed it."""
PAUSE = 300
"""Milliseconds between two screenshots of a page that should not change any more."""

HARBOUR = "/s/94791a87-9d13-410a-a632-25a9b25c1b45"
TIDES = "/s/c798220b-cc9c-4414-8b5a-d2d0bbcafa1a"
SAMPLE = "Recollect 0123456789 会话"


@dataclass(frozen=True)
class Shot:
    """A screenshot: its name, the page, the settings, and the call to expand first."""

    name: str
    path: str
    look: Look = PLAIN
    opened: str = ""


SHOTS = (
    Shot("home", "/"),
    Shot("sessions", "/sessions"),
    Shot("session", TIDES, opened="Edit"),
    Shot("session-dark", TIDES, Look("dark"), opened="Edit"),
    Shot("search", "/search?q=harbour"),
    Shot("file", "/file?path=/home/mina/projects/tidepool/src/tidepool/cli.py"),
    Shot("timeline", "/s/8facb961-b86b-4d27-b5bd-038c0d96c55c/timeline"),
    Shot("checkpoint", "/s/7aa5fa93-883b-4f00-b3b1-6090844693a9/checkpoints?at=1"),
    Shot("usage", "/usage?group=project"),
    Shot("phone", HARBOUR, Look(size=PHONE)),
)


CONVERSATION = "conversation"
RUNNING = "running"
FIRST = "How does the migrate command register itself?"
SECOND = "Good. Now a replay command that puts dead jobs back in their queue, oldest first."
THIRD = "Then run the whole suite with -race and commit."
SCRIPT = {
    FIRST: "say `newMigrateCommand` takes the app and returns a command; `commands` lists it.",
    SECOND: "",
}
SOURCE = """package cmd

func commands(app *App) []*cobra.Command {
\treturn []*cobra.Command{
\t\tnewServeCommand(app),
\t\tnewMigrateCommand(app),
\t}
}
"""


def measure_fonts(page: Page) -> dict[str, float]:
    """Return the width of a text in the fonts of the page."""
    return {
        family: page.evaluate(
            """([family, sample]) => {
              const context = document.createElement("canvas").getContext("2d");
              context.font = `16px ${family}`;
              return Math.round(context.measureText(sample).width * 100) / 100;
            }""",
            [family, SAMPLE],
        )
        for family in ("system-ui", "sans-serif", "monospace")
    }


@pytest.fixture(scope="module")
def machine(browser: Browser) -> Iterator[dict[str, object]]:
    """Return what determines the rendering of text."""
    with browser.new_context() as context:
        yield {
            "browser": browser.version.partition(".")[0],
            "widths": measure_fonts(context.new_page()),
        }


def take(browser: Browser, server: RunningServer, shot: Shot) -> bytes:
    """Take a screenshot once the page no longer changes."""
    with visit(browser, server, shot.look) as found:
        # Pages show relative times by the clock of the browser.
        found.page.clock.set_fixed_time(NOW)
        page = found.open(shot.path)
        expect(page.locator("[data-load]")).to_have_count(0)
        if shot.opened:
            call = page.locator(f"details.call[data-tool={shot.opened}]").first
            call.locator("summary").click()
            expect(call.locator(".call-input")).to_be_visible()
        page.mouse.move(0, 0)
        page.evaluate("document.activeElement?.blur()")
        page.evaluate("document.fonts.ready.then(() => true)")
        taken = wait_for_rest(page)
        assert found.problems == []
        return pack(taken)


def wait_for_rest(page: Page) -> bytes:
    """Wait until two consecutive screenshots are equal."""
    before = b""
    for _ in range(20):
        now = page.screenshot(animations="disabled", caret="hide")
        if now == before:
            return now
        before = now
        page.wait_for_timeout(PAUSE)
    pytest.fail(f"{page.url} does not come to rest")


@pytest.mark.parametrize("shot", SHOTS, ids=lambda shot: shot.name)
def test_pictures_show_the_pages_of_today(
    browser: Browser,
    server: RunningServer,
    machine: dict[str, object],
    tmp_path: Path,
    shot: Shot,
) -> None:
    """A screenshot in the documentation equals its page."""
    check(browser, server, machine, tmp_path, shot)


def check(
    browser: Browser,
    server: RunningServer,
    machine: dict[str, object],
    tmp_path: Path,
    shot: Shot,
) -> None:
    """Retake a screenshot if requested, and compare it."""
    kept = FOLDER / f"{shot.name}.png"
    if IS_UPDATE:
        kept.write_bytes(take(browser, server, shot))
        MADE_WITH.write_text(json.dumps(machine, indent=2) + "\n", encoding="utf-8")
    if json.loads(MADE_WITH.read_text(encoding="utf-8")) != machine:
        pytest.skip("the pictures were made with another browser or other fonts")
    taken = tmp_path / kept.name
    taken.write_bytes(take(browser, server, shot))
    share = 0.0 if taken.read_bytes() == kept.read_bytes() else compare(taken, kept)
    assert share <= SHARE, f"{taken} differs from {kept}; {VARIABLE}=1 retakes it"


@pytest.fixture(scope="module")
def talker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talker]:
    """A server with a conversation that asks to edit a file."""
    folder = tmp_path_factory.mktemp("pictures")
    project = folder / "work"
    (project / "cmd").mkdir(parents=True)
    (project / "cmd" / "commands.go").write_text(SOURCE)
    line = "\t\tnewMigrateCommand(app),\n"
    edit = {
        "file_path": str(project / "cmd" / "commands.go"),
        "old_string": line,
        "new_string": f"{line}\t\tnewReplayCommand(app),\n",
    }
    with run_talker(folder) as found:
        script = {**SCRIPT, SECOND: f"call {json.dumps({'tool': 'Edit', 'input': edit})}"}
        (folder / "bin" / "script.json").write_text(json.dumps(script))
        found.server.wait_until_current()
        conversation = found.start()
        found.act(conversation, "prompts", text=FIRST)
        found.wait_for_status(conversation, "idle")
        contexts = [{"kind": "file", "name": "cmd/commands.go"}]
        found.act(conversation, "prompts", text=SECOND, contexts=contexts)
        found.wait_for_status(conversation, "waiting")
        found.act(conversation, "prompts", text=THIRD)
        yield found


@pytest.mark.parametrize("name", [CONVERSATION, RUNNING])
def test_pictures_of_conversations_show_the_pages_of_today(
    browser: Browser, talker: Talker, machine: dict[str, object], tmp_path: Path, name: str
) -> None:
    """The same for screenshots of conversations, except for times and ids."""
    (row,) = talker.list_conversations()
    path = "/running" if name == RUNNING else f"/c/{row['id']}"
    # High enough for the whole page, because scrolling to the end may stop a line earlier.
    look = PLAIN if name == RUNNING else Look(size=(1280, 880))
    check(browser, talker.server, machine, tmp_path, Shot(name, path, look))


def compare(one: Path, other: Path) -> float:
    """Return the share of pixels that differ."""
    return measure_difference(decode(one.read_bytes()), decode(other.read_bytes()), TOLERANCE)


def test_pictures_are_those_that_are_taken() -> None:
    """Every screenshot is updated by a test, and none is slow to load."""
    sizes = {path.stem: path.stat().st_size for path in FOLDER.glob("*.png")}
    assert set(sizes) == {CONVERSATION, RUNNING, *(shot.name for shot in SHOTS)}
    assert {name: size for name, size in sizes.items() if size > MAX_VALUE} == {}
