"""Plans, lists, questions, schedules and worktrees: one literal per tool, with the whole value."""

import pytest
from msgspec import Raw

from recollect.records.tools import ToolInput, ToolOutput, parse_input, parse_result
from recollect.records.tools.planning_tools import (
    AllowedPrompt,
    Annotation,
    AskUserQuestionInput,
    AskUserQuestionResult,
    CronCreateInput,
    CronCreateResult,
    CronDeleteInput,
    CronDeleteResult,
    CronJob,
    CronListInput,
    CronListResult,
    EnterPlanModeInput,
    EnterPlanModeResult,
    EnterWorktreeInput,
    EnterWorktreeResult,
    ExitPlanModeInput,
    ExitPlanModeResult,
    ExitWorktreeInput,
    ExitWorktreeResult,
    Finding,
    Option,
    Question,
    ReportFindingsInput,
    ReportFindingsResult,
    ScheduleWakeupInput,
    ScheduleWakeupResult,
    StatusChange,
    Task,
    TaskCreateInput,
    TaskCreateResult,
    TaskGetInput,
    TaskGetResult,
    TaskListInput,
    TaskListResult,
    TaskUpdateInput,
    TaskUpdateResult,
    Todo,
    TodoReadInput,
    TodoWriteInput,
    TodoWriteResult,
)

QUESTION = (
    b'{"question":"Which?","header":"Pick","multiSelect":true,'
    b'"options":[{"label":"A","description":"first","preview":"a"},{"label":"B"}]}'
)
ASKED = Question(
    question="Which?",
    header="Pick",
    multi_select=True,
    options=(Option(label="A", description="first", preview="a"), Option(label="B")),
)

INPUTS: list[tuple[str, bytes, ToolInput]] = [
    (
        "TodoWrite",
        (
            b'{"todos":[{"content":"Build","status":"pending","activeForm":"Building"},'
            b'{"content":"Test","status":"completed","priority":"high","id":"2"}]}'
        ),
        TodoWriteInput(
            todos=(
                Todo(content="Build", status="pending", active_form="Building"),
                Todo(content="Test", status="completed", priority="high", id="2"),
            )
        ),
    ),
    ("TodoRead", b"{}", TodoReadInput()),
    (
        "TaskCreate",
        b'{"subject":"Build","description":"D","activeForm":"Building","metadata":{"a":1}}',
        TaskCreateInput(
            subject="Build", description="D", active_form="Building", metadata=Raw(b'{"a":1}')
        ),
    ),
    ("TaskGet", b'{"taskId":"1"}', TaskGetInput(task_id="1")),
    ("TaskList", b"{}", TaskListInput()),
    (
        "TaskUpdate",
        (
            b'{"taskId":"1","status":"completed","subject":"S","description":"D","activeForm":"A",'
            b'"owner":"o","addBlocks":["2"],"addBlockedBy":["3"]}'
        ),
        TaskUpdateInput(
            task_id="1",
            status="completed",
            subject="S",
            description="D",
            active_form="A",
            owner="o",
            add_blocks=("2",),
            add_blocked_by=("3",),
        ),
    ),
    (
        "AskUserQuestion",
        b'{"questions":[' + QUESTION + b'],"answers":{"Which?":"A"},"metadata":{"source":"s"}}',
        AskUserQuestionInput(
            questions=(ASKED,), answers={"Which?": "A"}, metadata=Raw(b'{"source":"s"}')
        ),
    ),
    ("EnterPlanMode", b"{}", EnterPlanModeInput()),
    ("exit_plan_mode", b'{"plan":"# Plan"}', ExitPlanModeInput(plan="# Plan")),
    (
        "ExitPlanMode",
        (
            b'{"plan":"# Plan","planFilePath":"/p.md",'
            b'"allowedPrompts":[{"tool":"Bash","prompt":"run tests"}]}'
        ),
        ExitPlanModeInput(
            plan="# Plan",
            plan_file_path="/p.md",
            allowed_prompts=(AllowedPrompt(tool="Bash", prompt="run tests"),),
        ),
    ),
    (
        "ReportFindings",
        (
            b'{"level":"high","findings":[{"file":"a.py","line":3,"summary":"S",'
            b'"short_summary":"s","failure_scenario":"F","category":"bug","verdict":"CONFIRMED",'
            b'"outcome":"fixed"}]}'
        ),
        ReportFindingsInput(
            level="high",
            findings=(
                Finding(
                    file="a.py",
                    line=3,
                    summary="S",
                    short_summary="s",
                    failure_scenario="F",
                    category="bug",
                    verdict="CONFIRMED",
                    outcome="fixed",
                ),
            ),
        ),
    ),
    (
        "CronCreate",
        b'{"cron":"0 3 * * *","prompt":"hi","recurring":true,"durable":false}',
        CronCreateInput(cron="0 3 * * *", prompt="hi", recurring=True, durable=False),
    ),
    ("CronDelete", b'{"id":"j1"}', CronDeleteInput(id="j1")),
    ("CronList", b"{}", CronListInput()),
    (
        "ScheduleWakeup",
        b'{"delaySeconds":60,"reason":"R","prompt":"P","stop":true,"noop":true}',
        ScheduleWakeupInput(delay_seconds=60, reason="R", prompt="P", stop=True, noop=True),
    ),
    ("EnterWorktree", b'{"name":"side"}', EnterWorktreeInput(name="side")),
    (
        "ExitWorktree",
        b'{"action":"remove","discard_changes":true}',
        ExitWorktreeInput(action="remove", discard_changes=True),
    ),
]

