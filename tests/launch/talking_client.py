"""A fake client for conversations: implements the protocol without a model.

Not imported by any test: `conversing.install_client` writes it as an executable called `claude`.
The first word of a prompt selects what the turn does, see `TURNS`; prompts that arrive during a
turn are queued. `script.json` beside it may define the words of prompts. Everything received is
appended to `received.jsonl` beside it, and the arguments to `called.jsonl`.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from queue import Empty, Queue
from typing import Any
from uuid import uuid4

HERE = Path(sys.argv[0]).resolve().parent
MODEL = "claude-made-up-1"
Json = dict[str, Any]


class Interrupted(Exception):
    """The turn was interrupted."""


def note(name: str, value: object) -> None:
    """Append a line to a file beside the program."""
    with (HERE / name).open("a", encoding="utf-8") as file:
        file.write(json.dumps(value) + "\n")


def option(name: str, default: str = "") -> str:
    """The value of an option."""
    found = [each.partition("=")[2] for each in sys.argv if each.startswith(f"{name}=")]
    return found[0] if found else default


class Client:
    """The state of the fake client."""

    def __init__(self) -> None:
        self.session = option("--session-id") or option("--resume") or str(uuid4())
        self.model = option("--model", MODEL)
        self.mode = option("--permission-mode", "default")
        self.inbox: Queue[Json | None] = Queue()
        self.prompts: deque[Json] = deque()
        self.answers: dict[str, Json] = {}
        self.effort: str | None = None
        self.cost = 0.0
        self.is_open = True
        self.interrupted = False
        self.is_deaf = False

    def read(self) -> None:
        """Read every line of standard input into the inbox."""
        for line in sys.stdin:
            self.inbox.put(json.loads(line))
        self.inbox.put(None)

    def say(self, kind: str, **fields: object) -> None:
        """Print a message."""
        frame = {"type": kind, "session_id": self.session, "uuid": str(uuid4()), **fields}
        sys.stdout.write(json.dumps(frame) + "\n")
        sys.stdout.flush()

    def poll(self, seconds: float = 0.0) -> None:
        """Handle the lines in the inbox; wait up to this long if it is empty."""
        try:
            frame = self.inbox.get(timeout=seconds) if seconds else self.inbox.get_nowait()
        except Empty:
            return
        if frame is None:
            self.is_open = False
            return
        note("received.jsonl", frame)
        if frame["type"] == "user":
            self.prompts.append(frame)
            self.say("command_lifecycle", command_uuid=frame["uuid"], state="queued")
        elif frame["type"] == "control_request":
            self.reply(frame["request_id"], frame["request"])
        elif frame["type"] == "control_response":
            self.answers[frame["response"]["request_id"]] = frame["response"]

    def reply(self, request_id: str, request: Json) -> None:
        """Answer a control request."""
        if self.is_deaf:
            return
        answer: Json = {"subtype": "success", "request_id": request_id}
        if request.get("mode") == "nonsense":
            answer |= {"subtype": "error", "error": "invalid_mode"}
        else:
            act: Callable[[Json], Json] = getattr(self, f"on_{request['subtype']}", lambda _: {})
            answer["response"] = act(request)
        self.say("control_response", response=answer)

    def on_initialize(self, request: Json) -> Json:
        """Report the capabilities."""
        commands = [{"name": "compact", "description": "Summarise", "argumentHint": "[focus]"}]
        levels = {"supportsEffort": True, "supportedEffortLevels": ["low", "high"]}
        models = [
            {"value": "default", "displayName": "Default", "description": "The usual", **levels},
            {"value": "claude-other-2", "displayName": "Other", "description": "A small one"},
        ]
        return {"commands": commands, "models": models}

    def on_interrupt(self, request: Json) -> Json:
        """Interrupt the turn."""
        self.interrupted = True
        if request.get("cancel_queued"):
            self.prompts.clear()
        return {}

    def on_set_permission_mode(self, request: Json) -> Json:
        """Change the mode."""
        self.mode = request["mode"]
        self.say("system", subtype="status", status=None, permissionMode=self.mode)
        return {"mode": self.mode}

    def on_set_model(self, request: Json) -> Json:
        """Change the model."""
        self.model = request["model"] or MODEL
        return {}

    def on_apply_flag_settings(self, request: Json) -> Json:
        """Change the effort; like older clients, `stubborn` keeps the level."""
        level = request["settings"]["effortLevel"]
        if level is not None or not (HERE / "stubborn").exists():
            self.effort = level
        return {}

    def on_get_settings(self, request: Json) -> Json:
        """Report the settings."""
        return {"applied": {"model": self.model, "effort": self.effort or "medium"}}

    def on_get_context_usage(self, request: Json) -> Json:
        """Report the context usage."""
        # Like older clients, which do not report which of them are used.
        categories = [
            {"name": "System prompt", "tokens": 400},
            {"name": "System tools (deferred)", "tokens": 9000, "isDeferred": True},
            {"name": "Messages", "tokens": 800},
            {"name": "Autocompact buffer", "tokens": 33000},
            {"name": "Free space", "tokens": 165800},
        ]
        return {"totalTokens": 1200, "maxTokens": 200000, "categories": categories}

    def on_cancel_async_message(self, request: Json) -> Json:
        """Drop a queued prompt."""
        found = [each for each in self.prompts if each["uuid"] == request["message_uuid"]]
        for each in found:
            self.prompts.remove(each)
        return {"cancelled": bool(found)}

    def on_stop_task(self, request: Json) -> Json:
        """Stop the background task."""
        self.say("system", subtype="background_tasks_changed", tasks=[])
        return {}

    def listen(self, seconds: float) -> None:
        """Handle input for this long; raises Interrupted if the turn was interrupted."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and self.is_open:
            self.poll(left)
            self.check()
        self.check()

    def check(self) -> None:
        """Raise Interrupted if the turn was interrupted."""
        if self.interrupted:
            raise Interrupted

    def ask(self, request: Json) -> Json:
        """Ask the user and return the answer."""
        request_id = str(uuid4())
        frame = {"type": "control_request", "request_id": request_id, "request": request}
        sys.stdout.write(json.dumps(frame) + "\n")
        sys.stdout.flush()
        while request_id not in self.answers and self.is_open:
            self.poll(1.0)
            if self.interrupted:
                self.say("control_cancel_request", request_id=request_id)
                raise Interrupted
        response: Json = self.answers.get(request_id, {}).get("response", {})
        return response

    def stream(self, words: str, kind: str = "text", pause: float = 0.0) -> None:
        """Print a block in pieces, then complete."""
        message = f"msg_{uuid4().hex}"
        key = {"text": "text", "thinking": "thinking"}[kind]
        self.event({"type": "message_start", "message": {"id": message, "role": "assistant"}})
        self.event(
            {"type": "content_block_start", "index": 0, "content_block": {"type": kind, key: ""}}
        )
        done = ""
        try:
            for word in words.split(" "):
                piece = word if not done else f" {word}"
                done += piece
                self.event(
                    {
                        "type": "content_block_delta",
                        "index": 0,
                        "delta": {"type": f"{kind}_delta", key: piece},
                    }
                )
                self.listen(pause)
        finally:
            self.block(message, {"type": kind, key: done})
        self.event({"type": "content_block_stop", "index": 0})
        self.event({"type": "message_stop"})

    def event(self, event: Json) -> None:
        """Print an event of a reply."""
        self.say("stream_event", event=event, parent_tool_use_id=None)

    def block(self, message: str, block: Json) -> None:
        """Print a complete block."""
        content = {"id": message, "role": "assistant", "model": self.model, "content": [block]}
        self.say("assistant", message=content, parent_tool_use_id=None)

    def call(self, tool: str, given: Json) -> Json:
        """Call a tool if it is allowed, and return the answer."""
        call = f"toolu_{uuid4().hex}"
        self.block(
            f"msg_{uuid4().hex}", {"type": "tool_use", "id": call, "name": tool, "input": given}
        )
        rule = {"toolName": tool, "ruleContent": given.get("command", "")}
        update = {
            "type": "addRules",
            "rules": [rule],
            "behavior": "allow",
            "destination": "localSettings",
        }
        answer = self.ask(
            {
                "subtype": "can_use_tool",
                "tool_name": tool,
                "input": given,
                "tool_use_id": call,
                "permission_suggestions": [update],
            }
        )
        is_allowed = answer.get("behavior") == "allow"
        text = json.dumps(answer.get("updatedInput")) if is_allowed else answer.get("message", "")
        self.result(call, text, not is_allowed)
        return answer

    def result(self, call: str, text: str, is_error: bool) -> None:
        """Print the result of a tool."""
        block = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": is_error}
        self.say("user", message={"role": "user", "content": [block]}, parent_tool_use_id=None)

    def turn(self, prompt: Json) -> None:
        """Run the turn of a prompt."""
        content = prompt["message"]["content"]
        text = content if isinstance(content, str) else content[-1].get("text", "")
        script = HERE / "script.json"
        if script.exists():
            known = json.loads(script.read_text(encoding="utf-8"))
            text = next((turn for words, turn in known.items() if words in text), text)
        uuid = prompt["uuid"]
        self.interrupted = False
        self.say("command_lifecycle", command_uuid=uuid, state="started")
        self.say(
            "system",
            subtype="init",
            model=self.model,
            permissionMode=self.mode,
            cwd=str(Path.cwd()),
        )
        self.say("system", subtype="status", status="requesting")
        self.say(
            "user", message=prompt["message"], uuid=uuid, isReplay=True, parent_tool_use_id=None
        )
        word, _, rest = text.partition(" ")
        outcome: Json = {"subtype": "success", "is_error": False}
        try:
            TURNS.get(word, TURNS["say"])(self, rest or text)
        except Interrupted:
            line = {
                "role": "user",
                "content": [{"type": "text", "text": "[Request interrupted by user]"}],
            }
            self.say("user", message=line, parent_tool_use_id=None)
            outcome = {
                "subtype": "error_during_execution",
                "is_error": True,
                "terminal_reason": "aborted_streaming",
            }
        self.cost += 0.01
        self.say(
            "result", **outcome, num_turns=1, total_cost_usd=self.cost, user_message_uuids=[uuid]
        )
        self.say("command_lifecycle", command_uuid=uuid, state="completed")

    def run(self) -> None:
        """Process prompts until standard input is closed."""
        while self.is_open or self.prompts:
            if self.prompts:
                self.turn(self.prompts.popleft())
            else:
                self.poll(60.0)


