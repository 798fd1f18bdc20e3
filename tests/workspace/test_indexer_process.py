"""The process that keeps the index up to date: its messages, and that it always ends."""

import shutil
from pathlib import Path

import pytest

from recollect.redact.findings import OwnPattern, RedactionPolicy
from recollect.redact.own_rules import use_own_rules
from recollect.store.text_database import delete_texts
from recollect.workspace.indexer_process import IndexerProcess
from recollect.workspace.refresher import Refresher, RefreshTask, find_text_identity
from recollect.workspace.session_catalog import SessionCatalog, Update
from tests.library.claude_root import FIRST, PROJECT, SECOND, ClaudeRoot, prompt, reply, summary
from tests.web.running import copy_demo


def _run_until_current(refresher: Refresher) -> None:
    for _ in range(20):
        if refresher.run() > 0:
            return
    raise AssertionError("it is never up to date")


def test_everything_is_published_once(tmp_path: Path) -> None:
    """The first passes bring a catalog up to date; a pass without a change publishes nothing."""
    catalog, updates = SessionCatalog(), list[Update]()
    root = copy_demo(tmp_path)

    def publish(update: Update) -> None:
        updates.append(update)
        catalog.apply(update)

    refresher = Refresher(RefreshTask((root,), tmp_path / "data"), publish)
    _run_until_current(refresher)
    known = catalog.snapshot
    assert (known.is_listed, known.is_searchable, known.failure) == (True, True, None)
    assert len([each for each in known.sessions if not each.is_subagent]) == 8
    assert [each.id for each in known.sessions if each.turn_count is None] == []
    assert len(known.present.usage) == 8
    updates.clear()
    refresher.run()
    assert updates == []


def test_titles_in_other_files_are_followed(tmp_path: Path) -> None:
    """A summary file that appears, changes or disappears renames its session."""
    root, catalog = ClaudeRoot(tmp_path / "claude"), SessionCatalog()
    root.session(FIRST, prompt("drain"), reply("Done."))
    refresher = Refresher(RefreshTask((root.path,), tmp_path / "data"), catalog.apply)
    leftover = root.path / "projects" / PROJECT / f"{SECOND}.jsonl"
    titles: list[tuple[str | None, ...]] = []
    for title in (None, "The pond", "The deep lake", None):
        leftover.unlink(missing_ok=True)
        if title:
            root.session(SECOND, summary(title, "a1"))
        _run_until_current(refresher)
        titles.append(tuple(each.title for each in catalog.snapshot.sessions))
    assert titles == [("drain",), ("The pond",), ("The deep lake",), ("drain",)]


def test_updates_say_what_has_changed(tmp_path: Path) -> None:
    """A grown, a new and a deleted file are published in the next round."""
    catalog = SessionCatalog()
    root = copy_demo(tmp_path)
    refresher = Refresher(RefreshTask((root,), tmp_path / "data"), catalog.apply)
    _run_until_current(refresher)
    before = {each.id for each in catalog.snapshot.sessions}
    first, second, *_ = sorted(root.glob("projects/*tidepool/*.jsonl"))
    shutil.copy(first, first.with_name("11111111-2222-4333-8444-555555555555.jsonl"))
    # Otherwise what is left of it makes a partial session.
    (root / "history.jsonl").unlink()
    for leftovers in ("todos", "tasks", "file-history"):
        shutil.rmtree(root / leftovers)
    second.unlink()
    _run_until_current(refresher)
    after = {each.id for each in catalog.snapshot.sessions}
    assert (after - before, before - after) == (
        {"11111111-2222-4333-8444-555555555555"},
        {second.stem},
    )


def test_a_session_is_deleted_when_rules_for_secrets_change(tmp_path: Path) -> None:
    """All others are listed again, masked by the new rules."""
    root, catalog = ClaudeRoot(tmp_path / "claude"), SessionCatalog()
    root.session(FIRST, prompt("mend reef_0123"))
    deleted = root.session(SECOND, prompt("mend it"))
    policy = RedactionPolicy()
    use_own_rules(lambda: policy)
    refresher = Refresher(RefreshTask((root.path,), tmp_path / "data"), catalog.apply)
    _run_until_current(refresher)
    assert {each.id for each in catalog.snapshot.sessions} == {FIRST, SECOND}
    policy = RedactionPolicy(patterns=(OwnPattern("reef", "reef_[0-9]+"),))
    deleted.unlink()
    _run_until_current(refresher)
    (listed,) = catalog.snapshot.sessions
    assert (listed.id, listed.first_prompt) == (FIRST, "mend [redacted:reef]")


def test_refresher_need_no_root(tmp_path: Path) -> None:
    """Without a Claude directory the list is empty, and a directory may disappear."""
    catalog = SessionCatalog()
    Refresher(RefreshTask((), tmp_path / "data"), catalog.apply).run()
    assert (catalog.snapshot.is_listed, catalog.snapshot.sessions) == (True, ())
    missing = Refresher(RefreshTask((tmp_path / "none",), tmp_path / "other"), catalog.apply)
    assert missing.run() >= 0


def test_refresher_outlive_an_index_that_cannot_be_written(tmp_path: Path) -> None:
    """Sessions are still listed, and the reason is published."""
    catalog, updates = SessionCatalog(), list[Update]()
    (tmp_path / "data").write_text("a file", encoding="ascii")
    refresher = Refresher(RefreshTask((copy_demo(tmp_path),), tmp_path / "data"), updates.append)
    refresher.run()
    for update in updates:
        catalog.apply(update)
    assert len(catalog.snapshot.sessions) > 8
    assert [update.failure for update in updates if update.failure] != []


@pytest.mark.slow
def test_indexer_ends_at_any_moment(tmp_path: Path) -> None:
    """However soon it is stopped, its process ends."""
    root = copy_demo(tmp_path)
    for seconds in (0.0, 0.01, 0.3, 1.5):
        catalog = SessionCatalog()
        indexer = IndexerProcess(catalog, RefreshTask((root,), tmp_path / "data"))
        indexer.start()
        catalog.wait_for_list(seconds)
        indexer.stop()
        assert not indexer.is_running


def test_refresher_index_texts_again_that_somebody_deleted(tmp_path: Path) -> None:
    """Another process that finds the full-text index damaged deletes it."""
    catalog, updates = SessionCatalog(), list[Update]()

    def publish(update: Update) -> None:
        updates.append(update)
        catalog.apply(update)

    task = RefreshTask((copy_demo(tmp_path),), tmp_path / "data")
    refresher = Refresher(task, publish)
    _run_until_current(refresher)
    before = find_text_identity(task.data_directory)
    delete_texts(task.data_directory)
    updates.clear()
    _run_until_current(refresher)
    after = find_text_identity(task.data_directory)
    assert None not in {before, after}
    assert before != after
    assert updates == [Update(is_searchable=True)]
