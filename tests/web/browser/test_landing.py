"""Every hit can be opened: records of every kind are found by their words, and shown there.

Records are sampled from the demo data and the public corpus, if available: a page has to mark the
words inside the window, and `show --at` has to mark them in a line.
"""

import random
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import msgspec
import pytest
from playwright.sync_api import Browser, Page

from recollect.cli.session_text import iter_place
from recollect.documents.search_results import Hit
from recollect.library.opening import open_transcript
from recollect.reader.transcript_reader import read_transcript
from recollect.records.system_records import ApiError
from recollect.render.terminal import POINTER
from recollect.render.terminal.canvas import CLOSE_MARK, OPEN_MARK, RenderOptions
from recollect.render.terminal.terminal_session import render_session
from recollect.render.terminal.terminal_turns import MARKED_MARGIN
from recollect.session.searchable_texts import list_searchable_texts
from recollect.session.session import Session
from recollect.web.templating import list_marks, make_hit_url
from recollect.workspace.session_places import locate
from recollect.workspace.workspace import Workspace, open_workspace
from tests.web.browser.chromium import visit
from tests.web.running import RunningServer, copy_demo, run_server

pytestmark = pytest.mark.slow

COUNT = 300
PARTS = 60
MIN_PART = 6
"""Shorter ones may be in more words than a search considers, such as `tion`."""
SEED = 20261118
WORD = re.compile(r"[^\W_]{3,}")
COMPOUND = re.compile(r"(?:[A-Za-z0-9]+[_./:-])+[A-Za-z0-9]+")
TAG = re.compile(r"</?[\w-]+>")
"""Markup of the client, which pages and terminals omit."""
ID = re.compile(rb'"sessionId"\s*:\s*"([0-9a-f-]{36})"')
UUID_NAME = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|agent-\w+")

PLACE = """() => {
  const box = (each) => each.getBoundingClientRect();
  const isInside = ({ top, left, height }) =>
    height > 0 && top >= 0 && top < innerHeight && left >= 0 && left < innerWidth;
  const current = [...(CSS.highlights.get('current') ?? [])].map(box);
  const named = [...document.querySelectorAll('.found')].map(box);
  return [(CSS.highlights.get('found')?.size ?? 0), current.some(isInside), named.some(isInside)];
}"""


class Sought(NamedTuple):
    """A text of a record, and some of its words."""

    session_id: str
    path: str
    offset: int
    kind: str
    words: str


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, shared: Path | None) -> Path:
    """A Claude directory with the demo data and the public transcripts."""
    root = copy_demo(tmp_path_factory.mktemp("landing"))
    if shared is not None:
        add_corpus(shared / "corpus", root / "projects")
    return root


def add_corpus(corpus: Path, projects: Path) -> None:
    """Copy transcripts of any layout to the locations that Claude Code uses."""
    for path in sorted(corpus.rglob("*.jsonl")):
        parts = path.relative_to(corpus).parts
        if parts[0].startswith("_"):
            continue
        if "subagents" in parts:
            cut = parts.index("subagents") - 1
            place = projects / slug(parts[:cut]) / Path(*parts[cut:])
        else:
            found = ID.search(path.read_bytes())
            is_named = UUID_NAME.fullmatch(path.stem)
            name = path.stem if is_named or not found else found[1].decode()
            place = projects / slug(parts[:-1]) / f"{name}.jsonl"
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists():
            shutil.copyfile(path, place)


def slug(parts: Sequence[str]) -> str:
    """Return a name for a project directory."""
    return "-" + re.sub(r"[^A-Za-z0-9]+", "-", "-".join(parts))


def iter_sought(
    root: Path,
    dice: random.Random,
    choose: Callable[[str, random.Random], str | None] | None = None,
) -> Iterator[Sought]:
    """Yield texts of every kind in turn, each in a different place.

    Leaves out API errors on damaged lines, which are shown by time and have no name.
    """
    with open_workspace(root, temporary=True) as workspace:
        transcripts = workspace.find_transcripts()
    texts: defaultdict[str, list[tuple[str, str, int, str]]] = defaultdict(list)
    for transcript in transcripts:
        owner = transcript.session_id or transcript.name
        for record in read_transcript(transcript.file):
            for each in list_searchable_texts(record):
                is_whole = not isinstance(record, ApiError) or record.uuid
                if record.span and is_whole and len(WORD.findall(each.text)) > 1:
                    kind = f"{type(record).__name__} {each.part.name.lower()}"
                    place = (owner, transcript.file, record.span.offset, each.text)
                    texts[kind].append(place)
    for members in texts.values():
        dice.shuffle(members)
    kinds = sorted(texts)
    while kinds:
        for kind in list(kinds):
            if not texts[kind]:
                kinds.remove(kind)
                continue
            session_id, path, offset, text = texts[kind].pop()
            if words := (choose or choose_words)(text, dice):
                yield Sought(session_id, path, offset, kind, words)