def ask_question(client: Client, rest: str) -> None:
    """Ask the user to choose."""
    options = [
        {"label": "Blue", "description": "like the sea"},
        {"label": "Red", "description": ""},
    ]
    question = {
        "question": "Which colour?",
        "header": "Colour",
        "options": options,
        "multiSelect": False,
    }
    client.call("AskUserQuestion", {"questions": [question]})
    client.stream("Thanks.")


def make_plan(client: Client, rest: str) -> None:
    """Present a plan."""
    client.mode = "plan"
    answer = client.call(
        "ExitPlanMode", {"plan": "1. Look\n2. Leap", "planFilePath": "/tmp/plan.md"}
    )
    if answer.get("behavior") == "allow":
        client.mode = "default"
        client.say("system", subtype="status", status=None, permissionMode="default")
    client.stream("Planned.")


def tell_time(client: Client, rest: str) -> None:
    """Print the time twenty times a second, as often as the prompt requests."""
    message = f"msg_{uuid4().hex}"
    start = {"type": "content_block_start", "index": 0}
    client.event({"type": "message_start", "message": {"id": message, "role": "assistant"}})
    client.event({**start, "content_block": {"type": "text", "text": ""}})
    for _ in range(int(rest)):
        delta = {"type": "text_delta", "text": f"{time.time():.4f} "}
        client.event({"type": "content_block_delta", "index": 0, "delta": delta})
        client.listen(0.05)
    client.block(message, {"type": "text", "text": "done"})
    client.event({"type": "content_block_stop", "index": 0})


