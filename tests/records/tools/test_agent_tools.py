"""Subagents, teams, workflows and skills: one literal per tool, with the whole value."""

import pytest
from msgspec import Raw

from recollect.records.blocks import Text
from recollect.records.token_usage import Usage
from recollect.records.tools import TextResult, ToolInput, ToolOutput, parse_input, parse_result
from recollect.records.tools.agent_tools import (
    AgentCompleted,
    AgentInput,
    AgentLaunched,
    AgentLaunchedRemotely,
    AgentResult,
    SendMessageInput,
    SendMessageResult,
    SkillInput,
    SkillResult,
    SlashCommandInput,
    StructuredOutputInput,
    TeamCreateInput,
    TeamCreateResult,
    TeammateSpawned,
    ToolStats,
    WorkflowInput,
    WorkflowResult,
)

INPUTS: list[tuple[str, bytes, ToolInput]] = [
    (
        "Task",
        b'{"description":"Look","prompt":"Look around","subagent_type":"Explore"}',
        AgentInput(description="Look", prompt="Look around", subagent_type="Explore"),
    ),
    (
        "Agent",
        (
            b'{"description":"Look","prompt":"P","model":"opus","run_in_background":true,"name":"n",'
            b'"team_name":"t","mode":"plan","isolation":"worktree"}'
        ),
        AgentInput(
            description="Look",
            prompt="P",
            model="opus",
            run_in_background=True,
            name="n",
            team_name="t",
            mode="plan",
            isolation="worktree",
        ),
    ),
    (
        "Workflow",
        (
            b'{"script":"s","name":"n","title":"t","description":"d","args":{"a":1},'
            b'"scriptPath":"/s","resumeFromRunId":"r1"}'
        ),
        WorkflowInput(
            script="s",
            name="n",
            title="t",
            description="d",
            args=Raw(b'{"a":1}'),
            script_path="/s",
            resume_from_run_id="r1",
        ),
    ),
    ("Skill", b'{"skill":"greet","args":"Ada"}', SkillInput(skill="greet", args="Ada")),
    ("SlashCommand", b'{"command":"/greet Ada"}', SlashCommandInput(command="/greet Ada")),
    (
        "SendMessage",
        (
            b'{"to":"a1","message":"more","summary":"s","type":"message","recipient":"a1",'
            b'"recipient_kind":"agent","content":"more"}'
        ),
        SendMessageInput(
            to="a1",
            message="more",
            summary="s",
            type="message",
            recipient="a1",
            recipient_kind="agent",
            content="more",
        ),
    ),
    (
        "SendMessage",
        b'{"to":"a1","message":{"type":"shutdown_request"}}',
        SendMessageInput(to="a1", message={"type": "shutdown_request"}),
    ),
    (
        "TeamCreate",
        b'{"team_name":"t","description":"d"}',
        TeamCreateInput(team_name="t", description="d"),
    ),
    ("StructuredOutput", b'{"n":1}', StructuredOutputInput(value=Raw(b'{"n":1}'))),
]

