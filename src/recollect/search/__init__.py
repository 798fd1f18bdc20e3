"""Search: one query language for every surface, and the terms that make all scripts findable."""

from recollect.search.query import parse_query
from recollect.search.query_error import QueryError
from recollect.search.snippets import Snippet, make_snippet
from recollect.search.spans import find_spans
from recollect.search.terms import (
    TOKENIZER,
    TermSequence,
    iter_terms,
    prepare_for_index,
    query_terms,
)
from recollect.search.tree import Query

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
