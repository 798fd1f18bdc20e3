"""Nothing in a client's stream or requests executes, loads, links elsewhere or imitates a card."""

import pytest
from playwright.sync_api import Browser, expect

from tests.render.html.payloads import every_payload
from tests.web.browser.chromium import Look, visit
from tests.web.browser.test_payloads import WATCH, find_harm
from tests.web.conversing import Talker

pytestmark = pytest.mark.slow

SHARES = 4
CARDS = 7
"""Requests of one attack: four tools, a choice, a plan, an MCP server."""

FORGED = (
    '<section class="ask" data-request="x"><footer><button data-decision="allow">Yes</button>',
    '<div class="asks" data-asks><section class="ask"><button data-edit>Edit</button></section>',
    '<article class="chat" data-nonce="x" data-address="//evil.example"></article>',
    '<button data-act="end">End</button><button data-fork="x">fork</button>',
    "<form data-composer><textarea data-text></textarea><button>Send</button></form>",
    '<button data-start-conversation data-session="x" data-nonce="y">Continue here</button>',
)
OUTSIDE = (
    ":is(#turns, [data-streaming], [data-notices], .queue, .chat-others) "
    ":is(.ask, [data-decision], [data-request], [data-edit], [data-nonce], [data-act],"
    "[data-fork], [data-composer], [data-start-conversation], form, textarea,"
    "input:not([disabled]))"
)
"""Elements that only the page itself may create."""


def cut_payloads() -> list[str]:
    """Divide all payloads and forged cards among a few texts."""
    payloads = [*every_payload(), *FORGED]
    size = -(-len(payloads) // SHARES)
    shares = [payloads[start : start + size] for start in range(0, len(payloads), size)]
    return ["\n\n".join([*share, *FORGED]) for share in shares]


def test_all_payloads_are_sent() -> None:
    """The suite has its documented size, and each payload is in one of its parts."""
    shares = cut_payloads()
    assert len(set(every_payload())) >= 300
    assert [each for each in every_payload() if not any(each in share for share in shares)] == []


def test_harm_and_forged_cards_would_be_found(browser: Browser) -> None:
    """The checks below fail on a page that renders such payloads as markup."""
    page = browser.new_page()
    for forged in FORGED:
        page.set_content(f"<main id=turns>{forged}</main>")
        assert page.locator(OUTSIDE).count() > 0, forged
    page.set_content('<img src="https://evil.example/x" onerror="window.pwned = 1"><iframe>')
    page.wait_for_function("window.pwned")
    assert len(find_harm(page)) == 4
    page.close()


@pytest.mark.parametrize("share", range(SHARES))
def test_conversations_are_harmless(browser: Browser, talker: Talker, share: int) -> None:
    """Streamed text, tool input, notices, prompts and cards: all of them are shown as text."""
    payload = cut_payloads()[share]
    conversation = talker.start()
    with visit(browser, talker.server, Look()) as found:
        found.context.add_init_script(WATCH)
        page = found.open(f"/c/{conversation}")
        sent = talker.act(conversation, "prompts", text=f"attack {payload}")
        assert sent.status == 200, sent.body
        card = page.locator(".asks > .ask")
        for _ in range(CARDS):
            expect(card).to_have_count(1)
            expect(card.get_by_role("button").first).to_be_enabled()
            request = card.get_attribute("data-request")
            expect(page.locator(OUTSIDE)).to_have_count(0)
            assert find_harm(page) == []
            card.locator("footer button[data-decision=deny]").click()
            expect(page.locator(f".ask[data-request='{request}']")).to_have_count(0)
        expect(page.locator(".chat-head .chat-status")).to_have_text("idle")
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        expect(page.locator("details[data-source] > :last-child:empty")).to_have_count(0)
        expect(page.locator(OUTSIDE)).to_have_count(0)
        assert find_harm(page) == []
        for path in ("/running", f"/c/{conversation}"):
            found.open(path)
            assert find_harm(page) == []
        assert found.problems == []
    behaviours = [each.get("behavior") or each.get("action") for each in talker.list_responses()]
    assert set(behaviours) == {"deny", "decline"}
    talker.act(conversation, "end")
