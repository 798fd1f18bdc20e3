"""Versions of files that the real client changed, against the directory before every reply."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from recollect.versions.evidence import Cause, Evidence, Rename
from recollect.versions.file_history import merge_sessions
from recollect.versions.file_texts import decode_file
from recollect.versions.recorded_evidence import BackupDirectory
from recollect.versions.replay import Grade, Version, replay
from recollect.versions.session_checkpoints import build_checkpoints
from recollect.versions.session_evidence import collect_evidence
from tests.client.client_sandbox import ALLOWED, SWITCHES, ClientSandbox
from tests.client.file_scenes import FILES
from tests.client.file_states import States, find_scene, read_states
from tests.client.file_work import ACCEPT
from tests.client.versions import OLDEST, VERSIONS, require_client

pytestmark = pytest.mark.client

CHECKPOINTS = {"CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "1"}
PROMPTS = (
    "play:files_begin one",
    "play:files_agent two",
    "play:files_end three",
    "play:files_again four",
)
CERTAIN = (Grade.EXACT, Grade.REPLAYED)


class FinishedWork(NamedTuple):
    """A client that has done its work."""

    version: str
    sandbox: ClientSandbox


@pytest.fixture(scope="module", params=VERSIONS)
def finished(
    request: pytest.FixtureRequest,
    isolation: Sequence[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> FinishedWork:
    """The work of a client with checkpoints, which it has without a terminal only if asked."""
    version = str(request.param)
    client = require_client(version)
    folder = tmp_path_factory.mktemp("client")
    sandbox = ClientSandbox(folder, client, isolation, SWITCHES | CHECKPOINTS)
    perform(sandbox)
    return FinishedWork(version, sandbox)


def perform(sandbox: ClientSandbox) -> None:
    """Let the client work, with manual changes in between."""
    for name, data in FILES.items():
        (sandbox.work / name).write_bytes(data)
    begin, agent, end, again = PROMPTS
    session = sandbox.ask(begin, *ACCEPT)[-1]["session_id"]
    _change(sandbox.work / "new.py", b"import", b"# by hand\nimport")
    session = sandbox.ask(agent, "--resume", session, *ACCEPT)[-1]["session_id"]
    _change(sandbox.work / "big.py", b"value_5 = compute(5)\n", b"value_5 = by_hand(5)\n")
    session = sandbox.ask(end, "--resume", session, *ACCEPT)[-1]["session_id"]
    words = ("-p", "--output-format", "json", ALLOWED, *ACCEPT, "--", again)
    done = sandbox.recollect("resume", session, "--at", "2", "--", *words)
    assert done.code == 0, done


def _change(path: Path, old: bytes, new: bytes) -> None:
    path.write_bytes(path.read_bytes().replace(old, new, 1))


def _iter_versions(evidence: list[Evidence]) -> Iterator[Version]:
    for path in sorted({each.path for each in evidence if not isinstance(each, Cause | Rename)}):
        yield from replay(path, evidence).versions


def _find_truth(
    sandbox: ClientSandbox, states: States, calls: dict[str, str], version: Version
) -> bytes | None:
    name = version.path.removeprefix(f"{sandbox.work}/")
    call = version.origin.call_id or calls.get(version.origin.uuid or "")
    if call is None:
        files = states.at_prompt[find_scene(version.origin.prompt)]
    else:
        files = (states.before if version.change is None else states.after)[call]
    # A file that is moved later had another name before.
    names = ("tabs.go", name) if name == "moved.go" else (name,)
    return next((files[each] for each in names if each in files), None)


def test_certain_versions_are_what_the_directory_contained(finished: FinishedWork) -> None:
    """Exact and replayed versions are correct for all files, and backups byte for byte."""
    sandbox = finished.sandbox
    sessions = [sandbox.open(each) for each in sandbox.session_ids]
    states = read_states(sandbox)
    backups = BackupDirectory(sandbox.root)
    evidence = merge_sessions([collect_evidence(each, backups) for each in sessions])
    calls = {call.call_uuid or "": call.id for each in sessions for call in each.tool_calls}
    outcomes = Counter[str]()
    for each in _iter_versions(evidence):
        data = _find_truth(sandbox, states, calls, each)
        true = decode_file(data) if data is not None else None
        is_right = each.text == (true.text if true else None)
        outcomes[f"{each.known.value} {is_right}"] += 1
        assert is_right or each.known not in CERTAIN, each
        if each.backup:
            assert backups.read(*each.backup) == data
            outcomes["backup"] += 1
    certain = outcomes["exact True"] + outcomes["replayed True"]
    assert certain >= 30
    assert outcomes.total() - outcomes["backup"] - certain <= 4
    assert (outcomes["backup"] > 5) == (finished.version != OLDEST)


def test_lines_are_given_to_the_prompts_that_wrote_them(finished: FinishedWork) -> None:
    """Blame names the prompt of every line written by a tool, and no prompt for the others."""
    authors = {}
    for name in ("new.py", "crlf.txt", "agent.py", "moved.go"):
        done = finished.sandbox.recollect("blame", name, "--json")
        assert done.code == 0, done
        for line in json.loads(done.stdout)["lines"]:
            authors[line["text"]] = line["prompt"] if line["by"] == "claude" else line["by"]
    begin, agent, end, again = PROMPTS
    wanted = {
        "# by hand": "unknown",
        "by the shell": "unknown",
        "import os": begin,
        "async def run_all():": again,
        "second and a half": begin,
        "FIRST": "unknown",
        "agent_9 = helped(9)": agent,
        "agent_3 = done(3)": agent,
        "agent_4 = work(4)": "other",
        "\t\tprint(3)": end,
        "\t\treturn 2": begin,
        "\tif x {": "other",
    }
    assert {text: authors.get(text) for text in wanted} == wanted


def test_checkpoints_are_what_the_directory_contained(finished: FinishedWork) -> None:
    """With backups, every file of every checkpoint is as it was when the prompt was sent."""
    if finished.version == OLDEST:
        pytest.skip("this client makes no backups")
    sandbox = finished.sandbox
    states = read_states(sandbox)
    count = 0
    for session_id in sandbox.session_ids:
        found = build_checkpoints(sandbox.open(session_id), BackupDirectory(sandbox.root))
        for checkpoint in found.checkpoints:
            for file in checkpoint.files:
                true = states.at_prompt[find_scene(checkpoint.prompt)].get(
                    file.path.removeprefix(f"{sandbox.work}/")
                )
                if file.known in CERTAIN:
                    count += 1
                    assert file.version is not None
                    text = decode_file(true or b"")
                    assert text is not None
                    assert file.version.text == text.text, (checkpoint.number, file.path)
                elif not file.exists:
                    assert true is None
    assert count >= 20
