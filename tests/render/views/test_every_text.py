"""Every text of every known record and block is shown, unless it is listed with a reason."""

import json
from typing import get_args

import msgspec
import pytest

from recollect.documents.turn_documents import (
    CheckItem,
    Checklist,
    CheckState,
    Fields,
    NoticeKind,
    NoticeStep,
    Part,
)
from recollect.records.blocks import Block, ContentBlock, NestedBlock
from recollect.records.decoding import decode_record
from recollect.records.envelope import Record
from recollect.records.state import JournalRow
from recollect.render.views.turn_views import build_turn_views
from recollect.render.views.whole_calls import show_whole_calls
from recollect.session.session import Session
from tests.every_field import WORD, Json, is_unread, iter_struct, list_records, name_of
from tests.session.chains import system, user

LEFT_OUT = {
    "UserMessage.role": "one of a few fixed values",
    "CompactBoundary.content": "always the same words; the compaction is shown",
    **{
        f"{kind}.{name}": "an id, or bookkeeping of the API"
        for kind in ("McpToolUse", "ServerToolUseBlock", "ToolUse")
        for name in ("id", "cache_control")
    },
}
"""Fields that special views leave out, and why."""

RECORDS = [each for each in list_records() if not issubclass(each[1], JournalRow)]
"""Journal rows are left out: `journal.jsonl` is not a transcript, and sessions have none."""


def _is_shown(line: Json) -> bool:
    # A prompt without words would be none.
    message = {"message": {"role": "user", "content": "hello"}} if line["type"] == "user" else {}
    whole = {"uuid": "x", "parentUuid": "p", **message, **line}
    record = decode_record(json.dumps(whole).encode())
    assert record is not None
    session = Session([user("p"), record])
    views = [show_whole_calls(view, session) for view in build_turn_views(session)]
    return WORD in msgspec.json.encode(views, enc_hook=lambda _: None).decode()


@pytest.mark.parametrize(
    ("kind", "line"), [each[1:] for each in RECORDS], ids=[each[0] for each in RECORDS]
)
def test_every_text_of_a_record_is_shown_or_excused(kind: type[Record], line: Json) -> None:
    """Every text of a record is in a view, or listed with a reason."""
    hidden = [
        name_of(way)
        for way, value in iter_struct(kind, [])
        if isinstance(value, dict)
        and not is_unread(way)
        and name_of(way) not in LEFT_OUT
        and not _is_shown({**value, **line})
    ]
    assert hidden == []


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("kind", get_args(ContentBlock))
def test_every_text_of_a_block_is_shown_or_excused(kind: type[Block], role: str) -> None:
    """The same for the blocks of a message, by any role."""
    hidden = [
        name_of(way)
        for way, block in iter_struct(kind, [])
        if not is_unread(way)
        and name_of(way) not in LEFT_OUT
        and not _is_shown({"type": role, "message": {"role": role, "content": [block]}})
    ]
    assert hidden == []


@pytest.mark.parametrize("kind", get_args(NestedBlock))
def test_every_text_in_a_tool_result_is_shown_or_excused(kind: type[Block]) -> None:
    """The same for the blocks that a tool returned."""
    result = {"type": "tool_result", "tool_use_id": "t"}
    hidden = [
        name_of(way)
        for way, block in iter_struct(kind, [])
        if not is_unread(way)
        and name_of(way) not in LEFT_OUT
        and not _is_shown(
            {"type": "user", "message": {"content": [{**result, "content": [block]}]}}
        )
    ]
    assert hidden == []


def _list_notices(*records: Record) -> list[tuple[str, tuple[Part, ...]]]:
    (view,) = build_turn_views(Session([user("p"), *records]))
    return [(step.title, step.parts) for step in view.steps if isinstance(step, NoticeStep)]


def test_state_is_a_routine_notice_where_it_changes() -> None:
    """Clients repeat the same state at every flush; only changes are shown."""
    titles = ["one", "one", "two", "one"]
    lines = [{"type": "ai-title", "aiTitle": title, "sessionId": "s"} for title in titles]
    link = {"type": "pr-link", "prNumber": 7, "prUrl": "https://forge.test/7", "sessionId": "s"}
    records = [decode_record(json.dumps(line).encode()) for line in (*lines, link)]
    assert _list_notices(*(record for record in records if record is not None)) == [
        ("Title by the model", (Fields((("ai title", "one"),)),)),
        ("Title by the model", (Fields((("ai title", "two"),)),)),
        ("Title by the model", (Fields((("ai title", "one"),)),)),
        ("Pull request", (Fields((("pr url", "https://forge.test/7"),)),)),
    ]


def test_a_file_of_state_alone_has_no_turns() -> None:
    """A file with only state records has no conversation."""
    record = decode_record(b'{"type":"summary","summary":"Fix it","leafUuid":"elsewhere"}')
    assert record is not None
    assert build_turn_views(Session([record])) == ()


def test_todos_of_a_prompt_are_a_list() -> None:
    """The todo list that a client kept with a prompt is shown as one, after the prompt."""
    todos = [{"content": "plan", "status": "completed", "activeForm": "Planning"}]
    (view,) = build_turn_views(Session([user("p", "go on", todos=todos)]))
    item = CheckItem("plan", CheckState.DONE)
    assert view.steps == (
        NoticeStep(
            uuid="beside-p",
            kind=NoticeKind.INFORMATION,
            title="Also in this record",
            parts=(Checklist((item,)),),
            is_routine=True,
        ),
    )


def test_errors_of_hooks_that_are_not_named_are_shown() -> None:
    """A summary of stopped hooks shows its errors and its reason even without hook names."""
    summary = system("s", "stop_hook_summary", "p", hookErrors=["lint failed"], stopReason="why")
    (view,) = build_turn_views(Session([user("p"), summary]))
    (step,) = view.steps
    assert isinstance(step, NoticeStep)
    assert step.parts == (Fields((("hook errors", "lint failed"), ("stop reason", "why"))),)
