"""The figures of a session: the same words as on the command line, in both languages."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.library.claude_root import FIRST, SECOND, THIRD, ClaudeRoot, Line, prompt, reply
from tests.web.markup import find_texts
from tests.web.running import RunningServer, run_server

USAGE = {"input_tokens": 1000, "output_tokens": 500}


def _reply(uuid: str, usage: dict[str, int] | None, **more: object) -> Line:
    message = {
        "id": f"msg_{uuid}",
        "role": "assistant",
        "model": "claude-opus-4-20250514",
        "content": [],
    }
    return {**reply("Done.", uuid=uuid), "message": {**message, "usage": usage}, **more}


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server on a session, a fork of it, and one of an old client that recorded costs."""
    folder = tmp_path_factory.mktemp("figures")
    root = ClaudeRoot(folder / "claude")
    copied = {"forkedFrom": {"sessionId": FIRST, "messageUuid": "a1"}}
    root.session(FIRST, prompt("drain"), _reply("a1", USAGE, requestId="r1"))
    root.session(
        SECOND,
        {**prompt("drain"), **copied},
        _reply("a1", USAGE, requestId="r1", **copied),
        prompt("and fill", uuid="u2", seconds=2),
        _reply("a2", USAGE | {"output_tokens": 2}, requestId="r2"),
    )
    root.session(
        THIRD,
        prompt("dig", uuid="u9"),
        _reply("a8", USAGE, costUSD=0.25),
        _reply("a9", None, costUSD=0.5),
    )
    with run_server(folder, root.path, "--no-open") as running:
        running.wait_until_current()
        running.wait_for(lambda: _find_row(running, SECOND)["copied_tokens"] is not None)
        yield running


def _find_row(server: RunningServer, session: str) -> dict[str, object]:
    row: dict[str, object] = server.get(f"/api/sessions/{session}").json()["session"]
    return row


def _show(root: Path, session: str) -> str:
    command = ["-m", "recollect", "show", session, "--claude-dir", str(root)]
    run = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=True)
    return " ".join(run.stdout.split())


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", ("Tokens", "1,002 · 1,500 copied")), ("zh", ("Token 数", "1,002 · 1,500 为复制"))],
)
def test_page_separates_own_tokens_from_copied_ones(
    figures: RunningServer, language: str, words: tuple[str, str]
) -> None:
    """In the head of the session, by the figures of `show`, and in the list."""
    page = figures.get(f"/s/{SECOND}", **{"Accept-Language": language}).body
    heading, counts = words
    (facts,) = find_texts(page, "dl", class_="session-facts")
    assert f"{heading} {counts}" in facts
    assert "1,002 tokens · 1,500 copied" in _show(figures.root, SECOND)
    rows = figures.get("/sessions", **{"Accept-Language": language}).body.decode()
    assert f'title="{counts}"' in rows


def test_api_separates_own_tokens_from_copied_ones(figures: RunningServer) -> None:
    """Session, list and history have both figures."""
    answers = [(_find_row(figures, SECOND)["tokens"], _find_row(figures, SECOND)["copied_tokens"])]
    history = figures.get("/api/history/sessions?pageSize=50").json()["sessions"]
    answers += [(row["totalTokens"], row["copiedTokens"]) for row in history if row["id"] == SECOND]
    metrics = figures.get(f"/api/sessions/{SECOND}").json()["metrics"]
    assert answers == [(1002, 1500), (1002, 1500)]
    assert sum(metrics["copied_tokens"][name] for name in ("input", "output")) == 1500


def test_noted_costs_are_next_to_ours(figures: RunningServer) -> None:
    """The cost that an old client recorded, marked as the only one if tokens are missing."""
    (facts,) = find_texts(figures.get(f"/s/{THIRD}").body, "dl", class_="session-facts")
    recorded = "Cost recorded by Claude Code (costUSD) $0.7500 recorded by Claude Code"
    assert f"{recorded} Cost 1 message without tokens" in facts
    assert "$0.7500 recorded by Claude Code (1 message without tokens)" in _show(
        figures.root, THIRD
    )
    (facts,) = find_texts(figures.get(f"/s/{FIRST}").body, "dl", class_="session-facts")
    assert "noted" not in facts
    assert "noted" not in _show(figures.root, FIRST)


def test_noted_costs_with_tokens(tmp_path: Path) -> None:
    """With all token counts known, our figure comes first."""
    root = ClaudeRoot(tmp_path / "claude")
    root.session(FIRST, prompt("dig"), _reply("a8", USAGE, costUSD=0.25))
    head = _show(root.path, FIRST).replace(" · ", " ")
    assert "1,500 tokens $0.0525 at list prices $0.2500 recorded by Claude Code" in head
