"""The real browser: where it is, how it is started, and a page in it that is watched.

A page that logs an error, throws, opens a dialog or asks another origin for anything has failed,
whatever the test was about: `Visit.problems` says so, and the fixtures look at it at the end.
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
"""Milliseconds that anything may take on a busy machine; nothing waits for it to pass."""

Theme = Literal["light", "dark"]
Language = Literal["en", "zh"]


@dataclass(frozen=True)
class Look:
    """How a page is viewed: theme, size and so on."""

    theme: Theme = "light"
    language: Language = "en"
    size: tuple[int, int] = DESKTOP


PLAIN = Look()


@dataclass
class Visit:
    """A page in a browser of its own, and all that went wrong in it."""

    server: RunningServer
    context: BrowserContext
    page: Page
    problems: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        """Go to a page of the server and wait until its script has run."""
        self.page.goto(self.server.origin + path, wait_until="load")
        # Not by a function: the policy of the pages forbids what the driver does for that.
        self.page.locator("html[data-ready=true]").wait_for(state="attached")
        return self.page


def find_chromium() -> str | None:
    """The browser of this machine."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@contextmanager
def open_browser(home: Path) -> Iterator[Browser]:
    """The browser of this machine, for a test; skips it if there is none."""
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
    """The browser, with nothing to find in its home."""
    environment: dict[str, str | float | bool] = {**os.environ, "HOME": str(home)}
    return playwright.chromium.launch(
        executable_path=executable, args=ARGUMENTS, env=environment, headless=True
    )


@contextmanager
def visit(
    browser: Browser, server: RunningServer, look: Look = PLAIN, *, bypass_csp: bool = False
) -> Iterator[Visit]:
    """Somebody who is signed in, with a page that is still empty."""
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
    launched = server.ask("/api/launches", "POST", server.authority).json()
    body = b'{"token": "%s"}' % launched["token"].encode()
    answer = server.ask("/sign-in", "POST", {"Origin": server.origin}, body)
    name, _, rest = answer.headers["set-cookie"].partition("=")
    value = rest.partition(";")[0]
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
    """A new page whose failures are written down."""
    page = context.new_page()
    found = Visit(server, context, page)

    def note_request(request: Request) -> None:
        if not request.url.startswith((f"{server.origin}/", "data:", "blob:", "about:blank")):
            found.problems.append(f"request to {request.url[:200]}")

    def note_dialog(dialog: Dialog) -> None:
        found.problems.append(f"dialog: {dialog.message[:200]}")
        dialog.dismiss()

    page.on("request", note_request)
    page.on("dialog", note_dialog)
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
