"""Accessibility issues by axe-core; pages need `bypass_csp`, as our policy blocks its script."""

from functools import cache
from importlib import resources

from playwright.sync_api import Page

Issue = list[object]
"""A rule, and the first elements that violate it."""

_RUN = """async (rules) => {
  const found = await axe.run(document, {
    resultTypes: ["violations"], ...(rules && { runOnly: { type: "rule", values: rules } }),
  });
  return found.violations
    .filter((each) => ["serious", "critical"].includes(each.impact))
    .map((each) => [each.id, each.nodes.slice(0, 3).map((node) => node.html.slice(0, 160))]);
}"""


def find_issues(page: Page) -> list[Issue]:
    """Return the serious issues of a page."""
    page.evaluate(_load_axe())
    return list(page.evaluate(_RUN, None))


def find_issues_of_themes(page: Page) -> list[Issue]:
    """Return the serious issues in the light theme, and those only in the dark theme."""
    page.emulate_media(color_scheme="light")
    issues = find_issues(page)
    page.emulate_media(color_scheme="dark")
    issues += page.evaluate(_RUN, ["color-contrast"])
    page.emulate_media(color_scheme="light")
    return issues


@cache
def _load_axe() -> str:
    return (resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
