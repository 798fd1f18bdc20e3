"""Updates the index from transcripts. Entered through the names here and one module.

`searchable_texts` lists the texts of a record, which a follower matches without an index.
Everything else in this package is its own affair; an import contract holds that. Names are imported
on first use: a current index needs neither the reader nor the prices.
"""

from typing import TYPE_CHECKING

from recollect.lazy_names import import_on_first_use

if TYPE_CHECKING:
    from recollect.sync.cached_values import OnFileRead, find_counted, load_calls, load_figures
    from recollect.sync.counting import Traits, group_copies
    from recollect.sync.edit_outlines import FreshOutlines, find_outlines, read_outlines
    from recollect.sync.figure_reading import FIGURES
    from recollect.sync.index_access import ask_index, find_transcripts, is_current
    from recollect.sync.ledger_writer import count_apart
    from recollect.sync.list_files import ListFile, is_list_file, with_lists
    from recollect.sync.message_lines import LineKey, find_key, to_micro, to_milliseconds
    from recollect.sync.reply_notes import load_reply_notes
    from recollect.sync.session_lists import (
        find_gone,
        list_current,
        list_indexed,
        list_retitled,
        list_unsaved,
        locate_indexed,
    )
    from recollect.sync.sync_engine import OnProgress, SyncProgress, sync, sync_in_memory
    from recollect.sync.text_indexer import (
        NO_FRESH_TEXTS,
        Analyzer,
        TextWatch,
        find_text_status,
        index_texts,
        read_fresh,
    )
    from recollect.sync.text_reading import TextPassConsumer
    from recollect.sync.workers import end_with_parent, uninterrupted

_MODULES = {
    "cached_values": "OnFileRead find_counted load_calls load_figures",
    "counting": "Traits group_copies",
    "edit_outlines": "FreshOutlines find_outlines read_outlines",
    "figure_reading": "FIGURES",
    "index_access": "ask_index find_transcripts is_current",
    "list_files": "ListFile is_list_file with_lists",
    "ledger_writer": "count_apart",
    "message_lines": "LineKey find_key to_micro to_milliseconds",
    "reply_notes": "load_reply_notes",
    "session_lists": (
        "find_gone list_current list_indexed list_retitled list_unsaved locate_indexed"
    ),
    "sync_engine": "OnProgress SyncProgress sync sync_in_memory",
    "text_indexer": "Analyzer NO_FRESH_TEXTS TextWatch find_text_status index_texts read_fresh",
    "text_reading": "TextPassConsumer",
    "workers": "end_with_parent uninterrupted",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = [
    "FIGURES",
    "NO_FRESH_TEXTS",
    "Analyzer",
    "FreshOutlines",
    "LineKey",
    "ListFile",
    "OnFileRead",
    "OnProgress",
    "SyncProgress",
    "TextPassConsumer",
    "TextWatch",
    "Traits",
    "ask_index",
    "count_apart",
    "end_with_parent",
    "find_counted",
    "find_gone",
    "find_key",
    "find_outlines",
    "find_text_status",
    "find_transcripts",
    "group_copies",
    "index_texts",
    "is_current",
    "is_list_file",
    "list_current",
    "list_indexed",
    "list_retitled",
    "list_unsaved",
    "load_calls",
    "load_figures",
    "load_reply_notes",
    "locate_indexed",
    "read_fresh",
    "read_outlines",
    "sync",
    "sync_in_memory",
    "to_micro",
    "to_milliseconds",
    "uninterrupted",
    "with_lists",
]

__getattr__ = import_on_first_use(globals(), _MODULE_OF)
