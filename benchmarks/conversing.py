"""Conversations in the browser: latency of streamed words, the cost of eight at once, and the cost
of a record in a long turn.

`python -m benchmarks.conversing` runs a server with a fake Claude Code that writes the current time
into each conversation twenty times a second. The latency is the difference between that time and
the time at which the word arrives in the event stream or is shown on the page. For a long turn, the
fake calls a tool 520 times, and each record is requested as a page does.
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
"""Number of words in each conversation: ten seconds."""

LONG_TURN = 520
"""Number of calls in a long turn, with two records each."""
AT_CALLS = (50, 200, 500)
"""Calls at which the cost of a record is measured, averaged over 20 calls before and after."""
AROUND = 20

MAX_LAG_MS = 100
MAX_SHARE = 0.5
MAX_GROWTH = 1.25
"""Maximum ratio of the cost of a record at the last of these calls to that at the first."""
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
    """Print the figures; return 1 if a goal is missed."""
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
    """Return the latency on the page of the first word of a turn, and of each word, in ms."""
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
    """Return the latency of words in eight streams, and the share of a core."""
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
    """Return the server's CPU milliseconds per record, at some calls of a long turn."""
    conversation = talker.start()
    talker.act(conversation, "prompts", text=f"work {LONG_TURN}")
    used = [read_cpu(talker.server.process.pid) for _ in follow_turn(talker, conversation)]
    talker.act(conversation, "end")
    return [
        1000 * (used[2 * (call + AROUND)] - used[2 * (call - AROUND)]) / (4 * AROUND)
        for call in AT_CALLS
    ]


def follow_turn(talker: Talker, conversation: str) -> Iterator[None]:
    """Request the changes after each record, as the page of a conversation does."""
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
    """Add the latencies of a conversation to a list."""
    lags.extend(read_lags(talker, conversation))


def read_lags(talker: Talker, conversation: str) -> Iterator[float]:
    """Return the milliseconds from client to event for each word, until the turn is over."""
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
    """Return the CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


if __name__ == "__main__":
    sys.exit(main())
