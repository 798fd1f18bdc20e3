"""What the scripted model says: scenes of replies, each with the tokens that it reports.

A prompt names its scene as `play:NAME`; the reply is chosen by how many were given since. A test
reads its expectation off the same scene that was played.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from recollect.records.token_usage import Tokens

SENT = {
    "input_tokens": 11,
    "cache_read_input_tokens": 1000,
    "cache_creation_input_tokens": 120,
    "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 20},
}
"""The usage reported for each request."""

SUMMARY = "The person tried a scripted model, and all went well."

AGENT = ("Agent", "Task")
"""Both names of the tool that starts subagents."""


@dataclass(frozen=True)
class Block:
    """One content block; a tool may have several names, of which the client knows one."""

    kind: str
    text: str = ""
    tools: tuple[str, ...] = ()
    input: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Reply:
    """One reply of the model; `pause` is the time between its pieces."""

    blocks: tuple[Block, ...]
    output: int
    pause: float = 0.0
    status: int = 200

    @property
    def tokens(self) -> Tokens:
        """The reported tokens."""
        return Tokens(11, self.output, 1000, 100, 20)


def say(words: str) -> Block:
    """Return a text block."""
    return Block("text", words)


def think(words: str) -> Block:
    """Return a thinking block."""
    return Block("thinking", words)


def call(*tools: str, **values: object) -> Block:
    """Return a tool call."""
    return Block("tool_use", tools=tools, input=values)


def bash(command: str) -> Block:
    """Return a shell call."""
    return call("Bash", command=command, description="Run it")


def send(scene: str) -> Block:
    """Return a call that starts a subagent, which plays its own scene."""
    task = f"play:{scene} and report"
    return call(*AGENT, description="Look around", prompt=task, subagent_type="general-purpose")


COLOURS = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [
        {"label": "Blue", "description": "like the sea"},
        {"label": "Red", "description": "like the buoy"},
    ],
    "multiSelect": False,
}

SCENES: dict[str, tuple[Reply, ...]] = {
    "hello": (Reply((say('Hello. Grüße, 世界 😀 \u2028 "quoted" \\ end.'),), 21),),
    "again": (Reply((say("Here we are again."),), 22),),
    "aside": (Reply((say("A copy goes its own way."),), 23),),
    "thought": (Reply((think("Two and two."), say("Four.")), 24),),
    "tools": (
        Reply((say("First one that works."), bash("echo one")), 31),
        Reply((bash("echo two >&2; exit 3"),), 32),
        Reply((bash("echo three"), bash("echo four")), 33),
        Reply((say("Three of four worked."),), 34),
    ),
    "denied": (
        Reply((call("Write", file_path="/nowhere/x.txt", content="x"),), 35),
        Reply((say("I was not allowed to."),), 36),
    ),
    "agent": (
        Reply((say("I send somebody."), send("worker")), 41),
        Reply((say("The agent is back."),), 42),
        Reply((say("So it is."),), 43),
    ),
    "worker": (
        Reply((think("I am the worker."), bash("sleep 1; echo worked")), 44),
        Reply((say("Report: all is well."),), 45),
    ),
    "slow_tool": (
        Reply((say("This takes a while."), bash("sleep 4; echo slept")), 51),
        Reply((say("It slept."),), 52),
    ),
    "slow_words": (Reply((say(" ".join(f"word{i}" for i in range(40))),), 61, pause=0.2),),
    "long_tool": (Reply((bash("sleep 600; echo never"),), 71), Reply((say("Never said."),), 72)),
    "refused": (Reply((), 0, status=400),),
    "touch_one": (Reply((bash("touch one.txt"),), 81), Reply((say("Touched."),), 82)),
    "count_twice": (
        Reply((bash("python3 -c 'print(2)'"),), 83),
        Reply((bash("python3 -c 'print(2)'"),), 84),
        Reply((say("Counted twice."),), 85),
    ),
    "choose": (
        Reply((call("AskUserQuestion", questions=[COLOURS]),), 86),
        Reply((say("A good choice."),), 87),
    ),
    "plan": (
        Reply((call("ExitPlanMode", plan="1. Look\n2. Leap"),), 88),
        Reply((say("The plan is settled."),), 89),
    ),
    "background": (
        Reply(
            (
                call(
                    "Bash",
                    command="sleep 300",
                    description="Wait in the background",
                    run_in_background=True,
                ),
            ),
            91,
        ),
        Reply((say("It runs in the background."),), 92),
        Reply((say("It is over."),), 93),
    ),
}


def find_reply(scenes: Mapping[str, Sequence[Reply]], scene: str, step: int) -> Reply:
    """Return the reply at `step` of a scene, or a notice if the scene is over."""
    replies = scenes.get(scene, ())
    return replies[step] if step < len(replies) else Reply((say("(the scene is over)"),), 1)


def save_scenes(path: Path, scenes: Mapping[str, Sequence[Reply]]) -> None:
    """Write scenes to a file."""
    data = {name: [asdict(reply) for reply in replies] for name, replies in scenes.items()}
    path.write_text(json.dumps(data), encoding="utf-8")


def load_scenes(path: Path) -> dict[str, tuple[Reply, ...]]:
    """Read the scenes in a file."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return {name: tuple(map(_load_reply, replies)) for name, replies in data.items()}


def _load_reply(value: dict[str, Any]) -> Reply:
    blocks = tuple(Block(**{**each, "tools": tuple(each["tools"])}) for each in value["blocks"])
    return Reply(**{**value, "blocks": blocks})


def add(*tokens: Tokens) -> Tokens:
    """Return the sum."""
    fields = Tokens.__struct_fields__
    return Tokens(*(sum(getattr(each, name) for each in tokens) for name in fields))


def count(*scenes: str, replies: int | None = None) -> Tokens:
    """Return the usage of the replies of these scenes, or of the first few of each."""
    return add(*(reply.tokens for scene in scenes for reply in SCENES[scene][:replies]))


def texts(*scenes: str) -> list[str]:
    """Return the texts of these scenes, in order."""
    return [
        block.text
        for scene in scenes
        for reply in SCENES[scene]
        for block in reply.blocks
        if block.kind == "text"
    ]
