"""How all hits of a query are spread over projects, roles, tools, errors, models and months.

Each value comes with what to add to the query to find only its hits, so that a page needs to know
nothing about fields.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from recollect.documents.search_results import Facet, FacetValue
from recollect.search.query_plan import ROLES
from recollect.search.query_tree import FieldTerm, TextField
from recollect.store.text_queries import TextCounts

MAX_VALUES: Final = 8
_DAY: Final = 86_400


def make_facets(counts: TextCounts, names: Mapping[int, str]) -> tuple[Facet, ...]:
    """Return the facets that have values; `names` are those of the index, by number."""
    facets = (
        Facet("project", _list_named("project", counts.cwd, names)),
        Facet("role", tuple(_list_roles(counts.part))),
        Facet("tool", _list_named("tool", counts.tool, names)),
        Facet("error", tuple(_list_errors(counts.is_error))),
        Facet("model", _list_named("model", counts.model, names)),
        Facet("date", tuple(_list_months(counts.day))),
    )
    return tuple(facet for facet in facets if facet.values)


def _list_named(
    field: TextField, counts: Counter[int | None], names: Mapping[int, str]
) -> tuple[FacetValue, ...]:
    named = ((names.get(number or 0), count) for number, count in counts.most_common())
    known = [(name, count) for name, count in named if name]
    return tuple(_make(field, name, count) for name, count in known[:MAX_VALUES])


def _make(field: TextField, value: str, count: int) -> FacetValue:
    return FacetValue(value, count, str(FieldTerm(field, value)))


def _list_roles(counts: Counter[int | None]) -> Iterable[FacetValue]:
    found = {role: sum(counts[part] for part in parts) for role, parts in ROLES.items()}
    ordered = sorted(found.items(), key=lambda item: -item[1])
    return (_make("role", role, count) for role, count in ordered if count)


def _list_errors(counts: Counter[int | None]) -> Iterable[FacetValue]:
    return [_make("is", "error", counts[1])] if counts[1] else []


def _list_months(days: Counter[int | None]) -> Iterator[FacetValue]:
    """Iterate over the months with hits, the newest first."""
    months: Counter[str] = Counter()
    for day, count in days.items():
        if day:
            months[_name_month(day)] += count
    for month in sorted(months, reverse=True)[:MAX_VALUES]:
        yield FacetValue(month, months[month], f"since:{month} until:{month}")


def _name_month(day: int) -> str:
    try:
        return datetime.fromtimestamp(day * _DAY, UTC).strftime("%Y-%m")
    except (ValueError, OverflowError, OSError):
        return "9999-12"
