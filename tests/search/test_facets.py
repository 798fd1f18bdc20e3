"""The count of each facet value equals the number of results of its query."""

import random
from collections.abc import Callable, Iterator

import pytest

from recollect.demo import CLAUDE_DIRECTORY
from recollect.search.engine import SearchOptions, SearchResult
from recollect.search.query_parser import group_query
from recollect.workspace.workspace import open_workspace
from tests.library.claude_root import Line, call, prompt, reply, result, title
from tests.search.made_index import MadeIndex

Search = Callable[[str], SearchResult]

WORDS = "heron nest herons nesting reeds transcript_head frog frogs pond".split()
PLAIN = "heron herons reeds transcript_head frog ond her"
QUERIES = (
    *PLAIN.split(),
    "heron nest",
    "hreon reeds",
    "frog pond quagga",
    "heron OR frog",
    '"heron nest"',
    "nest -heron",
    "pon*",
)
CWDS = ("/w/pond", "/w/pond/deep", "/w/pond-2", "/w/Brook", "/elsewhere")
TOOLS = ("Bash", "mcp__pond__count", "mcp__pond__count_all", "Read")
MODELS = ("m-4", "m-4-5", "other", "<synthetic>")


def list_differences(search: Search, query: str, *more: str) -> list[tuple[str, int, int]]:
    """Return the facets whose count differs from the results of their query."""
    shown = " ".join((group_query(query), *more)) if more else query
    found = search(shown)
    values = [value for facet in found.facets for value in facet.values]
    counts = [(f"{group_query(shown)} {value.query}", value.count) for value in values]
    return [
        (clicked, count, total)
        for clicked, count in counts
        if (total := search(clicked).total) != count
    ]


def list_facets(search: Search, query: str) -> list[str]:
    """Return the queries of all facets."""
    return [value.query for facet in search(query).facets for value in facet.values]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Search]:
    """A search in the sample sessions."""
    with open_workspace(CLAUDE_DIRECTORY, tmp_path_factory.mktemp("facets")) as workspace:
        options = SearchOptions(facets=True, limit=1)
        yield lambda query: workspace.search(query, options, seconds=600).result


@pytest.mark.parametrize("query", ["tide", "harbour", "the", "error", "recipe", "model test run"])
def test_a_facet_of_the_sample_sessions_finds_what_it_counts(demo: Search, query: str) -> None:
    """Titles and other lines without a working directory count for their project too."""
    assert demo(query).facets
    assert list_differences(demo, query) == []
    for facet in list_facets(demo, query)[:4]:
        assert list_differences(demo, query, facet) == []


@pytest.fixture(scope="module", params=range(2))
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Search:
    """A search in random sessions with similar names of directories, tools and models."""
    made = MadeIndex(tmp_path_factory.mktemp("made"))
    chance = random.Random(request.param)
    for number in range(45):
        made.write(*_make_lines(chance, number), session=f"{number:08}-1111-4111-8111-111111111111")
    assert made.index()
    return lambda query: made.search(query, SearchOptions(facets=True, limit=1))


def _make_lines(chance: random.Random, number: int) -> Iterator[Line]:
    def say() -> str:
        return " ".join(chance.choices(WORDS, k=2))

    if chance.random() < 0.3:
        yield title(f"{say()} {number}")
    cwd = chance.choice(CWDS)
    for step in range(chance.randrange(1, 4)):
        name = f"{number}-{step}"
        seconds = chance.randrange(10_000_000)
        ran = call(chance.choice(TOOLS), {"x": say()}, call_id=name, uuid=f"c{name}", cwd=cwd)
        said = reply(say(), uuid=f"a{name}", seconds=seconds, cwd=cwd)
        message = {**_read_message(said), "model": chance.choice(MODELS)}
        yield from (
            prompt(say(), uuid=f"u{name}", seconds=seconds, cwd=cwd),
            ran,
            result(say(), call_id=name, uuid=f"r{name}", cwd=cwd),
            {**said, "message": message},
        )


def _read_message(line: Line) -> dict[str, object]:
    message = line["message"]
    assert isinstance(message, dict)
    return message


@pytest.mark.parametrize("query", QUERIES)
def test_a_facet_finds_what_it_counts(made: Search, query: str) -> None:
    """Also with widened, corrected and omitted words, and within another facet."""
    assert made(query).total > 0
    assert list_differences(made, query) == []
    for facet in list_facets(made, query)[::5]:
        assert list_differences(made, query, facet) == []


def test_a_filter_finds_nothing_else(made: Search) -> None:
    """A filter that leaves few sessions does not widen the search."""
    for query in QUERIES[::2]:
        total = made(query).total
        for facet in list_facets(made, query):
            assert 0 < made(f"{group_query(query)} {facet}").total <= total
