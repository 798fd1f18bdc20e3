"""Turns with nothing left out, as JSON has them: whole tool calls, and subagents expanded."""

from msgspec.structs import replace

from recollect.documents.turns import Step, ToolStep, TurnView
from recollect.render.views.message_steps import refer_to
from recollect.render.views.turn_views import build_turn_views
from recollect.render.views.whole_calls import show_whole_calls
from recollect.session.session import Session


def complete_turn(view: TurnView, session: Session, *, subagents: bool = False) -> TurnView:
    """Return a turn of `session` with whole calls, and with the turns of their `subagents`."""
    whole = show_whole_calls(view, session)
    if not subagents:
        return whole
    return replace(whole, steps=tuple(_expand(step, session) for step in whole.steps))


def _expand(step: Step, session: Session) -> Step:
    if not isinstance(step, ToolStep) or not step.subagents:
        return step
    children = session.find_subagents(step.call_id)
    return replace(
        step,
        subagents=tuple(
            replace(refer_to(child), turns=_list_turns(child.session)) for child in children
        ),
    )


def _list_turns(session: Session) -> tuple[TurnView, ...]:
    views = build_turn_views(session)
    return tuple(complete_turn(view, session, subagents=True) for view in views)
