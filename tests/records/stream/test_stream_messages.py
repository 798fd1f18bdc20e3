"""One line for each kind of message, with all of its fields."""

import pytest
from msgspec import Raw

from recollect.records.blocks import Text, ToolResult, ToolUse
from recollect.records.conversation_records import ApiMessage
from recollect.records.conversation_records import UserMessage as Prompt
from recollect.records.state import ModelUsage
from recollect.records.stream import control
from recollect.records.stream import partial_messages as events
from recollect.records.stream import stream_messages as signals
from recollect.records.stream.message_decoding import decode_message
from recollect.records.stream.stream_messages import (
    AssistantMessage,
    DeferredToolUse,
    KilledSubagents,
    Message,
    MessageOrigin,
    PermissionDenial,
    RefusedSubagents,
    RequestedSubagents,
    Result,
    SubagentStats,
    ToolPermission,
    ToolResultMeta,
    ToolUseMeta,
    UserMessage,
)
from recollect.records.system_records import CommandRun
from recollect.records.token_usage import CacheCreation, Usage

CONVERSATION: dict[bytes, Message] = {
    b'{"type":"assistant","message":{"id":"m1","type":"message","role":"assistant",'
    b'"model":"claude-x","content":[{"type":"tool_use","id":"t1","name":"Bash",'
    b'"input":{"command":"ls"}}],"stop_reason":null,"usage":{"input_tokens":3,'
    b'"output_tokens":1,"cache_creation":{"ephemeral_5m_input_tokens":2}}},'
    b'"parent_tool_use_id":"t0","agent_id":"a1","subagent_type":"Explore",'
    b'"task_description":"look","timestamp":"2026-01-01T00:00:00.000Z","request_id":"r1",'
    b'"aborted":true,"supersedes":["u0"],"thinking_duration_ms":5,"thinking_display":"omitted",'
    b'"tool_use_meta":[{"id":"t1","display_name":"List","server_display_name":"s",'
    b'"tool_name":"ls"}],"user_message_uuid":"p1","user_message_uuids":["p1"],'
    b'"resume_reason":"retry","session_id":"s1","uuid":"u1"}': AssistantMessage(
        uuid="u1",
        session_id="s1",
        message=ApiMessage(
            id="m1",
            type="message",
            role="assistant",
            model="claude-x",
            content=(ToolUse(id="t1", name="Bash", input=Raw(b'{"command":"ls"}')),),
            usage=Usage(
                input_tokens=3,
                output_tokens=1,
                cache_creation=CacheCreation(ephemeral_5m_input_tokens=2),
            ),
        ),
        parent_tool_use_id="t0",
        agent_id="a1",
        subagent_type="Explore",
        task_description="look",
        timestamp="2026-01-01T00:00:00.000Z",
        request_id="r1",
        aborted=True,
        supersedes=("u0",),
        thinking_duration_ms=5,
        thinking_display="omitted",
        tool_use_meta=(
            ToolUseMeta(id="t1", display_name="List", server_display_name="s", tool_name="ls"),
        ),
        user_message_uuid="p1",
        user_message_uuids=("p1",),
        resume_reason="retry",
    ),
    b'{"type":"assistant","message":{"model":"<synthetic>","content":[]},"error":"rate_limit",'
    b'"is_api_error_message":true,"api_error_status":429,"api_error_type":"rate_limit_error",'
    b'"session_id":"s1"}': AssistantMessage(
        session_id="s1",
        message=ApiMessage(model="<synthetic>", content=()),
        error=Raw(b'"rate_limit"'),
        is_api_error_message=True,
        api_error_status=429,
        api_error_type="rate_limit_error",
    ),
    b'{"type":"assistant","local_command_source":"<local-command-stdout>1</local-command-stdout>",'
    b'"local_command_run":{"command":"context","args":""},"context_usage":{"percentage":1},'
    b'"usage_report":{"session":{}}}': AssistantMessage(
        local_command_source="<local-command-stdout>1</local-command-stdout>",
        local_command_run=CommandRun(command="context", args=""),
        context_usage=Raw(b'{"percentage":1}'),
        usage_report=Raw(b'{"session":{}}'),
    ),
    b'{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t1",'
    b'"type":"tool_result","content":"no"}]},"parent_tool_use_id":null,'
    b'"tool_use_result":"Error: no","tool_result_meta":[{"id":"t1","permission_decision":'
    b'{"decision":"reject","source":"config","reason_type":"rule"},'
    b'"non_execution_kind":"permission-rule"}],"session_id":"s1","uuid":"u2"}': UserMessage(
        uuid="u2",
        session_id="s1",
        message=Prompt(role="user", content=(ToolResult(tool_use_id="t1", content="no"),)),
        tool_use_result=Raw(b'"Error: no"'),
        tool_result_meta=(
            ToolResultMeta(
                id="t1",
                permission_decision=ToolPermission(
                    decision="reject", source="config", reason_type="rule"
                ),
                non_execution_kind="permission-rule",
            ),
        ),
    ),
    b'{"type":"user","message":{"role":"user","content":"hi"},"isSynthetic":true,"isReplay":true,'
    b'"origin":{"kind":"peer","from":"x","fromSession":"s0","runId":"r"},"priority":"next",'
    b'"shouldQuery":false,"client_composed":true,"pasted_content":[],"inline_pastes":["a"],'
    b'"file_attachments":[1],"refused_message_id":"m0","session_id":""}': UserMessage(
        session_id="",
        message=Prompt(role="user", content="hi"),
        is_synthetic=True,
        is_replay=True,
        origin=MessageOrigin(kind="peer", from_="x", from_session="s0", run_id="r"),
        priority="next",
        should_query=False,
        client_composed=True,
        pasted_content=Raw(b"[]"),
        inline_pastes=Raw(b'["a"]'),
        file_attachments=Raw(b"[1]"),
        refused_message_id="m0",
    ),
    b'{"type":"result","subtype":"success","is_error":false,"result":"done","stop_reason":'
    b'"end_turn","terminal_reason":"completed","num_turns":2,"result_index":0,'
    b'"queued_turn_count":0,"duration_ms":9,"duration_api_ms":7.5,"ttft_ms":1,'
    b'"ttft_stream_ms":2,"time_to_request_ms":3,"first_content_frame_ms":4,'
    b'"total_cost_usd":0.25,"usage":{"input_tokens":1,"output_tokens":2},'
    b'"modelUsage":{"claude-x":{"inputTokens":1,"outputTokens":2,"costUSD":0.25}},'
    b'"model_usage_since_last_result":{"claude-x":{"inputTokens":1}},'
    b'"subagent_stats":{"spawned":1,"completed":1,"max_depth":1,"by_type":{"Explore":1},'
    b'"killed":{"user":1},"refused":{"budget":1},"requested":{"unset":1}},'
    b'"permission_denials":[{"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":'
    b'"rm"}}],"structured_output":{"n":7},"deferred_tool_use":{"id":"t2","name":"Ask",'
    b'"input":{}},"safety_stops":0,"origin":{"kind":"task-notification","producer":"session-task",'
    b'"runId":"r1"},"local_command":"cost","fast_mode_state":"off",'
    b'"fast_mode_disabled_reason":"x","uuid":"u3","session_id":"s1"}': Result(
        uuid="u3",
        session_id="s1",
        subtype="success",
        result="done",
        stop_reason="end_turn",
        terminal_reason="completed",
        num_turns=2,
        result_index=0,
        queued_turn_count=0,
        duration_ms=9,
        duration_api_ms=7.5,
        ttft_ms=1,
        ttft_stream_ms=2,
        time_to_request_ms=3,
        first_content_frame_ms=4,
        total_cost_usd=0.25,
        usage=Usage(input_tokens=1, output_tokens=2),
        model_usage={"claude-x": ModelUsage(input_tokens=1, output_tokens=2, cost_usd=0.25)},
        model_usage_since_last_result={"claude-x": ModelUsage(input_tokens=1)},
        subagent_stats=SubagentStats(
            spawned=1,
            completed=1,
            max_depth=1,
            by_type={"Explore": 1},
            killed=KilledSubagents(user=1),
            refused=RefusedSubagents(budget=1),
            requested=RequestedSubagents(unset=1),
        ),
        permission_denials=(
            PermissionDenial(
                tool_name="Bash", tool_use_id="t1", tool_input=Raw(b'{"command":"rm"}')
            ),
        ),
        structured_output=Raw(b'{"n":7}'),
        deferred_tool_use=DeferredToolUse(id="t2", name="Ask", input=Raw(b"{}")),
        safety_stops=0,
        origin=MessageOrigin(kind="task-notification", producer="session-task", run_id="r1"),
        local_command="cost",
        fast_mode_state="off",
        fast_mode_disabled_reason="x",
    ),
    b'{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["too many"],'
    b'"api_error_status":null,"api_error_type":"x","startup_failure_reason":"proxy_invalid",'
    b'"user_message_uuid":"p1","user_message_uuids":["p1"],"resume_reason":"r"}': Result(
        subtype="error_max_turns",
        is_error=True,
        errors=("too many",),
        api_error_type="x",
        startup_failure_reason="proxy_invalid",
        user_message_uuid="p1",
        user_message_uuids=("p1",),
        resume_reason="r",
    ),
}

