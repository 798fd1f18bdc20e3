"""Views of turns: what started them, and their steps in the order of the file."""

import pytest
from msgspec import Raw
from msgspec.structs import replace

from recollect.documents.kinds import Context, ContextKind, InputKind, SubagentOutcome
from recollect.documents.turn_documents import (
    Fields,
    Json,
    NoticeKind,
    NoticeStep,
    Output,
    Picture,
    Plain,
    Prose,
    Step,
    TaskReference,
    TextStep,
    ThinkingStep,
    ToolStep,
)
from recollect.records.decoding import decode_record
from recollect.records.envelope import Damaged, Record, Span, Unknown
from recollect.records.token_usage import Tokens
from recollect.render.views.turn_views import build_turn_view, build_turn_views
from recollect.session.session import Session
from recollect.session.subagents import Child, attach_subagents
from tests.session.chains import (
    answer,
    attachment,
    boundary,
    in_a_row,
    progress,
    queue,
    reply,
    result,
    summary,
    system,
    text,
    use,
    user,
)


def steps_of(*records: Record) -> list[tuple[Step, ...]]:
    """Return the steps of each turn of a session."""
    return [view.steps for view in build_turn_views(Session(records))]


def said(uuid: str, words: str, role: str = "assistant", kind: InputKind | None = None) -> TextStep:
    """Return a text step of the model or the user."""
    if role == "user":
        return TextStep(uuid=uuid, message_id=uuid, role=role, parts=(Prose(words),), kind=kind)
    return TextStep(
        uuid=uuid,
        message_id=f"msg_{uuid}",
        role=role,
        parts=(Prose(words),),
        model="claude-opus-4-5",
    )


def noted(
    uuid: str | None, kind: NoticeKind, title: str, *parts: Prose | Plain | Output
) -> NoticeStep:
    """Return a notice."""
    return NoticeStep(uuid=uuid, kind=kind, title=title, parts=parts)


def test_turn_is_headed_by_the_words_of_the_person() -> None:
    """Context added by the editor, and files mentioned in the prompt, are contexts."""
    opened = "<ide_opened_file>The user opened the file /p/a.py in the IDE.</ide_opened_file>"
    picture = {"type": "image", "source": {"media_type": "image/png", "data": "AA"}}
    usage = {"input_tokens": 3, "output_tokens": 5}
    records = in_a_row(
        user("p", [text(opened), text("fix it"), picture], permissionMode="plan"),
        attachment("f", "file", filename="/p/b.py", displayPath="b.py"),
        reply("r", "done", message={"usage": usage}),
    )
    (view,) = build_turn_views(Session(records))
    assert (view.uuid, view.kind, view.words) == ("p", InputKind.IDE_OPENED_FILE, "fix it")
    assert [(context.kind, context.path) for context in view.contexts] == [
        (ContextKind.IDE_OPENED_FILE, "/p/a.py"),
        (ContextKind.FILE, "/p/b.py"),
    ]
    assert view.media == (Picture("image/png", "AA"),)
    assert (view.tokens, view.model) == (Tokens(input=3, output=5), "claude-opus-4-5")
    assert (view.permission_mode, view.uuids) == ("plan", ("p", "f", "r"))
    assert view.steps == (said("r", "done"),)


def test_a_file_that_a_prompt_names_is_one_context() -> None:
    """The client attaches `@` files; a context block with the same file shows it only once."""
    words = "> **Context**\n>\n> - 📄 `b.py`\n> - 📁 `src/`\n\nfix @b.py"
    records = in_a_row(
        user("p", words.replace("Context", "上下文资料")),
        attachment("f", "file", filename="/p/b.py", displayPath="b.py"),
        attachment("d", "directory", path="/p/src", displayPath="src"),
        attachment("o", "file", filename="/p/other.py", displayPath="other.py"),
    )
    (view,) = build_turn_views(Session(records))
    assert [(context.kind, context.path) for context in view.contexts] == [
        (ContextKind.FILE, "b.py"),
        (ContextKind.FOLDER, "src/"),
        (ContextKind.FILE, "/p/other.py"),
    ]


def test_results_are_part_of_their_calls() -> None:
    """A result never looks like a message of the user; other content of its record is kept."""
    records = in_a_row(
        user("p"),
        reply("r", use("t1", command="ls")),
        user("q", [answer("t1", "a"), text("and hurry")]),
    )
    ((called, beside),) = steps_of(*records)
    assert isinstance(called, ToolStep)
    assert (called.tool, called.title, called.uuid, called.result_uuid) == ("Bash", "ls", "r", "q")
    assert called.output == (Output("a"),)
    assert beside == said("q", "and hurry", "user")


