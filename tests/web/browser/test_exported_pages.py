"""An exported page is opened from disk: nothing in it runs, and it requests nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request

from recollect.demo import CLAUDE_DIRECTORY
from recollect.export import ExportOptions, Images
from recollect.workspace.workspace import open_workspace
from tests.export.test_formats import open_with_picture
from tests.web.browser.planting import SHARES, write_planted_root
from tests.web.browser.test_payloads import WATCH

pytestmark = pytest.mark.slow

FIND_HARM = r"""() => {
  const found = [];
  if (window.pwned !== undefined) found.push(`ran: ${window.pwned}`);
  for (const each of document.querySelectorAll("*")) {
    for (const { name, value } of each.attributes) {
      if (name.startsWith("on") || name === "style" || name === "srcdoc") found.push(name);
      if (!["href", "src", "action", "formaction", "data", "poster", "xlink:href"].includes(name)) {
        continue;
      }
      const { protocol } = new URL(value, location.href);
      const isAnchor = each.localName === "a" && value.startsWith("#");
      const isPicture = each.localName === "img" && /^data:image\/(png|jpeg|gif|webp);/.test(value);
      const isLink = each.localName === "a" && ["http:", "https:", "mailto:"].includes(protocol);
      if (!isAnchor && !isPicture && !isLink) found.push(`${each.localName} ${name}=${value}`);
    }
  }
  const wanted = "script, link, iframe, object, embed, base, video, audio, math, form,"
    + "svg :not(path, rect),"
    + "body style, head style ~ style, body meta, head meta[http-equiv] ~ meta[http-equiv]";
  for (const each of document.querySelectorAll(wanted)) found.push(each.outerHTML.slice(0, 100));
  return found;
}"""


@contextmanager
def open_page(browser: Browser, path: Path) -> Iterator[tuple[Page, list[str]]]:
    """Open a file from disk; all requests, console messages and errors are recorded."""
    context = browser.new_context()
    context.add_init_script(WATCH)
    page = context.new_page()
    noted: list[str] = []

    def record_request(request: Request) -> None:
        if request.url != path.as_uri() and not request.url.startswith("data:image/"):
            noted.append(request.url[:200])

    page.on("request", record_request)
    page.on("console", lambda message: noted.append(message.text))
    page.on("pageerror", lambda error: noted.append(str(error)))
    page.on("dialog", lambda dialog: noted.append(dialog.message))
    page.goto(path.as_uri())
    yield page, noted
    context.close()


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return the exported pages of sessions in which every text attacks the page."""
    folder = tmp_path_factory.mktemp("exported")
    root, ids = write_planted_root(folder)
    with open_workspace(root, temporary=True) as workspace:
        for session_id in ids:
            workspace.export(session_id, folder / f"{session_id}.html")
    return [folder / f"{session_id}.html" for session_id in ids]


@pytest.mark.parametrize("share", range(SHARES))
def test_exported_pages_are_harmless(browser: Browser, planted: list[Path], share: int) -> None:
    """With everything expanded, nothing runs, loads, or links anywhere unexpected."""
    with open_page(browser, planted[share]) as (page, noted):
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        shown = (
            page.locator("#main .turns > .turn details.call").count() > 10,
            page.locator(".child .turn").count() > 0,
            page.locator(".outline li").count() > 0,
        )
        page.wait_for_timeout(150)
        assert (shown, page.evaluate(FIND_HARM), noted) == ((True, True, True), [], [])


def test_a_page_is_readable_without_scripts(browser: Browser, tmp_path: Path) -> None:
    """Details expand, the outline links to turns, and the theme can be chosen, without scripts."""
    with open_workspace(CLAUDE_DIRECTORY, temporary=True) as workspace:
        workspace.export("harbour", tmp_path / "harbour.html")
    context = browser.new_context(java_script_enabled=False, color_scheme="light")
    page = context.new_page()
    page.goto((tmp_path / "harbour.html").as_uri())
    output = page.locator("details.call pre.output").first
    assert not output.is_visible()
    page.locator("details.call > summary").first.click()
    assert output.is_visible()
    page.locator(".outline a").last.click()
    assert page.url.endswith("#turn-4")
    light = page.screenshot()
    page.locator("#theme-dark").check()
    assert page.screenshot() != light
    context.close()


def test_images_beside_a_page_are_shown(browser: Browser, tmp_path: Path) -> None:
    """The content policy allows the files next to it, and no others."""
    session = open_with_picture(tmp_path)
    with open_workspace(CLAUDE_DIRECTORY, temporary=True) as workspace:
        options = ExportOptions(images=Images.BESIDE)
        workspace.export(session.metadata.path or "", tmp_path / "look.html", options)
    with open_page(browser, tmp_path / "look.html") as (page, noted):
        picture = page.locator("img.picture")
        assert picture.evaluate("each => each.decode().then(() => each.naturalWidth)") == 1
        (file,) = (tmp_path / "look_images").iterdir()
        assert noted == [file.as_uri()]
