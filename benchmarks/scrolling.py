"""Tasks of a browser's main thread while scrolling through a long session.

They come from the browser's own trace. Wall time counts, because a task that is interrupted by
other programs feels just as long; CPU time shows our share.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.web.browser.chromium import find_chromium, launch, visit
from tests.web.running import RunningServer

_MAIN_THREAD = "CrRendererMain"
_TASK = "RunTask"
_CATEGORIES = ["toplevel", "__metadata", "disabled-by-default-devtools.timeline"]
_WHEEL_PIXELS = 900
_WHEEL_PAUSE_MS = 40
_MAX_WHEELS = 20_000
_MILLISECOND = 1000

Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Scroll:
    """One scroll through a session; times in milliseconds."""

    turns: int
    tasks: int
    longest: float
    longest_cpu: float
    long_tasks: int
    """Tasks over 50 ms, the browsers' definition of a long task."""


def find_browser() -> str | None:
    """Return the path of Chromium, or None."""
    return find_chromium()


def scroll(server: RunningServer, executable: str, session: str, turns: int, home: Path) -> Scroll:
    """Open a session and scroll until this turn is reached."""
    with sync_playwright() as playwright:
        browser = launch(playwright, executable, home)
        try:
            with visit(browser, server) as visitor:
                page = visitor.page
                _begin(browser, page)
                visitor.open(f"/s/{session}")
                seen = _turn_wheel(page, turns)
                trace = json.loads(browser.stop_tracing())
        finally:
            browser.close()
    return _describe(seen, trace["traceEvents"])


def _begin(browser: Browser, page: Page) -> None:
    browser.start_tracing(page=page, categories=_CATEGORIES)


def _turn_wheel(page: Page, turns: int) -> int:
    page.mouse.move(640, 400)
    seen = 0
    for number in range(_MAX_WHEELS):
        page.mouse.wheel(0, _WHEEL_PIXELS)
        page.wait_for_timeout(_WHEEL_PAUSE_MS)
        if number % 10 == 0:
            # The turn in the middle of the screen.
            seen = max(seen, int(page.evaluate(_SEEN)))
            if seen >= turns:
                break
    return seen


_SEEN = """() => {
  const turn = document.elementFromPoint(innerWidth / 2, innerHeight / 2)?.closest("[data-turn]");
  return turn ? Number(turn.dataset.turn) : 0;
}"""


def _describe(turns: int, events: list[Event]) -> Scroll:
    tasks = list(_iter_tasks(events))
    return Scroll(
        turns=turns,
        tasks=len(tasks),
        longest=max(wall for wall, _ in tasks),
        longest_cpu=max(cpu for _, cpu in tasks),
        long_tasks=sum(wall > 50 for wall, _ in tasks),
    )


def _iter_tasks(events: list[Event]) -> Iterator[tuple[float, float]]:
    """Yield wall and CPU milliseconds of each task of a page's main thread."""
    threads = {
        (event["pid"], event["tid"])
        for event in events
        if event.get("name") == "thread_name" and event["args"]["name"] == _MAIN_THREAD
    }
    for event in events:
        is_task = event.get("name") == _TASK and event.get("ph") == "X"
        if is_task and (event["pid"], event["tid"]) in threads:
            yield event.get("dur", 0) / _MILLISECOND, event.get("tdur", 0) / _MILLISECOND
