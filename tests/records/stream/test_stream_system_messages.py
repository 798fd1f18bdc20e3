"""One line for each subtype of `system` messages, with all of its fields."""

import pytest
from msgspec import Raw

from recollect.records.stream import system_messages as notices
from recollect.records.stream import system_messages as system
from recollect.records.stream import system_messages as tasks
from recollect.records.stream.message_decoding import MESSAGE_SUBTYPES, decode_message

MESSAGES: dict[bytes, system.SystemMessage] = {
    b'"init","cwd":"/srv/p","original_cwd":"/srv","additional_directories":["/d"],'
    b'"model":"claude-x","claude_code_version":"2.1.325","permissionMode":"plan",'
    b'"apiKeySource":"none","output_style":"default","tools":["Bash"],"mcp_servers":[{"name":"m",'
    b'"status":"connected","source":"dynamic"}],"slash_commands":["compact"],'
    b'"terminal_slash_commands":["doctor"],"agents":["Explore"],"skills":["greet"],'
    b'"plugins":[{"name":"p","path":"/p","version":"1","source":"p@m"}],"plugin_errors":'
    b'[{"plugin":"q","type":"t","message":"m","path":"/q"}],"betas":["b"],"capabilities":["c"],'
    b'"effort":"high","per_turn_effort_active":true,"ultrathink_available":true,'
    b'"ultrathink_typed_raises":false,"fast_mode_state":"off","fast_mode_disabled_reason":"x",'
    b'"view_mode":"default","memory_paths":{"auto":"/m"},"messaging_socket_path":"/s",'
    b'"analytics_disabled":true,"product_feedback_disabled":true': system.Init(
        subtype="init",
        cwd="/srv/p",
        original_cwd="/srv",
        additional_directories=("/d",),
        model="claude-x",
        claude_code_version="2.1.325",
        permission_mode="plan",
        api_key_source="none",
        output_style="default",
        tools=("Bash",),
        mcp_servers=(system.McpServer(name="m", status="connected", source="dynamic"),),
        slash_commands=("compact",),
        terminal_slash_commands=("doctor",),
        agents=("Explore",),
        skills=("greet",),
        plugins=(system.Plugin(name="p", path="/p", version="1", source="p@m"),),
        plugin_errors=(system.PluginError(plugin="q", type="t", message="m", path="/q"),),
        betas=("b",),
        capabilities=("c",),
        effort="high",
        per_turn_effort_active=True,
        ultrathink_available=True,
        ultrathink_typed_raises=False,
        fast_mode_state="off",
        fast_mode_disabled_reason="x",
        view_mode="default",
        memory_paths=Raw(b'{"auto":"/m"}'),
        messaging_socket_path="/s",
        analytics_disabled=True,
        product_feedback_disabled=True,
    ),
    b'"compact_boundary","compact_metadata":{"trigger":"auto","pre_tokens":9,"post_tokens":2,'
    b'"duration_ms":3,"cumulative_dropped_tokens":7,"preserved_segment":{"head_uuid":"h",'
    b'"anchor_uuid":"a","tail_uuid":"t"},"preserved_messages":{"anchor_uuid":"a","uuids":["h"],'
    b'"all_uuids":["h","t"]}},"logical_parent_uuid":"l"': system.CompactBoundaryMessage(
        subtype="compact_boundary",
        compact_metadata=system.Compaction(
            trigger="auto",
            pre_tokens=9,
            post_tokens=2,
            duration_ms=3,
            cumulative_dropped_tokens=7,
            preserved_segment=system.KeptSegment(head_uuid="h", anchor_uuid="a", tail_uuid="t"),
            preserved_messages=system.KeptMessages(
                anchor_uuid="a", uuids=("h",), all_uuids=("h", "t")
            ),
        ),
        logical_parent_uuid="l",
    ),
    b'"status","status":"compacting","permissionMode":"plan","compact_result":"failed",'
    b'"compact_error":"e","compact_output_chars":4': system.Status(
        subtype="status",
        status="compacting",
        permission_mode="plan",
        compact_result="failed",
        compact_error="e",
        compact_output_chars=4,
    ),
    b'"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":5.5,"error_status":529,'
    b'"error":"overloaded","no_response":{"waited_ms":1,"retry_wait_ms":2}': system.ApiRetry(
        subtype="api_retry",
        attempt=1,
        max_retries=10,
        retry_delay_ms=5.5,
        error_status=529,
        error="overloaded",
        no_response=system.NoResponse(waited_ms=1, retry_wait_ms=2),
    ),
    b'"thinking_tokens","estimated_tokens":20,"estimated_tokens_delta":5,'
    b'"user_message_uuid":"p1"': system.ThinkingTokens(
        subtype="thinking_tokens",
        estimated_tokens=20,
        estimated_tokens_delta=5,
        user_message_uuid="p1",
    ),
    b'"permission_denied","tool_name":"Bash","tool_use_id":"t1","agent_id":"a1",'
    b'"decision_reason_type":"rule","decision_reason":"r","message":"m"': system.PermissionDenied(
        subtype="permission_denied",
        tool_name="Bash",
        tool_use_id="t1",
        agent_id="a1",
        decision_reason_type="rule",
        decision_reason="r",
        message="m",
    ),
    b'"local_command_output","content":"out"': system.LocalCommandOutput(
        subtype="local_command_output", content="out"
    ),
    b'"informational","content":"c","level":"notice","tool_use_id":"t1",'
    b'"prevent_continuation":true': system.InformationalMessage(
        subtype="informational",
        content="c",
        level="notice",
        tool_use_id="t1",
        prevent_continuation=True,
    ),
    b'"model_fallback","trigger":"overloaded","original_model":"a","fallback_model":"b",'
    b'"content":"c"': system.ModelFallbackMessage(
        subtype="model_fallback",
        trigger="overloaded",
        original_model="a",
        fallback_model="b",
        content="c",
    ),
    b'"model_refusal_fallback","trigger":"refusal","direction":"retry","scope":"session",'
    b'"original_model":"a","fallback_model":"b","request_id":"r1","api_refusal_category":"k",'
    b'"api_refusal_explanation":"e","retracted_message_uuids":["u0"],'
    b'"refused_user_message_uuid":"p1","content":"c"': system.ModelRefusalMessage(
        subtype="model_refusal_fallback",
        trigger="refusal",
        direction="retry",
        scope="session",
        original_model="a",
        fallback_model="b",
        request_id="r1",
        api_refusal_category="k",
        api_refusal_explanation="e",
        retracted_message_uuids=("u0",),
        refused_user_message_uuid="p1",
        content="c",
    ),
    b'"model_refusal_no_fallback","original_model":"a","request_id":null,"content":"c"': (
        system.ModelRefusalMessage(
            subtype="model_refusal_no_fallback", original_model="a", content="c"
        )
    ),
    b'"hook_started","hook_id":"h","hook_name":"n","hook_event":"SessionStart"': tasks.HookStarted(
        subtype="hook_started", hook_id="h", hook_name="n", hook_event="SessionStart"
    ),
    b'"hook_progress","hook_id":"h","hook_name":"n","hook_event":"Setup","stdout":"o",'
    b'"stderr":"e","output":"oe"': tasks.HookProgress(
        subtype="hook_progress",
        hook_id="h",
        hook_name="n",
        hook_event="Setup",
        stdout="o",
        stderr="e",
        output="oe",
    ),
    b'"hook_response","hook_id":"h","hook_name":"n","hook_event":"Stop","stdout":"o","stderr":"",'
    b'"output":"o","exit_code":2,"outcome":"error"': tasks.HookResponse(
        subtype="hook_response",
        hook_id="h",
        hook_name="n",
        hook_event="Stop",
        stdout="o",
        stderr="",
        output="o",
        exit_code=2,
        outcome="error",
    ),
    b'"task_started","task_id":"k1","run_id":"r1","tool_use_id":"t1","description":"d",'
    b'"task_type":"local_agent","subagent_type":"Explore","workflow_name":"w","prompt":"p",'
    b'"is_backgrounded":true,"spawn_depth":1,"parent_task_id":"k0","skip_transcript":true,'
    b'"ambient":true': tasks.TaskStarted(
        subtype="task_started",
        task_id="k1",
        run_id="r1",
        tool_use_id="t1",
        description="d",
        task_type="local_agent",
        subagent_type="Explore",
        workflow_name="w",
        prompt="p",
        is_backgrounded=True,
        spawn_depth=1,
        parent_task_id="k0",
        skip_transcript=True,
        ambient=True,
    ),
    b'"task_progress","task_id":"k1","run_id":"r1","tool_use_id":"t1","description":"d",'
    b'"subagent_type":"Explore","usage":{"total_tokens":9,"tool_uses":1,"duration_ms":2},'
    b'"last_tool_name":"Bash","summary":"s","workflow_progress":[]': tasks.TaskProgress(
        subtype="task_progress",
        task_id="k1",
        run_id="r1",
        tool_use_id="t1",
        description="d",
        subagent_type="Explore",
        usage=tasks.TaskUsage(total_tokens=9, tool_uses=1, duration_ms=2),
        last_tool_name="Bash",
        summary="s",
        workflow_progress=Raw(b"[]"),
    ),
    b'"task_updated","task_id":"k1","patch":{"status":"failed","description":"d","end_time":5,'
    b'"total_paused_ms":1,"error":"e","is_backgrounded":false}': tasks.TaskUpdated(
        subtype="task_updated",
        task_id="k1",
        patch=tasks.TaskPatch(
            status="failed",
            description="d",
            end_time=5,
            total_paused_ms=1,
            error="e",
            is_backgrounded=False,
        ),
    ),
    b'"task_notification","task_id":"k1","status":"completed","reason":"worker_restart",'
    b'"output_file":"/o","summary":"s","usage":{"total_tokens":9},"resource_links":[],'
    b'"skip_transcript":true,"ambient":true': tasks.TaskNotification(
        subtype="task_notification",
        task_id="k1",
        status="completed",
        reason="worker_restart",
        output_file="/o",
        summary="s",
        usage=tasks.TaskUsage(total_tokens=9),
        resource_links=Raw(b"[]"),
        skip_transcript=True,
        ambient=True,
    ),
    b'"background_tasks_changed","tasks":[{"task_id":"k1","run_id":"r1","task_type":"local_bash",'
    b'"description":"d","subagent_type":"Explore","ambient":true}]': tasks.BackgroundTasksChanged(
        subtype="background_tasks_changed",
        tasks=(
            tasks.BackgroundTask(
                task_id="k1",
                run_id="r1",
                task_type="local_bash",
                description="d",
                subagent_type="Explore",
                ambient=True,
            ),
        ),
    ),
    b'"notification","key":"k","text":"t","priority":"low","color":"red","timeout_ms":5': (
        notices.Notification(
            subtype="notification", key="k", text="t", priority="low", color="red", timeout_ms=5
        )
    ),
    b'"memory_recall","mode":"select","memories":[{"path":"/m","scope":"team","content":"c"}]': (
        notices.MemoryRecall(
            subtype="memory_recall",
            mode="select",
            memories=(notices.Memory(path="/m", scope="team", content="c"),),
        )
    ),
    b'"files_persisted","files":[{"filename":"a","file_id":"f1"}],"failed":[{"filename":"b",'
    b'"error":"e"}],"processed_at":"2026-01-01T00:00:00Z"': notices.FilesPersisted(
        subtype="files_persisted",
        files=(notices.PersistedFile(filename="a", file_id="f1"),),
        failed=(notices.PersistedFile(filename="b", error="e"),),
        processed_at="2026-01-01T00:00:00Z",
    ),
    b'"elicitation_complete","mcp_server_name":"m","elicitation_id":"e"': (
        notices.ElicitationComplete(
            subtype="elicitation_complete", mcp_server_name="m", elicitation_id="e"
        )
    ),
    b'"plugin_install","status":"failed","name":"p","error":"e"': notices.PluginInstall(
        subtype="plugin_install", status="failed", name="p", error="e"
    ),
    b'"commands_changed","commands":[{"name":"hi"}]': notices.CommandsChanged(
        subtype="commands_changed", commands=Raw(b'[{"name":"hi"}]')
    ),
    b'"session_state_changed","state":"idle"': notices.SessionStateChanged(
        subtype="session_state_changed", state="idle"
    ),
    b'"session_title_changed","title":"t"': notices.SessionTitleChanged(
        subtype="session_title_changed", title="t"
    ),
    b'"worker_shutting_down","reason":"r"': notices.WorkerShuttingDown(
        subtype="worker_shutting_down", reason="r"
    ),
    b'"mirror_error","error":"e","key":{"projectKey":"p","sessionId":"s","subpath":"x"}': (
        notices.MirrorError(
            subtype="mirror_error",
            error="e",
            key=notices.MirrorKey(project_key="p", session_id="s", subpath="x"),
        )
    ),
    b'"session_writes_lost","error":"disk full"': notices.SessionWritesLost(
        subtype="session_writes_lost", error=Raw(b'"disk full"')
    ),
    b'"control_request_progress","request_id":"q","status":"api_retry","attempt":1,'
    b'"max_retries":2,"retry_delay_ms":3,"error_status":529': notices.ControlRequestProgress(
        subtype="control_request_progress",
        request_id="q",
        status="api_retry",
        attempt=1,
        max_retries=2,
        retry_delay_ms=3,
        error_status=529,
    ),
}


@pytest.mark.parametrize(("fields", "expected"), MESSAGES.items())
def test_a_subtype_chooses_the_class(fields: bytes, expected: system.SystemMessage) -> None:
    """A `system` message decodes to the class of its subtype, with all fields."""
    assert decode_message(b'{"type":"system","subtype":%b}' % fields) == expected


def test_every_subtype_has_its_line_here() -> None:
    """No subtype has a class without an example above."""
    assert {message.subtype for message in MESSAGES.values()} == set(MESSAGE_SUBTYPES)


def test_the_subtype_may_be_anywhere() -> None:
    """The order of the fields does not matter."""
    line = b'{"state":"idle","session_id":"s1","subtype":"session_state_changed","type":"system"}'
    assert decode_message(line) == notices.SessionStateChanged(
        subtype="session_state_changed", state="idle", session_id="s1"
    )
