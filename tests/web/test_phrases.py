"""Summaries and titles that views make, in Chinese: which there are, and that each has words."""

import ast
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

from recollect.demo import CLAUDE_DIRECTORY
from recollect.documents.turn_documents import (
    Fields,
    NoticeStep,
    Part,
    Step,
    ThinkingStep,
    ToolStep,
)
from recollect.library.opening import open_transcript
from recollect.locations import discover_root
from recollect.render.views.part_builders import FACT_SEPARATOR
from recollect.render.views.tools import VIEWS
from recollect.render.views.turn_views import build_turn_views
from recollect.search.query_parser import QueryError, parse_query
from recollect.search.regexes import check_regexes
from recollect.session.session import Session
from recollect.web.templating import Phrasebook, Translator, load_phrasebook
from tests.web.markup import find_texts
from tests.web.running import RunningServer

SOURCES = Path(str(resources.files("recollect.render.views")))
WORD = re.compile(r"[A-Za-z]{3,}")
NAME = re.compile(r"[\w.*+/-]*[-_/\\<][\w.*+/-]*|[A-Z]+[a-z]+[A-Z]\w*")
"""Identifiers: of records, tools, types and tags."""
SIGNS = set("<>\\")
NOT_SHOWN = {
    "assistant",
    "auto",
    "bash",
    "count",
    "info",
    "informational",
    "javascript",
    "killed",
    "manual",
    "powershell",
    "refusal",
    "relocated",
    "stderr",
    "stdout",
    "timestamp",
    "true",
    "user",
    "uuid",
    # Read in results of old clients, and put together elsewhere.
    "Error: ",
    "Exit code ",
    "The model",
    "the user said:\n",
    "on a snippet of the edited file:",
    " with status {}",
    "{} hook {}",
    "The request failed{}",
    "{} of agent {}",
}


def iter_literals(source: Path) -> Iterator[str]:
    """Yield the texts in a module, with `{}` for what is filled in, but no documentation."""
    tree = ast.parse(source.read_text(encoding="utf-8"))
    passed: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            passed.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            passed |= {id(each) for each in ast.walk(node) if each is not node}
    for node in ast.walk(tree):
        if id(node) in passed:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            pieces = (getattr(each, "value", "") for each in node.values)
            yield "".join(each if isinstance(each, str) else "{}" for each in pieces)


def test_every_text_of_the_views_has_a_translation() -> None:
    """A text in the source of a view is a phrase, the end of one, or known not to be shown."""
    phrases = {key.replace("{n}", "{}") for key in load_phrases()}
    ends = {key[at:] for key in phrases for at in range(len(key)) if key[at - 1 : at] == " "}
    catalogue = Translator("zh")
    missing = {
        text
        for source in SOURCES.rglob("*.py")
        for text in iter_literals(source)
        if WORD.search(text)
        and not NAME.fullmatch(text)
        and not SIGNS.intersection(text)
        and len(text) < 100
        and text not in phrases | ends | NOT_SHOWN | VIEWS.keys()
        and catalogue.translate(text) == text
    }
    assert missing == set()


def load_phrases(name: str = "phrases") -> dict[str, str]:
    """The Chinese phrases or messages by the English ones."""
    book = resources.files("recollect.web") / "locales" / f"{name}-zh.json"
    found = ast.literal_eval(book.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def test_phrases_fill_in_what_they_are_given() -> None:
    """A translation has exactly the placeholders of its phrase, and is in Chinese."""
    for english, chinese in [*load_phrases().items(), *load_phrases("messages").items()]:
        assert re.findall(r"\{n?\}", english) == re.findall(r"\{n?\}", chinese)
        assert english != chinese or english == "{} → {}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1 line", "1 行"),
        ("1,234 lines · 2.5 s", "1,234 行 · 2.5 秒"),
        ("failed with exit code 2: no such file", "失败，退出码 2：no such file"),
        ("PostToolUse:Bash hook failed", "PostToolUse:Bash 钩子失败"),
        (
            "The request failed with status 529 · attempt 1 of 10 · next in 500 ms",
            "请求失败，状态码 529 · 第 1 次尝试，共 10 次 · 500 毫秒后重试",
        ),
        (
            "The conversation was compacted · automatically · 9 tokens → 3",
            "对话已压缩 · 自动 · 9 Token → 3",
        ),
        ("words of a transcript", "words of a transcript"),
    ],
)
def test_facts_are_translated_one_by_one(text: str, shown: str) -> None:
    """Text that is not ours stays unchanged."""
    assert Translator("zh").translate_phrase(text) == shown
    assert Translator("en").translate_phrase(text) == text