def elicit(client: Client, rest: str) -> None:
    """Request the form in the prompt, given as JSON, like an MCP server."""
    request = {
        "subtype": "elicitation",
        "mcp_server_name": "tides",
        "message": "Which port?",
        "mode": "form",
    }
    form = {"requested_schema": json.loads(rest)} if rest.startswith("{") else {}
    client.stream(json.dumps(client.ask({**request, **form})))


def ask_for_dialog(client: Client, rest: str) -> None:
    """Request a dialog that only a terminal can show."""
    answer = client.ask({"subtype": "request_user_dialog", "dialog_kind": rest, "payload": {}})
    client.stream(json.dumps(answer))


def use_tools(client: Client, rest: str) -> None:
    """Call one tool for each word."""
    for word in rest.split():
        client.call("Bash", {"command": f"echo {word}"})
    client.stream("Done.")


def work(client: Client, rest: str) -> None:
    """Call a tool as often as the prompt requests, thirty records a second, without asking."""
    for number in range(int(rest)):
        call = f"toolu_{uuid4().hex}"
        given = {"command": f"echo {number}", "description": "Say a number"}
        use = {"type": "tool_use", "id": call, "name": "Bash", "input": given}
        client.block(f"msg_{uuid4().hex}", use)
        client.listen(0.03)
        client.result(call, str(number), False)
        client.listen(0.03)
    client.stream("Done.")


