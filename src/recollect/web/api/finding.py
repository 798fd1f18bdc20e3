"""Things inside a session by their ids: subagents at any depth, records, tool calls, turns.

An id is compared with what the session holds. One that is not there is NothingFound, whatever it
looks like.
"""

from collections.abc import Iterator

from recollect.errors import NothingFound
from recollect.records.span import Span
from recollect.render.views.conversation import Called
from recollect.render.views.places import find_turn_index
from recollect.render.views.turns import build_turn_view
from recollect.session.session import Session, Subagent


def iter_subagents(session: Session) -> Iterator[Subagent]:
    """The subagents of a session and theirs, each once."""
    waiting, seen = [session], {id(session)}
    while waiting:
        for child in waiting.pop().subagents:
            if id(child.session) not in seen:
                seen.add(id(child.session))
                waiting.append(child.session)
                yield child


def find_agent(session: Session, agent_id: str) -> Session:
    """The conversation of a subagent."""
    for child in iter_subagents(session):
        if child.agent_id == agent_id:
            return child.session
    raise NothingFound(f"The session has no subagent {agent_id!r}.")


def find_span(session: Session, uuid: str) -> Span:
    """Where a record lies, of the session itself or of one of its subagents."""
    for each in (session, *(child.session for child in iter_subagents(session))):
        link = each.tree.links.get(uuid)
        if link is not None and link.span is not None:
            return link.span
    raise NothingFound(f"The session has no record {uuid!r}.")


def find_turn(session: Session, uuid: str) -> int:
    """The index of the turn that a record stands in; of a subagent's record, that of its call."""
    index = find_turn_index(session, uuid)
    if index is not None:
        return index
    for child in session.subagents:
        inner = (child.session, *(each.session for each in iter_subagents(child.session)))
        if child.call and any(uuid in each.tree.links for each in inner):
            index = find_turn_index(session, child.call.call_uuid or "")
            if index is not None:
                return index
    raise NothingFound(f"The session has no record {uuid!r}.")


def find_call(session: Session, call_id: str) -> Called:
    """A tool call with all that opens behind it."""
    call = session.find_tool_call(call_id)
    index = find_turn_index(session, call.call_uuid or "") if call else None
    if index is not None:
        view = build_turn_view(session, session.turns[index])
        for step in view.steps:
            if isinstance(step, Called) and step.call_id == call_id:
                return step
    raise NothingFound(f"The session has no tool call {call_id!r}.")
