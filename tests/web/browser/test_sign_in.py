"""Signing in with the one-time address that the program prints."""

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.web.addresses import SESSION
from tests.web.browser.accessibility import find_issues_of_themes
from tests.web.browser.chromium import DESKTOP, PHONE, Theme, watch
from tests.web.browser.test_every_page import GROUND
from tests.web.running import RunningServer

pytestmark = pytest.mark.slow

THEMES: tuple[Theme, ...] = ("light", "dark")
REFUSED = "error: Failed to load resource: the server responded with a status of 401 (Unauthorized)"


def make_token(server: RunningServer) -> str:
    """Return a one-time token."""
    return str(server.ask("/api/launches", "POST", server.authority).json()["token"])


def describe_cookies(context: BrowserContext) -> list[tuple[object, ...]]:
    """Return the names and the attributes of the cookies."""
    return [
        (each.get("name"), each.get("httpOnly"), each.get("sameSite"), each.get("path"))
        for each in context.cookies()
    ]


def test_the_address_opens_the_pages_once(browser: Browser, server: RunningServer) -> None:
    """The token becomes a cookie hidden from scripts, leaves the address, and works only once."""
    token = make_token(server)
    with browser.new_context(locale="en-GB") as first:
        found = watch(first, server)
        found.page.goto(f"{server.origin}/#t={token}")
        expect(found.page.locator("h1")).to_have_text("Home")
        assert found.page.url.partition("#")[0] == f"{server.origin}/"
        assert token not in found.page.url
        assert token not in str(found.page.evaluate("document.cookie"))
        assert describe_cookies(first) == [(f"recollect-{server.port}", True, "Strict", "/")]
        # The browser itself logs the response with the sign-in page.
        assert set(found.problems) <= {REFUSED}
    with browser.new_context(locale="en-GB") as second:
        found = watch(second, server)
        found.page.goto(f"{server.origin}/#t={token}")
        expect(found.page.locator("#message")).to_contain_text("This URL has already been used.")
        assert describe_cookies(second) == []
        assert set(found.problems) == {REFUSED}


def test_a_deep_link_is_kept_while_signing_in(browser: Browser, server: RunningServer) -> None:
    """Opening a session with a token leads to that session."""
    with browser.new_context(locale="en-GB") as context:
        found = watch(context, server)
        found.page.goto(f"{server.origin}/s/{SESSION}?start=0#t={make_token(server)}")
        expect(found.page.locator("article.session")).to_have_attribute("data-session", SESSION)
        assert set(found.problems) <= {REFUSED}


@pytest.mark.parametrize("way", ["form", "address", "home"])
def test_an_old_link_is_followed_after_signing_in(
    browser: Browser, server: RunningServer, way: str
) -> None:
    """The new URL can be typed into the page or pasted over the old one; both lead on."""
    with browser.new_context(locale="en-GB") as context:
        found = watch(context, server)
        old = f"{server.origin}/s/{SESSION}#turn-2"
        found.page.goto(old)
        expect(found.page.locator("#address")).to_be_visible()
        token = make_token(server)
        if way == "form":
            found.page.locator("#address").fill(f"{server.origin}/#t={token}")
            found.page.get_by_role("button", name="Sign in").click()
        elif way == "address":
            found.page.goto(f"{server.origin}/s/{SESSION}#t={token}")
        else:
            found.page.goto(f"{server.origin}/#t={token}")
        expect(found.page.locator("article.session")).to_have_attribute("data-session", SESSION)
        assert found.page.url == old
        assert set(found.problems) <= {REFUSED}


@pytest.mark.parametrize("pasted", ["http://127.0.0.1:8765/", "/s/x#turn-2", "what is this"])
def test_something_else_is_pasted(browser: Browser, server: RunningServer, pasted: str) -> None:
    """The page says what a sign-in URL looks like, without a request to the server."""
    with browser.new_context(locale="en-GB") as context:
        found = watch(context, server)
        found.page.goto(server.origin)
        found.page.locator("#address").fill(pasted)
        found.page.get_by_role("button", name="Sign in").click()
        expect(found.page.locator("#message")).to_contain_text("This is not a sign-in URL.")
        assert set(found.problems) == {REFUSED}


def test_without_a_token_there_is_nothing_to_see(browser: Browser, server: RunningServer) -> None:
    """Without a key, there is only the sign-in page, in the browser's language."""
    with browser.new_context(locale="zh-CN") as context:
        found = watch(context, server)
        answer = found.page.goto(f"{server.origin}/s/{SESSION}")
        assert answer is not None
        assert answer.status == 401
        assert found.page.locator("html").get_attribute("lang") == "zh-Hans"
        assert found.page.locator("a, article, table").count() == 0
        assert set(found.problems) == {REFUSED}


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_sign_in_page_is_accessible(
    browser: Browser, server: RunningServer, size: tuple[int, int]
) -> None:
    """axe-core finds no serious issue in either theme; the background equals other pages."""
    with browser.new_context(locale="en-GB", bypass_csp=True) as context:
        page = watch(context, server).page
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.goto(f"{server.origin}/")
        assert find_issues_of_themes(page) == []
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            expect(page.locator("html")).to_have_css("background-color", GROUND[theme])


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
@pytest.mark.parametrize("address", ["/", "/#t=used"])
def test_the_sign_in_page_keeps_to_its_frame(
    browser: Browser, server: RunningServer, locale: str, address: str
) -> None:
    """At the width of a phone nothing overflows, in either theme, with any message."""
    with browser.new_context(locale=locale) as context:
        page = watch(context, server).page
        page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        page.goto(server.origin + address)
        message = page.locator("#message")
        if address != "/":
            expect(message).to_have_text(message.get_attribute("data-used") or "")
        assert [measure_width(page, theme) for theme in THEMES] == [PHONE[0], PHONE[0]]


def measure_width(page: Page, theme: Theme) -> int:
    """Return the width of the page's content."""
    page.emulate_media(color_scheme=theme)
    return int(page.evaluate("document.documentElement.scrollWidth"))