EVENTS: dict[bytes, events.AnyEvent] = {
    b'{"type":"message_start","message":{"id":"m1","content":[]}}': events.MessageStart(
        message=ApiMessage(id="m1", content=())
    ),
    b'{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}': (
        events.ContentBlockStart(index=0, content_block=Text(text=""))
    ),
    b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}': (
        events.ContentBlockDelta(index=0, delta=events.TextDelta(text="a"))
    ),
    b'{"type":"content_block_delta","index":1,"delta":'
    b'{"type":"input_json_delta","partial_json":"{\\"a"}}': (
        events.ContentBlockDelta(index=1, delta=events.InputJsonDelta(partial_json='{"a'))
    ),
    b'{"type":"content_block_delta","index":2,"delta":'
    b'{"type":"thinking_delta","thinking":"hm","estimated_tokens":4}}': events.ContentBlockDelta(
        index=2, delta=events.ThinkingDelta(thinking="hm", estimated_tokens=4)
    ),
    b'{"type":"content_block_delta","index":2,"delta":'
    b'{"type":"signature_delta","signature":"c2ln"}}': (
        events.ContentBlockDelta(index=2, delta=events.SignatureDelta(signature="c2ln"))
    ),
    b'{"type":"content_block_delta","index":3,"delta":'
    b'{"type":"citations_delta","citation":{"n":1}}}': (
        events.ContentBlockDelta(index=3, delta=events.CitationsDelta(citation=Raw(b'{"n":1}')))
    ),
    b'{"type":"content_block_delta","index":4,"delta":{"type":"smell_delta","smell":1}}': (
        events.ContentBlockDelta(
            index=4,
            delta=events.OtherDelta(
                kind="smell_delta", raw=Raw(b'{"type":"smell_delta","smell":1}')
            ),
        )
    ),
    b'{"type":"content_block_stop","index":0}': events.ContentBlockStop(index=0),
    b'{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},'
    b'"usage":{"output_tokens":9}}': events.MessageDelta(
        delta=events.StopDelta(stop_reason="end_turn"), usage=Usage(output_tokens=9)
    ),
    b'{"type":"message_stop"}': events.MessageStop(),
    b'{"type":"ping"}': events.Ping(),
    b'{"type":"error","error":{"type":"overloaded_error"}}': events.ErrorEvent(
        error=Raw(b'{"type":"overloaded_error"}')
    ),
    b'{"type":"drum_roll","n":1}': events.OtherEvent(
        kind="drum_roll", raw=Raw(b'{"type":"drum_roll","n":1}')
    ),
}

