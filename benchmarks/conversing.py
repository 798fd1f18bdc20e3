"""Conversations in the browser: how late streamed words are, what eight at once cost, and what a
record costs in a long turn.

`python -m benchmarks.conversing` runs a server with a stand-in for Claude Code that writes the time
twenty times a second into each of its conversations. What reaches the event stream, and what is
shown on the page, is compared with the time in it: that is the lag behind the client's own pipe.
For a long turn the stand-in calls a tool 520 times, and each record is read as a page does it.
"""

import http.client
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

from playwright.sync_api import expect

from tests.web.browser.chatting import send, start
from tests.web.browser.chromium import open_browser, visit
from tests.web.conversing import Talker, run_talker

CONVERSATIONS = 8
TURNS = 9
COUNT = 200
"""Words of each conversation: ten seconds."""

LONG_TURN = 520
"""Calls of a long turn, each of two records."""
AT_CALLS = (50, 200, 500)
"""Where the cost of a record is measured, over 20 calls before and after."""
AROUND = 20

MAX_LAG_MS = 100
MAX_SHARE = 0.5
MAX_GROWTH = 1.25
"""A record at the last of these calls may cost so much more than one at the first."""
_TICKS = os.sysconf("SC_CLK_TCK")
_NOTE_WORDS = """
  window.lags = [];
  const seen = new Set();
  const place = document.querySelector("[data-streaming]");
  new MutationObserver(() => {
    const now = Date.now();
    for (const each of place.textContent.match(/\\d{10}\\.\\d{4}/g) ?? []) {
      if (!seen.has(each)) window.lags.push(now - 1000 * Number(each));
      seen.add(each);
    }
  }).observe(place, { childList: true, subtree: true, characterData: true });
"""


def main() -> int:
    """Print the figures; 1 if a goal is missed."""
    with tempfile.TemporaryDirectory() as folder, run_talker(Path(folder)) as talker:
        firsts, shown = measure_page(talker, Path(folder) / "home")
        lags, share = measure_many(talker)
        costs = measure_long_turn(talker)
    print(f"page: first words of turns {', '.join(f'{each:.0f}' for each in firsts)} ms late")
    print(f"page: median of all words {statistics.median(shown):.0f} ms late")
    print(f"{CONVERSATIONS} streams: median {statistics.median(lags):.0f} ms late")
    print(f"{CONVERSATIONS} streams: {share:.2f} of a core on the server's side")
    for call, cost in zip(AT_CALLS, costs, strict=True):
        print(f"long turn: a record at call {call} costs {cost:.1f} ms of CPU")
    is_flat = costs[-1] <= MAX_GROWTH * costs[0]
    is_met = statistics.median(firsts) <= MAX_LAG_MS and share <= MAX_SHARE and is_flat
    return 0 if is_met else 1


def measure_page(talker: Talker, home: Path) -> tuple[list[float], list[float]]:
    """How many milliseconds after the client the first word of a turn, and each, is shown."""
    firsts: list[float] = []
    with open_browser(home) as browser, visit(browser, talker.server) as found:
        page = start(found, talker.project)
        page.evaluate(_NOTE_WORDS)
        for turn in range(1, TURNS + 1):
            before = page.evaluate("window.lags.length")
            send(page, "clock 20")
            expect(page.locator("#turns .said")).to_have_count(turn)
            expect(page.locator("[data-streaming] > *")).to_have_count(0)
            firsts.append(page.evaluate("window.lags")[before])
        lags: list[float] = page.evaluate("window.lags")
        page.get_by_role("button", name="End", exact=True).click()
        expect(page.locator("[data-ended]")).to_be_visible()
    return firsts, lags


def measure_many(talker: Talker) -> tuple[list[float], float]:
    """How late words are in the streams of eight conversations, and the share of a core."""
    ids = [talker.start() for _ in range(CONVERSATIONS)]
    lags: list[float] = []
    readers = [Thread(target=extend_lags, args=(lags, talker, each)) for each in ids]
    for reader in readers:
        reader.start()
    for each in ids:
        talker.act(each, "prompts", text=f"clock {COUNT}")
    begun, used = time.monotonic(), read_cpu(talker.server.process.pid)
    for reader in readers:
        reader.join()
    share = (read_cpu(talker.server.process.pid) - used) / (time.monotonic() - begun)
    for each in ids:
        talker.act(each, "end")
    return lags, share


def measure_long_turn(talker: Talker) -> list[float]:
    """Milliseconds of CPU on the server's side for each record, at some calls of a long turn."""
    conversation = talker.start()
    talker.act(conversation, "prompts", text=f"work {LONG_TURN}")
    used = [read_cpu(talker.server.process.pid) for _ in follow_turn(talker, conversation)]
    talker.act(conversation, "end")
    return [
        1000 * (used[2 * (call + AROUND)] - used[2 * (call - AROUND)]) / (4 * AROUND)
        for call in AT_CALLS
    ]


def follow_turn(talker: Talker, conversation: str) -> Iterator[None]:
    """Ask for what is new after each record, as the page of a conversation does."""
    revision = ""
    for name, _ in iter_events(talker, conversation):
        if name == "record":
            since = f"&since={revision}" if revision else ""
            answer = talker.get(f"/c/{conversation}/turns?start=0&count=20{since}")
            found = re.search(r'data-revision="(\d+)"', answer.body.decode())
            revision = found[1] if found else ""
            yield
        elif name == "finished":
            break


def extend_lags(lags: list[float], talker: Talker, conversation: str) -> None:
    """Add the lags of a conversation to a list."""
    lags.extend(read_lags(talker, conversation))


def read_lags(talker: Talker, conversation: str) -> Iterator[float]:
    """Milliseconds between the client and the event, for each word until the turn is over."""
    for name, data in iter_events(talker, conversation):
        if name == "block":
            text = data["text"].strip()
            if text:
                yield 1000 * (time.time() - float(text))
        elif name == "finished":
            break


def iter_events(talker: Talker, conversation: str) -> Iterator[tuple[str, Any]]:
    """Yield the events of a conversation, each with its name."""
    connection = http.client.HTTPConnection("127.0.0.1", talker.server.port)
    connection.request("GET", f"/c/{conversation}/events", headers={"Cookie": talker.cookie})
    name = ""
    try:
        for line in connection.getresponse():
            field, _, value = line.decode().strip().partition(": ")
            if field == "event":
                name = value
            elif field == "data":
                yield name, json.loads(value)
    finally:
        connection.close()


def read_cpu(pid: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


if __name__ == "__main__":
    sys.exit(main())
