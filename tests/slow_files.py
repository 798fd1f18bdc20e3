"""The order in which test files start: those that take long first.

A worker runs whole files. A long one that starts last keeps one worker busy while the others have
nothing to do.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

TESTS = Path(__file__).resolve().parent

SLOW_FILES = (
    "workspace/test_planted_secrets.py",
    "web/browser/test_landing.py",
    "web/browser/test_conversation.py",
    "web/browser/test_every_page.py",
    "archive/test_encryption.py",
    "web/test_equal_json.py",
    "web/browser/test_session.py",
    "sync/test_orphans.py",
    "cli/archive/test_archive_commands.py",
    "sync/test_schedules.py",
    "library/test_agreement.py",
    "web/browser/test_payloads.py",
    "web/browser/test_live.py",
    "cli/commands/test_run.py",
    "web/browser/test_keys.py",
    "redact/test_figures.py",
    "web/test_one_name.py",
    "web/browser/test_conversation_payloads.py",
    "web/browser/test_requests.py",
    "archive/test_archive_faults.py",
    "fuzz/test_lines.py",
    "sources/test_source.py",
    "cli/test_interrupts.py",
    "usage/test_damage.py",
    "workspace/test_masked_names.py",
    "web/browser/test_screenshots.py",
    "client/test_conversation_pages.py",
    "search/test_substrings.py",
    "web/browser/test_lists.py",
    "fuzz/test_damage.py",
    "cli/test_golden_sessions.py",
    "cli/commands/test_serve.py",
    "tools/test_measure_code.py",
    "benchmarks/test_archive_benchmark.py",
    "cli/test_manners.py",
    "web/test_conversations.py",
    "sync/test_list_equals_show.py",
    "cli/test_documents.py",
    "cli/chat/test_chat_screen.py",
    "archive/test_round_trip.py",
    "library/test_listings.py",
    "web/test_hidden_characters.py",
    "test_architecture.py",
    "versions/test_samples.py",
    "web/browser/test_exported_pages.py",
    "benchmarks/test_versions_benchmark.py",
    "cli/commands/test_statusline.py",
    "sync/test_kill.py",
    "sources/test_agreement.py",
    "web/test_server.py",
    "web/browser/test_sign_in.py",
    "sync/test_processes.py",
    "cli/test_hostile_commands.py",
    "benchmarks/test_redact_benchmark.py",
    "launch/test_conversation_leaks.py",
    "web/test_deleted_sessions.py",
    "web/test_pages.py",
    "cli/test_golden_pages.py",
    "sync/test_corpus.py",
    "live/test_follow.py",
    "workspace/test_token_shares.py",
    "workspace/test_secret_masks.py",
    "cli/commands/test_show.py",
    "sync/test_texts.py",
    "benchmarks/test_masking_benchmark.py",
    "cli/picker/test_screen.py",
    "cli/commands/test_restore.py",
    "web/browser/test_paging.py",
    "export/test_long_sessions.py",
    "workspace/test_workspace.py",
    "versions/test_ground_truth.py",
    "benchmarks/test_index_benchmark.py",
    "cli/commands/test_follow.py",
    "web/browser/test_hidden_characters.py",
    "library/test_guide.py",
    "benchmarks/test_web_benchmark.py",
    "web/test_half_requests.py",
)
"""Files that take ten seconds or more on two cores, the longest first; only the order matters.

`pytest --junitxml` has the figures.
"""


def make_order(slow_files: Iterable[str]) -> Callable[[Path], int]:
    """Return a sort key: the rank of a slow file, and the same number for all others."""
    ranks = {TESTS / name: rank for rank, name in enumerate(slow_files)}
    return lambda path: ranks.get(path, len(ranks))
