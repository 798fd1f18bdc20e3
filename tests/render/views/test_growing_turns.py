"""The views of a session that grows are those of the same session read at once."""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.documents.turn_documents import ToolStep, TurnView
from recollect.records.decoding import decode_record
from recollect.records.envelope import Record
from recollect.render.views.growing_turns import GrowingTurns
from recollect.render.views.turn_views import build_turn_views
from recollect.session.session import Session
from recollect.session.subagents import Child, SubagentMeta, attach_subagents

Line = dict[str, Any]


class Script:
    """Writes the lines of a conversation, each after the last one."""

    def __init__(self) -> None:
        self.lines: list[tuple[str | None, Record]] = []
        self.model = "claude-a"
        self.messages = 0
        self.calls: list[str] = []
        self._last: dict[str | None, str] = {}

    def write(self, line: Line, agent: str | None = None) -> None:
        """Write a line of the conversation, or of a subagent."""
        number = len(self.lines)
        time = f"2026-01-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z"
        chain = {"uuid": f"u{number}", "parentUuid": self._last.get(agent), "timestamp": time}
        self._last[agent] = f"u{number}"
        record = decode_record(
            msgspec.json.encode({**chain, "isSidechain": agent is not None, **line})
        )
        assert record is not None
        self.lines.append((agent, record))

    def prompt(self, text: str = "do it") -> None:
        """Write a prompt."""
        self.write({"type": "user", "message": {"role": "user", "content": text}})

    def reply(self, *blocks: Line, agent: str | None = None, is_new: bool = True) -> None:
        """Write a line of a reply: of a new one, or of the last."""
        self.messages += is_new
        message = {
            "id": f"m{self.messages}",
            "role": "assistant",
            "model": self.model,
            "content": blocks,
            "usage": {
                "input_tokens": 10,
                "cache_read_input_tokens": 70 * len(self.lines),
                "output_tokens": len(self.lines),
            },
        }
        self.write({"type": "assistant", "message": message}, agent)

    def call(self, tool: str = "Bash", *, agent: str | None = None, is_new: bool = True) -> str:
        """Write a reply that calls a tool."""
        name = f"call-{len(self.lines)}"
        if agent is None:
            self.calls.append(name)
        values = {"command": f"echo {name}", "description": "Say", "prompt": name}
        block = {"type": "tool_use", "id": name, "name": tool, "input": values}
        self.reply(block, agent=agent, is_new=is_new)
        return name

    def result(self, *names: str, agent: str | None = None, **more: object) -> None:
        """Write the results of calls."""
        blocks = [{"type": "tool_result", "tool_use_id": each, "content": each} for each in names]
        line = {"type": "user", "message": {"role": "user", "content": blocks}, **more}
        self.write(line, agent)

    def compact(self) -> None:
        """Write a compaction and its summary."""
        self.write(
            {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"preTokens": 9}}
        )
        self.write({"type": "user", "isCompactSummary": True, "message": {"content": "Summary."}})


def say(text: str) -> Line:
    """Return a block of text."""
    return {"type": "text", "text": text}


def change_model(script: Script) -> None:
    """Have another model reply from now on."""
    script.model = "claude-b" if script.model == "claude-a" else "claude-a"


def grow_agent(script: Script, place: int) -> None:
    """Write a line of the subagent of some call."""
    if script.calls:
        agent = script.calls[-1 - place % len(script.calls)]
        name = script.call(agent=agent)
        if place % 2:
            script.result(name, agent=agent)


def finish_call(script: Script, place: int) -> None:
    """Write the result of one of the last calls, perhaps not for the first time."""
    if script.calls:
        script.result(script.calls[-1 - place % len(script.calls)])