REQUESTS: dict[bytes, control.AnyRequest] = {
    b'{"subtype":"can_use_tool","tool_name":"Write","input":{"file_path":"a"},"tool_use_id":"t1",'
    b'"agent_id":"a1","title":"T","display_name":"D","description":"d","blocked_path":"/x",'
    b'"decision_reason":"r","decision_reason_type":"mode","permission_suggestions":[],'
    b'"matched_ask_rule":{},"mcp_server":{},"classifier_approvable":true,'
    b'"suppress_always_allow_rule":false,"default_to_no":false,'
    b'"requires_user_interaction":true,"server_policy_ask_only":true}': control.CanUseTool(
        tool_name="Write",
        input=Raw(b'{"file_path":"a"}'),
        tool_use_id="t1",
        agent_id="a1",
        title="T",
        display_name="D",
        description="d",
        blocked_path="/x",
        decision_reason="r",
        decision_reason_type="mode",
        permission_suggestions=Raw(b"[]"),
        matched_ask_rule=Raw(b"{}"),
        mcp_server=Raw(b"{}"),
        classifier_approvable=True,
        suppress_always_allow_rule=False,
        default_to_no=False,
        requires_user_interaction=True,
        server_policy_ask_only=True,
    ),
    b'{"subtype":"hook_callback","callback_id":"c1","input":{"a":1},"tool_use_id":"t1"}': (
        control.HookCallback(callback_id="c1", input=Raw(b'{"a":1}'), tool_use_id="t1")
    ),
    b'{"subtype":"mcp_message","server_name":"s","message":{"id":1}}': control.McpMessage(
        server_name="s", message=Raw(b'{"id":1}')
    ),
    b'{"subtype":"elicitation","mcp_server_name":"s","message":"m","mode":"form","url":"u",'
    b'"elicitation_id":"e","requested_schema":{},"title":"t","display_name":"d",'
    b'"description":"x"}': control.Elicitation(
        mcp_server_name="s",
        message="m",
        mode="form",
        url="u",
        elicitation_id="e",
        requested_schema=Raw(b"{}"),
        title="t",
        display_name="d",
        description="x",
    ),
    b'{"subtype":"request_user_dialog","dialog_kind":"k","payload":{},"tool_use_id":"t1"}': (
        control.RequestUserDialog(dialog_kind="k", payload=Raw(b"{}"), tool_use_id="t1")
    ),
    b'{"subtype":"initialize","hooks":null,"agents":{},"sdkMcpServers":["s"],"systemPrompt":["p"],'
    b'"appendSystemPrompt":"a","jsonSchema":{},"title":"t","skills":[],"plugins":[]}': (
        control.Initialize(
            hooks=Raw(b"null"),
            agents=Raw(b"{}"),
            sdk_mcp_servers=("s",),
            system_prompt=Raw(b'["p"]'),
            append_system_prompt="a",
            json_schema=Raw(b"{}"),
            title="t",
            skills=Raw(b"[]"),
            plugins=Raw(b"[]"),
        )
    ),
    b'{"subtype":"interrupt","cancel_queued":true}': control.Interrupt(cancel_queued=True),
    b'{"subtype":"set_permission_mode","mode":"plan"}': control.SetPermissionMode(mode="plan"),
    b'{"subtype":"set_model","model":"claude-x"}': control.SetModel(model="claude-x"),
    b'{"subtype":"set_max_thinking_tokens","max_thinking_tokens":9,"thinking_display":"omitted"}': (
        control.SetMaxThinkingTokens(max_thinking_tokens=9, thinking_display="omitted")
    ),
    b'{"subtype":"rewind_files","user_message_id":"u1","dry_run":true}': control.RewindFiles(
        user_message_id="u1", dry_run=True
    ),
    b'{"subtype":"rename_session","title":"t","source":"host","session_id":"s1"}': (
        control.RenameSession(title="t", source="host", session_id="s1")
    ),
    b'{"subtype":"stop_task","task_id":"k"}': control.StopTask(task_id="k"),
    b'{"subtype":"mcp_status"}': control.OtherRequest(
        kind="mcp_status", raw=Raw(b'{"subtype":"mcp_status"}')
    ),
}