def test_steps_are_in_the_order_of_the_file() -> None:
    """Hooks, queued prompts and thinking are in place, between lines of one message."""
    message = {"id": "m"}
    records = in_a_row(
        user("p"),
        reply("r1", {"type": "thinking", "thinking": "hm", "signature": "s"}, message=message),
        reply("r2", use("t1", command="ls"), message=message),
        attachment(
            "h", "hook_success", hookName="PreToolUse:Bash", hookEvent="PreToolUse", command="true"
        ),
        result("q", "t1"),
        attachment("w", "queued_command", prompt="also this", commandMode="prompt"),
        reply("r3", "done"),
    )
    (steps,) = steps_of(*records)
    assert [type(step) for step in steps] == [
        ThinkingStep,
        ToolStep,
        NoticeStep,
        TextStep,
        TextStep,
    ]
    assert steps[0] == ThinkingStep(uuid="r1", message_id="m", text="hm")
    assert steps[2] == NoticeStep(
        uuid="h",
        kind=NoticeKind.HOOK,
        title="PreToolUse:Bash hook succeeded",
        parts=(Fields((("command", "true"),)),),
        is_routine=True,
    )
    assert steps[3:] == (said("w", "also this", "user", InputKind.QUEUED), said("r3", "done"))


def test_hooks_fold_into_their_call() -> None:
    """Hooks of a call are part of it; a failed hook stays where it failed."""
    about = {"hookEvent": "PostToolUse", "hookName": "PostToolUse:Bash", "toolUseID": "t1"}
    records = in_a_row(
        user("p"),
        reply("r", use("t1", command="ls")),
        result("q", "t1"),
        attachment("h1", "hook_success", command="fmt", **about),
        attachment("h2", "hook_additional_context", content=["remember this"], **about),
        attachment("h3", "hook_non_blocking_error", command="lint", stderr="no lint", **about),
        attachment("h4", "hook_success", command="other", toolUseID="elsewhere"),
    )
    (steps,) = steps_of(*records)
    call, *others = steps
    assert isinstance(call, ToolStep)
    assert [(hook.uuid, hook.title) for hook in call.hooks] == [
        ("h1", "PostToolUse:Bash hook succeeded"),
        ("h2", "PostToolUse:Bash hook added context"),
    ]
    assert call.hooks[1].parts == (Plain("remember this"),)
    assert [step.uuid for step in others] == ["h3", "h4"]


TOLD = """<task-notification>
<task-id>a1</task-id>
<tool-use-id>t1</tool-use-id>
<status>{}</status>
<summary>Agent "look" ended</summary>
<result>All is well.</result>
</task-notification>"""


def make_delegating(status: str) -> Session:
    """Return a session with a background subagent, and the notification that it ended."""
    launched = {"status": "async_launched", "agentId": "a1", "description": "look"}
    wanted = {"description": "look", "prompt": "look around", "subagent_type": "Explore"}
    session = Session(
        in_a_row(
            user("p"),
            reply("r", use("t1", "Agent", **wanted)),
            result("q", "t1", toolUseResult=launched),
            user("n", TOLD.format(status), origin={"kind": "task-notification"}),
            reply("s", "good"),
        )
    )
    found = Session(in_a_row(user("a", "look around"), reply("b", "All is well.")))
    attach_subagents(session, [Child(agent_id="a1", session=found)])
    return session


def test_a_notification_refers_to_the_call_that_it_is_about() -> None:
    """It refers to the call and the subagent that has the reply, and keeps its text."""
    first, second = build_turn_views(make_delegating("completed"))
    (report, _) = second.steps
    assert isinstance(report, TextStep)
    assert report.tasks == (TaskReference(call_uuid="r", turn=1, title="look", agent_id="a1"),)
    assert report.repeats_answers
    assert Prose("All is well.") in report.parts
    (call,) = first.steps
    assert isinstance(call, ToolStep)
    assert [child.outcome for child in call.subagents] == [SubagentOutcome.COMPLETED]