Act = Callable[[Script, int], object]
ACTS: dict[str, Act] = {
    "call": lambda script, _: script.call(),
    "another call": lambda script, _: script.call(is_new=False),
    "agent": lambda script, _: script.call("Agent"),
    "agent grows": grow_agent,
    "result": finish_call,
    "results": lambda script, _: script.result(*script.calls[-2:]),
    "text": lambda script, _: script.reply(say("so")),
    "more text": lambda script, _: script.reply(say("and"), is_new=False),
    "thinking": lambda script, _: script.reply({"type": "thinking", "thinking": "hm"}),
    "empty": lambda script, _: script.reply(),
    "prompt": lambda script, _: script.prompt(),
    "stop": lambda script, _: script.prompt("[Request interrupted by user]"),
    "compact": lambda script, _: script.compact(),
    "model": lambda script, _: change_model(script),
    "report": lambda script, _: script.prompt(
        f"<task-notification><tool-use-id>{'/'.join(script.calls[-1:])}</tool-use-id>"
        "<status>failed</status><summary>Over</summary></task-notification>"
    ),
    "aside": lambda script, _: script.write(
        {"type": "user", "isMeta": True, "message": {"content": "Caveat"}}
    ),
    "notice": lambda script, _: script.write(
        {"type": "system", "subtype": "informational", "content": "Note", "level": "info"}
    ),
    "duration": lambda script, _: script.write(
        {"type": "system", "subtype": "turn_duration", "durationMs": 5}
    ),
    "unknown": lambda script, _: script.write({"type": "of-tomorrow", "text": "what"}),
    "mode": lambda script, _: script.result(*script.calls[-1:], permissionMode="plan"),
}
COMMON = ("call", "another call", "result", "result", "text", "agent", "agent grows")


def iter_grown(lines: Sequence[tuple[str | None, Record]]) -> Iterator[tuple[TurnView, ...]]:
    """Yield the views after each line."""
    children: dict[str, GrowingTurns] = {}
    session = Session()

    def attach() -> None:
        attach_subagents(session, list_children({c: each.session for c, each in children.items()}))

    turns = GrowingTurns(session, children, attach)
    for agent, record in lines:
        if agent is None:
            turns.add([record])
        else:
            children.setdefault(agent, GrowingTurns(Session())).add([record])
            turns.note_growth(agent)
        yield turns.show(range(turns.count))


def list_children(sessions: dict[str, Session]) -> list[Child]:
    """Return subagents by their calls."""
    return [
        Child(agent_id=call, session=session, meta=SubagentMeta(tool_use_id=call))
        for call, session in sessions.items()
    ]


def read_at_once(lines: Sequence[tuple[str | None, Record]]) -> tuple[TurnView, ...]:
    """Return the views of a session that is read as a whole."""
    session = Session(record for agent, record in lines if agent is None)
    children: dict[str, Session] = {}
    for agent, record in lines:
        if agent is not None:
            children.setdefault(agent, Session()).extend([record])
    if children:
        attach_subagents(session, list_children(children))
    return build_turn_views(session, stop=len(session.turns))


@given(
    st.lists(
        st.tuples(st.sampled_from(COMMON) | st.sampled_from(sorted(ACTS)), st.integers(0, 3)),
        max_size=25,
    )
)
@settings(max_examples=300, deadline=None)
def test_growing_equals_reading_at_once(acts: list[tuple[str, int]]) -> None:
    """However a conversation continues, the views are those of all records so far."""
    script = Script()
    script.prompt()
    for name, number in acts:
        ACTS[name](script, number)
    for count, grown in enumerate(iter_grown(script.lines), 1):
        assert grown == read_at_once(script.lines[:count])


def test_a_background_agent_grows_after_its_result() -> None:
    """A subagent that keeps running is updated, even in a part of the turn that is complete."""
    script = Script()
    script.prompt()
    script.call("Agent")
    script.result("call-1")
    for _ in range(3):
        script.call()
        script.result(script.calls[-1])
        script.call(agent="call-1")
    views = list(iter_grown(script.lines))
    assert views[-1] == read_at_once(script.lines)
    (turn,) = views[-1]
    (agent,) = (step for step in turn.steps if isinstance(step, ToolStep) and step.subagents)
    assert agent.subagents[0].tool_calls == 3


def count_work(agent: str | None, calls: int) -> list[int]:
    """Return how many Python functions are called for each record of a turn."""
    script = Script()
    script.prompt()
    script.call("Agent")
    for _ in range(calls):
        script.result(script.call(agent=agent), agent=agent)
    found: list[int] = []

    def count(_frame: object, event: str, _value: object) -> None:
        found[-1] += event == "call"

    found.append(0)
    views = iter_grown(script.lines)
    for _ in script.lines:
        sys.setprofile(count)
        next(views)
        sys.setprofile(None)
        found.append(0)
    return found[:-1]


def test_a_record_costs_the_same_in_a_long_turn() -> None:
    """The 400th call of a turn takes no more work than the 50th, nor that of a subagent."""
    own = count_work(None, 400)
    assert max(own[-20:]) <= 1.1 * max(own[80:120])
    agents = count_work("call-1", 400)
    assert max(agents[-20:]) <= 1.1 * max(agents[80:120])