def print_garbage(client: Client, rest: str) -> None:
    """Print lines that are not messages."""
    sys.stdout.write('warning: not json\n\n{"type": "of_the_future"}\n')
    sys.stdout.flush()
    client.stream("Still here.")


def die(client: Client, rest: str) -> None:
    """Exit in the middle of a reply."""
    client.event({"type": "message_start", "message": {"id": "msg_last", "role": "assistant"}})
    sys.stderr.write("out of luck\n")
    sys.stderr.flush()
    os._exit(int(rest) if rest.isdigit() else 3)


def start_task(client: Client, rest: str) -> None:
    """Start a program in a separate process session, as for tools, and leave it running."""
    left = subprocess.Popen(
        [sys.executable, "-S", "-c", "import time; time.sleep(300)"], start_new_session=True
    )
    (HERE / "left.pid").write_text(str(left.pid))
    tasks = [{"task_id": "b1", "task_type": "local_bash", "description": "sleep"}]
    client.say("system", subtype="background_tasks_changed", tasks=tasks)
    client.stream("Started.")


def call_host(client: Client, rest: str) -> None:
    """Call a hook that was not registered."""
    client.ask({"subtype": "hook_callback", "callback_id": "h0", "input": {}})
    client.stream("No hook.")


def call_tool(client: Client, rest: str) -> None:
    """Call the tool that the prompt specifies in JSON, with its input."""
    wanted = json.loads(rest)
    client.call(wanted["tool"], wanted["input"])
    client.stream("Done.")


def attack(client: Client, rest: str) -> None:
    """Use a text in every field that a client can set, and in every kind of request."""
    client.stream(rest, "thinking")
    client.stream(rest)
    block = {"type": "tool_use", "id": "toolu_open", "name": rest, "input": {}}
    client.event({"type": "message_start", "message": {"id": rest, "role": "assistant"}})
    client.event({"type": "content_block_start", "index": 0, "content_block": block})
    delta = {"type": "input_json_delta", "partial_json": rest}
    client.event({"type": "content_block_delta", "index": 0, "delta": delta})
    sys.stderr.write(f"{rest}\n")
    sys.stderr.flush()
    sys.stdout.write(f"{rest!r}\n")
    sys.stdout.flush()
    option = {"label": rest, "description": rest}
    question = {"question": rest, "header": rest, "options": [option, option]}
    for tool, given in (
        (rest, {rest: rest}),
        ("Bash", {"command": rest, "description": rest}),
        ("Write", {"file_path": f"/nowhere/{rest}", "content": rest}),
        ("WebFetch", {"url": rest, "prompt": rest}),
        ("AskUserQuestion", {"questions": [question]}),
        ("ExitPlanMode", {"plan": rest, "planFilePath": rest}),
    ):
        client.call(tool, given)
    text = {"type": "string", "title": rest, "description": rest, "default": rest}
    values = {rest: text, "choice": {**text, "enum": [rest]}, "yes": {**text, "type": "boolean"}}
    values["several"] = {"type": "array", "title": rest, "items": {"enum": [rest]}}
    named = {"mcp_server_name": rest, "message": rest, "url": rest}
    form = {"requested_schema": {"properties": values, "required": [rest]}}
    client.ask({"subtype": "elicitation", **named, **form})


def go_deaf(client: Client, rest: str) -> None:
    """Stop responding to control requests."""
    client.is_deaf = True
    client.stream("What?")


TURNS: dict[str, Callable[[Client, str], None]] = {
    "say": lambda client, rest: client.stream(rest),
    "think": lambda client, rest: client.stream(rest, "thinking"),
    "slow": lambda client, rest: client.stream(rest * 500, pause=0.05),
    "clock": tell_time,
    "nap": lambda client, rest: client.listen(float(rest)),
    "tools": use_tools,
    "work": work,
    "call": call_tool,
    "attack": attack,
    "ask": ask_question,
    "plan": make_plan,
    "elicit": elicit,
    "garbage": print_garbage,
    "die": die,
    "task": start_task,
    "hook": call_host,
    "dialog": ask_for_dialog,
    "deaf": go_deaf,
}


def main() -> None:
    """Record the arguments, then run the conversation."""
    called = {"arguments": sys.argv[1:], "directory": str(Path.cwd()), "pid": os.getpid()}
    note("called.jsonl", called)
    if (HERE / "mute").exists():
        time.sleep(300)
    if (HERE / "refuse").exists():
        sys.stderr.write((HERE / "refuse").read_text())
        sys.exit(1)
    client = Client()
    threading.Thread(target=client.read, daemon=True).start()
    client.run()


if __name__ == "__main__":
    main()
