"""Build the view of a tool call: the table of views by tool name, and what all calls share.

There is a module for each family of tools. A tool's own view only covers successful calls. A call
that failed, was rejected, was interrupted or is still pending looks the same for every tool, and so
do pictures, output stored in another file, and an answer that the view of its tool does not show.
To add a tool, add it to `VIEWS`.
"""

from msgspec.structs import replace

from recollect.documents.kinds import RejectedBy, ToolStatus
from recollect.documents.turn_documents import Output, Part, Picture, Plain
from recollect.quantities import format_bytes
from recollect.records.tools.file_tools import CHANGE_TOOLS
from recollect.render.views.part_builders import fold_progress, show_fields, show_plain, take_line
from recollect.render.views.tools import (
    agent_views,
    file_views,
    planning_views,
    search_views,
    shell_views,
    tool_view,
)
from recollect.render.views.tools.agent_views import describe_mcp
from recollect.render.views.tools.file_views import strip_confirmation
from recollect.render.views.tools.shell_views import read_exit_code
from recollect.render.views.tools.tool_view import ToolView
from recollect.session.tool_calls import SpilledOutput, ToolCall

__all__ = ["ToolView", "describe_call"]

VIEWS: dict[str, tool_view.Describe] = {
    "Agent": agent_views.describe_agent,
    "AskUserQuestion": planning_views.describe_question,
    "Bash": shell_views.describe_command,
    "CronCreate": planning_views.describe_cron_create,
    "CronDelete": planning_views.describe_cron_delete,
    "CronList": planning_views.describe_cron_list,
    "Edit": file_views.describe_edit,
    "EnterPlanMode": planning_views.describe_plan_mode,
    "EnterWorktree": planning_views.describe_enter,
    "ExitPlanMode": planning_views.describe_plan,
    "ExitWorktree": planning_views.describe_exit,
    "Glob": search_views.describe_glob,
    "Grep": search_views.describe_grep,
    "LS": search_views.describe_ls,
    "LSP": search_views.describe_lsp,
    "ListMcpResources": agent_views.describe_resources,
    "Monitor": shell_views.describe_monitor,
    "MultiEdit": file_views.describe_edit,
    "NotebookEdit": file_views.describe_notebook_edit,
    "PowerShell": shell_views.describe_command,
    "Read": file_views.describe_read,
    "ReadMcpResource": agent_views.describe_resource,
    "ReadMcpResourceDir": agent_views.describe_resources,
    "RefreshMcpTools": agent_views.describe_refresh,
    "ReportFindings": planning_views.describe_findings,
    "ScheduleWakeup": planning_views.describe_wakeup,
    "SendMessage": agent_views.describe_message,
    "Skill": agent_views.describe_skill,
    "StructuredOutput": agent_views.describe_structured,
    "TaskCreate": planning_views.describe_task_create,
    "TaskGet": planning_views.describe_task_get,
    "TaskList": planning_views.describe_task_list,
    "TaskOutput": shell_views.describe_task_output,
    "TaskStop": shell_views.describe_task_stop,
    "TaskUpdate": planning_views.describe_task_update,
    "TeamCreate": agent_views.describe_team,
    "TodoWrite": planning_views.describe_todos,
    "ToolSearch": agent_views.describe_tool_search,
    "WebFetch": search_views.describe_fetch,
    "WebSearch": search_views.describe_search,
    "Workflow": agent_views.describe_workflow,
    "Write": file_views.describe_write,
    "web_fetch": search_views.describe_server_fetch,
    "web_search": search_views.describe_server_search,
}


_ERROR_TAGS = ("<tool_use_error>", "</tool_use_error>")
_EXIT_CODE = "Exit code "
_PERSON_SAID = "the user said:\n"
_REFUSALS = {
    RejectedBy.PERSON: "rejected by you",
    RejectedBy.RULE: "denied by a rule",
    RejectedBy.HOOK: "blocked by a hook",
}


