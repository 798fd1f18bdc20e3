"""Valid records to start from: one for each record type, block type and inner object.

Values are short on purpose: the mutations break structure, and short lines are faster.
"""

import json
from typing import Any

from recollect.records.attachments import KINDS_KNOWN_BY_NAME
from recollect.records.system_records import SYSTEM_SUBTYPES

Json = dict[str, Any]

_ID = "0b5e6f7a-1c2d-4e3f-8a9b-0c1d2e3f4a5b"
_TIME = "2026-05-20T10:11:12.345Z"
_SOURCE = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
_CALL = {"id": "toolu_01", "name": "Bash", "input": {"command": "ls", "n": 1}}
_USAGE = {
    "input_tokens": 3,
    "output_tokens": 81,
    "cache_creation_input_tokens": 900,
    "cache_read_input_tokens": 12000,
    "cache_creation": {"ephemeral_5m_input_tokens": 900, "ephemeral_1h_input_tokens": 0},
    "server_tool_use": {"web_search_requests": 1},
    "output_tokens_details": {"thinking_tokens": 5},
    "service_tier": "standard",
    "iterations": [{"type": "message", "input_tokens": 3, "output_tokens": 81}],
}
_BLOCKS: list[Json] = [
    {"type": "text", "text": 'Zeile "eins"\n二\u2028 \U0001f680', "citations": None},
    {"type": "thinking", "thinking": "hm", "signature": "EqQB"},
    {"type": "redacted_thinking", "data": "EqQB"},
    {"type": "tool_use", **_CALL, "caller": {"type": "direct"}},
    {"type": "tool_result", "tool_use_id": "toolu_01", "content": "ok", "is_error": False},
    {
        "type": "tool_result",
        "tool_use_id": "toolu_01",
        "content": [{"type": "text", "text": "a"}, {"type": "image", "source": _SOURCE}, "b"],
    },
    {"type": "image", "source": _SOURCE},
    {"type": "document", "source": {"type": "text", "data": "x"}, "title": "t", "context": "c"},
    {"type": "server_tool_use", **_CALL},
    {"type": "mcp_tool_use", **_CALL, "server_name": "s"},
    {"type": "mcp_tool_result", "tool_use_id": "toolu_01", "content": [], "is_error": True},
    {"type": "tool_reference", "tool_name": "Read"},
    {"type": "search_result", "source": "s", "title": "t", "content": []},
    {"type": "resource", "resource": {"uri": "file:///a"}},
    {"type": "resource_link", "uri": "file:///a", "name": "a", "mimeType": "text/plain"},
    {"type": "container_upload", "file_id": "f"},
    {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}},
    *(
        {"type": f"{name}_tool_result", "tool_use_id": "toolu_01", "content": {"type": name}}
        for name in (
            "web_search",
            "web_fetch",
            "code_execution",
            "bash_code_execution",
            "text_editor_code_execution",
            "tool_search",
            "advisor",
        )
    ),
    {"type": "block_of_tomorrow", "text": "x"},
]
_PROGRESS: list[Json] = [
    {"type": "hook_progress", "hookEvent": "Stop", "hookName": "Stop", "command": "c"},
    {"type": "bash_progress", "output": "o", "elapsedTimeSeconds": 2, "totalLines": 1},
    {"type": "powershell_progress", "output": "o", "totalBytes": 1},
    {"type": "agent_progress", "agentId": "a1", "message": {"message": {"usage": _USAGE}}},
    {"type": "mcp_progress", "status": "started", "serverName": "s", "progress": 0.5},
    {"type": "waiting_for_task", "taskDescription": "t", "taskType": "bash"},
    {"type": "query_update", "query": "q"},
    {"type": "search_results_received", "query": "q", "resultCount": 3},
    {"type": "repl_tool_call"},
    {"type": "progress_of_tomorrow", "x": 1},
]
_ATTACHMENTS: list[Json] = [
    {"type": "queued_command", "prompt": [{"type": "text", "text": "p"}], "isMeta": False},
    {"type": "edited_text_file", "filename": "a.py", "snippet": "s"},
    {"type": "selected_lines_in_ide", "filename": "a", "lineStart": 1, "lineEnd": 2},
    {"type": "hook_success", "hookName": "h", "toolUseID": "t", "exitCode": 0, "durationMs": 1},
    {"type": "hook_blocking_error", "blockingError": {"blockingError": "b", "command": "c"}},
    {"type": "prompt_snapshot", "systemPrompt": ["s"], "tools": [], "reminderFold": True},
    {"type": "model", "identity": {"modelId": "m", "marketingName": "n"}, "text": "t"},
    {"type": "skill_listing", "content": "c", "names": ["a", "b"], "skillCount": 2},
    {"type": "plan_mode", "reminderType": "full", "isSubAgent": False, "planExists": False},
    {"type": "todo_reminder", "content": [], "itemCount": 0},
    {"type": "budget_usd", "used": 0.5, "total": 2, "remaining": 1.5},
    *({"type": name, "content": "c"} for name in sorted(KINDS_KNOWN_BY_NAME)[:6]),
]
_SYSTEM: Json = {
    "content": "c",
    "level": "info",
    "toolUseID": "t",
    "compactMetadata": {"trigger": "auto", "preTokens": 9, "preservedMessages": {"uuids": [_ID]}},
    "microcompactMetadata": {"trigger": "auto", "tokensSaved": 5, "compactedToolIds": ["t"]},
    "hookInfos": [{"command": "c", "durationMs": 1}],
    "durationMs": 1,
    "retryAttempt": 1,
    "writtenPaths": ["p"],
    "commandRun": {"command": "/x", "args": ""},
}
_BACKUP = {"backupFileName": "a@v1", "version": 1, "backupTime": _TIME}
_STATES: dict[str, Json] = {
    "summary": {"summary": "s", "leafUuid": _ID},
    "queue-operation": {"operation": "enqueue", "content": "c"},
    "file-history-snapshot": {
        "messageId": _ID,
        "snapshot": {"messageId": _ID, "trackedFileBackups": {"a.py": _BACKUP}},
        "isSnapshotUpdate": True,
    },
    "file-history-delta": {"messageId": _ID, "trackingPath": "a.py", "backup": _BACKUP},
    "custom-title": {"customTitle": "t"},
    "ai-title": {"aiTitle": "t"},
    "tag": {"tag": "t"},
    "last-prompt": {"lastPrompt": "p", "leafUuid": _ID, "explicit": True},
    "agent-name": {"agentName": "n"},
    "agent-color": {"agentColor": "red"},
    "agent-setting": {"agentSetting": "s"},
    "mode": {"mode": "normal"},
    "permission-mode": {"permissionMode": "plan"},
    "worktree-state": {"worktreeSession": {"worktreePath": "/w", "enteredExisting": False}},
    "pr-link": {"prNumber": 7, "prUrl": "u", "prRepository": "r"},
    "relocated": {"relocatedCwd": "/w"},
    "continued-in": {"continuedInSessionId": _ID},
    "content-replacement": {"replacements": [{"kind": "k", "toolUseId": "t", "replacement": "r"}]},
    "fork-context-ref": {"agentId": "a", "contextLength": 3},
    "bridge-session": {"bridgeSessionId": "b", "lastSequenceNum": 4},
    "frame-link": {"path": "p", "frameUrl": "u", "artifactCount": 1},
    "cost-state": {
        "totalCostUSD": 0.25,
        "modelUsage": {"claude-opus-4-5": {"inputTokens": 1, "costUSD": 0.25}},
    },
    "tools-used": {"tools": ["Bash", "Read"]},
    "atis-latch": {"atis": "on"},
    "isolation-latch": {"side": "left"},
    "memory-mode": {"mode": "on", "afterUuid": _ID},
    "history-suppression": {"cause": "c", "ts": _TIME},
    "ended-by-model": {},
    "speculation-accept": {"timeSavedMs": 5},
    "artifact-comment-monitor": {"v": 1, "artifacts": []},
    "artifact-autoreact-ledger": {"v": 1, "accountUuid": _ID},
    "dev-mods": {"folder": "f"},
    "observer-ref": {},
    "attribution-snapshot": {"messageId": _ID},
    "marble-origami-commit": {},
    "marble-origami-snapshot": {},
    "marble-origami-reset": {},
    "agent_metadata": {"agentId": "a", "agentType": "Explore"},
    "api-request-shape": {"shapeHash": "h", "shape": {"tools": []}},
    "api-request-blob": {"hash": "h", "message": {"role": "user", "content": "c"}},
    "api-request": {"id": "i", "base": "b", "keep": 2, "tail": ["h"]},
    "launched": {},
    "started": {"key": "v2:0", "agentId": "a", "label": "l", "phase": "p"},
    "result": {"key": "v2:0", "agentId": "a", "result": {"x": 1}, "toolsUsed": ["Bash"]},
    "failed": {"key": "v2:0", "agentId": "a", "error": "e"},
    "record-of-tomorrow": {"uuid": _ID, "x": [1, {"y": None}]},
}


