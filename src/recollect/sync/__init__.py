"""Update the index from transcripts. Entered through the names here.

Everything else in this package is internal; an import contract enforces that. Names are imported on
first use: a current index needs neither the reader nor the prices.
"""

from typing import TYPE_CHECKING

from recollect.lazy_names import import_on_first_use

if TYPE_CHECKING:
    from recollect.sync.cached_values import (
        OnFileRead,
        find_calls,
        find_counted,
        load_calls,
        load_figures,
        split_by_size,
    )
    from recollect.sync.figure_reading import (
        FIGURES,
        FreshOutlines,
        find_outlines,
        load_reply_notes,
        read_outlines,
    )
    from recollect.sync.index_access import (
        find_transcripts,
        has_counted_files,
        is_current,
        query_index,
    )
    from recollect.sync.message_lines import LineKey, find_key, to_micro, to_milliseconds
    from recollect.sync.session_lists import (
        find_deleted_session,
        list_current,
        list_indexed,
        list_newest,
        list_retitled,
        list_unchanged,
        list_unsaved,
        locate_indexed,
        mask_listing,
    )
    from recollect.sync.sync_engine import (
        OnProgress,
        SyncProgress,
        count_related,
        count_separately,
        sync,
        sync_in_memory,
        sync_with_parts,
    )
    from recollect.sync.text_indexer import (
        Analyzer,
        OnTextProgress,
        TextProgress,
        index_texts,
        read_fresh,
    )
    from recollect.sync.text_plan import find_text_status, is_list_file, select_indexed
    from recollect.sync.text_reading import TextPassConsumer
    from recollect.sync.usage_counting import Traits, group_copies

_MODULES = {
    "cached_values": "OnFileRead find_calls find_counted load_calls load_figures split_by_size",
    "figure_reading": "FIGURES FreshOutlines find_outlines load_reply_notes read_outlines",
    "index_access": "query_index find_transcripts has_counted_files is_current",
    "message_lines": "LineKey find_key to_micro to_milliseconds",
    "session_lists": (
        "find_deleted_session list_current list_indexed list_newest list_unchanged "
        "list_retitled list_unsaved locate_indexed mask_listing"
    ),
    "sync_engine": (
        "OnProgress SyncProgress count_related count_separately sync sync_with_parts sync_in_memory"
    ),
    "text_indexer": "Analyzer OnTextProgress TextProgress index_texts read_fresh",
    "text_plan": "find_text_status is_list_file select_indexed",
    "text_reading": "TextPassConsumer",
    "usage_counting": "Traits group_copies",
}

__all__ = [
    "FIGURES",
    "Analyzer",
    "FreshOutlines",
    "LineKey",
    "OnFileRead",
    "OnProgress",
    "OnTextProgress",
    "SyncProgress",
    "TextPassConsumer",
    "TextProgress",
    "Traits",
    "count_related",
    "count_separately",
    "find_calls",
    "find_counted",
    "find_deleted_session",
    "find_key",
    "find_outlines",
    "find_text_status",
    "find_transcripts",
    "group_copies",
    "has_counted_files",
    "index_texts",
    "is_current",
    "is_list_file",
    "list_current",
    "list_indexed",
    "list_newest",
    "list_retitled",
    "list_unchanged",
    "list_unsaved",
    "load_calls",
    "load_figures",
    "load_reply_notes",
    "locate_indexed",
    "mask_listing",
    "query_index",
    "read_fresh",
    "read_outlines",
    "select_indexed",
    "split_by_size",
    "sync",
    "sync_in_memory",
    "sync_with_parts",
    "to_micro",
    "to_milliseconds",
]

__getattr__ = import_on_first_use(globals(), _MODULES)
