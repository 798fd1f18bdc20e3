"""Writes docs/screenshots: the main pages of the web app on the demo data, as a browser shows them.

Needs a Chromium; uses the one that the browser tests use, and drives it in the same way.
"""

import struct
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, expect, sync_playwright

from tests.web.browser.chromium import PHONE, PLAIN, Look, find_chromium, launch, visit
from tests.web.running import RunningServer, copy_demo, run_server

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "screenshots"
LARGEST = 150_000
"""Bytes; a page of the documentation should not take longer to load than to read."""

_SIGNATURE = b"\x89PNG\r\n\x1a\n"

HARBOUR = "/s/94791a87-9d13-410a-a632-25a9b25c1b45"
TIDES = "/s/c798220b-cc9c-4414-8b5a-d2d0bbcafa1a"


@dataclass(frozen=True)
class Shot:
    """A picture: its name, the page, how it is looked at, and which calls are opened before."""

    name: str
    path: str
    look: Look = PLAIN
    opened: tuple[str, ...] = ()


SHOTS = (
    Shot("sessions", "/"),
    Shot("session", TIDES, opened=("Edit",)),
    Shot("session-dark", TIDES, Look("dark"), ("Edit",)),
    Shot("search", "/search?q=harbour"),
    Shot("usage", "/usage?group=project"),
    Shot("phone", HARBOUR, Look(size=PHONE)),
)


def take(browser: Browser, server: RunningServer, shot: Shot) -> bytes:
    """The picture, as PNG."""
    with visit(browser, server, shot.look) as found:
        page = found.open(shot.path)
        for tool in shot.opened:
            call = page.locator(f"details.call[data-tool={tool}]").first
            call.locator("summary").click()
            expect(call.locator(".call-input")).to_be_visible()
        page.mouse.move(0, 0)
        page.evaluate("document.activeElement?.blur()")
        return shrink(page.screenshot(animations="disabled", caret="hide"))


def shrink(png: bytes) -> bytes:
    """The same picture, packed tighter: browsers pack pictures in a hurry."""
    kept: list[tuple[bytes, bytes]] = []
    packed = b""
    place = len(_SIGNATURE)
    while place < len(png):
        (length,) = struct.unpack_from(">I", png, place)
        kind, data = png[place + 4 : place + 8], png[place + 8 : place + 8 + length]
        place += length + 12
        if kind == b"IDAT":
            packed += data
        else:
            kept.append((kind, data))
    picture = (b"IDAT", zlib.compress(zlib.decompress(packed), 9))
    return _SIGNATURE + b"".join(_make_chunk(*each) for each in (*kept[:-1], picture, kept[-1]))


def _make_chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)


def take_all(browser: Browser, server: RunningServer) -> dict[str, bytes]:
    """Every picture by its name; refuses one that is too large."""
    taken = {shot.name: take(browser, server, shot) for shot in SHOTS}
    large = {name: len(data) for name, data in taken.items() if len(data) > LARGEST}
    if large:
        raise SystemExit(f"larger than {LARGEST} bytes: {large}")
    return taken


def main() -> None:
    """Write all pictures."""
    executable = find_chromium()
    if executable is None:
        raise SystemExit("There is no Chromium: run tools/install_browser.sh")
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        browser = launch(playwright, executable, folder)
        with run_server(folder, copy_demo(folder)) as server:
            server.get("/api/history/sessions")
            for shot, data in take_all(browser, server).items():
                (FOLDER / f"{shot}.png").write_bytes(data)
        browser.close()


if __name__ == "__main__":
    main()
