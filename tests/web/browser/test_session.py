"""A session in the browser: expanding, outline, copying, links, files, raw records."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.addresses import SESSION
from tests.web.browser.chromium import PHONE, Language, Look, Visit, visit
from tests.web.browser.conftest import StartVisit
from tests.web.browser.writing import GROWING, append_records, make_turn, write_session
from tests.web.running import run_server

pytestmark = pytest.mark.slow

HARBOUR = "94791a87-9d13-410a-a632-25a9b25c1b45"
THEMES = "7aa5fa93-883b-4f00-b3b1-6090844693a9"
RECIPES = "035908b6-1f46-4aa4-a941-652b8923bf89"

HAS_CURRENT = """(each) =>
  [...(CSS.highlights.get("current") ?? [])].some((range) => each.contains(range.startContainer))"""
CUT_OFF = """(selector) => [...document.querySelectorAll(selector)].filter((each) => {
  const end = (box) => box.getBoundingClientRect().right;
  return each.scrollWidth > each.clientWidth || end(each) > end(each.parentElement);
}).map((each) => each.textContent)"""


def read_clipboard(found: Visit) -> str:
    """Return the content of the clipboard."""
    return str(found.page.evaluate("navigator.clipboard.readText()"))


def allow_clipboard(found: Visit) -> Visit:
    """Let the test read the clipboard."""
    origin = found.server.origin
    found.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=origin)
    return found


def test_a_call_opens_to_what_it_did(desk: Visit) -> None:
    """The body of a call is fetched once, when it is expanded."""
    page = desk.open(f"/s/{HARBOUR}")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    call = page.locator("details.call[data-tool=Bash]").first
    assert call.locator(".call-body").inner_html() == ""
    call.locator("summary").click()
    expect(call.locator(".call-output pre").first).to_contain_text("load_harbour_374")
    call.locator("summary").click()
    expect(call).not_to_have_attribute("open", "")
    call.locator("summary").click()
    expect(call).to_have_attribute("open", "")
    assert [each for each in asked if "/calls/" in each] == [
        f"{desk.server.origin}{call.get_attribute('data-source')}"
    ]


def test_a_long_command_is_read_without_scrolling(start_visit: StartVisit) -> None:
    """It is wrapped, and all of its description is above it."""
    page = start_visit(Look(size=PHONE)).open(f"/s/{HARBOUR}")
    call = page.locator("details.call[data-tool=Bash]").first
    call.locator("summary").click()
    command = call.locator("pre.code")
    expect(command).to_be_visible()
    for each in (command, call.locator("summary .title")):
        assert each.evaluate("(each) => each.scrollWidth - each.clientWidth") == 0
    words = call.locator("summary .title").inner_text()
    assert words not in call.locator(".call-body").inner_text()


def test_an_edit_opens_to_its_diff(desk: Visit) -> None:
    """A file change is shown as removed and added lines."""
    page = desk.open(f"/s/{HARBOUR}")
    call = page.locator("details.call[data-tool=Edit]").first
    call.locator("summary").click()
    expect(call.locator(".diff .removed").first).to_be_visible()
    expect(call.locator(".diff .added").first).to_be_visible()


def test_thinking_is_folded(desk: Visit) -> None:
    """Thinking is one line until it is expanded."""
    page = desk.open(f"/s/{RECIPES}")
    thought = page.locator("details.thought").first
    expect(thought.locator(".prose")).not_to_be_visible()
    thought.locator("summary").click()
    expect(thought.locator(".prose")).to_be_visible()


def test_a_subagent_opens_inside_of_its_call(desk: Visit) -> None:
    """The whole conversation of a subagent expands in place, with expandable calls."""
    page = desk.open(f"/s/{THEMES}")
    child = page.locator("details.child").first
    child.locator("summary").first.click()
    expect(child.locator(".turn").first).to_contain_text("Read the bundled themes in src/themes")
    inner = child.locator("details.call[data-tool=Read]").first
    own = page.locator("#turns > .turn > .steps > details.call[data-tool=Read] .title").first
    font = "(title) => getComputedStyle(title).fontFamily"
    assert inner.locator(".title").evaluate(font) == own.evaluate(font)
    inner.locator("summary").click()
    expect(inner.locator(".call-output")).to_be_visible()
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((each) => each.id)")
    assert sorted(set(ids)) == sorted(ids)


def test_everything_near_unfolds_at_once(desk: Visit) -> None:
    """One button opens all calls near the screen, and closes them again."""
    page = desk.open(f"/s/{HARBOUR}")
    button = page.locator("[data-expand]")
    button.click()
    expect(page.locator("details.call[open]").first).to_be_visible()
    expect(page.locator("details.call[open] > .call-body:empty")).to_have_count(0)
    button.click()
    expect(page.locator("details.call[open]")).to_have_count(0)


def test_the_outline_leads_to_a_prompt(desk: Visit) -> None:
    """A line of the outline scrolls to its prompt and stays marked."""
    page = desk.open(f"/s/{HARBOUR}")
    lines = page.locator("[data-outline] li[data-turn]")
    expect(lines).to_have_count(4)
    lines.nth(3).locator("a").first.click()
    prompt = page.locator("#turns > .turn").last.locator(".prompt")
    expect(prompt).to_be_in_viewport()
    expect(prompt).to_contain_text("Good. Do both, pattern and batches.")
    expect(lines.nth(3)).to_have_class("here")
    lines.nth(3).get_by_role("link", name="Checkpoint (files: 2)").click()
    expect(page.locator("[aria-current=true] .number")).to_have_text("4")


def test_the_outline_opens_a_subagent(desk: Visit) -> None:
    """A line of the tree goes to the card of a subagent and expands it."""
    page = desk.open(f"/s/{THEMES}")
    line = page.locator("[data-outline] .agents a")
    expect(line).to_have_text(["ExploreSurvey the themes"])
    line.click()
    card = page.locator("details.child")
    expect(card).to_have_attribute("open", "")
    expect(card.locator(".child-body .call").first).to_be_in_viewport()
    expect(card.locator(".outcome")).to_have_text("completed")


def test_subagents_are_below_their_prompt(desk: Visit) -> None:
    """In the outline, also beside the mark of a checkpoint: the prompt keeps its line."""
    page = desk.open(f"/s/{THEMES}")
    expect(page.locator("[data-outline] .agents")).to_be_visible()
    # In one step: the outline may be drawn again while the server is still reading its sessions.
    prompt, tree = page.evaluate(
        """["li[data-turn] > a", ".agents"].map((each) =>
          document.querySelector(`[data-outline] ${each}`).getBoundingClientRect().toJSON())"""
    )
    assert (prompt["bottom"] <= tree["top"], prompt["width"] > 200) == (True, True)


@pytest.mark.parametrize("width", [1440, 1280, 1000])
def test_what_is_gone_to_is_below_the_bar(start_visit: StartVisit, width: int) -> None:
    """However many rows the bar has, it covers neither the prompt nor the outline."""
    found = start_visit(Look(size=(width, 800)))
    page = found.open(f"/s/{HARBOUR}")
    page.locator("[data-outline] li[data-turn]").nth(2).locator("a").first.click()
    prompt = page.locator("#turns > .turn").nth(2).locator(".prompt")
    expect(prompt).to_be_in_viewport()
    tops = """["#turns > .turn:nth-child(3) > .prompt", "nav.outline"].map((each) =>
        document.querySelector(each).getBoundingClientRect().top)"""
    bar = page.evaluate("document.querySelector('.session-head').getBoundingClientRect().bottom")
    prompt_top, outline_top = page.evaluate(tops)
    assert prompt_top >= bar
    assert outline_top >= bar or width < 1120


def test_tabs_of_the_outline(desk: Visit) -> None:
    """Prompts with their costs, failures, files and subagents; those without any have no tab."""
    page = desk.open(f"/s/{RECIPES}")
    tabs = page.get_by_role("tab")
    expect(tabs).to_have_text(["Prompts 1", "Failures 1", "Files 1"])
    costs = page.locator("[data-outline] .cost")
    expect(costs.first).to_have_text(re.compile(r"^<?\$0\.\d\d$"))
    page.get_by_role("tab", name="Failures").click()
    line = page.get_by_role("tabpanel").get_by_role("link")
    expect(line).to_have_text(re.compile(r"^1Bash"))
    line.click()
    expect(page.locator(".call[data-status=failed]")).to_be_in_viewport()
    page.get_by_role("tab", name="Failures").press("ArrowRight")
    expect(page.get_by_role("tab", name="Files")).to_be_focused()
    expect(page.get_by_role("tabpanel")).to_have_count(1)
    page.get_by_role("tabpanel").get_by_role("link").click()
    expect(page.locator(".change:target")).to_be_in_viewport()
    page = desk.open(f"/s/{THEMES}")
    page.get_by_role("tab", name="Agents 1").click()
    line = page.get_by_role("tabpanel").get_by_role("link")
    expect(line).to_have_text("ExploreSurvey the themes")


def test_the_tabs_of_a_long_session_fit(desk: Visit) -> None:
    """All four fit, even with counts of three digits."""
    page = desk.open(f"/s/{HARBOUR}")
    row = page.get_by_role("tablist")
    row.evaluate(
        """(row) => row.querySelectorAll("[data-tab]").forEach((tab) => {
          tab.hidden = false;
          tab.querySelector("[data-count]").textContent = "168";
        })"""
    )
    assert row.evaluate("(row) => row.scrollWidth - row.clientWidth") == 0


def test_the_scrubber_shows_how_full_the_context_was(desk: Visit) -> None:
    """Behind the ticks, from the first turn to the last, and empty again after a compaction."""
    page = desk.open(f"/s/{HARBOUR}")
    area = page.locator(".scrubber .context")
    expect(area).to_have_attribute("d", re.compile(r"^M0 30(L\d+ [\d.]+)+V30H\d+L\d+ .*V30Z$"))


def test_a_phone_begins_with_the_conversation(start_visit: StartVisit) -> None:
    """Buttons, figures and outline are in a menu, and the first prompt is visible."""
    page = start_visit(Look(size=PHONE)).open(f"/s/{HARBOUR}")
    expect(page.locator("#turns .prompt .words").first).to_be_in_viewport()
    hidden = page.locator(".session-menu, .session-facts, .session-note, .outline")
    for each in hidden.all():
        expect(each).to_be_hidden()
    page.get_by_label("More", exact=True).click()
    for each in hidden.all():
        expect(each).to_be_visible()


def test_title_and_buttons_fit_into_the_bar(start_visit: StartVisit) -> None:
    """A title of any length has room, and no button is outside the window."""
    for width in (1290, 1440, 1600):
        page = start_visit(Look(size=(width, 900))).open(f"/s/{HARBOUR}")
        page.locator("h1").evaluate("(title) => { title.textContent = 'long '.repeat(80); }")
        title = page.locator("h1").bounding_box()
        assert title
        assert title["width"] > 240
        for button in page.locator(".session-actions :is(button, a, summary)").all():
            box = button.bounding_box()
            assert box is None or box["x"] + box["width"] <= width - 16


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [1409, 1280, 1024, 768, 740])
def test_the_bar_stays_in_one_row(start_visit: StartVisit, width: int, language: Language) -> None:
    """Buttons lose their text, not their names; also those of a running session."""
    page = start_visit(Look(size=(width, 900), language=language)).open(f"/s/{HARBOUR}")
    page.evaluate(
        """() => {
          for (const each of document.querySelectorAll(".session-status, [data-follow]")) {
            each.hidden = false;
          }
          document.querySelector("h1").textContent = "long ".repeat(80);
        }"""
    )
    rows = page.locator(".session-bar > *, .session-actions > *, .session-menu > *").evaluate_all(
        """(all) => new Set(all.map((each) => each.getBoundingClientRect())
          .filter(({ height }) => height > 0)
          .map(({ top, bottom }) => Math.round((top + bottom) / 2))).size"""
    )
    assert rows == 1
    title = page.locator("h1").bounding_box()
    assert title
    assert title["width"] > 100
    assert page.evaluate("document.documentElement.scrollWidth") == width
    # At once: the page itself hides what belongs to a running session when it is updated.
    bar = page.locator(".session-bar").get_by_role("button")
    names = bar.evaluate_all("(all) => all.map((each) => each.innerText || each.ariaLabel)")
    assert all(names)


def test_the_dot_of_a_running_session_is_beside_its_title(start_visit: StartVisit) -> None:
    """On a phone, it takes no row of its own."""
    page = start_visit(Look(size=PHONE)).open(f"/s/{HARBOUR}")
    page.locator(".session-status").evaluate("(each) => { each.hidden = false; }")
    title, dot = (page.locator(each).bounding_box() for each in ("h1", ".session-status"))
    assert title
    assert dot
    assert title["y"] < dot["y"] + dot["height"] / 2 < title["y"] + title["height"]


def test_hints_are_on_one_line(desk: Visit) -> None:
    """The hints of the shortcuts, and of the button that shows all of them."""
    page = desk.open("/sessions")
    tops = page.locator(".status-line .shortcuts > *").evaluate_all(
        """(all) => all.map((each) => {
          const range = new Range();
          range.selectNodeContents(each.lastChild);
          return range.getBoundingClientRect().bottom;
        })"""
    )
    assert len(tops) > 2
    assert max(tops) - min(tops) < 0.5


def test_the_note_is_beside_the_facts(desk: Visit) -> None:
    """It covers no button of the bar above the facts."""
    page = desk.open(f"/s/{HARBOUR}")
    bar = page.locator(".session-bar").bounding_box()
    note = page.locator(".session-note").bounding_box()
    facts = page.locator(".session-facts").bounding_box()
    assert bar
    assert note
    assert facts
    assert bar["y"] + bar["height"] <= note["y"] < facts["y"] + facts["height"]


def test_a_timeline_can_be_read_on_a_phone(start_visit: StartVisit) -> None:
    """The table scrolls sideways instead of breaking every word."""
    page = start_visit(Look(size=PHONE)).open(f"/s/{HARBOUR}/timeline")
    row = page.locator(".timeline-table tbody tr").first.bounding_box()
    assert row
    assert row["height"] < 150


def test_copying(start_visit: StartVisit) -> None:
    """Buttons copy a message, its link, code, a diff and the resume command, and nothing else."""
    found = allow_clipboard(start_visit(Look()))
    page = found.open(f"/s/{HARBOUR}")
    said = page.locator(".said.from-model").first
    said.hover()
    said.get_by_role("button", name="Copy", exact=True).click()
    expect(page.locator(".toast")).to_have_text("Copied")
    assert read_clipboard(found) == "I'll profile it first."
    said.get_by_role("button", name="Copy link").click()
    uuid = said.get_attribute("id")
    link = f"{found.server.origin}/s/{HARBOUR}?at={uuid}#{uuid}"
    assert read_clipboard(found) == link
    page.get_by_role("button", name="Copy resume command").click()
    client = f"CLAUDE_CONFIG_DIR={found.server.root} claude --resume {HARBOUR}"
    assert read_clipboard(found) == f"cd /home/mina/projects/tidepool && {client}"
    call = page.locator("details.call[data-tool=Bash]").first
    call.locator("summary").click()
    block = call.locator(".copyable").first
    block.hover()
    block.locator(".copy").click()
    assert read_clipboard(found) == block.locator("pre").evaluate("(each) => each.textContent")
    call = page.locator("details.call[data-tool=Edit]").first
    call.locator("summary").click()
    block = call.locator(".copyable").first
    block.hover()
    block.locator(".copy").click()
    assert read_clipboard(found).splitlines()[:3] == [
        "@@ -1,2 +1,2 @@",
        " def normalise(name):",
        '-    return re.sub(r"[\\s-]+", " ", name).strip().title()',
    ]


def test_words_of_the_directory_are_marked_in_a_path(desk: Visit) -> None:
    """The line of a call shows its path without them; all fields of the call have it whole."""
    hits = desk.server.get("/api/search?q=%22mina+projects%22+tool%3ARead+role%3Aassistant").json()
    hit = next(each for each in hits["hits"] if each["session_id"] == SESSION)
    page = desk.open(f"/s/{SESSION}?at={hit['uuid']}&mark=mina%2Fprojects#{hit['uuid']}")
    page.locator("article.session[data-landed=true]").wait_for(state="attached")
    call = page.locator(f"[id='{hit['uuid']}']")
    expect(call.locator(".title")).to_have_text("src/tidepool/cli.py")
    expect(call.locator(".call-input")).to_contain_text("/home/mina/projects/tidepool/src")
    assert call.evaluate(HAS_CURRENT) is True


@pytest.mark.parametrize(
    "form", ["/s/{id}#{uuid}", "/s/{id}?at={uuid}", "/s/{id}?at={uuid}#{uuid}"]
)
def test_a_link_shows_its_message(desk: Visit, form: str) -> None:
    """A permanent link opens the page at its message, in any of its forms."""
    turns = desk.server.get(f"/api/sessions/{HARBOUR}/turns").json()["turns"]
    uuid = turns[-1]["uuid"]
    page = desk.open(form.format(id=HARBOUR, uuid=uuid))
    target = page.locator(f"[id='{uuid}']")
    expect(target).to_be_in_viewport()
    expect(target).to_contain_text("Good. Do both, pattern and batches.")


def test_a_message_leads_to_its_record_and_back(desk: Visit) -> None:
    """The raw record is one click from the message, and the message one from the record."""
    page = desk.open(f"/s/{HARBOUR}")
    said = page.locator(".said.from-model").first
    uuid = said.get_attribute("id")
    said.hover()
    said.get_by_role("link", name="raw").click()
    expect(page.locator("pre.raw")).to_contain_text(f'"uuid": "{uuid}"')
    page.locator("main a").first.click()
    expect(page.locator(f"[id='{uuid}']")).to_be_in_viewport()


def test_files_that_were_changed(desk: Visit) -> None:
    """The page of changes lists each with its diff."""
    page = desk.open(f"/s/{HARBOUR}")
    page.get_by_role("link", name="Files changed").click()
    expect(page.locator(".change")).to_have_count(2)
    paths = page.locator(".change h2 code").all_inner_texts()
    assert [path.rpartition("/")[2] for path in paths] == ["harbour.py", "batches.py"]
    expect(page.locator(".change").first.locator(".diff .added").first).to_be_visible()


def test_pictures_are_there(desk: Visit) -> None:
    """A pasted picture is shown, without a request."""
    page = desk.open(f"/s/{SESSION}")
    picture = page.locator("img.picture").first
    picture.scroll_into_view_if_needed()
    assert picture.evaluate("(each) => each.complete && each.naturalWidth > 0") is True


def test_reading_on_a_phone(start_visit: StartVisit) -> None:
    """On a phone a call opens within the width of the screen."""
    page = start_visit(Look(size=PHONE)).open(f"/s/{HARBOUR}")
    for each in page.locator("details.call").all():
        each.locator("summary").click()
    expect(page.locator("details.call > .call-body:empty")).to_have_count(0)
    expect(page.locator(".loading")).to_have_count(0)
    assert _find_wide(page) == []


def test_names_of_files_are_whole_on_a_phone(start_visit: StartVisit) -> None:
    """The folder is cut first, then the result, unless it is a number of lines."""
    found = start_visit(Look(size=(320, 640)))
    parts = ".call .title .name, .call:is([data-tool=Edit], [data-tool=Write]) .summary"
    for session in (HARBOUR, THEMES, SESSION):
        page = found.open(f"/s/{session}")
        expect(page.locator(parts).first).to_be_visible()
        assert page.evaluate(CUT_OFF, parts) == []


def test_buttons_of_a_message_wait_for_a_touch(start_visit: StartVisit) -> None:
    """On a phone they are behind three dots, which expand when touched."""
    page = start_visit(Look(size=PHONE)).open(f"/s/{HARBOUR}")
    for kind in (".said.from-model", ".prompt"):
        message = page.locator(kind).first
        copy = message.get_by_role("button", name="Copy", exact=True)
        expect(copy).to_be_hidden()
        actions = message.get_by_label("Message actions")
        actions.hover()
        expect(copy).to_be_hidden()
        actions.click()
        expect(copy).to_be_visible()
        # The touch that opens them does not press any of them.
        expect(page.locator(".toast:visible")).to_have_count(0)


COVERED = """(said) => {
  const actions = said.querySelector(":scope > .actions").getBoundingClientRect();
  const walker = document.createTreeWalker(said.querySelector(".prose"), NodeFilter.SHOW_TEXT);
  const lines = [];
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(text);
    lines.push(...range.getClientRects());
  }
  return actions.width < 40 || actions.right > innerWidth || lines.length === 0 || lines.some(
    (line) => line.left < actions.right && line.right > actions.left
      && line.top < actions.bottom && line.bottom > actions.top);
}"""


@pytest.mark.parametrize("width", [800, 1024, 1280, 1440])
def test_buttons_of_a_reply_do_not_cover_it(start_visit: StartVisit, width: int) -> None:
    """They are beside its lines at any width, in a subagent too."""
    page = start_visit(Look(size=(width, 900))).open(f"/s/{THEMES}")
    page.locator("details.child > summary").first.click()
    replies = page.locator(".said.from-model")
    inside = page.locator(".child-body .said.from-model")
    expect(inside.first).to_be_visible()
    for reply in [*replies.all(), *inside.all()]:
        reply.hover()
        assert reply.evaluate(COVERED) is False, reply.inner_text()


def test_the_outline_does_not_pull_a_phone_back(start_visit: StartVisit) -> None:
    """On a phone the outline is above the turns and can be scrolled away."""
    page = start_visit(Look(size=PHONE)).open(f"/s/{HARBOUR}")
    page.get_by_label("More", exact=True).click()
    expect(page.locator("[data-outline] li[data-turn]")).to_have_count(4)
    assert page.evaluate("scrollY") == 0
    page.evaluate("scrollTo({ top: 900, behavior: 'instant' })")
    page.wait_for_timeout(200)
    assert page.evaluate("scrollY") == 900


def _find_wide(page: Page) -> list[str]:
    """Return the elements that make the page wider than the screen."""
    found: list[str] = page.evaluate(
        "document.documentElement.scrollWidth > innerWidth"
        " ? [...document.querySelectorAll('main *')]"
        "     .filter((each) => each.getBoundingClientRect().right > innerWidth)"
        "     .map((each) => each.outerHTML.slice(0, 80)).slice(0, 3)"
        " : []"
    )
    return found


def test_the_counter_has_the_numbers_of_the_outline(browser: Browser, tmp_path: Path) -> None:
    """A turn that a summary opened has a number, but no line."""
    root = tmp_path / "claude"
    path = write_session(root, GROWING, 1)
    summary, *others = make_turn(GROWING, 1)
    append_records(path, [{**summary, "isCompactSummary": True}, *others, *make_turn(GROWING, 2)])
    with run_server(tmp_path, root) as server:
        server.wait_until_current()
        with visit(browser, server) as found:
            page = found.open(f"/s/{GROWING}#turn-3")
            counter = page.locator("[data-counter]")
            expect(counter).to_have_text(re.compile(r"Prompt\s*3 / 3"))
            expect(page.locator("[data-outline] > .here .number")).to_have_text("3")
            counter.get_by_role("button", name="Previous prompt").click()
            expect(counter).to_have_text(re.compile(r"Prompt\s*1 / 3"))
            assert found.problems == []