def choose_words(text: str, dice: random.Random) -> str:
    """Return a few adjacent words of a text."""
    found = WORD.findall(TAG.sub(" ", text)) or WORD.findall(text)
    start = dice.randrange(max(len(found) - 2, 1))
    return " ".join(found[start : start + 3])


def find_hit(server: RunningServer, sought: Sought) -> Hit | None:
    """Return the hit on a text or a copy of it, among all hits of its session."""
    query = urlencode({"q": sought.words, "session": sought.session_id, "per_session": 500})
    answer = server.get(f"/api/search?{query}").json()
    hits = [msgspec.convert(each, Hit) for each in answer["hits"]]
    own = [hit for hit in hits if (hit.path, hit.offset) == (sought.path, sought.offset)]
    return next(iter((*own, *hits)), None)


def choose_part(text: str, dice: random.Random) -> str | None:
    """Return part of a compound name in a text, across separators and in any case."""
    names = COMPOUND.findall(text)
    if not names:
        return None
    name = dice.choice(names)
    start = dice.randrange(max(len(name) - 3, 1))
    part = name[start : start + dice.randint(MIN_PART, 2 * MIN_PART)].lstrip("-/")
    is_long = sum(map(str.isalnum, part)) >= MIN_PART
    return (part.swapcase() if dice.random() < 0.5 else part) if is_long else None


def test_any_part_of_a_name_is_found(root: Path, server: RunningServer) -> None:
    """A few characters of an identifier, a path or a version of a real text find it."""
    dice = random.Random(SEED)
    sample = islice(iter_sought(root, dice, choose_part), PARTS)
    assert [each for each in sample if find_hit(server, each) is None] == []


class Found(NamedTuple):
    """The text that was searched for, and its hit."""

    sought: Sought
    hit: Hit


@pytest.fixture(scope="module")
def server(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server on all of it, with an existing index, because indexing takes long."""
    folder = tmp_path_factory.mktemp("server")
    with open_workspace(root, folder / "data") as workspace:
        assert workspace.search("a").result.index_complete
    with run_server(folder, root) as running:
        running.wait_until_current()
        yield running


@pytest.fixture(scope="module")
def found(root: Path, server: RunningServer) -> list[Found]:
    """Return records of every kind, each with its hit; all of them are found."""
    dice = random.Random(SEED)
    sample = list(islice(iter_sought(root, dice), COUNT))
    hits = [(each, find_hit(server, each)) for each in sample]
    assert [each for each, hit in hits if hit is None] == []
    # Session by session, like a reader who follows the hits of one list.
    return sorted(
        (Found(each, hit) for each, hit in hits if hit is not None),
        key=lambda each: (each.hit.session_id, each.hit.link),
    )


def test_every_hit_lands_in_the_page(
    browser: Browser, server: RunningServer, found: list[Found]
) -> None:
    """The words of a hit, or the link that contains them, are marked inside the window."""
    with visit(browser, server) as somebody:
        missed = [each for each in found if not lands(somebody.page, server, each.hit)]
        assert missed == []
        assert somebody.problems == []


def lands(page: Page, server: RunningServer, hit: Hit) -> bool:
    """Return whether a page shows a hit where a reader expects it."""
    page.goto(server.origin + make_hit_url(hit), wait_until="commit")
    page.locator("article.session[data-landed=true]").wait_for(state="attached")
    count, is_marked, is_named = page.evaluate(PLACE)
    return bool((count and is_marked) or (not count and is_named))


def test_every_hit_lands_in_the_terminal(root: Path, found: list[Found]) -> None:
    """`show --at` marks the step with the words, expanded, and the words in it."""
    sessions: dict[str, Session] = {}
    with open_workspace(root, temporary=True) as workspace:
        for each in found:
            path = workspace.find(each.hit.link).file
            if path not in sessions:
                sessions[path] = open_transcript(workspace.find(each.hit.link))
        missed = [each for each in found if not is_marked(sessions, workspace, each.hit)]
    assert missed == []


def is_marked(sessions: dict[str, Session], workspace: Workspace, hit: Hit) -> bool:
    """Return whether the terminal output points at a hit and marks its words there."""
    found = workspace.find_place(hit.link)
    session, marks = sessions[found.transcript.file], tuple(list_marks(hit.snippet))
    options = RenderOptions(columns=200, marks=marks)
    at = locate(session, found.place._replace(offset=hit.offset), marks)
    if at is None:
        # The title of a session is in its header.
        lines = list(render_session(session, [], options, is_whole=True, prompts_only=False))
    else:
        signs = (POINTER.strip(), MARKED_MARGIN.strip())
        shown = iter_place(session, [at.turn], at, options)
        lines = [line for line in shown if any(sign in line for sign in signs)]
    return any(OPEN_MARK in line and CLOSE_MARK in line for line in lines)
