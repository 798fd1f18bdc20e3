"""Views of shell commands, and of the background tasks that they become."""

import re

from recollect.documents.turn_documents import Code, Output, Part, Picture
from recollect.quantities import format_count, format_duration
from recollect.records.tools import TextResult, UnknownResult, shell_tools
from recollect.render.views import part_builders
from recollect.render.views.tools.tool_view import Case, ToolView, find_media

_IMAGE_URL = re.compile(r"data:([\w.+/-]{1,80});base64,")


def describe_command(case: Case) -> ToolView | None:
    """Describe a command and its output."""
    wanted = case.input
    if not isinstance(wanted, shell_tools.ShellInput) or not wanted.command:
        return None
    language = "powershell" if isinstance(wanted, shell_tools.PowerShellInput) else "bash"
    return ToolView(
        title=part_builders.take_line(wanted.command),
        description=part_builders.take_line(wanted.description or ""),
        summary=_summarise(case),
        input=(Code(wanted.command, language=language), *_show_options(wanted)),
        output=_show_result(case),
    )


def _show_options(wanted: shell_tools.ShellInput) -> tuple[Part, ...]:
    return part_builders.show_fields(
        ("description", wanted.description),
        ("timeout", format_duration(wanted.timeout) if wanted.timeout else None),
        ("in the background", wanted.run_in_background or None),
        ("without sandbox", wanted.dangerously_disable_sandbox or None),
    )


def _summarise(case: Case) -> str:
    result = case.result
    if isinstance(result, shell_tools.ShellResult):
        return part_builders.join_facts(*_list_facts(result), _count_lines(result, case))
    return _count_output(_lines_in(case.text), case)


def _list_facts(result: shell_tools.ShellResult) -> tuple[str | None, ...]:
    task, late = result.background_task_id, result.timed_out_after_ms
    return (
        "interrupted" if result.interrupted else None,
        f"timed out after {format_duration(late)}" if late else None,
        f"runs in the background as {task}" if task else None,
        result.return_code_interpretation,
        *_list_git(result.git_operation or shell_tools.GitOperation()),
    )


def _list_git(git: shell_tools.GitOperation) -> tuple[str | None, ...]:
    return (
        f"committed {git.commit.sha}" if git.commit and git.commit.sha else None,
        f"pushed {git.push.branch}" if git.push and git.push.branch else None,
        f"{git.branch.action or 'changed'} {git.branch.ref}" if git.branch else None,
        f"pull request {git.pr.number}" if git.pr and git.pr.number is not None else None,
    )


def _count_lines(result: shell_tools.ShellResult, case: Case) -> str | None:
    if result.is_image:
        return "a picture"
    if result.background_task_id:
        return None
    return _count_output(_lines_in(result.stdout) + _lines_in(result.stderr), case)


def _count_output(lines: int, case: Case) -> str:
    pictures = len(find_media(case.call))
    return part_builders.join_facts(
        format_count(lines, "line") if lines else None,
        format_count(pictures, "picture") if pictures else None,
    )


def _lines_in(text: str) -> int:
    return text.strip("\n").count("\n") + 1 if text.strip() else 0


def _show_result(case: Case) -> tuple[Part, ...]:
    result = case.result
    if isinstance(result, shell_tools.ShellResult):
        more = part_builders.show_fields(("hint", result.stale_read_file_state_hint))
        return (*_show_output(result), *more, *part_builders.show_value(result.structured_content))
    return show_streams(case.text, "")


def _show_output(result: shell_tools.ShellResult) -> tuple[Part, ...]:
    if result.is_image:
        picture = _IMAGE_URL.match(result.stdout)
        if picture:
            return (Picture(picture[1], result.stdout[picture.end() :]),)
    return show_streams(result.stdout, result.stderr)


def show_streams(stdout: str, stderr: str) -> tuple[Part, ...]:
    """Return the output of a program, without empty streams and text that it has overwritten."""
    outputs = (
        Output(part_builders.fold_progress(stdout)),
        Output(part_builders.fold_progress(stderr), is_stderr=True),
    )
    return tuple(output for output in outputs if output.text.strip())


def describe_task_output(case: Case) -> ToolView | None:
    """Describe a check on a background task."""
    wanted, result = case.input, case.result
    if isinstance(wanted, shell_tools.BashOutputInput):
        title = part_builders.join_facts(wanted.bash_id, wanted.filter)
    elif isinstance(wanted, shell_tools.TaskOutputInput):
        title = wanted.task_id or wanted.agent_id or ""
    else:
        return None
    match result:
        case shell_tools.BashOutputResult():
            code = None if result.exit_code is None else f"exit code {result.exit_code}"
            summary = part_builders.join_facts(result.status, code, result.command)
            return ToolView(
                title=title, summary=summary, output=show_streams(result.stdout, result.stderr)
            )
        case shell_tools.TaskOutputResult(task=shell_tools.BackgroundTask() as task):
            return ToolView(title=title, summary=_describe_task(task), output=_show_task(task))
        case shell_tools.TaskOutputResult():
            return ToolView(title=title, summary=result.retrieval_status or "")
    return ToolView(title=title, output=show_streams(case.text, ""))


def _describe_task(task: shell_tools.BackgroundTask) -> str:
    code = None if task.exit_code is None else f"exit code {task.exit_code}"
    return part_builders.join_facts(task.status, code, task.description)


def _show_task(task: shell_tools.BackgroundTask) -> tuple[Part, ...]:
    answer = part_builders.show_plain(task.result) if task.result != task.output else ()
    return (*show_streams(task.output or "", task.error or ""), *answer)


def describe_task_stop(case: Case) -> ToolView | None:
    """Describe stopping a background task."""
    wanted, result = case.input, case.result
    if isinstance(wanted, shell_tools.KillShellInput):
        title = wanted.shell_id
    elif isinstance(wanted, shell_tools.TaskStopInput):
        title = wanted.task_id or wanted.shell_id or ""
    else:
        return None
    match result:
        case shell_tools.TaskStopResult():
            said = part_builders.join_facts(result.message, result.command)
        case shell_tools.KillShellResult():
            said = result.message or ("stopped" if result.success else "")
        case _:
            said = case.text
    return ToolView(title=title, summary=part_builders.take_line(said))


def describe_monitor(case: Case) -> ToolView | None:
    """Describe a command whose output wakes the model."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, shell_tools.MonitorInput):
        return None
    task = result.task_id if isinstance(result, shell_tools.MonitorResult) else None
    command = (Code(wanted.command, language="bash"),) if wanted.command else ()
    return ToolView(
        title=part_builders.take_line(wanted.description or wanted.command or ""),
        summary=f"watches as {task}" if task else "",
        input=(
            *command,
            *part_builders.show_value(wanted.ws),
            *part_builders.show_fields(("persistent", wanted.persistent)),
        ),
        output=show_streams(case.text, "") if isinstance(result, UnknownResult) else (),
    )


def read_exit_code(case: Case) -> int | None:
    """Return the exit code of a failed command."""
    result = case.result if isinstance(case.result, TextResult) else TextResult(text=case.text)
    return result.exit_code
