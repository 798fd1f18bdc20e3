"""A Claude directory in which every text tries to execute in pages.

Each session has the first record of each kind in the demo data, so that everything is rendered,
with a share of the payloads in every string. Ids and times stay unchanged in these records, because
otherwise nothing would be visible.
"""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recollect.demo import CLAUDE_DIRECTORY
from tests.render.html.payloads import every_payload

SHARES = 8
"""Sessions; each has an eighth of the payloads in every field."""

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" onload="window.pwned=1">'
    '<script>window.pwned=1</script><image href="http://evil.example/pwned"/></svg>'
)

Json = dict[str, Any]

_STRUCTURE = {
    "type", "subtype", "role", "uuid", "parentUuid", "logicalParentUuid", "sessionId", "id",
    "tool_use_id", "timestamp", "leafUuid", "agentId", "promptId", "sourceToolAssistantUUID",
}  # fmt: skip


def write_planted_root(folder: Path) -> tuple[Path, list[str]]:
    """The Claude directory, and the ids of its sessions."""
    root = folder / "planted"
    payloads = every_payload()
    size = -(-len(payloads) // SHARES)
    chosen = list(_iter_first_of_each_kind())
    ids = []
    for number, share in enumerate(_cut(payloads, size)):
        session_id = f"{number:08d}-0000-4000-8000-000000000000"
        # No slash, which no file name can hold; nothing else is left out.
        name = share[0].replace("/", "").replace("\0", "")[:80]
        project = root / "projects" / f"-home-{number}-{name}"
        _write(project, session_id, [*_plant_all(chosen, session_id, "\n\n".join(share))])
        ids.append(session_id)
    return root, ids


def _cut(payloads: list[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(payloads), size):
        yield payloads[start : start + size]


def _write(project: Path, session_id: str, records: list[Json]) -> None:
    agents = project / session_id / "subagents"
    agents.mkdir(parents=True)
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (project / f"{session_id}.jsonl").write_text(lines, encoding="utf-8")
    payload = records[0]["planted"]
    name = payload.replace("/", "").replace("\0", "")[:60]
    inner = [{**each, "isSidechain": True, "agentId": name} for each in records]
    text = "".join(json.dumps(record) + "\n" for record in inner)
    (agents / f"agent-{name}.jsonl").write_text(text, encoding="utf-8")
    meta = {"agentType": payload, "description": payload, "toolUseId": "extra-agent"}
    (agents / f"agent-{name}.meta.json").write_text(json.dumps(meta), encoding="utf-8")


def _iter_first_of_each_kind() -> Iterator[Json]:
    """Yield the first record of each kind in the demo data, and the results of calls in them."""
    seen: set[str] = set()
    calls: set[str] = set()
    for path in sorted((CLAUDE_DIRECTORY / "projects").rglob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            blocks = _list_blocks(record)
            kinds = {f"{record['type']} {record.get('subtype')} {_name(each)}" for each in blocks}
            kinds |= {f"{record['type']} {record.get('subtype')}"}
            answers = {each.get("tool_use_id") for each in blocks} & calls
            if kinds <= seen and not answers:
                continue
            seen |= kinds
            calls |= {each["id"] for each in blocks if each.get("type") == "tool_use"}
            yield record


def _list_blocks(record: Json) -> list[Json]:
    content = (record.get("message") or {}).get("content")
    return [each for each in content if isinstance(each, dict)] if isinstance(content, list) else []


def _name(block: Json) -> str:
    return f"{block.get('type')} {block.get('name')}"


def _plant_all(records: list[Json], session_id: str, payload: str) -> Iterator[Json]:
    last = None
    for record in [*records, *_iter_extra(payload)]:
        planted = _plant(record, payload)
        if "uuid" in record:
            planted |= {"parentUuid": last, "slug": payload}
            last = record["uuid"]
        yield {**planted, "sessionId": session_id, "planted": payload}


def _plant(value: Any, payload: str, *, is_kept: bool = False) -> Any:
    match value:
        case dict():
            kept = _STRUCTURE | ({"name"} if value.get("type") == "tool_use" else set())
            return {key: _plant(each, payload, is_kept=key in kept) for key, each in value.items()}
        case list():
            return [_plant(each, payload) for each in value]
        case str() if not is_kept:
            return f"{value} {payload}"
    return value


def _iter_extra(payload: str) -> Iterator[Json]:
    """Yield what demo data does not have: strange tools, kinds, pictures, titles."""
    svg = base64.b64encode(SVG.encode()).decode()
    types = ("image/svg+xml", "text/html", payload)
    pictures = [
        {"type": "image", "source": {"type": "base64", "media_type": each, "data": svg}}
        for each in types
    ]
    calls = [
        {"type": "tool_use", "id": f"extra-{number}", "name": name, "input": {payload: payload}}
        for number, name in enumerate((payload, f"mcp__{payload}__{payload}", "mcp__a__b"))
    ]
    started: Json = {"type": "tool_use", "id": "extra-agent", "name": "Agent"}
    started["input"] = {"description": payload, "prompt": payload, "subagent_type": payload}
    yield {"type": f"strange {payload}", "field": payload}
    yield {"type": "custom-title", "customTitle": payload}
    for number, (role, content) in enumerate(
        [
            ("user", [{"type": "text", "text": payload}, *pictures]),
            ("assistant", [*calls, started]),
            ("user", [{"type": "tool_result", "tool_use_id": "extra-0", "content": pictures}]),
            ("user", f"<command-name>/{payload}</command-name>"),
            ("user", f"<bash-stdout>\x1b[31m{payload}\x1b[0m</bash-stdout>"),
            ("assistant", [{"type": "text", "text": f"```{payload}\n{payload}\n```\n{SVG}"}]),
        ]
    ):
        message = {"role": role, "content": content, "id": f"extra-message-{number}"}
        message |= {"model": payload, "usage": {"input_tokens": 1, "output_tokens": 1}}
        record = {"type": role, "uuid": f"extra-record-{number}", "message": message}
        yield {**record, "timestamp": f"2026-11-13T11:00:0{number}.000Z", "gitBranch": payload}