def make_seeds() -> list[Json]:
    """Return the records that every broken line is derived from."""
    return [
        *(_link("assistant", message=_message([block]), requestId="req_01") for block in _BLOCKS),
        *(_link("user", message={"role": "user", "content": [block]}) for block in _BLOCKS),
        _link("user", message={"role": "user", "content": "hello"}, toolUseResult={"stdout": "x"}),
        _link("assistant", message=_message("plain"), costUSD=0.01, isApiErrorMessage=True),
        *(_link("progress", data=data, toolUseID="t") for data in _PROGRESS),
        *(_link("attachment", attachment=kind) for kind in _ATTACHMENTS),
        *(_link("system", subtype=name, **_SYSTEM) for name in SYSTEM_SUBTYPES),
        _link("saved_hook_context", content=["c"], hookName="h", hookEvent="Stop"),
        *({"type": name, "sessionId": _ID, **fields} for name, fields in _STATES.items()),
    ]


def encode(seed: Any) -> bytes:
    """Encode `seed` as JavaScript would: compact, with lone surrogates escaped."""
    text = json.dumps(seed, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def _link(kind: str, **fields: Any) -> Json:
    head = {"parentUuid": None, "isSidechain": False, "cwd": "/w", "sessionId": _ID}
    tail = {"type": kind, "uuid": _ID, "timestamp": _TIME, "version": "2.1.45", "gitBranch": "main"}
    return {**head, **fields, **tail}


def _message(content: object) -> Json:
    head = {"id": "msg_01", "type": "message", "role": "assistant", "model": "claude-opus-4-5"}
    return {**head, "content": content, "stop_reason": None, "usage": _USAGE}
