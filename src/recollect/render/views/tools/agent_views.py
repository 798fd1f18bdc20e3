"""Views of subagents, teammates, workflows, skills and MCP: their task and what they returned.

The figures of a subagent are the client's; its own transcript is the better source.
"""

from math import isclose

from msgspec import Raw

from recollect.documents.turn_documents import Code, Entry, Output, Part, Picture, Plain
from recollect.quantities import format_count, format_duration
from recollect.records.blocks import NestedBlock
from recollect.records.decoding import decode_value
from recollect.records.envelope import is_absent
from recollect.records.tools import TextResult, agent_tools, lookup_tools
from recollect.render.views import part_builders
from recollect.render.views.tools.tool_view import Case, ToolView, find_title, show_answer


def describe_agent(case: Case) -> ToolView | None:
    """Describe a subagent's task and its result."""
    wanted = case.input
    if not isinstance(wanted, agent_tools.AgentInput) or not (wanted.prompt or wanted.description):
        return None
    return ToolView(
        title=part_builders.take_line(wanted.description or wanted.prompt),
        summary=_summarise_agent(case),
        input=(*part_builders.show_prose(wanted.prompt), *_show_agent_options(wanted)),
        output=_show_answer(case),
    )


def _show_agent_options(wanted: agent_tools.AgentInput) -> tuple[Part, ...]:
    return part_builders.show_fields(
        ("agent", wanted.subagent_type),
        ("name", wanted.name),
        ("team", wanted.team_name),
        ("model", wanted.model),
        ("mode", wanted.mode),
        ("isolation", wanted.isolation),
        ("resumes", wanted.resume),
        ("in the background", wanted.run_in_background),
    )


def _summarise_agent(case: Case) -> str:
    match case.result:
        case agent_tools.AgentCompleted() as done:
            return part_builders.join_facts(
                "interrupted" if done.was_interrupted else None,
                _count(done.total_tool_use_count, "tool call"),
                _count(done.total_tokens, "token"),
                _name_time(case, done.total_duration_ms),
            )
        case agent_tools.AgentLaunched():
            return "started in the background"
        case agent_tools.AgentLaunchedRemotely():
            return "started on another machine"
        case agent_tools.TeammateSpawned(name=name):
            return f"teammate {name}" if name else "a teammate"
        case agent_tools.AgentResult(status=status):
            return status or ""
    return part_builders.take_line(case.text)


def _name_time(case: Case, total_ms: float | None) -> str | None:
    """Return how long a subagent worked, unless its call already shows nearly the same."""
    called_ms = case.call.duration_ms
    if total_ms is None or (called_ms is not None and isclose(total_ms, called_ms, rel_tol=0.1)):
        return None
    return format_duration(total_ms)


def _count(number: int | None, noun: str) -> str | None:
    return None if number is None else format_count(number, noun)


def _show_answer(case: Case) -> tuple[Part, ...]:
    match case.result:
        case agent_tools.AgentCompleted(content=blocks) as done:
            where = ("worktree", done.worktree_path), ("branch", done.worktree_branch)
            return (
                *part_builders.show_blocks(blocks, as_prose=True),
                *part_builders.show_fields(*where),
            )
        case agent_tools.AgentLaunched() | agent_tools.AgentLaunchedRemotely() as launched:
            return part_builders.show_fields(
                ("agent id", launched.agent_id), ("output file", launched.output_file)
            )
        case agent_tools.TeammateSpawned() as mate:
            return part_builders.show_fields(
                ("teammate", mate.name), ("team", mate.team_name), ("model", mate.model)
            )
        case agent_tools.AgentResult() | TextResult():
            pass
    return part_builders.show_prose(case.text)


