"""Versions, blame and checkpoints of thirty files over 200 steps of the real client."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from recollect.versions.evidence import Origin
from recollect.versions.file_blame import blame_current
from recollect.versions.file_texts import decode_file
from recollect.versions.recorded_evidence import BackupDirectory
from recollect.versions.replay import Grade, Version
from recollect.versions.session_checkpoints import build_checkpoints
from recollect.workspace.file_queries import FileFinder, FileRequest
from recollect.workspace.workspace import Workspace
from tests.client.client_sandbox import SWITCHES, ClientSandbox
from tests.client.file_states import Files, States, find_scene, read_states
from tests.client.file_work import Work
from tests.client.versions import FILE_VERSIONS, OLDEST, require_client
from tests.versions.ground_truth import PROJECT
from tests.versions.judging import Shares, judge_authors

pytestmark = pytest.mark.client

CHECKPOINTS = {"CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "1"}
CERTAIN = (Grade.EXACT, Grade.REPLAYED)
SEED = 1


class FinishedWork(NamedTuple):
    """A client that has done its work, and what the directory contained meanwhile."""

    version: str
    work: Work
    states: States

    @property
    def sandbox(self) -> ClientSandbox:
        """The sandbox of the client."""
        return self.work.sandbox

    def find_finder(self) -> FileFinder:
        """Return the object that finds the histories of its files."""
        workspace = Workspace([self.sandbox.root], self.sandbox.root.parent / "index")
        return FileFinder(workspace, FileRequest(self.sandbox.work / "notes.ipynb"))

    def locate(self, path: str) -> Path:
        """Return the path of a file of the model."""
        return self.sandbox.work / path.removeprefix(f"{PROJECT}/")

    def find_content(self, files: Files, path: str) -> str | None:
        """Return the text of a file, under its current or earlier name."""
        name: str | None = path
        while name:
            data = files.get(name.removeprefix(f"{PROJECT}/"))
            if data is not None:
                content = decode_file(data)
                assert content is not None
                return content.text
            earlier = self.work.model.truth.names.get(name)
            name = earlier.path if earlier else None
        return None


@pytest.fixture(scope="module", params=FILE_VERSIONS)
def finished(
    request: pytest.FixtureRequest,
    isolation: Sequence[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> FinishedWork:
    """The work of a client with checkpoints, which it has without a terminal only if asked."""
    version = str(request.param)
    client = require_client(version)
    folder = tmp_path_factory.mktemp("client")
    work = Work(ClientSandbox(folder, client, isolation, SWITCHES | CHECKPOINTS), version, SEED)
    work.run()
    return FinishedWork(version, work, read_states(work.sandbox))


def iter_histories(
    finished: FinishedWork, *, with_git: bool
) -> Iterator[tuple[str, Sequence[Version]]]:
    """Yield the versions of every file that a session names."""
    finder = finished.find_finder()
    for path in sorted(finished.work.model.files):
        found = finder.find(finished.locate(path), only_near=True, with_git=with_git)
        if found:
            yield path, found.history.versions


def find_truth(
    finished: FinishedWork, calls: dict[str, str], path: str, version: Version
) -> str | None:
    """Return the content of a file when a version was recorded."""
    call = version.origin.call_id or calls.get(version.origin.uuid or "")
    if call is None:
        files = finished.states.at_prompt[find_scene(version.origin.prompt)]
    else:
        files = (finished.states.before if version.change is None else finished.states.after)[call]
    return finished.find_content(files, path)


def test_certain_versions_are_what_the_directory_contained(finished: FinishedWork) -> None:
    """Every exact version is the text of the file, and so is every replayed one."""
    sessions = [finished.sandbox.open(each) for each in finished.sandbox.session_ids]
    calls = {call.call_uuid or "": call.id for each in sessions for call in each.tool_calls}
    outcomes = Counter[tuple[Grade, bool]]()
    for path, versions in iter_histories(finished, with_git=False):
        for each in versions:
            is_right = each.text == find_truth(finished, calls, path, each)
            outcomes[each.known, is_right] += 1
            assert is_right or each.known not in CERTAIN, each
    assert outcomes[Grade.EXACT, True] >= 150
    assert outcomes[Grade.REPLAYED, True] >= 10


def blame(finished: FinishedWork, *, with_git: bool) -> Shares:
    """Compare the blame of all files with the truth."""
    finder = finished.find_finder()
    authors = {}
    for path in finished.work.model.files:
        target = finished.locate(path)
        found = finder.find(target, only_near=True, with_git=with_git)
        if found:
            lines = blame_current(found.history, found.git, target.read_bytes())
            authors[path] = [line.author for line in lines]
    return judge_authors(finished.work.model.files, authors, _label)


def _label(origin: Origin) -> str:
    return find_scene(origin.prompt)


def test_blame_with_git(finished: FinishedWork) -> None:
    """With a commit nearly all lines are right, and no unique line is wrong."""
    shares = blame(finished, with_git=True)
    assert shares.wrong_unique == 0
    assert shares.all >= 0.995
    assert shares.touched >= 0.97


def test_blame_without_git(finished: FinishedWork) -> None:
    """Without a commit nine of ten touched lines are right, and none has a false prompt."""
    shares = blame(finished, with_git=False)
    assert shares.false_unique == 0
    assert shares.touched >= 0.9


def test_checkpoints_are_what_the_directory_contained(finished: FinishedWork) -> None:
    """Files with a backup are as they were at the prompt; others if nobody changed them unseen."""
    if finished.version == OLDEST:
        pytest.skip("this client makes no backups")
    outcomes = Counter[tuple[str, bool]]()
    sandbox = finished.sandbox
    for session_id in sandbox.session_ids:
        found = build_checkpoints(sandbox.open(session_id), BackupDirectory(sandbox.root))
        for checkpoint in found.checkpoints:
            files = finished.states.at_prompt[find_scene(checkpoint.prompt)]
            for state in checkpoint.files:
                data = files.get(state.path.removeprefix(f"{sandbox.work}/"))
                true = decode_file(data) if data is not None else None
                text = state.version.text if state.version and state.exists else None
                is_right = text == (true.text if true else None)
                is_certain = state.known is Grade.EXACT or not state.exists
                outcomes["certain" if is_certain else "inferred", is_right] += 1
                # Without a backup, a person or a command may have changed it unseen: before the
                # session first looked at it, or after a subagent did.
                assert is_right or not is_certain, (checkpoint.number, state)
    assert outcomes["certain", True] >= 200
    assert outcomes["inferred", True] >= 6 * outcomes["inferred", False]


def test_the_work_has_everything_that_is_hard(finished: FinishedWork) -> None:
    """There are thirty files and 200 steps, with all tools, odd files and large files."""
    counts, changed = finished.work.counts, finished.work.changed
    wanted = {"Edit", "Write", "NotebookEdit", "Bash", "person", "rename", "subagent", "fork"}
    assert wanted <= set(counts)
    assert ("MultiEdit" in counts) == (finished.version == OLDEST)
    assert ("rewind" in counts) == bool(finished.work.rewound) == (finished.version != OLDEST)
    assert sum(counts.values()) >= 200
    assert len(finished.work.model.files) >= 30
    assert any(each.is_crlf for each in changed)
    assert any(each.has_bom for each in changed)
    assert any(not each.has_final_newline for each in changed)
    assert any("\n\t" in each.text for each in changed)
    assert any(len(each.text) > 10_000 for each in changed)
