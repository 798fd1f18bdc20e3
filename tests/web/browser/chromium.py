"""The real browser: how to find and start it, and monitored pages.

A page that logs an error, throws, opens a dialog or requests anything from another origin fails any
test: it is recorded in `Visit.problems`, which the fixtures check at the end.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Dialog,
    Page,
    Playwright,
    Request,
    expect,
    sync_playwright,
)

from tests.web.running import RunningServer

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
DESKTOP = (1280, 800)
PHONE = (390, 844)
TIMEOUT = 60_000
"""Timeout in milliseconds for a busy machine; no test waits for it to pass."""

Theme = Literal["light", "dark"]
Language = Literal["en", "zh"]


@dataclass(frozen=True)
class Look:
    """Theme, size and other settings of a page."""

    theme: Theme = "light"
    language: Language = "en"
    size: tuple[int, int] = DESKTOP


PLAIN = Look()


@dataclass
class Visit:
    """A page in a separate browser context, and all problems in it."""

    server: RunningServer
    context: BrowserContext
    page: Page
    problems: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        """Open a page of the server and wait until its script has run."""
        self.page.goto(self.server.origin + path, wait_until="load")
        # Not by a function: the policy of the pages forbids what the driver does for that.
        self.page.locator("html[data-ready=true]").wait_for(state="attached")
        return self.page


def find_chromium() -> str | None:
    """The browser of this machine."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@contextmanager
def open_browser(home: Path) -> Iterator[Browser]:
    """Return the browser of this machine; skips the test if there is none."""
    executable = find_chromium()
    if executable is None:
        pytest.skip("no Chromium on this machine: run tools/install_browser.sh")
    expect.set_options(timeout=TIMEOUT)
    with sync_playwright() as playwright:
        started = launch(playwright, executable, home)
        try:
            yield started
        finally:
            started.close()


def launch(playwright: Playwright, executable: str, home: Path) -> Browser:
    """Start the browser with an empty home."""
    environment: dict[str, str | float | bool] = {**os.environ, "HOME": str(home)}
    return playwright.chromium.launch(
        executable_path=executable, args=ARGUMENTS, env=environment, headless=True
    )


@contextmanager
def visit(
    browser: Browser, server: RunningServer, look: Look = PLAIN, *, bypass_csp: bool = False
) -> Iterator[Visit]:
    """Return a signed-in visit with an empty page."""
    width, height = look.size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=look.theme,
        locale="zh-CN" if look.language == "zh" else "en-GB",
        timezone_id="UTC",
        bypass_csp=bypass_csp,
        reduced_motion="reduce",
    )
    try:
        context.set_default_timeout(TIMEOUT)
        sign_in(context, server)
        yield watch(context, server)
    finally:
        context.close()


def sign_in(context: BrowserContext, server: RunningServer) -> None:
    """Give a browser the cookie that the sign-in page would get."""
    name, _, value = server.sign_in().partition("=")
    context.add_cookies(
        [
            {
                "name": name,
                "value": value,
                "url": server.origin,
                "httpOnly": True,
                "sameSite": "Strict",
            }
        ]
    )


def watch(context: BrowserContext, server: RunningServer) -> Visit:
    """Return a new page whose failures are recorded."""
    page = context.new_page()
    found = Visit(server, context, page)

    def record_request(request: Request) -> None:
        if not request.url.startswith((f"{server.origin}/", "data:", "blob:", "about:blank")):
            found.problems.append(f"request to {request.url[:200]}")

    def record_dialog(dialog: Dialog) -> None:
        found.problems.append(f"dialog: {dialog.message[:200]}")
        dialog.dismiss()

    page.on("request", record_request)
    page.on("dialog", record_dialog)
    page.on("pageerror", lambda error: found.problems.append(f"thrown: {error}"))
    page.on(
        "console",
        lambda message: (
            found.problems.append(f"{message.type}: {message.text[:300]}")
            if message.type in {"error", "warning"}
            else None
        ),
    )
    return found
