"""Full-text search: the query language, and the analysis of text into terms for any script.

Names are imported on first use: `recollect index` needs only the version of the analyzer.
"""

from typing import TYPE_CHECKING, Final

from recollect.lazy_names import import_on_first_use

if TYPE_CHECKING:
    from recollect.documents.search_results import Snippet
    from recollect.search.query_parser import QueryError, parse_query
    from recollect.search.query_tree import Query
    from recollect.search.snippets import find_spans, make_snippet
    from recollect.search.terms import (
        TOKENIZER,
        TermSequence,
        iter_terms,
        prepare_for_index,
        query_terms,
    )

ANALYZER_VERSION: Final = "4"
"""Must change whenever the terms of a text change: an index of another version is rebuilt."""

_MODULES = {
    "query_parser": "QueryError parse_query",
    "query_tree": "Query",
    "snippets": "Snippet find_spans make_snippet",
    "terms": "TOKENIZER TermSequence iter_terms prepare_for_index query_terms",
}

__all__ = [
    "ANALYZER_VERSION",
    "TOKENIZER",
    "Query",
    "QueryError",
    "Snippet",
    "TermSequence",
    "find_spans",
    "iter_terms",
    "make_snippet",
    "parse_query",
    "prepare_for_index",
    "query_terms",
]

__getattr__ = import_on_first_use(globals(), _MODULES)
