"""Known differences between the messages that the official reader and ours load, with reasons.

Each difference is data: what both do, the reason, and a step that takes it away from the two lists
of uuids. Lists that are not equal after all steps are a finding.
"""

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any, Final, NamedTuple

from tests.sdk.cases import Case


class Loaded(NamedTuple):
    """The uuids that both readers load, in order."""

    official: tuple[str, ...]
    ours: tuple[str, ...]


class MessageDifference(NamedTuple):
    """One kind of difference."""

    official: str
    ours: str
    take_away: Callable[[Case, Loaded], Loaded]
    field: str = "messages"


def _drop_all(case: Case, loaded: Loaded) -> Loaded:
    return loaded if case.official.failure is None else Loaded((), ())


def _drop_salvaged(case: Case, loaded: Loaded) -> Loaded:
    return _drop_ours(loaded, (uuid for uuid in loaded.ours if uuid not in case.links))


def _drop_injected(case: Case, loaded: Loaded) -> Loaded:
    links = case.links
    return _drop_ours(loaded, (uuid for uuid in loaded.ours if links[uuid].get("isMeta")))


def _drop_preserved(case: Case, loaded: Loaded) -> Loaded:
    kept = [
        link["compactMetadata"].get("preservedMessages", {}).get("uuids", ())
        for link in case.links.values()
        if link.get("compactMetadata")
    ]
    return _drop_ours(loaded, (uuid for uuids in kept for uuid in uuids))


def _drop_ours(loaded: Loaded, uuids: Iterable[str]) -> Loaded:
    dropped = set(uuids) - set(loaded.official)
    return loaded._replace(ours=tuple(uuid for uuid in loaded.ours if uuid not in dropped))


def _name_by_original(case: Case, loaded: Loaded) -> Loaded:
    """Give a repeated line the uuid of the first one, if both have the same time."""
    links = case.links
    original = {
        again: first
        for again, first in case.session.copies.items()
        if _when(links[again]) == _when(links[first])
    }
    if original.keys().isdisjoint(loaded.official):
        return loaded
    # The official reader puts other lines of the first copy of a reply after the second copy.
    named = dict.fromkeys(original.get(uuid, uuid) for uuid in reversed(loaded.official))
    return loaded._replace(official=tuple(reversed(named)))


def _when(link: dict[str, Any]) -> tuple[str, str | None]:
    return link["type"], link.get("timestamp")


def _answers(link: dict[str, Any]) -> list[str]:
    return _blocks_of(link, "tool_result", "tool_use_id")


def _blocks_of(link: dict[str, Any], kind: str, key: str) -> list[str]:
    """Return the values of `key` in blocks of one type."""
    content = link["message"].get("content")
    blocks = content if isinstance(content, list) else []
    return [block[key] for block in blocks if isinstance(block, dict) and block["type"] == kind]


def _sort_results(case: Case, loaded: Loaded) -> Loaded:
    links = case.links

    def sort(uuids: tuple[str, ...]) -> tuple[str, ...]:
        runs = groupby(uuids, key=lambda uuid: bool(_answers(links[uuid])))
        return tuple(u for is_result, run in runs for u in (sorted(run) if is_result else run))

    return Loaded(sort(loaded.official), sort(loaded.ours))


MESSAGE_DIFFERENCES: Final = (
    MessageDifference(
        "fails on a file with invalid UTF-8, or with very deep nesting",
        "continues: a damaged byte affects only one character",
        _drop_all,
    ),
    MessageDifference(
        "skips a line that is not one JSON object",
        "salvages its content: two objects, or most of one",
        _drop_salvaged,
    ),
    MessageDifference(
        "leaves out text that the client added (`isMeta`)",
        "keeps it: the model saw it, a resume loads it, and `--fork-session` copies it",
        _drop_injected,
    ),
    MessageDifference(
        "loses the messages that a partial compaction kept",
        "puts them after the summary, as the compaction specifies",
        _drop_preserved,
    ),
    MessageDifference(
        "loads repeated lines under their second uuid, and replies twice",
        "loads them once, under their first uuid",
        _name_by_original,
    ),
    MessageDifference(
        "orders the results of parallel calls by time",
        "keeps the order of the file, because times are not monotonic",
        _sort_results,
    ),
)
