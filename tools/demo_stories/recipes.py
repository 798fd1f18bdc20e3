"""Two sessions in a folder of recipes whose name is Chinese."""

# ruff: noqa: RUF001 - Chinese has its own punctuation
from tools.demo_stories.files import (
    edit_result,
    number_lines,
    read_result,
    shell_result,
    write_result,
)
from tools.demo_stories.writer import HOME, Chain, Session, call, say, think

CWD = f"{HOME}/文档/菜谱"

CONVERT = """\
CUPS = {"flour": 125, "sugar": 200, "rice": 185}


def to_grams(cups, what):
    return cups * CUPS[what]
"""


def make_recipes() -> list[Session]:
    """Return the sessions, oldest first."""
    return [_find_duplicates(), _convert_units()]


def _find_duplicates() -> Session:
    """A session of 1.0.x: its subagent is in the same file, as a separate chain."""
    session = Session("duplicates", CWD, "1.0.128", "2026-01-05T20:05:47", branch="")
    leaf = session.make_uuid()
    session.lines.append(
        {"type": "summary", "summary": "Sort recipes into folders", "leafUuid": leaf}
    )
    chain = Chain(session, "claude-sonnet-4-20250514")
    chain.prompt("some recipes are in here twice under different names, find them", gap=0)
    todos = [
        {"content": "Compare the recipes", "status": "in_progress", "priority": "high", "id": "1"},
        {"content": "List the duplicates", "status": "pending", "priority": "medium", "id": "2"},
    ]
    chain.use(
        call("TodoWrite", todos=todos),
        "Todos have been modified successfully.",
        {"oldTodos": [], "newTodos": todos},
        say("I'll compare them in two steps."),
    )
    prompt = (
        "Compare the ingredients in all .md files here. Report the pairs that are the same dish."
    )
    (asked,) = chain.answer(
        call("Task", description="Compare recipes", prompt=prompt, subagent_type="general-purpose")
    )
    report = "One pair: `mapo-tofu.md` and `麻婆豆腐.md` have the same eleven ingredients."
    _compare_inline(session, prompt, report)
    content = [{"type": "text", "text": report}]
    detail = {
        "content": content,
        "totalDurationMs": 14_020,
        "totalTokens": 15_811,
        "totalToolUseCount": 1,
    }
    chain.result(asked, content, detail, seconds=14)
    chain.answer(
        say("One recipe is there twice: `mapo-tofu.md` and `麻婆豆腐.md`. Shall I merge them?")
    )
    return session


def _compare_inline(session: Session, prompt: str, report: str) -> None:
    chain = Chain(session, "claude-sonnet-4-20250514", inline=True)
    chain.prompt(prompt, gap=0)
    listing = "mapo-tofu.md\nmooncakes.md\n红烧肉.md\n麻婆豆腐.md"
    chain.use(
        call("Bash", command="ls *.md", description="List the recipes"),
        listing,
        shell_result(listing),
    )
    chain.answer(say(report))


def _convert_units() -> Session:
    session = Session("units", CWD, "2.1.325", "2026-11-07T12:48:20", branch="HEAD")
    session.open("Bash", "Edit", "Read", "Write")
    chain = Chain(session, "claude-sonnet-5-5")
    request = "写一个小脚本，把菜谱里的“杯”换算成克。米、面粉、糖就够了。"
    session.take_snapshot(chain.prompt(request, gap=0))
    chain.set_scene()
    path = f"{CWD}/换算.py"
    written = chain.use(
        call("Write", file_path=path, content=CONVERT),
        f"File created successfully at: {path}",
        write_result(path, CONVERT),
        think("三种食材，一个字典就够了。"),
        say("好的，用一个小字典就可以。"),
    )
    session.back_up(written.uuid, "换算.py", None)
    failure = "Exit code 1\nTraceback (most recent call last):\nKeyError: '米'"
    chain.use(
        call(
            "Bash",
            command="python -c \"from 换算 import to_grams; print(to_grams(2, '米'))\"",
            description="试一下",
        ),
        failure,
        f"Error: {failure}",
    )
    old, new = '"rice": 185}', '"rice": 185, "面粉": 125, "糖": 200, "米": 185}'
    chain.use(
        call("Edit", file_path=path, old_string=old, new_string=new),
        f"The file {path} has been updated.",
        edit_result(path, CONVERT, old, new),
        say("菜谱是中文的，所以字典里也要有中文名。"),
    )
    after = CONVERT.replace(old, new)
    chain.use(call("Read", file_path=path), number_lines(after), read_result(path, after))
    chain.use(
        call(
            "Bash",
            command="python -c \"from 换算 import to_grams; print(to_grams(2, '米'))\"",
            description="再试一下",
        ),
        "370",
        shell_result("370"),
    )
    chain.answer(say("好了：两杯米是 370 克。英文名和中文名都可以用。"))
    chain.end_turn(request)
    session.note("ai-title", aiTitle="杯与克的换算脚本")
    session.note_cost(added=6, removed=1, tools_ms=420)
    return session
