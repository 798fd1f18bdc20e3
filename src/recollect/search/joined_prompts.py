"""Drop queued prompts that the client later joined into one prompt.

A client may join several queued prompts into one record. The index recognises a queue record that
became a prompt of its own, but not these, since the prompt contains other text as well.
"""

from collections.abc import Iterable, Sequence

from recollect.search.query_plan import TextReader
from recollect.session.queue import find_joined, split_prompts
from recollect.store import TextKind
from recollect.store.text_queries import FoundText, TextQueries


def drop_joined(
    texts: Sequence[FoundText], queries: TextQueries, reader: TextReader
) -> Sequence[FoundText]:
    """Return `texts` without queued prompts that are part of a later prompt."""
    queued = [text for text in texts if text.part == TextKind.QUEUED]
    if not queued:
        return texts
    files = {text.file_id for text in queued}
    joined = set[int]().union(*(_find_joined(each, queries, reader) for each in files))
    return [text for text in texts if text.id not in joined]


def _find_joined(file_id: int, queries: TextQueries, reader: TextReader) -> Iterable[int]:
    """Return the ids of the queued prompts of a file that were joined."""
    waiting: dict[str, list[int]] = {}
    joined: list[int] = []
    for text in queries.list_in_file(file_id, (TextKind.QUEUED, TextKind.PROMPT)):
        content = (reader.read(file_id, text.position, text.length, text.number) or "").strip()
        if text.part == TextKind.QUEUED:
            waiting.setdefault(content, []).append(text.id)
        elif waiting:
            for each in find_joined(content, waiting, split_prompts(waiting)):
                joined += waiting.pop(each)
    return joined