def test_a_task_of_a_subagent_refers_to_the_subagent() -> None:
    """A notification about a subagent's call refers to the subagent."""
    session = make_delegating("completed")
    told = TOLD.format("completed").replace(">t1<", ">t2<").replace(">a1<", ">b7<")
    session.extend([user("m", told, "s", origin={"kind": "task-notification"})])
    found = Session(in_a_row(user("a", "look around"), reply("b", use("t2", command="sleep 9"))))
    attach_subagents(session, [Child(agent_id="a1", session=found)])
    (report,) = build_turn_views(session)[-1].steps
    assert isinstance(report, TextStep)
    assert (report.kind, report.tasks) == (
        InputKind.TASK_NOTIFICATION,
        (TaskReference(call_uuid="r", turn=1, title="look", agent_id="a1"),),
    )


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ("failed", SubagentOutcome.FAILED),
        ("killed", SubagentOutcome.STOPPED),
        ("resting", None),
    ],
)
def test_how_a_subagent_ended_is_what_was_reported(
    status: str, outcome: SubagentOutcome | None
) -> None:
    """The call only shows that it was started; an unknown status shows nothing."""
    (call,) = build_turn_views(make_delegating(status))[0].steps
    assert isinstance(call, ToolStep)
    assert [child.outcome for child in call.subagents] == [outcome]


def test_what_the_client_reports_is_noted() -> None:
    """Retries, failures, model changes and notices are each in place."""
    error = {"message": "overloaded", "status": 529}
    records = in_a_row(
        user("p"),
        system("e", "api_error", error=error, retryAttempt=1, maxRetries=10, retryInMs=500),
        system("f", "model_fallback", originalModel="opus", fallbackModel="sonnet"),
        system("i", "informational", content="a word"),
        reply(
            "x",
            "API Error: 500",
            message={"model": "<synthetic>"},
            isApiErrorMessage=True,
            apiErrorStatus=500,
        ),
    )
    assert steps_of(*records) == [
        (
            noted(
                "e",
                NoticeKind.RETRY,
                "The request failed with status 529 · attempt 1 of 10 · next in 500 ms",
                Plain("overloaded"),
            ),
            noted("f", NoticeKind.MODEL, "opus → sonnet"),
            noted("i", NoticeKind.INFORMATION, "a word"),
            NoticeStep(
                uuid="x",
                kind=NoticeKind.API_ERROR,
                title="API Error: 500",
                parts=(Fields((("status", "500"),)),),
            ),
        )
    ]


def test_change_of_the_model_without_a_report() -> None:
    """If another model replies, a notice comes before its first text."""
    records = in_a_row(
        user("p"), reply("a", "one"), reply("b", "two", message={"model": "claude-haiku-4-5"})
    )
    (steps,) = steps_of(*records)
    assert steps[1] == noted(None, NoticeKind.MODEL, "claude-opus-4-5 → claude-haiku-4-5")


def test_compaction_opens_a_turn_with_its_summary() -> None:
    """The summary is shown with the boundary, not as text of the user."""
    records = [
        *in_a_row(user("p"), reply("r", "done")),
        boundary("b", "r", trigger="auto", preTokens=9000),
        summary("s", "so far", "b"),
    ]
    first, second = build_turn_views(Session(records))
    title = "The conversation was compacted · automatically · 9,000 tokens"
    assert first.steps == (said("r", "done"),)
    assert (second.uuid, second.kind, second.words) == ("s", InputKind.COMPACTION_SUMMARY, "")
    assert (first.segment, second.segment) == (0, 1)
    assert second.steps == (noted("b", NoticeKind.COMPACTION, title, Prose("so far")),)


def test_compaction_within_a_turn() -> None:
    """A compaction during a turn is shown in the middle of it."""
    records = [
        *in_a_row(user("p", promptId="1"), reply("r", "one")),
        boundary("b", "r"),
        replace(summary("s", "so far", "b"), prompt_id="1"),
        reply("t", "two", parent="s"),
    ]
    assert steps_of(*records) == [
        (
            said("r", "one"),
            noted("s", NoticeKind.COMPACTION, "The conversation was compacted", Prose("so far")),
            said("t", "two"),
        )
    ]


def test_boundary_without_a_summary_is_noted() -> None:
    """A fork may begin with only a boundary."""
    records = [boundary("b", "elsewhere"), user("p", parent="b")]
    title = "The conversation was compacted"
    assert steps_of(*records) == [(noted("b", NoticeKind.COMPACTION, title),)]


def test_commands_and_their_output() -> None:
    """A command starts its turn, and its output is a notice, with errors separate."""
    records = in_a_row(
        user("c", "<command-name>/cost</command-name><command-args>all</command-args>"),
        user("o", "<local-command-stdout>3 $</local-command-stdout>"),
        user("i", "<bash-input>ls</bash-input>"),
        user("j", "<bash-stdout>a</bash-stdout><bash-stderr>b</bash-stderr>"),
    )
    views = build_turn_views(Session(records))
    assert [(view.command, view.words) for view in views] == [("/cost", "all"), (None, "ls")]
    assert [view.steps for view in views] == [
        (noted("o", NoticeKind.COMMAND_OUTPUT, "Output", Output("3 $")),),
        (
            noted(
                "j",
                NoticeKind.COMMAND_OUTPUT,
                "Output",
                Output("a"),
                Output("b", is_error=True),
            ),
        ),
    ]