SIGNALS: dict[bytes, Message] = {
    b'{"type":"tool_progress","tool_use_id":"t1","tool_name":"Bash","parent_tool_use_id":null,'
    b'"elapsed_time_seconds":2.5,"task_id":"k1","heartbeat":true,"subagent_type":"Explore",'
    b'"subagent_retry":{"agent_id":"a1","attempt":1,"max_retries":3,"retry_delay_ms":10,'
    b'"error_status":529,"error_category":"overloaded"}}': signals.ToolProgress(
        tool_use_id="t1",
        tool_name="Bash",
        elapsed_time_seconds=2.5,
        task_id="k1",
        heartbeat=True,
        subagent_type="Explore",
        subagent_retry=signals.SubagentRetry(
            agent_id="a1",
            attempt=1,
            max_retries=3,
            retry_delay_ms=10,
            error_status=529,
            error_category="overloaded",
        ),
    ),
    b'{"type":"tool_use_summary","summary":"Two files","preceding_tool_use_ids":["t1","t2"]}': (
        signals.ToolUseSummary(summary="Two files", preceding_tool_use_ids=("t1", "t2"))
    ),
    b'{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resetsAt":99,'
    b'"rateLimitType":"five_hour","utilization":0.9,"surpassedThreshold":0.8,'
    b'"limitScope":"service","errorCode":"credits_required","overageStatus":"rejected",'
    b'"overageResetsAt":100,"overageDisabledReason":"unknown","overageInUse":false,'
    b'"isUsingOverage":false,"canUserPurchaseCredits":true,'
    b'"hasChargeableSavedPaymentMethod":false}}': signals.RateLimitEvent(
        rate_limit_info=signals.RateLimit(
            status="allowed_warning",
            resets_at=99,
            rate_limit_type="five_hour",
            utilization=0.9,
            surpassed_threshold=0.8,
            limit_scope="service",
            error_code="credits_required",
            overage_status="rejected",
            overage_resets_at=100,
            overage_disabled_reason="unknown",
            overage_in_use=False,
            is_using_overage=False,
            can_user_purchase_credits=True,
            has_chargeable_saved_payment_method=False,
        )
    ),
    b'{"type":"auth_status","isAuthenticating":true,"output":["open a page"],"error":"no"}': (
        signals.AuthStatus(is_authenticating=True, output=("open a page",), error="no")
    ),
    b'{"type":"prompt_suggestion","suggestion":"run the tests"}': signals.PromptSuggestion(
        suggestion="run the tests"
    ),
    b'{"type":"active_goal","value":{"condition":"green","iterations":2,"set_at":1,'
    b'"tokens_at_start":5,"last_reason":"red"}}': signals.ActiveGoal(
        value=signals.Goal(
            condition="green", iterations=2, set_at=1, tokens_at_start=5, last_reason="red"
        )
    ),
    b'{"type":"active_goal","value":null}': signals.ActiveGoal(),
    b'{"type":"conversation_reset","new_conversation_id":"s2","trigger":"clear",'
    b'"user_message_uuid":"p1","timestamp":"2026-01-01T00:00:00.000Z"}': signals.ConversationReset(
        new_conversation_id="s2",
        trigger="clear",
        user_message_uuid="p1",
        timestamp="2026-01-01T00:00:00.000Z",
    ),
    b'{"type":"command_lifecycle","command_uuid":"p1","state":"queued"}': (
        signals.CommandLifecycle(command_uuid="p1", state="queued")
    ),
    b'{"type":"keep_alive"}': signals.KeepAlive(),
    b'{"type":"transcript_mirror","filePath":"/p/s.jsonl","entries":[{"type":"mode"}]}': (
        signals.TranscriptMirror(file_path="/p/s.jsonl", entries=(Raw(b'{"type":"mode"}'),))
    ),
    b'{"type":"control_response","response":{"subtype":"success","request_id":"q1",'
    b'"response":{"behavior":"allow"},"pending_permission_requests":[],'
    b'"pending_user_dialog_requests":[]}}': control.ControlResponse(
        response=control.Answer(
            subtype="success",
            request_id="q1",
            response=Raw(b'{"behavior":"allow"}'),
            pending_permission_requests=Raw(b"[]"),
            pending_user_dialog_requests=Raw(b"[]"),
        )
    ),
    b'{"type":"control_response","response":{"subtype":"error","request_id":"q1","error":"no"}}': (
        control.ControlResponse(
            response=control.Answer(subtype="error", request_id="q1", error="no")
        )
    ),
    b'{"type":"control_cancel_request","request_id":"q1"}': control.ControlCancelRequest(
        request_id="q1"
    ),
}