RESULTS: list[tuple[str, bytes, ToolOutput]] = [
    (
        "TodoWrite",
        (
            b'{"oldTodos":[{"content":"A","status":"pending","activeForm":"Aing"}],'
            b'"newTodos":[{"content":"A","status":"completed","activeForm":"Aing"}],'
            b'"verificationNudgeNeeded":true}'
        ),
        TodoWriteResult(
            old_todos=(Todo(content="A", status="pending", active_form="Aing"),),
            new_todos=(Todo(content="A", status="completed", active_form="Aing"),),
            verification_nudge_needed=True,
        ),
    ),
    (
        "TaskCreate",
        b'{"task":{"id":"1","subject":"S"}}',
        TaskCreateResult(task=Task(id="1", subject="S")),
    ),
    (
        "TaskGet",
        (
            b'{"task":{"id":"1","subject":"S","description":"D","status":"pending","blocks":["2"],'
            b'"blockedBy":["3"]}}'
        ),
        TaskGetResult(
            task=Task(
                id="1",
                subject="S",
                description="D",
                status="pending",
                blocks=("2",),
                blocked_by=("3",),
            )
        ),
    ),
    ("TaskGet", b'{"task":null}', TaskGetResult()),
    (
        "TaskList",
        b'{"tasks":[{"id":"1","subject":"S","status":"pending","owner":"o","blockedBy":[]}]}',
        TaskListResult(tasks=(Task(id="1", subject="S", status="pending", owner="o"),)),
    ),
    ("TaskList", b'{"tasks":[]}', TaskListResult()),
    (
        "TaskUpdate",
        (
            b'{"success":true,"taskId":"1","updatedFields":["status"],'
            b'"statusChange":{"from":"pending","to":"completed"},"verificationNudgeNeeded":true}'
        ),
        TaskUpdateResult(
            success=True,
            task_id="1",
            updated_fields=("status",),
            status_change=StatusChange(origin="pending", target="completed"),
            verification_nudge_needed=True,
        ),
    ),
    (
        "AskUserQuestion",
        b'{"questions":[' + QUESTION + b'],"answers":{"Which?":"A"},'
        b'"annotations":{"Which?":{"preview":"a","notes":"n"}},"response":"R","afkTimeoutMs":5}',
        AskUserQuestionResult(
            questions=(ASKED,),
            answers={"Which?": "A"},
            annotations={"Which?": Annotation(preview="a", notes="n")},
            response="R",
            afk_timeout_ms=5,
        ),
    ),
    ("EnterPlanMode", b'{"message":"M"}', EnterPlanModeResult(message="M")),
    (
        "exit_plan_mode",
        (
            b'{"plan":"# Plan","isAgent":true,"filePath":"/p.md","planWasEdited":true,'
            b'"hasTaskTool":true,"awaitingLeaderApproval":true,"requestId":"r1"}'
        ),
        ExitPlanModeResult(
            plan="# Plan",
            is_agent=True,
            file_path="/p.md",
            plan_was_edited=True,
            has_task_tool=True,
            awaiting_leader_approval=True,
            request_id="r1",
        ),
    ),
    ("ExitPlanMode", b'{"plan":null,"isAgent":false}', ExitPlanModeResult()),
    (
        "ReportFindings",
        b'{"count":1,"level":"low","findings":[{"file":"a.py","summary":"S"}]}',
        ReportFindingsResult(count=1, level="low", findings=(Finding(file="a.py", summary="S"),)),
    ),
    (
        "CronCreate",
        b'{"id":"j1","humanSchedule":"daily","recurring":true,"durable":false,"nextFireAt":9}',
        CronCreateResult(
            id="j1", human_schedule="daily", recurring=True, durable=False, next_fire_at=9
        ),
    ),
    ("CronDelete", b'{"id":"j1"}', CronDeleteResult(id="j1")),
    (
        "CronList",
        (
            b'{"jobs":[{"id":"j1","cron":"0 3 * * *","humanSchedule":"daily","prompt":"hi",'
            b'"recurring":true,"durable":false,"nextFireAt":9}]}'
        ),
        CronListResult(
            jobs=(
                CronJob(
                    id="j1",
                    cron="0 3 * * *",
                    human_schedule="daily",
                    prompt="hi",
                    recurring=True,
                    durable=False,
                    next_fire_at=9,
                ),
            )
        ),
    ),
    (
        "ScheduleWakeup",
        (
            b'{"scheduledFor":9,"clampedDelaySeconds":60,"wasClamped":true,"stopped":true,'
            b'"cancelledWakeups":1}'
        ),
        ScheduleWakeupResult(
            scheduled_for=9,
            clamped_delay_seconds=60,
            was_clamped=True,
            stopped=True,
            cancelled_wakeups=1,
        ),
    ),
    (
        "EnterWorktree",
        b'{"worktreePath":"/w","worktreeBranch":"side","message":"M"}',
        EnterWorktreeResult(worktree_path="/w", worktree_branch="side", message="M"),
    ),
    (
        "ExitWorktree",
        (
            b'{"action":"keep","originalCwd":"/p","originalCwdMissing":true,"restoredCwd":"/p",'
            b'"worktreePath":"/w","worktreeBranch":"side","tmuxSessionName":"x",'
            b'"discardedFiles":1,"discardedCommits":2,"message":"M"}'
        ),
        ExitWorktreeResult(
            action="keep",
            original_cwd="/p",
            original_cwd_missing=True,
            restored_cwd="/p",
            worktree_path="/w",
            worktree_branch="side",
            tmux_session_name="x",
            discarded_files=1,
            discarded_commits=2,
            message="M",
        ),
    ),
]


@pytest.mark.parametrize(("name", "text", "expected"), INPUTS)
def test_planning_inputs_are_typed(name: str, text: bytes, expected: ToolInput) -> None:
    """The input of each planning tool has a class."""
    assert parse_input(name, Raw(text)) == expected


@pytest.mark.parametrize(("name", "text", "expected"), RESULTS)
def test_planning_results_are_typed(name: str, text: bytes, expected: ToolOutput) -> None:
    """The result of each planning tool has a class."""
    assert parse_result(name, Raw(text)) == expected


def test_answers_may_be_lists() -> None:
    """A question with several chosen answers keeps all of them."""
    result = parse_result("AskUserQuestion", Raw(b'{"answers":{"Which?":["A","B"]}}'))
    assert result == AskUserQuestionResult(answers={"Which?": ("A", "B")})
