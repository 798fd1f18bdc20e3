"""Everything works the same whatever source holds the files of a Claude directory.

The demo data are read twice: from a directory on disk, and from memory under names that are no
paths on this disk. The names are as long as the paths, so that tables have the same columns.
"""

import os
import re
import shutil
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import pytest

from recollect.demo import CLAUDE_DIRECTORY
from recollect.library.listings import SessionContext, read_listing
from recollect.library.opening import (
    IncrementalSession,
    find_subagent_files,
    open_transcript,
    read_partial_session,
)
from recollect.library.sidecar_files import load_sidecars
from recollect.live.tail import Tail
from recollect.locations import Transcript, TranscriptKind, discover_root
from recollect.locations.discovery import refresh
from recollect.reader.transcript_reader import read_span, read_transcript
from recollect.session.session import Session
from recollect.sources.source import find_source, is_on_disk, list_mounts, mounted
from tests.process import Finished, run_python
from tests.sources.memory import VARIABLE, MemorySource
from tests.web.addresses import SESSION as FULL_ID
from tests.web.running import NOW, RunningServer, run_server

POINT = "/nowhere"
ON_DISK = discover_root(CLAUDE_DIRECTORY).transcripts
SESSION = "7aa5fa93"
PROGRAM = "tests.sources.memory"


@pytest.fixture
def source() -> Iterator[MemorySource]:
    """The demo's files, mounted where nothing is."""
    assert not Path(POINT).exists()
    held = MemorySource(CLAUDE_DIRECTORY, POINT)
    with mounted(POINT, held):
        yield held


def find_held(transcript: Transcript) -> Transcript:
    """The same transcript in memory."""
    name = str(Path(POINT, transcript.path.relative_to(CLAUDE_DIRECTORY)))
    return next(each for each in discover_root(Path(POINT)).transcripts if each.file == name)


def summarize(session: Session) -> tuple[object, ...]:
    """Return the content of a session without the names of its files."""
    return (
        [turn.words for turn in session.turns],
        (session.metrics.tokens, session.metrics.duration_ms, session.metrics.tool_calls),
        session.metadata.title,
        [(call.id, call.status) for call in session.tool_calls],
        [(each.agent_id, each.meta, summarize(each.session)) for each in session.subagents],
        load_sidecars(session),
    )


def test_a_name_belongs_to_the_source_that_is_mounted_above_it(source: MemorySource) -> None:
    """Only below the mount point, and only while it is mounted."""
    names = (POINT, f"{POINT}/projects", f"{POINT}else", "/", str(CLAUDE_DIRECTORY))
    assert [is_on_disk(name) for name in names] == [False, False, True, True, True]
    assert list_mounts() == {POINT: source}
    with mounted(f"{POINT}else", source):
        assert find_source(f"{POINT}else/a") is source
    assert is_on_disk(f"{POINT}else/a")


@pytest.mark.parametrize("transcript", ON_DISK, ids=attrgetter("name"))
def test_a_session_opens_from_memory(transcript: Transcript, source: MemorySource) -> None:
    """With its subagents and sidecar files."""
    opened = open_transcript(find_held(transcript))
    assert summarize(opened) == summarize(open_transcript(transcript))
    assert source.files


