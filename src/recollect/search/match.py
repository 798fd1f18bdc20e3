"""The syntax tree → an expression of FTS5 for what is sought, and a condition for all the rest.

Every term goes into quotes, and none holds one, so that nothing of a query reaches FTS5 as syntax.
The expression drives the search and the condition only filters what it finds: what stands on the
top level and consists of words goes into the expression.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from msgspec import Struct

from recollect.search.prefixes import Spell, spell_as_is
from recollect.search.terms import TermSequence, query_terms
from recollect.search.tree import And, Leaf, Node, Not, Or, Phrase, Prefix, Query, Regex, Word
from recollect.store.text_queries import Condition, all_of, any_of, holds_words, none_of

FieldConditions = Callable[[Leaf], Condition]
"""What a field, a bound or a regular expression asks for."""

Candidates = Callable[[Regex], str | None]
"""An expression for the texts among which a regular expression is to be looked for."""


class Plan(Struct, frozen=True):
    """What to look up and what to check; without an expression every text is checked."""

    match: str | None
    condition: Condition


def make_search_plan(
    query: Query, ask: FieldConditions, find_candidates: Candidates, spell: Spell
) -> Plan:
    """The plan for a query."""
    parts = query.root.parts if isinstance(query.root, And) else (query.root,)
    worded = [part for part in parts if to_match(_positive(part)) is not None]
    # What a condition may turn down has to be gone through to the end, which takes as long as
    # uniting it, and longer in many pieces.
    match = to_match(And(tuple(worded)), spell if len(worded) == len(parts) else spell_as_is)
    rest = [part for part in parts if match is None or part not in worded]
    narrowed = [find_candidates(part) for part in rest if isinstance(part, Regex)]
    matches = [found for found in (match, *narrowed) if found is not None]
    condition = all_of([_to_condition(part, ask) for part in rest])
    return Plan(" AND ".join(matches) or None, condition)


def to_match(node: Node, spell: Spell = spell_as_is) -> str | None:
    """The expression for a node; None if it has anything in it but words, or only what is not."""
    match node:
        case Word() | Phrase():
            return join_any(map(quote_terms, query_terms(node.text)))
        case Prefix():
            sequences = query_terms(node.text, prefix=True)
            return join_any(map(quote_terms, chain.from_iterable(map(spell, sequences))))
        case Or():
            matches = [to_match(part, spell) for part in node.parts]
            return None if None in matches else join_any(filter(None, matches))
        case And():
            return _match_all(node.parts, spell)
    return None


def _positive(node: Node) -> Node:
    return node.part if isinstance(node, Not) else node


def _match_all(parts: Sequence[Node], spell: Spell) -> str | None:
    wanted = [to_match(part, spell) for part in parts if not isinstance(part, Not)]
    unwanted = [to_match(part.part, spell) for part in parts if isinstance(part, Not)]
    if not wanted or None in wanted or None in unwanted:
        return None
    found = " AND ".join(filter(None, wanted))
    return f"(({found}) NOT {join_any(filter(None, unwanted))})" if unwanted else f"({found})"


def join_any(matches: Iterable[str]) -> str | None:
    """The expression for texts that fulfil one of these; None if there are none."""
    joined = " OR ".join(matches)
    return f"({joined})" if joined else None


def quote_terms(sequence: TermSequence) -> str:
    """The expression for terms that follow each other."""
    terms = " ".join(sequence.terms).replace('"', "")
    return f'"{terms}"{" *" if sequence.ends_open else ""}'


def _to_condition(node: Node, ask: FieldConditions) -> Condition:
    match node:
        case And():
            return all_of([_to_condition(part, ask) for part in node.parts])
        case Or():
            return any_of([_to_condition(part, ask) for part in node.parts])
        case Not():
            return none_of(_to_condition(node.part, ask))
    match = to_match(node)
    return ask(node) if match is None else holds_words(match)