RESULTS: list[tuple[str, bytes, ToolOutput]] = [
    (
        "Agent",
        (
            b'{"status":"completed","prompt":"P","agentId":"a1","agentType":"Explore",'
            b'"content":[{"type":"text","text":"done"}],"resolvedModel":"m","modelsUsed":["m"],'
            b'"totalDurationMs":7,"totalTokens":8,"totalToolUseCount":9,'
            b'"usage":{"input_tokens":1,"output_tokens":2},"toolsUsed":["Bash"],'
            b'"toolStats":{"readCount":1,"searchCount":2,"bashCount":3,"editFileCount":4,'
            b'"linesAdded":5,"linesRemoved":6,"otherToolCount":7},"worktreePath":"/w"}'
        ),
        AgentCompleted(
            status="completed",
            prompt="P",
            agent_id="a1",
            agent_type="Explore",
            content=(Text(text="done"),),
            resolved_model="m",
            models_used=("m",),
            total_duration_ms=7,
            total_tokens=8,
            total_tool_use_count=9,
            usage=Usage(input_tokens=1, output_tokens=2),
            tools_used=("Bash",),
            tool_stats=ToolStats(
                read_count=1,
                search_count=2,
                bash_count=3,
                edit_file_count=4,
                lines_added=5,
                lines_removed=6,
                other_tool_count=7,
            ),
            worktree_path="/w",
        ),
    ),
    (
        "Task",
        b'{"content":[{"type":"text","text":"done"}],"totalTokens":8,"wasInterrupted":true}',
        AgentCompleted(content=(Text(text="done"),), total_tokens=8, was_interrupted=True),
    ),
    (
        "Agent",
        (
            b'{"status":"async_launched","isAsync":true,"agentId":"a1","description":"D",'
            b'"prompt":"P","outputFile":"/o","canReadOutputFile":true,"resolvedModel":"m",'
            b'"canContinueAgent":true}'
        ),
        AgentLaunched(
            status="async_launched",
            is_async=True,
            agent_id="a1",
            description="D",
            prompt="P",
            output_file="/o",
            can_read_output_file=True,
            resolved_model="m",
            can_continue_agent=True,
        ),
    ),
    (
        "Agent",
        (
            b'{"status":"remote_launched","taskId":"t1","sessionUrl":"https://a.org/s",'
            b'"description":"D","prompt":"P","outputFile":"/o"}'
        ),
        AgentLaunchedRemotely(
            status="remote_launched",
            task_id="t1",
            session_url="https://a.org/s",
            description="D",
            prompt="P",
            output_file="/o",
        ),
    ),
    (
        "Agent",
        (
            b'{"status":"teammate_spawned","prompt":"P","teammate_id":"n@t","agent_id":"n@t",'
            b'"agent_type":"Explore","model":"m","name":"n","color":"blue","team_name":"t",'
            b'"is_splitpane":false,"plan_mode_required":true}'
        ),
        TeammateSpawned(
            status="teammate_spawned",
            prompt="P",
            teammate_id="n@t",
            agent_id="n@t",
            agent_type="Explore",
            model="m",
            name="n",
            color="blue",
            team_name="t",
            is_splitpane=False,
            plan_mode_required=True,
        ),
    ),
    (
        "Agent",
        b'{"status":"teleported","agentId":"a1"}',
        AgentResult(status="teleported", agent_id="a1"),
    ),
    ("Agent", b'{"status":5,"agentId":"a1"}', AgentResult(agent_id="a1")),
    (
        "Workflow",
        (
            b'{"status":"async_launched","taskId":"t1","taskType":"local_workflow",'
            b'"workflowName":"n","runId":"r1","transcriptDir":"/t","scriptPath":"/s","summary":"S",'
            b'"error":"E"}'
        ),
        WorkflowResult(
            status="async_launched",
            task_id="t1",
            task_type="local_workflow",
            workflow_name="n",
            run_id="r1",
            transcript_dir="/t",
            script_path="/s",
            summary="S",
            error="E",
        ),
    ),
    (
        "SlashCommand",
        b'{"success":true,"commandName":"greet","allowedTools":["Read"]}',
        SkillResult(success=True, command_name="greet", allowed_tools=("Read",)),
    ),
    (
        "Skill",
        b'{"success":true,"commandName":"greet","status":"forked","agentId":"a1","result":"hi"}',
        SkillResult(
            success=True, command_name="greet", status="forked", agent_id="a1", result="hi"
        ),
    ),
    (
        "SendMessage",
        (
            b'{"success":true,"message":"sent","resumedAgentId":"a1","revivedAgentId":"a2",'
            b'"pin":{"id":"a1"},"routing":{"to":"a1"}}'
        ),
        SendMessageResult(
            success=True,
            message="sent",
            resumed_agent_id="a1",
            revived_agent_id="a2",
            pin=Raw(b'{"id":"a1"}'),
            routing=Raw(b'{"to":"a1"}'),
        ),
    ),
    (
        "TeamCreate",
        b'{"team_name":"t","team_file_path":"/t.json","lead_agent_id":"lead@t"}',
        TeamCreateResult(team_name="t", team_file_path="/t.json", lead_agent_id="lead@t"),
    ),
    (
        "StructuredOutput",
        b'"Structured output provided successfully"',
        TextResult(text="Structured output provided successfully"),
    ),
]


@pytest.mark.parametrize(("name", "text", "expected"), INPUTS)
def test_agent_inputs_are_typed(name: str, text: bytes, expected: ToolInput) -> None:
    """The input of each agent tool has a class."""
    assert parse_input(name, Raw(text)) == expected


@pytest.mark.parametrize(("name", "text", "expected"), RESULTS)
def test_agent_results_are_typed(name: str, text: bytes, expected: ToolOutput) -> None:
    """The result of each agent tool has a class; `Agent` has one per status, and a general one."""
    assert parse_result(name, Raw(text)) == expected
