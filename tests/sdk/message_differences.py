"""Where the official reader and ours may load different messages of a session, and why.

Each difference is data: what both do, the reason, and a step that takes it away from the two lists
of uuids. Lists that are not equal after all steps are a finding.
"""

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any, Final, NamedTuple

from tests.sdk.cases import Case


class Loaded(NamedTuple):
    """The uuids that the two readers load, in order."""

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


def _drop_copies(case: Case, loaded: Loaded) -> Loaded:
    links = case.links
    responses = {_response_of(links[uuid]) for uuid in loaded.ours} - {None}
    more = set(loaded.official) - set(loaded.ours)
    copies = {uuid for uuid in more if _response_of(links[uuid]) in responses}
    calls = {call for uuid in copies for call in _blocks_of(links[uuid], "tool_use", "id")}
    copies |= {uuid for uuid in more if calls.intersection(_answers(links[uuid]))}
    return loaded._replace(official=tuple(u for u in loaded.official if u not in copies))


def _response_of(link: dict[str, Any]) -> str | None:
    return link["message"].get("id") if link["type"] == "assistant" else None


def _answers(link: dict[str, Any]) -> list[str]:
    return _blocks_of(link, "tool_result", "tool_use_id")


def _blocks_of(link: dict[str, Any], kind: str, key: str) -> list[str]:
    """What the blocks of one kind have under `key`."""
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
        "reads on: one damaged character costs one character",
        _drop_all,
    ),
    MessageDifference(
        "skips a line that is not one JSON object",
        "salvages what is in it: two objects, or most of one",
        _drop_salvaged,
    ),
    MessageDifference(
        "leaves out what the client itself added (`isMeta`)",
        "keeps it: the model saw it, a resume loads it, and `--fork-session` copies it",
        _drop_injected,
    ),
    MessageDifference(
        "loses the messages that a partial compaction kept",
        "puts them after the summary, where the compaction says that they belong",
        _drop_preserved,
    ),
    MessageDifference(
        "adds lines from a dead branch that belong to a response with the same id",
        "adds lines only if they descend from that response: others are another copy of it",
        _drop_copies,
    ),
    MessageDifference(
        "orders the results of parallel calls by their times",
        "orders them as they were written: times are not monotonic",
        _sort_results,
    ),
)
