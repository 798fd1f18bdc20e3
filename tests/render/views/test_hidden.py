"""Nothing in a transcript is lost: each record is in a view, or listed as hidden."""

from pathlib import Path
from typing import get_args

import pytest

from recollect.demo import CLAUDE_DIRECTORY
from recollect.library.opening import open_session
from recollect.reader.transcript_reader import read_transcript
from recollect.records.attachment_kinds import HookKind, OtherAttachment, QueuedCommand
from recollect.records.attachments import KINDS_KNOWN_BY_NAME, AnyAttachment, Attachment
from recollect.records.system_records import SYSTEM_SUBTYPES
from recollect.render.views.message_steps import read_context
from recollect.render.views.notices import (
    HIDDEN_ATTACHMENT_NAMES,
    HIDDEN_ATTACHMENTS,
    HIDDEN_SYSTEM,
    make_record_notice,
)
from recollect.render.views.turn_views import build_turn_views
from recollect.session.session import Session
from tests.render.views.accounting import find_unaccounted
from tests.samples import every_transcript
from tests.session.chains import system, user

DEMO = sorted((CLAUDE_DIRECTORY / "projects").rglob("*.jsonl"))


@pytest.mark.parametrize("path", every_transcript(), ids=lambda path: path.stem)
def test_every_record_of_a_sample_is_shown_or_listed(path: Path) -> None:
    """Each small transcript is accounted for, whatever is wrong with it."""
    assert find_unaccounted(Session(read_transcript(path))) == []


@pytest.mark.parametrize("path", DEMO, ids=lambda path: path.stem[:8])
def test_every_record_of_the_demo_is_shown_or_listed(path: Path) -> None:
    """Each demo session is accounted for, its subagents included."""
    assert find_unaccounted(open_session(path)) == []


@pytest.mark.slow
def test_every_record_of_real_clients_is_shown_or_listed(shared: Path) -> None:
    """Holds for recordings of five versions of the client."""
    paths = sorted(shared.glob("real_cli/*/config*/projects/**/*.jsonl"))
    lost = {path.name: find_unaccounted(Session(read_transcript(path))) for path in paths}
    assert paths
    assert {name: records for name, records in lost.items() if records} == {}


@pytest.mark.slow
def test_every_record_of_the_corpus_is_shown_or_listed(shared: Path) -> None:
    """Holds for published sessions."""
    paths = sorted(path for path in shared.glob("corpus/[!_]*/**/*.jsonl") if path.is_file())
    lost = {str(path): find_unaccounted(Session(read_transcript(path))) for path in paths}
    assert paths
    assert {name: records for name, records in lost.items() if records} == {}


def test_every_kind_of_attachment_is_shown_or_listed() -> None:
    """A kind with a class is shown, or listed as hidden with a reason."""
    shown_elsewhere = (HookKind, QueuedCommand, OtherAttachment)
    undecided = [
        kind
        for kind in get_args(AnyAttachment)
        if not issubclass(kind, (*shown_elsewhere, *HIDDEN_ATTACHMENTS))
        and make_record_notice(Attachment(attachment=kind())) is None
        and read_context(Attachment(attachment=kind())) is None
    ]
    assert undecided == []


def test_every_notice_of_the_client_is_shown_or_listed() -> None:
    """Text of the client is shown, whatever the subtype."""
    empty = {
        name
        for name in SYSTEM_SUBTYPES
        for view in build_turn_views(Session([user("p"), system("s", name, "p", content="x")]))
        if not view.steps
    }
    assert empty == set()


def test_every_notice_without_words_is_shown_or_listed() -> None:
    """A subtype with a class is shown even without text, or listed."""
    empty = {
        name
        for name in SYSTEM_SUBTYPES
        for view in build_turn_views(Session([user("p"), system("s", name, "p")]))
        if not view.steps
    }
    hidden = {name for name, kind in SYSTEM_SUBTYPES.items() if issubclass(kind, HIDDEN_SYSTEM)}
    # A summary of hooks is shown by the hooks that it names, and this one names none.
    assert empty == hidden | {"stop_hook_summary"}


def test_hidden_names_are_known_names() -> None:
    """The list has only kinds of attachments that a client writes."""
    assert HIDDEN_ATTACHMENT_NAMES <= KINDS_KNOWN_BY_NAME