def describe_call(call: ToolCall) -> ToolView:
    """Return the view of `call`; never raises, whatever its input and result contain."""
    parsed = call.parse()
    case = tool_view.Case(call, parsed.input, parsed.result, _clean(parsed.text))
    view = _find_view(call)(case) or tool_view.describe_any(case)
    if call.status is not ToolStatus.SUCCESS:
        view = replace(view, summary=_describe_end(case), output=_show_end(case, view))
    return _name_spilled(_add_media(_add_words(view, case), case), parsed.spilled)


def _find_view(call: ToolCall) -> tool_view.Describe:
    return describe_mcp if call.mcp_server else VIEWS.get(call.name, tool_view.describe_any)


def _clean(text: str) -> str:
    start, end = _ERROR_TAGS
    return text.strip().removeprefix(start).removesuffix(end) if start in text[:100] else text


def _describe_end(case: tool_view.Case) -> str:
    call = case.call
    match call.status:
        case ToolStatus.PENDING:
            return "the result is missing" if call.is_lost else "no result yet"
        case ToolStatus.INTERRUPTED:
            return "interrupted"
        case ToolStatus.REJECTED:
            reason = _find_reason(case)
            refusal = _REFUSALS[call.rejected_by or RejectedBy.PERSON]
            return f"{refusal}: {reason}" if reason else refusal
    code = read_exit_code(case)
    how = "failed" if code is None else f"failed with exit code {code}"
    reason = take_line(_error_text(case))
    return f"{how}: {reason}" if reason else how


def _find_reason(case: tool_view.Case) -> str:
    """Return why a call was rejected; for a user only their own text, as the rest never changes."""
    if case.call.rejected_by is RejectedBy.PERSON:
        return take_line(case.text.partition(_PERSON_SAID)[2])
    return take_line(case.text)


def _error_text(case: tool_view.Case) -> str:
    """Return the text of an error without a line that only has an exit code."""
    first, _, rest = case.text.partition("\n")
    return rest if first.startswith(_EXIT_CODE) else case.text


def _show_end(case: tool_view.Case, view: ToolView) -> tuple[Part, ...]:
    match case.call.status:
        case ToolStatus.PENDING:
            return ()
        case ToolStatus.FAILED:
            text = _error_text(case)
            if not text.strip():
                return () if case.text.strip() else tool_view.show_answer(case)
            return (Output(fold_progress(text), is_error=True),)
        case ToolStatus.REJECTED:
            return (Plain(case.text),) if case.text.strip() else tool_view.show_answer(case)
    return view.output or tool_view.show_answer(case)


def _add_words(view: ToolView, case: tool_view.Case) -> ToolView:
    """Add what the model saw, if the view of a completed call shows none of it."""
    is_done = case.call.status in (ToolStatus.SUCCESS, ToolStatus.INTERRUPTED)
    is_change = case.call.name in CHANGE_TOOLS and bool(view.input)
    text = strip_confirmation(case.text) if is_change else case.text
    if view.output or not is_done or not text.strip():
        return view
    return replace(view, output=show_plain(text))


def _add_media(view: ToolView, case: tool_view.Case) -> ToolView:
    """Add images and documents of the result that the view does not show."""
    media = tool_view.find_media(case.call)
    if not media:
        return view
    known = {_identify(part) for part in (*view.input, *view.output)}
    added = tuple(part for part in media if _identify(part) not in known)
    return replace(view, output=(*view.output, *added)) if added else view


def _identify(part: Part) -> object:
    """Return a key that is equal for parts that show the same: for pictures, their bytes."""
    return (part.data if isinstance(part, Picture) else None) or part


def _name_spilled(view: ToolView, spilled: SpilledOutput | None) -> ToolView:
    """Add the location of the full output, if the transcript has only its start."""
    if spilled is None:
        return view
    size = None if spilled.size is None else format_bytes(spilled.size)
    named = show_fields(("full output in", spilled.recorded_path), ("size", size))
    return replace(view, output=(*view.output, *named))
