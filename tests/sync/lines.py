"""Assistant lines as the client writes them, with every way in which copies differ.

`lines` draws from few values, so that messages meet: the same id on several lines, in several
files, with another request, without one, or used again by a proxy for something else.
"""

import json
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

PRICED = ("claude-sonnet-4-5", "claude-opus-4-8")


@dataclass(frozen=True)
class Line:
    """One assistant line; fields that are None are left out."""

    id: str | None = "msg_1"
    request: str | None = "req_1"
    model: str | None = PRICED[0]
    uuid: str | None = "u1"
    time: str | None = "2026-03-01T10:00:00.000Z"
    input: int = 10
    output: int = 20
    cache_read: int = 0
    written: int = 0
    split: tuple[int, int] | None = None
    searches: int = 0
    tools: tuple[str, ...] = ()
    branch: str | None = "main"
    is_sidechain: bool = False
    speed: str | None = None
    advisor: int = 0
    session: str | None = "s1"
    forked_from: str | None = None
    cost: float | None = None
    has_usage: bool = True
    is_relayed: bool = False
    """Whether a progress record of the parent repeats it."""

    def encode(self) -> bytes:
        """The line with its end."""
        record: dict[str, Any] = {
            "type": "assistant",
            "uuid": self.uuid,
            "requestId": self.request,
            "sessionId": self.session,
            "timestamp": self.time,
            "gitBranch": self.branch,
            "version": "2.1.325",
            "cwd": "/home/me/project",
            "isSidechain": self.is_sidechain,
            "forkedFrom": self.forked_from and {"sessionId": self.forked_from},
            "message": {
                "id": self.id,
                "model": self.model,
                "role": "assistant",
                "content": self._content(),
                "usage": self._usage() if self.has_usage else None,
            },
            "costUSD": self.cost,
        }
        kept = {key: value for key, value in record.items() if value is not None}
        if self.is_relayed:
            data = {"type": "agent_progress", "agentId": "a1", "message": kept}
            kept = {**kept, "type": "progress", "data": data}
            del kept["message"]
        return json.dumps(kept, separators=(",", ":")).encode() + b"\n"

    def _content(self) -> list[dict[str, Any]]:
        calls = [{"type": "tool_use", "id": "t", "name": name, "input": {}} for name in self.tools]
        return calls or [{"type": "text", "text": "words"}]

    def _usage(self) -> dict[str, Any]:
        usage: dict[str, Any] = {
            "input_tokens": self.input,
            "output_tokens": self.output,
            "cache_read_input_tokens": self.cache_read,
            "cache_creation_input_tokens": self.written,
        }
        if self.split is not None:
            five, hour = self.split
            usage["cache_creation"] = {
                "ephemeral_5m_input_tokens": five,
                "ephemeral_1h_input_tokens": hour,
            }
        if self.searches:
            usage["server_tool_use"] = {"web_search_requests": self.searches}
        if self.speed is not None:
            usage["speed"] = self.speed
        if self.advisor:
            step = {"type": "advisor_message", "model": PRICED[1], "output_tokens": self.advisor}
            usage["iterations"] = [{"type": "message"}, step]
        return usage


def user_line(text: str) -> bytes:
    """A line that nothing is counted of."""
    record = {"type": "user", "uuid": "p", "message": {"role": "user", "content": text}}
    return json.dumps(record).encode() + b"\n"


NUMBERS = st.sampled_from([0, 1, 5, 20, 81, 1200])
TIMES = st.sampled_from(
    [
        None,
        "never",
        "2026-03-01T10:00:00.000Z",
        "2026-03-01T10:00:01.500Z",
        "2026-03-01T12:00:00+02:00",
        "2026-03-01T23:59:59.9996Z",
        "2026-03-02T00:10:00.000Z",
        "2025-09-30T08:00:00.000Z",
        "1969-12-31T23:30:00.000Z",
        "0001-01-01T00:00:00+14:00",
    ]
)

LINES: st.SearchStrategy[Line] = st.builds(
    Line,
    id=st.sampled_from(["msg_1", "msg_1", "msg_2", "msg_3", None, ""]),
    request=st.sampled_from(["req_1", "req_1", "req_2", None]),
    model=st.sampled_from([*PRICED, "proxy-model", "<synthetic>", None]),
    uuid=st.sampled_from(["u1", "u2", None]),
    time=TIMES,
    input=NUMBERS,
    output=st.one_of(NUMBERS, st.sampled_from([-3, 2**41, 2**70])),
    cache_read=NUMBERS,
    written=NUMBERS,
    split=st.one_of(st.none(), st.tuples(NUMBERS, NUMBERS)),
    searches=st.sampled_from([0, 0, 0, 2]),
    tools=st.sampled_from([(), (), ("Bash",), ("Read", "Edit"), ("a\nb",)]),
    branch=st.sampled_from(["main", "topic", None]),
    is_sidechain=st.booleans(),
    speed=st.sampled_from([None, None, "fast", "a|b"]),
    advisor=st.sampled_from([0, 0, 0, 50]),
    session=st.sampled_from(["s1", "s2", None]),
    cost=st.sampled_from([None, None, None, 0.0, 0.25, -1.0, 1e300]),
    has_usage=st.sampled_from([True, True, True, False]),
    is_relayed=st.sampled_from([False, False, False, True]),
)
"""Lines that may be of the same message, of copies of it, or of another by the same name."""
