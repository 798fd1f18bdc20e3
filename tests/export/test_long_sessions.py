"""A long session is scanned and rendered on all cores, with the same result as in one process."""

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import accumulate
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from recollect.export.masking import Mask, ScanRange, scan_range
from recollect.export.writing import Piece, encode_on_all_cores, should_use_all_cores
from recollect.redact.findings import DEFAULT_POLICY
from recollect.worker_processes import is_forking
from recollect.workspace.workspace import open_workspace
from tests.export.sessions import answer, call, reply, say, write_session
from tests.process import RunRecollect, run_python
from tests.redact.made_up_secrets import FAMILIES, make_pem

LONG = 9_000_000
LAST = FAMILIES["anthropic"].make(Random(5)).text
AGENTS = FAMILIES["slack-bot"].make(Random(6)).text
OUTPUT = "".join(f"{number} tide at the harbour wall\n" for number in range(2_000))


@contextmanager
def single_process() -> Iterator[None]:
    """Within, this process has a second thread, so that it does not fork."""
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert not is_forking()
        yield
    finally:
        done.set()
        thread.join()


def make_turn(number: int, secrets: list[str]) -> list[dict[str, Any]]:
    """Return a turn with a long output; some have a secret, others only mention its value."""
    mention = secrets[number % len(secrets)] if number % 7 == 0 else "nothing"
    name = "GITHUB_TOKEN=" if number % 14 == 0 else ""
    return [
        say(f"turn {number}: what is {mention}?"),
        reply(
            call(f"t{number}", "Bash", command=f"export {name}{mention}"), message_id=f"m{number}"
        ),
        answer(f"t{number}", f"{OUTPUT}{name}{mention}"),
    ]


@pytest.fixture(scope="module")
def long_session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A transcript above the size from which on other processes help."""
    secrets = [
        FAMILIES["github"].make(Random(1)).text,
        make_pem(Random(2), "RSA " + "PRIVATE KEY", 20).text,
        FAMILIES["aws-secret"].make(Random(3)).text,
    ]
    turns = LONG // (len(OUTPUT) * 2) + 1
    records = [record for number in range(turns) for record in make_turn(number, secrets)]
    root = tmp_path_factory.mktemp("long")
    path = write_session(root, [*records, say(f"the last line is {LAST}")], "a" * 8)
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    folder = path.parent / path.stem / "subagents"
    folder.mkdir(parents=True)
    agent = write_session(root, [say(f"the subagent has {AGENTS}")], "agent-b1")
    agent.rename(folder / agent.name)
    assert path.stat().st_size >= LONG
    return path


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["html", "md"])
def test_the_file_is_the_same(
    long_session: Path, tmp_path: Path, suffix: str, run_recollect: RunRecollect
) -> None:
    """With the same tags, and the same report."""
    with single_process(), open_workspace(long_session.parents[2], temporary=True) as workspace:
        report = workspace.export(str(long_session), tmp_path / f"here.{suffix}")
    target = tmp_path / f"there.{suffix}"
    command = ("export", str(long_session), "--claude-dir", str(long_session.parents[2]))
    result = run_recollect(*command, "-o", str(target))
    assert result.code == 0
    assert target.read_bytes() == (tmp_path / f"here.{suffix}").read_bytes()
    counts = ", ".join(f"{each.count} {each.kind}" for each in report.masked)
    assert result.stderr.splitlines()[-1].endswith(f"secrets: {counts}.")
    assert {"github-token", "private-key"} <= {each.kind for each in report.masked}
    text = target.read_text("utf-8")
    assert ("the last line is" in text, "the subagent has" in text) == (True, True)
    assert (LAST in text, AGENTS in text) == (False, False)


def test_short_sessions_are_exported_by_one_process() -> None:
    """Starting others would take longer."""
    assert not should_use_all_cores(1_000_000)
    assert not should_use_all_cores(None)


TOKENS = [FAMILIES["github"].make(Random(seed)).text for seed in range(20)]


DRAW_ELSEWHERE = f"from {__name__} import draw_tokens; print(draw_tokens())"


def draw_tokens() -> str:
    """Return what all cores make of secrets, if they are used: a process without threads forks."""
    pieces: list[Piece] = ["head\n", *(partial("token {}\n".format, each) for each in TOKENS)]
    mask = Mask(DEFAULT_POLICY)
    drawn = b"".join(encode_on_all_cores([*pieces, "foot\n"], mask))
    return json.dumps([is_forking(), drawn.decode(), mask.counts])


@pytest.mark.skipif(sys.platform != "linux", reason="no process is forked here")
def test_secrets_of_drawn_pieces_get_their_tags_here() -> None:
    """Whichever process rendered them, they are numbered in file order."""
    there = run_python("-c", DRAW_ELSEWHERE)
    tags = "".join(f"token [redacted:github-token#{number + 1}]\n" for number in range(20))
    expected = [True, f"head\n{tags}foot\n", {"github-token": 20}]
    assert json.loads(there.stdout) == expected, there.stderr


def test_a_process_with_threads_draws_alone() -> None:
    """Even if a thread is started after the decision to use all cores."""
    with single_process():
        alone = json.loads(draw_tokens())
    forked = json.loads(run_python("-c", DRAW_ELSEWHERE).stdout)
    assert alone[1:] == forked[1:]


SCAN_ELSEWHERE = f"from {__name__} import scan_growing_file; print(scan_growing_file())"


def scan_growing_file() -> str:
    """Return what is masked of a file that grew while it was scanned, and of one beside it."""
    with TemporaryDirectory() as folder:
        growing, beside = Path(folder, "growing.jsonl"), Path(folder, "beside.jsonl")
        growing.write_text(f"{TOKENS[0]}\n{TOKENS[1]}")
        mask = Mask(DEFAULT_POLICY)
        assert mask.record_mask is not None
        with mask.record_mask.scan_in_background([str(growing)]):
            growing.write_text(f"{TOKENS[0]}\n{TOKENS[1]}\n{TOKENS[2]}\n")
            beside.write_text(f"{TOKENS[3]}\n")
            mask.record_mask.finish_scan([str(growing), str(beside)])
    # In hexadecimal only what is known is found.
    return mask.text(" ".join(each.encode().hex() for each in TOKENS[:5]))


@pytest.mark.skipif(sys.platform != "linux", reason="no process is forked here")
def test_lines_written_during_the_scan_are_scanned() -> None:
    """The session is opened after its scan, so it may have more lines."""
    masked = run_python("-c", SCAN_ELSEWHERE).stdout.split()
    assert [each.count("[redacted:github-token#") for each in masked] == [1, 1, 1, 1, 0]


@pytest.mark.parametrize("length", [1, 7, 100, 1_000, 100_000])
def test_every_line_is_in_one_stretch(tmp_path: Path, length: int) -> None:
    """Wherever stretches end, also within a line or between two; the last line is not finished."""
    rng = Random(4)
    texts = [f"{'x' * rng.randrange(60)} {FAMILIES['github'].make(rng).text}" for _ in range(40)]
    lines = [json.dumps({"text": text}).encode() + b"\n" for text in texts]
    starts = list(accumulate(map(len, lines[:-1]), initial=0))
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"".join(lines).removesuffix(b"\n"))
    size = path.stat().st_size
    scanned = [
        scan_range(ScanRange(str(path), start, min(start + length, size), size), DEFAULT_POLICY)
        for start in range(0, size, length)
    ]
    assert sorted(offset for each in scanned for offset in each.matches) == starts
    assert scanned[-1].end == starts[-1]
