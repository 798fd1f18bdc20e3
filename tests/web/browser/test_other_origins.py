"""A page of another origin, in a signed-in browser, can neither read nor change anything.

Another port of this machine is the same site, so the browser sends our cookie: the server has to
stop such a page.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.web.addresses import SESSION
from tests.web.browser.chromium import visit
from tests.web.running import RunningServer

pytestmark = pytest.mark.slow

ATTACK = r"""async ([target, session]) => {
  const results = {};
  const attempt = async (name, deed) => {
    const limit = new Promise((resolve) => setTimeout(resolve, 3000, "silence"));
    results[name] = await Promise.race([deed().catch((error) => `refused ${error.name}`), limit]);
  };
  const read = (path, options) => async () => (await fetch(target + path, options)).text();
  const load = (make) => () => new Promise((resolve) => {
    const element = make();
    element.onload = () => resolve("loaded");
    element.onerror = () => resolve("refused");
    document.body.append(element);
  });
  const make = (name, values) => () => Object.assign(document.createElement(name), values);
  const include = { credentials: "include" };
  const json = { ...include, method: "POST", headers: { "content-type": "application/json" } };

  await attempt("fetch", read("/api/history/sessions", include));
  await attempt("fetch a page", read(`/s/${session}`, include));
  await attempt("fetch with a header", read("/api/projects", { headers: { a: "b" }, ...include }));
  await attempt("post", read("/api/launches", json));
  await attempt("post plain text", read("/sign-in", { ...include, method: "POST", body: "{}" }));
  await attempt("blind fetch", async () => {
    const answer = await fetch(`${target}/api/usage`, { ...include, mode: "no-cors" });
    return `${answer.type} ${answer.status} ${(await answer.text()).length}`;
  });
  await attempt("image", load(make("img", { src: `${target}/` })));
  await attempt("script", load(make("script", { src: `${target}/api/history/sessions` })));
  await attempt("module", load(make("script", { type: "module", src: `${target}/api/projects` })));
  await attempt("style", load(() => {
    const link = document.createElement("link");
    return Object.assign(link, { rel: "stylesheet", href: `${target}/api/projects` });
  }));
  await attempt("events", () => new Promise((resolve) => {
    const source = new EventSource(`${target}/api/events`, { withCredentials: true });
    source.onmessage = source.onopen = () => resolve("open");
    source.onerror = () => resolve(source.readyState === EventSource.CLOSED ? "refused" : "again");
  }));
  await attempt("socket", () => new Promise((resolve) => {
    const socket = new WebSocket(`${target.replace("http", "ws")}/api/events`);
    socket.onopen = () => resolve("open");
    socket.onerror = () => resolve("refused");
  }));
  await attempt("frame", () => new Promise((resolve) => {
    const frame = document.createElement("iframe");
    frame.onload = () => {
      try { resolve(`read ${frame.contentDocument.body.innerText}`); }
      catch (error) { resolve(`refused ${error.name}`); }
    };
    frame.src = `${target}/`;
    document.body.append(frame);
  }));
  await attempt("form", () => new Promise((resolve) => {
    const frame = Object.assign(document.createElement("iframe"), { name: "sink" });
    const form = document.createElement("form");
    Object.assign(form, { method: "post", action: `${target}/api/launches`, target: "sink" });
    document.body.append(frame, form);
    frame.onload = () => {
      try { resolve(`read ${frame.contentDocument.body.innerText}`); }
      catch (error) { resolve(`refused ${error.name}`); }
    };
    form.submit();
  }));
  return results;
}"""

EXPECTED = {
    "fetch": "refused TypeError",
    "fetch a page": "refused TypeError",
    "fetch with a header": "refused TypeError",
    "post": "refused TypeError",
    "post plain text": "refused TypeError",
    "blind fetch": "refused TypeError",
    "image": "refused",
    "script": "refused",
    "module": "refused",
    "style": "refused",
    "events": "refused",
    "socket": "refused",
    "frame": "refused TypeError",
    "form": "refused TypeError",
}


class _Page(BaseHTTPRequestHandler):
    """Another server, with an empty page at any address."""

    def do_GET(self) -> None:
        body = b"<!doctype html><title>elsewhere</title><body>"
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


@contextmanager
def other_server() -> Iterator[int]:
    """Return the port of a server that is not ours."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("own_name", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("other_name", ["127.0.0.1", "localhost"])
def test_other_origins_get_nothing(
    browser: Browser, server: RunningServer, own_name: str, other_name: str
) -> None:
    """Every kind of request from another origin is refused, with an empty response."""
    asked: dict[str, str] = {}
    answered: dict[str, int] = {}
    with other_server() as port, visit(browser, server) as found:
        found.open("/")
        page = found.context.new_page()
        page.goto(f"http://{other_name}:{port}/")
        # The response of the server, whatever the page can see of it.
        network = found.context.new_cdp_session(page)
        network.on("Network.requestWillBeSent", lambda each: asked.update(_name(each)))
        network.on(
            "Network.responseReceivedExtraInfo",
            lambda each: answered.update({each["requestId"]: each["statusCode"]}),
        )
        network.send("Network.enable")
        results = page.evaluate(ATTACK, [f"http://{own_name}:{server.port}", SESSION])
    ours = {key for key, address in asked.items() if f":{server.port}/" in address}
    assert results == EXPECTED
    assert len(ours) >= len(EXPECTED) - 2
    assert {answered[key] for key in ours & answered.keys()} == {403}


def _name(event: dict[str, Any]) -> dict[str, str]:
    return {event["requestId"]: event["request"]["url"]}


def test_a_link_from_elsewhere_opens_our_page_and_nothing_more(
    browser: Browser, server: RunningServer
) -> None:
    """A link opens our page, but the linking page gets no access to its window."""
    with other_server() as port, visit(browser, server) as found:
        page = found.context.new_page()
        page.goto(f"http://127.0.0.1:{port}/")
        with found.context.expect_page() as opened:
            page.evaluate("(address) => { window.opened = open(address); }", f"{server.origin}/")
        expect(opened.value.locator("h1")).to_have_text("Home")
        assert opened.value.evaluate("window.opener") is None
        assert page.evaluate("window.opened.closed") is True
