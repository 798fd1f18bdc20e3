"""A call of any tool → its view, however it ended.

A tool's own view knows only calls that went well. What failed, was refused, was stopped or never
answered reads the same for all tools, and so does output that was put elsewhere.
"""

from recollect.render.views.parts import Output, Part, Plain
from recollect.render.views.tools.default import describe_any, show_answer
from recollect.render.views.tools.mcp import describe_mcp
from recollect.render.views.tools.shell import read_exit_code
from recollect.render.views.tools.table import VIEWS
from recollect.render.views.tools.view import Case, Describe, ToolView
from recollect.render.views.values import show_fields
from recollect.render.views.words import size_of, take_line
from recollect.session.outcomes import RejectedBy, ToolStatus
from recollect.session.tool_calls import ToolCall

_ERROR_TAGS = ("<tool_use_error>", "</tool_use_error>")
_EXIT_CODE = "Exit code "
_PERSON_SAID = "the user said:\n"
_REFUSALS = {
    RejectedBy.PERSON: "rejected by the person",
    RejectedBy.RULE: "denied by a rule",
    RejectedBy.HOOK: "blocked by a hook",
}


def describe_call(call: ToolCall) -> ToolView:
    """The view of `call`; never raises, whatever stands in its input and result."""
    case = Case(call, call.input, call.result, _clean(call.text))
    view = _find_view(call)(case) or describe_any(case)
    if call.status is not ToolStatus.SUCCESS:
        view = ToolView(
            title=view.title,
            summary=_describe_end(case),
            input=view.input,
            output=_show_end(case, view),
        )
    return _name_spilled(view, call)


def _find_view(call: ToolCall) -> Describe:
    return describe_mcp if call.mcp_server else VIEWS.get(call.name, describe_any)


def _clean(text: str) -> str:
    start, end = _ERROR_TAGS
    return text.strip().removeprefix(start).removesuffix(end) if start in text[:100] else text


def _describe_end(case: Case) -> str:
    call = case.call
    match call.status:
        case ToolStatus.PENDING:
            return "the answer is missing" if call.is_lost else "no answer yet"
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


def _find_reason(case: Case) -> str:
    """Why a call was refused; of a person only their own words, for the rest is always the same."""
    if case.call.rejected_by is RejectedBy.PERSON:
        return take_line(case.text.partition(_PERSON_SAID)[2])
    return take_line(case.text)


def _error_text(case: Case) -> str:
    """The words of an error without the line that only names an exit code."""
    first, _, rest = case.text.partition("\n")
    return rest if first.startswith(_EXIT_CODE) else case.text


def _show_end(case: Case, view: ToolView) -> tuple[Part, ...]:
    match case.call.status:
        case ToolStatus.PENDING:
            return ()
        case ToolStatus.FAILED:
            text = _error_text(case)
            if not text.strip():
                return () if case.text.strip() else show_answer(case)
            return (Output(text, is_error=True),)
        case ToolStatus.REJECTED:
            return (Plain(case.text),) if case.text.strip() else show_answer(case)
    return view.output or show_answer(case)


def _name_spilled(view: ToolView, call: ToolCall) -> ToolView:
    """Say where the whole output lies, when the transcript holds only its beginning."""
    spilled = call.spilled
    if spilled is None:
        return view
    size = None if spilled.size is None else size_of(spilled.size)
    named = show_fields(("whole output in", spilled.recorded_path), ("size", size))
    return ToolView(
        title=view.title, summary=view.summary, input=view.input, output=(*view.output, *named)
    )
