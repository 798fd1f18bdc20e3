"""The text pass reads a changed file once, for all consumers of its records."""

from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path

import pytest

from recollect.demo import CLAUDE_DIRECTORY
from recollect.locations import Transcript, discover_root
from recollect.reader.transcript_reader import read_transcript
from recollect.records.envelope import Record
from recollect.search.engine import ANALYZER
from recollect.sources.growth import FileState
from recollect.sources.source import SourceFile, mounted
from recollect.store.text_rows import TextState
from recollect.sync import text_plan
from recollect.sync.cached_values import find_figures, load_calls
from recollect.sync.figure_reading import FIGURES, read_figures
from recollect.sync.text_indexer import TextProgress, index_texts
from recollect.sync.text_plan import BOTH, FileRange, Stage, plan_texts
from recollect.sync.text_reading import read_range
from tests.library.claude_root import FIRST, call, encode, prompt, reply, result
from tests.search.made_index import MadeIndex, make_index
from tests.sources.memory import MemorySource

DEMO = discover_root(CLAUDE_DIRECTORY).transcripts


class Collector:
    """A consumer that keeps the records of each file; works in this process only."""

    name = "collector"

    def __init__(self) -> None:
        self.records: dict[str, list[Record]] = {}
        self.saved: dict[str, bytes] = {}

    def start(self, path: str) -> "CollectorSink | None":
        """Start on a file, except for one."""
        return None if FIRST in path else CollectorSink(self, path)

    def save(self, directory: Path, found: Mapping[str, bytes]) -> None:
        """Keep the results."""
        assert directory.is_dir()
        self.saved.update(found)


class CollectorSink:
    """The records of one file."""

    def __init__(self, collector: Collector, path: str) -> None:
        self._records = collector.records.setdefault(path, [])

    def add(self, record: Record) -> None:
        """Take a record."""
        self._records.append(record)

    def finish(self, state: FileState) -> bytes | None:
        """Return how much of the file was read."""
        return str(state.position).encode()


@pytest.mark.parametrize("transcript", DEMO, ids=attrgetter("name"))
def test_both_stages_at_once_are_the_same_as_one_after_the_other(transcript: Transcript) -> None:
    """The same texts in the same order, with the same times, and the same state."""
    nothing = (TextState(),)
    apart = [
        batch
        for stage in Stage
        for batch in read_range(
            FileRange(transcript.file, False, (stage,), nothing), ANALYZER.prepare
        ).batches
    ]
    both = FileRange(transcript.file, False, BOTH, 2 * nothing)
    assert read_range(both, ANALYZER.prepare).batches == apart
    assert all(batch.rows for batch in apart[:1])


def test_a_consumer_gets_every_record_of_a_file(tmp_path: Path) -> None:
    """In order, with what is damaged, blank or torn; and what it makes of them is saved by path."""
    made = make_index(tmp_path, [prompt("a"), reply("b")])
    path = made.path("22222222-0000-4000-8000-000000000000")
    lines = encode([prompt("c"), call("Bash", {"command": "ls"}), result("d")])
    path.write_bytes(lines + b'\nno json\n{"type":"user"')
    collector = Collector()
    assert index_texts(made.data, ANALYZER, made.transcripts(), consumers=(collector,))
    assert collector.records == {str(path): list(read_transcript(path))}
    assert collector.saved == {str(path): str(path.read_bytes().rfind(b"\n") + 1).encode()}


def test_a_consumer_is_not_asked_about_what_was_appended(tmp_path: Path) -> None:
    """It could not know what came before."""
    made = make_index(tmp_path, [prompt("a"), reply("b")])
    collector = Collector()
    made.write(prompt("c"), session="33333333-0000-4000-8000-000000000000")
    assert index_texts(made.data, ANALYZER, made.transcripts())
    made.append(reply("d"), session="33333333-0000-4000-8000-000000000000")
    assert index_texts(made.data, ANALYZER, made.transcripts(), consumers=(collector,))
    assert (collector.records, len(made.find("d"))) == ({}, 1)


@pytest.mark.parametrize("transcript", DEMO, ids=attrgetter("name"))
def test_figures_of_the_text_pass_are_those_of_a_read_for_them(
    transcript: Transcript, tmp_path: Path
) -> None:
    """Counts, models, summaries and tool calls, ready for lists without another read."""
    assert index_texts(tmp_path, ANALYZER, [transcript], consumers=(FIGURES,))
    expected = read_figures(transcript, transcript.stamp)
    assert expected is not None
    assert find_figures(tmp_path, [transcript]) == {transcript.file: expected[0].figures}
    assert load_calls(tmp_path, [transcript]) == {transcript.file: expected[1]}


class CountingSource(MemorySource):
    """Counts how often each file is opened."""

    def __init__(self, directory: Path, point: str) -> None:
        super().__init__(directory, point)
        self.opened: list[str] = []

    def open(self, name: str) -> SourceFile:
        """Open a file, and remember it."""
        self.opened.append(name)
        return super().open(name)


def test_a_file_is_opened_once_for_texts_and_figures(tmp_path: Path) -> None:
    """However many consumers there are."""
    source = CountingSource(CLAUDE_DIRECTORY, "/nowhere")
    with mounted("/nowhere", source):
        transcripts = discover_root(Path("/nowhere")).transcripts
        assert index_texts(tmp_path, ANALYZER, transcripts, consumers=(FIGURES, Collector()))
        names = {each.file for each in transcripts}
        assert sorted(name for name in source.opened if name in names) == sorted(names)
        assert find_figures(tmp_path, transcripts).keys() == names


def test_much_to_read_is_read_stage_by_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long history is read for the conversation first; a short one for both stages at once."""
    made = MadeIndex(tmp_path)
    made.write(prompt("a"), call("Bash", {"command": "ls"}))
    made.write(prompt("b"), session="44444444-0000-4000-8000-000000000000")
    plan = plan_texts(made.data, ANALYZER.version, made.transcripts())
    assert [each.stages for each in plan.ranges] == [BOTH, BOTH]
    monkeypatch.setattr(text_plan, "POOL_BYTES", 1)
    plan = plan_texts(made.data, ANALYZER.version, made.transcripts())
    assert [each.stages for each in plan.ranges] == 2 * [(Stage.CONVERSATION,)] + 2 * [
        (Stage.TOOLS,)
    ]


def test_progress_counts_every_byte_once(tmp_path: Path) -> None:
    """Even though both stages read a file, and a small history is read once for both."""
    made = MadeIndex(tmp_path)
    made.write(prompt("a"), reply("b"))
    seen: list[TextProgress] = []
    assert index_texts(made.data, ANALYZER, made.transcripts(), on_progress=seen.append)
    size = made.path().stat().st_size
    assert seen[-1] == TextProgress(size, size)
