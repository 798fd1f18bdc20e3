"""To-do lists and tasks beside a session are searchable texts of it."""

import json
import os
from pathlib import Path

from recollect.locations import discover_root
from recollect.search.engine import ANALYZER, search
from recollect.sync.text_indexer import index_texts
from recollect.sync.text_plan import find_text_status, with_lists
from tests.library.claude_root import FIRST, SECOND, ClaudeRoot, prompt

TODO = f"todos/{FIRST}-agent-{FIRST}.json"


def _write(root: ClaudeRoot, path: str, value: object) -> None:
    root.write(path, json.dumps(value, indent=2).encode())
    # Old enough not to be racy.
    os.utime(root.path / path, (1_700_000_000, 1_700_000_000))


def _make_root(tmp_path: Path) -> ClaudeRoot:
    root = ClaudeRoot(tmp_path / "claude")
    root.session(FIRST, prompt("drain"))
    root.session(SECOND, prompt("fill"))
    _write(root, TODO, [{"content": "Pull the plug", "status": "completed", "activeForm": "So"}])
    _write(root, f"tasks/{FIRST}/1.json", {"id": "1", "subject": "Dig", "description": "By hand"})
    _write(root, f"todos/{SECOND}-agent-{SECOND}.json", [{"content": "Pull the plug"}])
    _write(root, "todos/nobody-agent-nobody.json", [{"content": "plug"}])
    return root


def _find(tmp_path: Path, root: ClaudeRoot, query: str) -> list[tuple[str, str]]:
    transcripts = discover_root(root.path).transcripts
    assert index_texts(tmp_path / "data", ANALYZER, transcripts)
    hits = search(tmp_path / "data", query, transcripts, index_complete=True).hits
    return sorted((hit.session_id, Path(hit.path).name) for hit in hits)


def test_lists_are_texts_of_their_sessions(tmp_path: Path) -> None:
    """Each is found under its own session, even with equal content; states are not searched."""
    root = _make_root(tmp_path)
    todo, other = Path(TODO).name, f"{SECOND}-agent-{SECOND}.json"
    assert _find(tmp_path, root, "plug") == [(FIRST, todo), (SECOND, other)]
    assert _find(tmp_path, root, "dig hand") == [(FIRST, "1.json")]
    assert _find(tmp_path, root, "completed") == []


def test_a_changed_list_is_noticed(tmp_path: Path) -> None:
    """A rewritten list is found by its current content, a deleted one not at all."""
    root = _make_root(tmp_path)
    assert len(_find(tmp_path, root, "plug")) == 2
    root.write(TODO, b'[{"content": "Count the fish"}]')
    assert _find(tmp_path, root, "fish") == [(FIRST, Path(TODO).name)]
    assert len(_find(tmp_path, root, "plug")) == 1
    (root.path / TODO).unlink()
    assert _find(tmp_path, root, "fish") == []


def test_an_index_with_lists_is_current(tmp_path: Path) -> None:
    """Lists that did not change are not read again, and belong to the status of the index."""
    root = _make_root(tmp_path)
    for path in root.path.rglob("*.jsonl"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    transcripts = discover_root(root.path).transcripts
    data = tmp_path / "data"
    assert find_text_status(data, ANALYZER.version, transcripts).files_behind == 5
    assert index_texts(data, ANALYZER, transcripts)
    assert find_text_status(data, ANALYZER.version, transcripts).files_behind == 0


def test_without_lists_nothing_is_added(tmp_path: Path) -> None:
    """A root without such directories only costs two lookups."""
    root = ClaudeRoot(tmp_path)
    root.session(FIRST, prompt("drain"))
    transcripts = discover_root(root.path).transcripts
    assert with_lists(transcripts) == list(transcripts)


def test_lists_of_other_sessions_and_directories_are_left_out(tmp_path: Path) -> None:
    """In an index of two directories with the same sessions, only the requested one is searched."""
    first, second = _make_root(tmp_path / "one"), _make_root(tmp_path / "two")
    transcripts = [
        each for root in (first, second) for each in discover_root(root.path).transcripts
    ]
    assert index_texts(tmp_path / "data", ANALYZER, transcripts)
    for root in (first, second):
        wanted = [each for each in discover_root(root.path).transcripts if each.session_id == FIRST]
        (hit,) = search(tmp_path / "data", "plug", wanted, index_complete=True).hits
        assert hit.path == str(root.path / TODO)
