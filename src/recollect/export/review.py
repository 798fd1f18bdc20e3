"""The secrets of an export one by one, for a person who decides which of them are none.

Unlike everything else here this holds the values themselves: they are for the screen of the person
whose sessions they are, and for nothing else.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from recollect.documents.turns import TurnView
from recollect.export.masking import join_texts
from recollect.export.material import SessionPart, iter_whole_turns
from recollect.redact import RedactionPolicy, find_secrets

_CONTEXT: Final = 60


class Suspect(Struct, frozen=True, kw_only=True):
    """A value that will be masked, with what is around its first occurrence."""

    kind: str
    confidence: str
    value: str
    before: str
    after: str
    session_id: str
    turn: int
    count: int


def list_suspects(parts: Iterable[SessionPart], policy: RedactionPolicy) -> list[Suspect]:
    """Return each different value once, in order of appearance."""
    found: dict[tuple[str, str], Suspect] = {}
    for part in parts:
        for view in iter_whole_turns(part.session):
            for suspect in _iter_suspects(view, part.session.id, policy):
                key = suspect.kind, suspect.value
                known = found.get(key)
                found[key] = replace(known, count=known.count + 1) if known else suspect
    return list(found.values())


def _iter_suspects(view: TurnView, session_id: str, policy: RedactionPolicy) -> Iterator[Suspect]:
    text = join_texts(view)
    for finding in find_secrets(text, policy):
        yield Suspect(
            kind=finding.kind,
            confidence=finding.confidence.value,
            value=text[finding.start : finding.end],
            before=text[max(0, finding.start - _CONTEXT) : finding.start],
            after=text[finding.end : finding.end + _CONTEXT],
            session_id=session_id,
            turn=view.number,
            count=1,
        )


def allow(policy: RedactionPolicy, suspects: Iterable[Suspect]) -> RedactionPolicy:
    """Return a policy that leaves these values as they are."""
    import re2  # type: ignore[import-untyped]  # slow to load

    patterns = [str(re2.escape(suspect.value)) for suspect in suspects]
    return replace(policy, allow=(*policy.allow, *patterns))
