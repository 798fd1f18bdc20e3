"""Three sessions on `letterpress`, a generator of small web sites."""

# ruff: noqa: RUF001 - Chinese has its own punctuation
import json

from tools.demo_stories.files import number_lines, read_result, shell_result, write_result
from tools.demo_stories.writer import HOME, Chain, Session, call, say, think, to_lines

CWD = f"{HOME}/projects/letterpress"

SITE = """\
export interface Theme {
  name: string;
  render(page: Page): string;
  /** Called once, before the first page. */
  prepare?(site: Site): Promise<void>;
}
"""
GUIDE = """\
# Themes

A theme is an object with a `name` and a `render` function:

```ts
export const plain: Theme = {
  name: "plain",
  render: (page) => `<h1>${page.title}</h1>${page.html}`,
};
```

`prepare`, if it is there, is called once before the first page. Use it to load templates.
"""


def make_letterpress() -> list[Session]:
    """Return the sessions, oldest first."""
    return [_rename_option(), _document_themes(), _write_notes()]


def _rename_option() -> Session:
    """A session of 2.0.x: its subagent has a separate file beside the session's."""
    model = "claude-sonnet-4-5-20250929"
    session = Session("rename", CWD, "2.0.77", "2026-01-14T19:22:10")
    chain = Chain(session, model)
    chain.prompt(
        "rename the option `out` to `outDir` everywhere, but keep the old name working",
        gap=0,
    )
    plan = ["Find all uses of `out`", "Rename them", "Accept the old name with a warning"]
    _write_todos(chain, plan, 0, say("Three steps; I'll keep a list."))
    prompt = "List every place that reads or documents the option `out`. Give file and line."
    (asked,) = chain.answer(
        call("Task", description="Find uses of out", prompt=prompt, subagent_type="Explore")
    )
    found = "src/config.ts:14 reads it, src/build.ts:31 uses it, docs/options.md:22 documents it."
    agent = _explore_flat(session, prompt, found)
    content = [{"type": "text", "text": found}]
    detail = {
        "status": "completed",
        "prompt": prompt,
        "agentId": agent,
        "content": content,
        "totalDurationMs": 8410,
        "totalTokens": 13_902,
        "totalToolUseCount": 1,
    }
    chain.result(asked, content, detail, seconds=9)
    _write_todos(chain, plan, 1)
    files = "src/config.ts src/build.ts docs/options.md"
    command = f"sed -i 's/\\bout\\b/outDir/' {files} && npm test --silent"
    chain.use(
        call("Bash", command=command, description="Rename and test"),
        "58 passing",
        shell_result("58 passing"),
        think("The three files are all there is. The shell can do it, and the tests tell."),
    )
    _write_todos(chain, plan, 3)
    chain.answer(
        say("Renamed in three files. `out` still works and prints a warning once per build.")
    )
    todos = [_todo(text, "completed") for text in plan]
    session.add_root_file(f"todos/{session.id}-agent-{session.id}.json", todos)
    return session


def _todo(text: str, status: str) -> dict[str, str]:
    return {"content": text, "status": status, "activeForm": f"Doing: {text}"}


def _write_todos(chain: Chain, plan: list[str], done: int, *words: dict[str, object]) -> None:
    def state(at: int) -> list[dict[str, str]]:
        order = ["completed"] * at + ["in_progress"] + ["pending"] * len(plan)
        return [_todo(text, status) for text, status in zip(plan, order, strict=False)]

    before = state(done - 1) if done else []
    chain.use(
        call("TodoWrite", todos=state(done)),
        "Todos have been modified successfully.",
        {"oldTodos": before, "newTodos": state(done)},
        *words,
    )


def _explore_flat(session: Session, prompt: str, answer: str) -> str:
    agent = session.make_agent_id(7)
    chain = Chain(session, "claude-haiku-4-5-20251001", agent=agent)
    chain.prompt(prompt, gap=0)
    hits = (
        "src/config.ts:14:  out: string;\n"
        "src/build.ts:31:  await write(config.out, page);\n"
        "docs/options.md:22:### out"
    )
    detail = {"mode": "content", "numFiles": 0, "filenames": [], "content": hits, "numLines": 3}
    chain.use(call("Grep", pattern="\\bout\\b", output_mode="content"), hits, detail)
    chain.answer(say(answer))
    session.sidecars[f"projects/{session.project}/agent-{agent}.jsonl"] = to_lines(chain.lines)
    return agent


