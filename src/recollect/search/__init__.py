"""Full-text search: the query language, and the analysis of text into terms for any script."""

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

__all__ = [
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