def test_local_commands_of_the_terminal() -> None:
    """Newer clients record commands as notices: the name, then the output."""
    records = in_a_row(
        user("p"),
        system("a", "local_command", content="<command-name>/rename</command-name>"),
        system("b", "local_command", content="<local-command-stdout>ok</local-command-stdout>"),
    )
    assert steps_of(*records) == [
        (
            noted("a", NoticeKind.COMMAND_OUTPUT, "/rename"),
            noted("b", NoticeKind.COMMAND_OUTPUT, "Output", Output("ok")),
        )
    ]


def test_notification_of_a_task() -> None:
    """A notification is titled by its summary, and all of it is a step."""
    words = (
        "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n"
        "<summary>Agent finished</summary>\n<result>All *good*.</result>\n</task-notification>"
    )
    records = [user("n", words, origin={"kind": "task-notification"})]
    (view,) = build_turn_views(Session(records))
    assert (view.uuid, view.words) == ("n", "Agent finished")
    (step,) = view.steps
    assert isinstance(step, TextStep)
    assert (step.uuid, step.role, step.parts) == (
        None,
        "user",
        (
            Plain("Agent finished"),
            Prose("All *good*."),
            Fields((("task-id", "b1"), ("status", "completed"))),
        ),
    )


def test_interruptions() -> None:
    """An interruption is not a prompt."""
    records = in_a_row(user("p"), reply("r", "so"), user("i", "[Request interrupted by user]"))
    (steps,) = steps_of(*records)
    assert steps[1:] == (noted("i", NoticeKind.INTERRUPTION, "Request interrupted by user"),)


def test_injected_texts_are_routine_but_not_their_pictures() -> None:
    """Injected content can be collapsed, unless it contains images."""
    picture = {"type": "image", "source": {"media_type": "image/png", "data": "AA"}}
    records = in_a_row(
        user("p"), user("m", "be kind", isMeta=True), user("n", [picture], isMeta=True)
    )
    (steps,) = steps_of(*records)
    assert steps == (
        NoticeStep(
            uuid="m",
            kind=NoticeKind.INFORMATION,
            title="For the model",
            parts=(Prose("be kind"),),
            is_routine=True,
        ),
        NoticeStep(
            uuid="n",
            kind=NoticeKind.INFORMATION,
            title="For the model",
            parts=(Picture("image/png", "AA"),),
        ),
    )


def test_damage_and_unknown_records_are_shown_in_place() -> None:
    """A line that is not a record is shown after the record before it in the file."""
    first, second = in_a_row(user("p"), reply("r", "done"))
    records: list[Record] = [
        replace(first, span=Span("f", 0, 10)),
        Damaged(reason="no JSON", span=Span("f", 10, 5)),
        replace(second, span=Span("f", 15, 10)),
        Unknown(record_type="new", raw=Raw(b"{}"), span=Span("f", 25, 5)),
    ]
    (steps,) = steps_of(*records)
    assert steps == (
        NoticeStep(
            uuid="line-10",
            kind=NoticeKind.DAMAGE,
            title="Damaged line: no JSON",
            parts=(Fields((("offset", "10"), ("bytes", "5"))),),
        ),
        said("r", "done"),
        NoticeStep(
            uuid="line-25", kind=NoticeKind.UNKNOWN, title="Unknown record new", parts=(Json("{}"),)
        ),
    )


def test_answers_to_calls_that_are_elsewhere() -> None:
    """A result without its call is a notice, so that it is visible."""
    (steps,) = steps_of(user("p"), result("q", "elsewhere", "what", "p"))
    title = "Result of a call that is not in this file"
    assert steps == (noted("q", NoticeKind.INFORMATION, title, Output("what")),)


def test_session_without_messages() -> None:
    """Events without a message are one turn; an empty session has none."""
    view = build_turn_views(Session([Damaged(reason="no JSON")]))
    assert [(turn.number, turn.uuid, len(turn.steps)) for turn in view] == [(1, None, 1)]
    assert build_turn_views(Session()) == ()


