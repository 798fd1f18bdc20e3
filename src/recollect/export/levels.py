"""How much of a turn is exported."""

from typing import Final

from msgspec.structs import replace

from recollect.documents.turns import Step, TextStep, ToolStep, TurnView
from recollect.export.options import Level

_KINDS: Final[dict[Level, tuple[type[Step], ...]]] = {
    Level.PROMPTS: (),
    Level.CONVERSATION: (TextStep,),
    Level.TOOLS: (TextStep, ToolStep),
}


def select_steps(turn: TurnView, level: Level) -> TurnView:
    """Return a turn with the steps of a level."""
    if level is Level.FULL:
        return turn
    kinds = _KINDS[level]
    return replace(turn, steps=tuple(step for step in turn.steps if isinstance(step, kinds)))