@pytest.mark.parametrize(
    "query",
    [
        "",
        "((",
        "a)",
        "(" * 21,
        '"abc',
        '"!"',
        "!!",
        "//",
        "/[/",
        "-word",
        "is:nothing",
        "since:never",
        "since:2026-11 until:2025",
        "tool:",
        "a OR",
        "x" * 1001,
        "a " * 129,
        "a* " * 9,
    ],
)
def test_messages_about_queries_are_chinese(query: str) -> None:
    """Every error message of a query has a Chinese translation."""
    with pytest.raises(QueryError) as raised:
        check_regexes(parse_query(query))
    said = raised.value.message
    assert Translator("zh").translate_message(said) != said
    assert Translator("en").translate_message(said) == said


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/nowhere", "未找到 没有这个页面： /nowhere 返回会话列表 搜索 主页"),
        (
            "/s/ffffffff",
            (
                "未找到 没有会话 'ffffffff'。 该会话可能已被删除（默认在最后一次更改的 30 天后），"
                "或者链接不完整。如果是刚创建的会话，请稍后重新加载页面。 返回会话列表 搜索 主页"
            ),
        ),
        ("/sessions?page=1&page=2", "出错了 page : 参数重复。 返回会话列表"),
    ],
)
def test_errors_are_chinese(server: RunningServer, path: str, words: str) -> None:
    """The page for a missing page is in the reader's language."""
    assert find_texts(server.get(path, **{"Accept-Language": "zh"}).body, "main") == [words]


def iter_phrases(session: Session) -> Iterator[str]:
    """Yield the lines that views of a session make."""
    for view in build_turn_views(session):
        for step in view.steps:
            if isinstance(step, ToolStep):
                yield step.summary
                yield from map(_title_of, step.hooks)
            elif isinstance(step, NoticeStep):
                yield step.title
            for part in _list_parts(step):
                if isinstance(part, Fields):
                    yield from (name for name, _ in part.fields)


def _list_parts(step: Step) -> tuple[Part, ...]:
    if isinstance(step, ToolStep):
        return (*step.input, *step.output)
    return () if isinstance(step, ThinkingStep) else step.parts


def _title_of(step: NoticeStep) -> str:
    return step.title


def find_untranslated(root: Path, book: Phrasebook) -> set[str]:
    """Return facts in English whose words are not in the transcript that they are about."""
    found: set[str] = set()
    for transcript in discover_root(root).transcripts:
        said = Path(transcript.file).read_text(encoding="utf-8", errors="replace").casefold()
        for line in iter_phrases(open_transcript(transcript)):
            facts = line.split(FACT_SEPARATOR)
            unknown = [each for each in facts if book.translate(each) == each]
            found |= {
                each
                for each in unknown
                if any(word.casefold() not in said for word in WORD.findall(each))
            }
    return found


def test_the_demo_is_all_chinese() -> None:
    """Every text in views of the sample sessions is translated, or is in the transcript."""
    assert find_untranslated(CLAUDE_DIRECTORY, load_phrasebook("zh")) == set()


@pytest.mark.slow
@pytest.mark.parametrize("version", ["1.0.128", "2.0.77", "2.1.325"])
def test_sessions_of_real_clients_are_all_chinese(shared: Path | None, version: str) -> None:
    """The same for what real clients wrote."""
    if shared is None:
        pytest.skip("needs the recordings of real clients")
    root = shared / "real_cli" / version / "config"
    assert find_untranslated(root, load_phrasebook("zh")) == set()
