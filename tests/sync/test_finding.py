"""The transcripts that a query covers."""

from pathlib import Path

from recollect.demo import CLAUDE_DIRECTORY
from recollect.locations import TranscriptKind
from recollect.sync.index_access import find_transcripts
from tests.library.claude_root import FIRST, SECOND, ClaudeRoot, prompt


def test_subagents_can_be_left_out() -> None:
    """The sessions are the same, wherever their subagents are."""
    everything = find_transcripts([CLAUDE_DIRECTORY])
    sessions = [each for each in everything if each.kind is TranscriptKind.SESSION]
    assert find_transcripts([CLAUDE_DIRECTORY], include_subagents=False) == sessions
    assert (len(everything), len(sessions)) == (10, 8)


def test_links_into_a_session_are_left_out_too(tmp_path: Path) -> None:
    """Subagents in a linked session directory are left out."""
    root = ClaudeRoot(tmp_path)
    root.session(FIRST, prompt("a"))
    agent = root.agent(f"{FIRST}/subagents", "a1", prompt("look"))
    link = agent.parents[1].with_name(SECOND)
    link.symlink_to(agent.parents[1])
    found = find_transcripts([tmp_path], include_subagents=False)
    assert [each.session_id for each in found] == [FIRST]


def test_an_empty_file_is_no_session_and_no_file_counts_twice(tmp_path: Path) -> None:
    """A root that is named twice, once through a link, is read once."""
    root = ClaudeRoot(tmp_path / "claude")
    root.session(FIRST, prompt("a"))
    root.session(SECOND)
    found = find_transcripts([root.path, root.path])
    assert [each.session_id for each in found] == [FIRST]