def test_answer_cut_at_its_length() -> None:
    """A truncated reply has a notice after its last line."""
    records = in_a_row(user("p"), reply("r", "and", message={"stop_reason": "max_tokens"}))
    (steps,) = steps_of(*records)
    title = "The reply was cut off at its length limit"
    assert steps == (said("r", "and"), noted("r", NoticeKind.INFORMATION, title))


def test_attachments_of_unknown_kinds_are_shown() -> None:
    """An unknown kind is shown completely; reminders are not."""
    records = in_a_row(
        user("p"), attachment("a", "brand_new", x=1), attachment("b", "context_tip", x=1)
    )
    (steps,) = steps_of(*records)
    assert [(step.uuid, getattr(step, "kind", None)) for step in steps] == [
        ("a", NoticeKind.UNKNOWN)
    ]


def test_signs_of_life_of_unknown_kinds_are_shown() -> None:
    """Progress is hidden because results repeat it, unless its kind is unknown."""
    records = in_a_row(
        user("p"), progress("a", "bash_progress", output="x"), progress("b", "new_progress", x=1)
    )
    (steps,) = steps_of(*records)
    assert [step.uuid for step in steps] == ["b"]


def test_range_of_turns() -> None:
    """A range of turns equals that part of all turns, and each equals the turn alone."""
    records = in_a_row(*(user(f"p{n}", f"words {n}") for n in range(6)))
    session = Session(records)
    views = build_turn_views(session)
    assert [view.words for view in views] == [f"words {n}" for n in range(6)]
    assert build_turn_views(session, start=2, stop=4) == views[2:4]
    assert build_turn_views(session, start=-1) == views[-1:]
    assert tuple(build_turn_view(session, turn) for turn in session.turns) == views


def test_views_follow_a_growing_session() -> None:
    """After adding records, the views equal those of a rebuilt session."""
    records = in_a_row(user("p"), reply("r", use("t1", command="ls")), result("q", "t1", "a"))
    growing = Session()
    for count, record in enumerate(records, 1):
        growing.extend([record])
        assert build_turn_views(growing) == build_turn_views(Session(records[:count]))


def test_queued_words_keep_their_contexts() -> None:
    """Contexts of a prompt in the middle of a turn are kept."""
    words = "<ide_selection>The user selected the lines 1 to 2 from /p/a.py:\nx</ide_selection>go"
    records = in_a_row(
        user("p"), attachment("w", "queued_command", prompt=words, commandMode="prompt")
    )
    ((step,),) = steps_of(*records)
    assert isinstance(step, TextStep)
    assert step.parts == (Prose("go"),)
    assert step.contexts == (
        Context(
            ContextKind.IDE_SELECTION,
            "The user selected the lines 1 to 2 from /p/a.py:\nx",
            "/p/a.py",
            1,
            2,
        ),
    )


def test_a_gap_is_remarked_where_it_is() -> None:
    """Records after a lost one are in file order, after one notice."""
    chain = [
        *in_a_row(user("a", "one"), reply("b", "first")),
        *in_a_row(reply("c", "second", parent="gone"), user("d", "two"), reply("e", "third")),
    ]
    gap = noted(None, NoticeKind.GAP, "A record is missing here")
    assert steps_of(*chain) == [
        (said("b", "first"), gap, said("c", "second")),
        (said("e", "third"),),
    ]
    assert all(view.is_on_main_path for view in build_turn_views(Session(chain)))


def test_queued_prompts_are_shown_where_they_were_taken_up() -> None:
    """One that the model saw is a text of the user, a withdrawn one is a notice."""
    chain = in_a_row(user("a", "one"), reply("b", "first"))
    added = [queue("enqueue", "and this"), queue("remove")]
    dropped = [queue("enqueue", "not this"), queue("popAll", "not this")]
    assert steps_of(chain[0], *added, chain[1], *dropped) == [
        (
            said("queue-0", "and this", "user", InputKind.QUEUED),
            said("b", "first"),
            noted("queue-2", NoticeKind.INFORMATION, "Queued prompt, not sent", Prose("not this")),
        )
    ]


def test_a_result_among_the_records_is_shown_with_its_content() -> None:
    """A stream message in the file is titled and shown completely."""
    line = b'{"type":"result","subtype":"success","result":"all done"}'
    printed = decode_record(line, Span("", 0, len(line)))
    assert printed is not None
    ((step,),) = steps_of(user("a", "one"), printed)
    assert isinstance(step, NoticeStep)
    assert step.title == "Stream message result success"
    assert [json for json in step.parts if isinstance(json, Json) and "all done" in json.text]