def _document_themes() -> Session:
    """A session of a current client, with a subagent below the session's directory."""
    session = Session("themes", CWD, "2.1.325", "2026-11-11T10:31:02", branch="docs/themes")
    session.open("Agent", "Bash", "Read", "Write")
    chain = Chain(session, "claude-opus-5-5")
    request = (
        "Themes are not documented. Look at how the bundled ones do it and write docs/themes.md"
    )
    session.take_snapshot(chain.prompt(request, gap=0))
    chain.set_scene()
    prompt = (
        "Read the bundled themes in src/themes and report which parts of the Theme interface they "
        "use, with one short example."
    )
    (asked,) = chain.answer(
        think(
            "Reading all themes myself would fill the context. One agent can do that and report."
        ),
        say("I'll have an agent read the themes."),
        call("Agent", description="Survey the themes", prompt=prompt, subagent_type="Explore"),
    )
    report = "All five themes have name and render; only `magazine` has prepare, for its templates."
    agent = _explore(session, asked.id, prompt, report)
    content = [{"type": "text", "text": report}]
    stats = {"readCount": 2, "searchCount": 1, "bashCount": 0, "editFileCount": 0, "linesAdded": 0}
    detail = {
        "status": "completed",
        "prompt": prompt,
        "agentId": agent,
        "agentType": "Explore",
        "content": content,
        "resolvedModel": "claude-haiku-5-5",
        "totalDurationMs": 21_870,
        "totalTokens": 16_240,
        "totalToolUseCount": 3,
        "toolStats": {**stats, "linesRemoved": 0, "otherToolCount": 0},
    }
    chain.result(asked, content, detail, seconds=22)
    _write_guide(chain)
    chain.end_turn(request)
    second = "谢谢！请再加一句中文说明，给我的同事看。"
    session.take_snapshot(chain.prompt(second, gap=95))
    chain.answer(
        say(
            "好的，可以加在开头：\n\n"
            "> 主题是一个带有 `name` 和 `render` 的对象；"
            "`prepare` 可选，在渲染第一页之前调用一次。"
        )
    )
    chain.end_turn(second)
    session.note("ai-title", aiTitle="Document the theme interface")
    session.note_cost(added=14, removed=0, tools_ms=23_900)
    return session


def _explore(session: Session, call_id: str, prompt: str, answer: str) -> str:
    agent = session.make_agent_id(17)
    chain = Chain(session, "claude-haiku-5-5", agent=agent)
    chain.prompt(prompt, gap=0)
    names = [
        f"{CWD}/src/themes/{name}.ts" for name in ("diary", "magazine", "notes", "plain", "shop")
    ]
    chain.use(call("Glob", pattern="src/themes/*.ts"), "\n".join(names))
    asked = chain.answer(
        call("Read", file_path=f"{CWD}/src/theme.ts"), call("Read", file_path=names[1])
    )
    chain.result(asked[0], number_lines(SITE))
    chain.result(
        asked[1], number_lines('export const magazine: Theme = {\n  name: "magazine",\n};\n')
    )
    chain.answer(say(answer))
    meta = {
        "agentType": "Explore",
        "isBuiltIn": True,
        "description": "Survey the themes",
        "toolUseId": call_id,
        "spawnDepth": 1,
        "requestShape": "foreground",
        "finished": True,
    }
    session.add_sidecar(f"subagents/agent-{agent}.jsonl", to_lines(chain.lines).decode())
    session.add_sidecar(
        f"subagents/agent-{agent}.meta.json", json.dumps(meta, separators=(",", ":"))
    )
    return agent


def _write_guide(chain: Chain) -> None:
    interface, guide = f"{CWD}/src/theme.ts", f"{CWD}/docs/themes.md"
    chain.use(call("Read", file_path=interface), number_lines(SITE), read_result(interface, SITE))
    written = chain.use(
        call("Write", file_path=guide, content=GUIDE),
        f"File created successfully at: {guide}",
        write_result(guide, GUIDE),
    )
    chain.session.back_up(written.uuid, "docs/themes.md", None)
    chain.use(
        call("Bash", command="npx markdownlint docs/themes.md", description="Check the page"),
        "(Bash completed with no output)",
        shell_result("", noOutputExpected=True),
    )
    chain.answer(
        say(
            "`docs/themes.md` explains the interface with one small theme, "
            "and says when `prepare` is called."
        )
    )


def _write_notes() -> Session:
    """A headless session: `claude -p` in a release script."""
    session = Session("notes", CWD, "2.1.325", "2026-11-12T06:00:03", entrypoint="sdk-cli")
    request = "Write release notes for 3.2 from the commits since v3.1. Three points at most."
    session.note("queue-operation", operation="enqueue", timestamp=session.wait(0), content=request)
    session.note("queue-operation", operation="dequeue", timestamp=session.wait(0))
    chain = Chain(session, "claude-sonnet-5-5")
    chain.prompt(request, gap=0)
    chain.set_scene()
    log = "4f1c2aa docs: themes\n9b0d7e1 rename out to outDir\n7c55e02 fix: feeds keep their order"
    chain.use(
        call("Bash", command="git log --oneline v3.1..", description="List the commits"),
        log,
        shell_result(log),
    )
    chain.answer(
        say(
            "- Themes are documented.\n"
            "- The option `out` is called `outDir` now; the old name still works.\n"
            "- Feeds keep the order of their entries."
        )
    )
    session.note("last-prompt", lastPrompt=request, leafUuid=chain.leaf)
    session.note_cost(tools_ms=41)
    return session
