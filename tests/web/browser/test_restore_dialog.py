"""The Restore button on the page of a file, in a real browser."""

from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, expect

from tests.versions.small_project import Project
from tests.web.browser.chromium import visit
from tests.web.conversing import run_talker

pytestmark = pytest.mark.slow


def test_a_version_is_restored_once_it_is_confirmed(
    browser: Browser, tmp_path: Path, safe_environment: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dialog shows the diff; Enter and Escape leave the file alone, the button restores it."""
    root = tmp_path / "server" / "claude"
    root.mkdir(parents=True)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(root))
    shop = Project(tmp_path / "shop")
    shop.prompt("Write the greeting")
    shop.write("app.py", "<b>hello</b>\n")
    shop.save()
    path = shop.path("app.py")
    path.write_text("changed $& since\n")
    with run_talker(tmp_path / "server") as talker, visit(browser, talker.server) as found:
        talker.server.wait_until_current()
        page = found.open(f"/file?path={quote(str(path))}")
        dialog = page.get_by_role("dialog", name="Restore v1?")
        for key in ("Enter", "Escape"):
            page.get_by_role("button", name="Restore v1…").click()
            expect(dialog).to_contain_text("-changed $& since\n+<b>hello</b>")
            page.keyboard.press(key)
            expect(dialog).to_be_hidden()
        assert path.read_text() == "changed $& since\n"
        page.get_by_role("button", name="Restore v1…").click()
        dialog.get_by_role("button", name="Restore").click()
        status = page.locator("[data-restore-status]")
        expect(status).to_have_text(
            f"Restored {path}; the previous content is in {path}.before-restore."
        )
        assert path.read_text() == "<b>hello</b>\n"
        assert found.problems == []
