"""The page of a thread: sessions that continue each other, as one conversation."""

import json
from pathlib import Path

from recollect.web.pages.thread_page import COUNT
from tests.web.markup import find_links, find_texts
from tests.web.running import run_server

IDS = ["aaaaaaaa-0000-4000-8000-000000000001", "bbbbbbbb-0000-4000-8000-000000000002"]
TURNS = COUNT - 5


def write_thread(folder: Path) -> Path:
    """Two sessions, each shorter than a page, both together longer."""
    project = folder / "claude" / "projects" / "-p"
    project.mkdir(parents=True)
    for name, following in zip(IDS, (IDS[1], None), strict=True):
        lines: list[dict[str, object]] = [
            {
                "type": "user",
                "uuid": f"{name[:2]}{number}",
                "sessionId": name,
                "cwd": "/p",
                "message": {"role": "user", "content": f"{name[:1]} {number}"},
            }
            for number in range(TURNS)
        ]
        if following:
            lines.append({"type": "continued-in", "continuedInSessionId": following})
        (project / f"{name}.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    return folder / "claude"


def test_a_thread_has_all_turns_of_its_sessions(tmp_path: Path) -> None:
    """From the first turn of the first session, over a link, to the last of the last."""
    with run_server(tmp_path, write_thread(tmp_path)) as server:
        server.wait_until_current()
        address = f"/s/{IDS[1]}/thread"
        page = server.get(address).body
        more = find_links(page, "a", class_="later")
        rest = server.get(more[0]).body
        joints = [server.get(f"/s/{each}").body for each in IDS]
    words = [find_texts(each, "div", class_="words") for each in (page, rest)]
    expected = [f"{name[:1]} {number}" for name in IDS for number in range(TURNS)]
    assert [text for each in words for text in each] == expected
    assert more == [f"{address}?start={COUNT}"]
    assert find_links(rest, "a", class_="later") == []
    assert all(f"/s/{each}/thread".encode() in body for each, body in zip(IDS, joints, strict=True))