@pytest.mark.parametrize(("line", "expected"), CONVERSATION.items())
def test_conversation_messages_and_results_keep_every_field(line: bytes, expected: Message) -> None:
    """Conversation messages and turn results keep all fields when decoded."""
    assert decode_message(line) == expected


@pytest.mark.parametrize(("line", "expected"), SIGNALS.items())
def test_signals_and_answers_keep_every_field(line: bytes, expected: Message) -> None:
    """Messages with a type of their own keep all fields when decoded."""
    assert decode_message(line) == expected


@pytest.mark.parametrize(("event", "expected"), EVENTS.items())
def test_partial_responses_are_typed_events(event: bytes, expected: events.AnyEvent) -> None:
    """A `stream_event` contains a typed event, or the JSON of an unknown one."""
    line = (
        b'{"type":"stream_event","event":%b,"parent_tool_use_id":"t0","api_message_id":"m1",'
        b'"thinking_display":"omitted","ttft_ms":3,"user_message_uuid":"p1",'
        b'"user_message_uuids":["p1"],"resume_reason":"r","session_id":"s1","uuid":"u1"}' % event
    )
    assert decode_message(line) == events.StreamEvent(
        uuid="u1",
        session_id="s1",
        event=expected,
        parent_tool_use_id="t0",
        api_message_id="m1",
        thinking_display="omitted",
        ttft_ms=3,
        user_message_uuid="p1",
        user_message_uuids=("p1",),
        resume_reason="r",
    )


@pytest.mark.parametrize(("request_", "expected"), REQUESTS.items())
def test_control_requests_are_typed_or_kept(request_: bytes, expected: control.AnyRequest) -> None:
    """A `control_request` contains a typed request, or the JSON of an unknown one."""
    line = b'{"type":"control_request","request_id":"q1","request":%b}' % request_
    assert decode_message(line) == control.ControlRequest(request_id="q1", request=expected)