def describe_workflow(case: Case) -> ToolView | None:
    """Describe a script that starts subagents."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, agent_tools.WorkflowInput):
        return None
    script = (Code(wanted.script, language="javascript"),) if wanted.script else ()
    started = (
        result if isinstance(result, agent_tools.WorkflowResult) else agent_tools.WorkflowResult()
    )
    name = wanted.title or wanted.name or started.workflow_name or wanted.script_path or ""
    failure = (Output(started.error, is_error=True),) if started.error else ()
    return ToolView(
        title=part_builders.take_line(name or wanted.description or ""),
        summary=part_builders.take_line(started.error or started.summary or started.status or ""),
        input=(
            *part_builders.show_prose(wanted.description),
            *script,
            *part_builders.show_fields(
                ("script", wanted.script_path), ("resumes", wanted.resume_from_run_id)
            ),
            *part_builders.show_value(wanted.args),
        ),
        output=(
            *failure,
            *part_builders.show_fields(("run", started.run_id), ("task", started.task_id)),
            *part_builders.show_prose(started.warning),
        ),
    )


def describe_skill(case: Case) -> ToolView | None:
    """Describe a skill or command that the model used."""
    match case.input:
        case agent_tools.SkillInput(skill=skill, args=arguments) if skill:
            title = f"{skill} {arguments}" if arguments else skill
        case agent_tools.SlashCommandInput(command=title) if title:
            pass
        case _:
            return None
    result = (
        case.result
        if isinstance(case.result, agent_tools.SkillResult)
        else agent_tools.SkillResult()
    )
    answer = part_builders.show_prose(result.result) or part_builders.show_plain(case.text)
    return ToolView(
        title=part_builders.take_line(title),
        summary=part_builders.join_facts(
            result.status, part_builders.take_line(result.result or "") or "loaded"
        ),
        input=part_builders.show_fields(
            ("command", result.command_name), ("allowed tools", result.allowed_tools)
        ),
        output=answer,
    )


def describe_message(case: Case) -> ToolView | None:
    """Describe a message to a subagent or teammate."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, agent_tools.SendMessageInput):
        return None
    to = wanted.to or wanted.recipient
    text = wanted.message if isinstance(wanted.message, str) else wanted.content
    sent = (
        result
        if isinstance(result, agent_tools.SendMessageResult)
        else agent_tools.SendMessageResult()
    )
    if not text:
        return None
    return ToolView(
        title=part_builders.join_facts(
            f"to {to}" if to else None, part_builders.take_line(wanted.summary or text)
        ),
        summary=part_builders.take_line(sent.message or case.text),
        input=part_builders.show_prose(text),
    )


def describe_team(case: Case) -> ToolView | None:
    """Describe the creation of a team."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, agent_tools.TeamCreateInput) or not wanted.team_name:
        return None
    made = (
        result
        if isinstance(result, agent_tools.TeamCreateResult)
        else agent_tools.TeamCreateResult()
    )
    return ToolView(
        title=wanted.team_name,
        input=part_builders.show_prose(wanted.description),
        output=part_builders.show_fields(
            ("lead", made.lead_agent_id), ("file", made.team_file_path)
        ),
    )


def describe_structured(case: Case) -> ToolView | None:
    """Describe a structured reply."""
    wanted = case.input
    if not isinstance(wanted, agent_tools.StructuredOutputInput):
        return None
    return ToolView(title="structured output", input=(part_builders.show_json(wanted.value),))


_JSON_STARTS = ("{", "[")


def describe_mcp(case: Case) -> ToolView | None:
    """Describe a call of an MCP tool."""
    wanted = case.input
    if not isinstance(wanted, lookup_tools.McpInput):
        return None
    output = _show_result(case)
    return ToolView(
        title=find_title(wanted.arguments),
        summary=_summarise(output),
        input=part_builders.show_value(wanted.arguments),
        output=output,
    )


def _show_result(case: Case) -> tuple[Part, ...]:
    """Return the server's blocks if they were kept, else what the model saw."""
    result = case.result
    if not isinstance(result, lookup_tools.McpResult):
        return show_answer(case)
    parts = tuple(part for block in result.blocks for part in _show_block(block))
    if not parts and not is_absent(result.structured_content):
        return part_builders.show_value(result.structured_content)
    if not parts and not is_absent(result.raw):
        return part_builders.show_value(result.raw)
    return parts or show_answer(case)


