"""The turns of a session by range, as the views describe them.

A long session need not be read to its end before its first turns can be shown: `quick` answers
from the beginning of the file, says so, and has the rest read meanwhile.
"""

from typing import Annotated, Final

from msgspec import Meta, Struct

from recollect.documents.session_documents import TurnsDocument
from recollect.web.api.session_endpoints import Project
from recollect.web.parameters import MAX_ID, Id
from recollect.web.services import Services
from recollect.workspace.turn_windows import MAX_STEPS, TurnRange, TurnWindow

MAX_TURNS: Final = 200
MAX_MARKS: Final = 2000


Marks = Annotated[
    str,
    Meta(
        max_length=MAX_MARKS,
        description="Words in that record, one per line, if several steps show it.",
    ),
]


class TurnsParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which turns of which session."""

    id: Id
    project: Project | None = None
    start: Annotated[int, Meta(ge=0, le=10_000_000, description="How many turns to skip.")] = 0
    count: Annotated[int, Meta(ge=1, le=MAX_TURNS)] = 20
    at: Annotated[
        str, Meta(max_length=MAX_ID, description="Begin a little before the turn of this record.")
    ] = ""
    offset: (
        Annotated[
            int,
            Meta(ge=0, description="Where in the file it lies, if several records have its uuid."),
        ]
        | None
    ) = None
    mark: Marks = ""
    agent: Annotated[
        str, Meta(max_length=MAX_ID, description="Of this subagent instead of the session itself.")
    ] = ""
    steps: Annotated[
        int,
        Meta(ge=1, le=MAX_STEPS, description="Begin no further turn after so many steps."),
    ] = MAX_STEPS
    quick: Annotated[
        bool,
        Meta(description="Answer from the beginning of a long file if all of it is not read yet."),
    ] = False


def load_turns(
    services: Services, wanted: TurnsParameters, *, is_complete: bool = False
) -> TurnRange:
    """Return the requested turns; their tool calls are whole if `is_complete`."""
    window = TurnWindow(
        start=wanted.start,
        count=wanted.count,
        at=wanted.at,
        offset=wanted.offset,
        words=tuple(wanted.mark.splitlines()),
        agent=wanted.agent,
        steps=wanted.steps,
        is_quick=wanted.quick,
        is_complete=is_complete,
    )
    return services.workspace.turns(services.workspace.locate(wanted.id, wanted.project), window)


def list_turns(services: Services, wanted: TurnsParameters) -> TurnsDocument:
    """Return the requested turns."""
    found = load_turns(services, wanted, is_complete=True)
    return TurnsDocument(
        id=wanted.id,
        start=found.start,
        total=found.total,
        is_partial=found.is_partial,
        turns=found.turns,
    )