@pytest.mark.parametrize("transcript", ON_DISK, ids=attrgetter("name"))
def test_a_session_catches_up_from_memory(transcript: Transcript, source: MemorySource) -> None:
    """However much of it was there at first."""
    held = find_held(transcript)
    whole = source.files[held.file]
    growing, session = IncrementalSession(), Session()
    relatives: tuple[Transcript, ...] = ()
    if held.kind is TranscriptKind.SESSION:
        relatives = find_subagent_files(held.project_dir, held.name)
    for size in (len(whole) // 3, whole.rfind(b"\n", 0, -1) + 1, len(whole)):
        source.write(held.file, whole[:size])
        current = refresh(held)
        assert current is not None
        session = growing.catch_up(current, relatives)
    fresh = Session(read_transcript(held.file))
    assert [turn.words for turn in session.turns] == [turn.words for turn in fresh.turns]
    assert len(session.subagents) == len(open_transcript(held).subagents)


def test_a_file_in_memory_is_followed(source: MemorySource) -> None:
    """As it grows, and when it is rewritten."""
    held = find_held(ON_DISK[0])
    whole = source.files[held.file]
    half = whole.index(b"\n", len(whole) // 2) + 1
    tail = Tail(held.path)
    read = b""
    for data in (whole[:half], whole):
        source.write(held.file, data)
        while step := tail.read().pieces:
            read += b"".join(piece.raw for piece in step)
    assert read == whole
    source.write(held.file, whole[half:])
    assert tail.read().reset is not None


def test_records_are_read_back_by_their_spans(source: MemorySource) -> None:
    """The spans of a transcript in memory are those of its bytes."""
    for held in discover_root(Path(POINT)).transcripts:
        spans = [each.span for each in read_transcript(held.file) if each.span]
        assert b"".join(map(read_span, spans)) == source.files[held.file]
        part = read_partial_session(held)
        assert part.is_whole == (len(source.files[held.file]) <= 3 * 512 * 1024)


@pytest.mark.usefixtures("source")
def test_lists_describe_what_is_in_memory() -> None:
    """Titles that are in other files of the project included."""
    titles = []
    for transcripts in (ON_DISK, discover_root(Path(POINT)).transcripts):
        context = SessionContext()
        found = [read_listing(transcript, context) for transcript in transcripts]
        titles.append([(listing.id, listing.title) for listing in found if listing])
    assert titles[0] == titles[1]


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """A Claude directory on disk."""
    return Path(shutil.copytree(CLAUDE_DIRECTORY, tmp_path / "claude"))


def name_point(disk: Path) -> str:
    """A name that is as long as the path of a directory, below which nothing is."""
    return POINT.ljust(len(str(disk)), "x")


def make_environment(disk: Path, name: str) -> dict[str, str]:
    """A data directory of its own, and what to load into memory."""
    return {
        "RECOLLECT_DATA_DIR": str(disk.parent / name),
        "RECOLLECT_NOW": NOW,
        "COLUMNS": "250",
        VARIABLE: os.pathsep.join((str(disk), name_point(disk))),
    }


COMMANDS = [
    ("list",),
    ("list", "--json"),
    ("list", "--tree"),
    ("show", SESSION, "--tools", "full"),
    ("show", SESSION, "--json"),
    ("show", SESSION, "--raw"),
    ("show", "agent-a557725"),
    ("search", "release"),
    ("search", "theme", "--json"),
    ("usage", "--json"),
    ("usage", "session", "--client-cost"),
    ("usage", "explain", SESSION),
    ("usage", "explain", SESSION, "--json"),
    ("tools", "--json"),
    ("files", SESSION),
    ("follow", SESSION, "--until", "end"),
    ("replay", SESSION, "--instant"),
    ("doctor",),
    ("index", "--text"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_says_the_same_of_files_in_memory(words: tuple[str, ...], disk: Path) -> None:
    """Views, raw lines, snippets, explanations of costs, figures: byte for byte."""
    on_disk = run(disk, "recollect", words, str(disk))
    in_memory = run(disk, PROGRAM, words, name_point(disk))
    assert in_memory == on_disk
    assert on_disk.code == 0, on_disk


def run(disk: Path, program: str, words: tuple[str, ...], root: str) -> Finished:
    """The result of a command, with the name of the Claude directory left out."""
    environment = make_environment(disk, program)
    done = run_python("-m", program, *words, "--claude-dir", root, env=environment)
    texts = (
        text.replace(root, "ROOT").replace(environment["RECOLLECT_DATA_DIR"], "DATA")
        for text in (done.stdout, done.stderr)
    )
    return Finished(done.code, *texts)


PAGES = [
    "/",
    f"/s/{FULL_ID}",
    f"/s/{FULL_ID}/changes",
    "/s/agent-a557725",
    "/search?q=release",
    "/usage",
    "/usage?group=session",
    "/usage/explain?target=2026-11-12",
    "/api/history/sessions?pageSize=200&includeSubagents=true",
    "/api/search?q=release",
]


def test_pages_are_the_same_of_files_in_memory(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server and the process that indexes for it read from the same sources."""
    point = name_point(disk)
    monkeypatch.setenv(VARIABLE, os.pathsep.join((str(disk), point)))
    with (
        run_server(make_folder(tmp_path, "a"), disk) as on_disk,
        run_server(make_folder(tmp_path, "b"), Path(point), module=PROGRAM) as in_memory,
    ):
        for server in (on_disk, in_memory):
            server.wait_until_current()
            server.wait_for_figures()
        for page in [*PAGES, *list_raw_pages(disk)]:
            assert load(in_memory, page) == load(on_disk, page), page


def list_raw_pages(disk: Path) -> list[str]:
    """The addresses of some lines of a session."""
    (path,) = disk.glob(f"projects/*/{FULL_ID}.jsonl")
    found = [getattr(record, "uuid", None) for record in read_transcript(path)]
    return [f"/s/{FULL_ID}/raw/{uuid}" for uuid in found if uuid][:5]


def make_folder(tmp_path: Path, name: str) -> Path:
    """Create the home and data directories of a server."""
    folder = tmp_path / name
    folder.mkdir()
    return folder


def load(server: RunningServer, page: str) -> tuple[int, str]:
    """A page without the Claude directory, the server's address and the number of updates."""
    answer = server.get(page)
    text = answer.body.decode().replace(str(server.root), "ROOT").replace(server.origin, "ORIGIN")
    return answer.status, re.sub(r'data-since="[^"]*"', "", text)