def _show_block(block: NestedBlock | str) -> tuple[Part, ...]:
    """Return a block; text that is JSON is shown as such."""
    parts = part_builders.show_blocks((block,))
    match parts:
        case (Plain(text=text),) if text.lstrip().startswith(_JSON_STARTS):
            data = text.encode(errors="replace")
            return parts if decode_value(data, Raw) is None else (part_builders.show_json(data),)
    return parts


def _summarise(output: tuple[Part, ...]) -> str:
    pictures = sum(isinstance(part, Picture) for part in output)
    text = next((part.text for part in output if isinstance(part, Plain)), "")
    return part_builders.join_facts(
        format_count(pictures, "picture") if pictures else None, part_builders.take_line(text)
    )


def describe_resources(case: Case) -> ToolView | None:
    """Describe a listing of MCP resources."""
    match case.input:
        case lookup_tools.ListMcpResourcesInput(server=server):
            title = server or ""
        case lookup_tools.ReadMcpResourceDirInput() as wanted:
            title = part_builders.join_facts(wanted.server, wanted.uri)
        case _:
            return None
    match case.result:
        case (
            lookup_tools.ListMcpResourcesResult(resources=found)
            | lookup_tools.ReadMcpResourceDirResult(resources=found)
        ):
            listed = part_builders.show_entries(map(_show_resource, found))
            return ToolView(
                title=title, summary=format_count(len(found), "resource"), output=listed
            )
    return ToolView(
        title=title, summary=part_builders.take_line(case.text), output=show_answer(case)
    )


def _show_resource(resource: lookup_tools.McpResource) -> Entry:
    note = part_builders.join_facts(resource.server, resource.mime_type, resource.description)
    return Entry(resource.name or resource.uri, path=resource.uri or None, note=note or None)


def describe_resource(case: Case) -> ToolView | None:
    """Describe a resource that was read."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, lookup_tools.ReadMcpResourceInput) or not wanted.uri:
        return None
    title = part_builders.join_facts(wanted.server, wanted.uri)
    if not isinstance(result, lookup_tools.ReadMcpResourceResult):
        return ToolView(title=title, output=show_answer(case))
    failure = (Output(result.error, is_error=True),) if result.error else ()
    found = tuple(part for contents in result.contents for part in _show_contents(contents))
    return ToolView(
        title=title, summary=part_builders.take_line(result.error or ""), output=(*failure, *found)
    )


def _show_contents(contents: lookup_tools.ResourceContents) -> tuple[Part, ...]:
    return (
        *part_builders.show_plain(contents.text),
        *part_builders.show_fields(("saved to", contents.blob_saved_to)),
    )


def describe_refresh(case: Case) -> ToolView | None:
    """Describe a refresh of the servers' tools."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, lookup_tools.RefreshMcpToolsInput):
        return None
    if not isinstance(result, lookup_tools.RefreshMcpToolsResult):
        return ToolView(title=wanted.server or "", output=show_answer(case))
    return ToolView(
        title=wanted.server or "",
        summary=format_count(len(result.servers), "server"),
        output=part_builders.show_entries(map(_show_refresh, result.servers)),
    )


def _show_refresh(found: lookup_tools.McpRefresh) -> Entry:
    tools = None if found.tool_count is None else format_count(found.tool_count, "tool")
    return Entry(
        found.server, note=part_builders.join_facts(found.status, tools, found.error) or None
    )


def describe_tool_search(case: Case) -> ToolView | None:
    """Describe a search for tools."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, lookup_tools.ToolSearchInput) or not wanted.query:
        return None
    if not isinstance(result, lookup_tools.ToolSearchResult):
        return ToolView(title=part_builders.take_line(wanted.query), output=show_answer(case))
    return ToolView(
        title=part_builders.take_line(wanted.query),
        summary=format_count(len(result.matches), "tool"),
        output=part_builders.show_entries(map(Entry, result.matches)),
    )
