"""Known differences between the official list and ours, with reasons.

Each difference is data: what both readers do, the reason, and a check that recognises it in the
lines of the file. A difference that no check recognises fails the tests.
"""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Final, NamedTuple

from recollect.session.times import parse_time
from tests.sdk.cases import CHAIN_TYPES, Case

HEAD: Final = 64 * 1024
"""Bytes at both ends of a file that the official list reads."""

Value = str | float | None


class ListedDifference(NamedTuple):
    """One kind of difference in one field."""

    field: str
    official: str
    ours: str
    explains: Callable[[Case], bool]


class Field(NamedTuple):
    """The values of a field by both readers."""

    official: Callable[[Case], Value]
    ours: Callable[[Case], Value]


def _modified(case: Case) -> int | None:
    seconds = case.session.metadata.modified
    return None if seconds is None else int(seconds)


def _created(case: Case) -> float | None:
    return _seconds(case.session.metadata.created)


def _seconds(text: object) -> float | None:
    """Parse a timestamp to whole milliseconds."""
    moment: datetime | None = parse_time(text) if isinstance(text, str) else None
    return None if moment is None else int(moment.timestamp() * 1000) / 1000


FIELDS: Final = {
    "listed": Field(lambda case: case.official.listed is not None, lambda case: case.is_listed),
    "title": Field(lambda case: case.listed.title, lambda case: case.session.metadata.title),
    "first prompt": Field(
        lambda case: case.listed.first_prompt, lambda case: case.session.metadata.first_prompt
    ),
    "working directory": Field(
        lambda case: case.listed.cwd, lambda case: case.session.metadata.cwd
    ),
    "git branch": Field(
        lambda case: case.listed.git_branch, lambda case: case.session.metadata.git_branch
    ),
    "tag": Field(lambda case: case.listed.tag, lambda case: case.session.metadata.tag),
    "size": Field(lambda case: case.listed.size, lambda case: case.session.metadata.size),
    "modified": Field(lambda case: case.listed.modified, _modified),
    "created": Field(lambda case: case.listed.created, _created),
}


def _has_no_conversation(case: Case) -> bool:
    return case.official.listed is not None and not case.links


def _asks_nothing(case: Case) -> bool:
    asked = [line.value for line in case.lines if line.value.get("type") == "user"]
    return case.is_listed and not any(map(_words, asked))


def _follows_our_rule(case: Case) -> bool:
    """Return whether our title follows the rule for titles, judging by the lines alone."""
    ours = case.session.metadata
    named = [case.names[uuid] for uuid in case.links if uuid in case.names]
    last = _find_all(case, "last-prompt", "lastPrompt")[-1:]
    custom = _find_all(case, "custom-title", "customTitle")[-1:]
    made = _find_all(case, "ai-title", "aiTitle")[-1:]
    given = custom or made or named or last
    return ours.title in given if given else ours.title == ours.first_prompt


def _find_all(case: Case, kind: str, key: str) -> list[str]:
    lines = [line.value for line in case.lines if line.value.get("type") == kind]
    return [line[key] for line in lines if line.get(key)]


def _names_another_session(case: Case) -> bool:
    return _follows_our_rule(case) and any(
        line.value.get("summary") == case.listed.title
        and line.value.get("leafUuid") not in case.links
        for line in case.lines
        if line.value.get("type") == "summary"
    )


def _is_named_elsewhere(case: Case) -> bool:
    given = {name for uuid, name in case.names.items() if uuid in case.links}
    return _follows_our_rule(case) and bool(given) and case.listed.title not in given


def _falls_back_to_prompt(case: Case) -> bool:
    ours = case.session.metadata
    return (case.listed.title, ours.title) == (case.listed.first_prompt, ours.first_prompt)


def _is_bare_command(case: Case) -> bool:
    """Return whether our title is a command without arguments and the start of a reply."""
    command, _, answer = (case.session.metadata.title or "").partition(": ")
    replies = [line.value for line in case.lines if line.value.get("type") == "assistant"]
    is_bare = command == case.session.metadata.first_prompt and " " not in command
    return is_bare and bool(answer) and any(answer in _words(reply) for reply in replies)


def _is_put_on_a_line(case: Case) -> bool:
    text = (case.session.metadata.first_prompt or "").replace("\n", " ").strip()
    return case.listed.first_prompt == (text if len(text) <= 200 else text[:200].rstrip() + "…")


def _lacks_arguments(case: Case) -> bool:
    words = case.session.metadata.first_prompt or ""
    return words.startswith("/") and words.partition(" ")[0] == case.listed.first_prompt


def _is_markup(case: Case) -> bool:
    marks = ("<bash-input>", "<local-command-stderr>")
    return _is_asked(case) and (case.listed.first_prompt or "").startswith(marks)


def _is_asked(case: Case) -> bool:
    """Return whether our first prompt, or a command with its arguments, is a user's line."""
    parts = (case.session.metadata.first_prompt or "").split()
    asked = [
        _words(link)
        for link in case.links.values()
        if link["type"] == "user" and not link.get("isSidechain") and not link.get("isMeta")
    ]
    return bool(parts) and any(all(part in words for part in parts) for words in asked)


def _is_task_of_subagent(case: Case) -> bool:
    start = (case.listed.first_prompt or "").removesuffix("…")
    tasks = [link for link in case.links.values() if link.get("isSidechain")]
    return _is_asked(case) and any(
        _words(link).replace("\n", " ").startswith(start) for link in tasks
    )


def _has_half_a_character(case: Case) -> bool:
    text = case.listed.first_prompt or ""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text != whole == case.session.metadata.first_prompt


def _stands_behind_the_head(case: Case) -> bool:
    words = case.session.metadata.first_prompt
    holders = [line for line in case.lines if words and _words(line.value) == words]
    return bool(holders) and holders[0].end > HEAD


def _was_queued(case: Case) -> bool:
    queued = _find_all(case, "queue-operation", "content")
    return case.session.metadata.first_prompt in queued


def _words(link: dict[str, object]) -> str:
    message = link.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    texts = [block.get("text") for block in content or () if isinstance(block, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _went_elsewhere(case: Case) -> bool:
    places = [link["cwd"] for link in case.links.values() if link.get("cwd")]
    return (case.listed.cwd, case.session.metadata.cwd) == (places[0], places[-1])


def _times(case: Case) -> list[float]:
    times = [_seconds(link.get("timestamp")) for link in case.links.values()]
    return [moment for moment in times if moment is not None]


def _is_no_time_of_conversation(case: Case) -> bool:
    dated = [line.value for line in case.lines if '"timestamp"' in json.dumps(line.value)]
    earliest = min(_times(case), default=None)
    return dated[0].get("type") not in CHAIN_TYPES and _created(case) == earliest


def _is_not_the_earliest(case: Case) -> bool:
    times = _times(case)
    return (case.listed.created, _created(case)) == (times[0], min(times))


LISTED_DIFFERENCES: Final = (
    ListedDifference(
        "listed",
        "lists a file with only titles of other sessions, under one of them",
        "leaves it out: it has no conversation",
        _has_no_conversation,
    ),
    ListedDifference(
        "listed",
        "leaves out a session in which it finds neither a title nor a prompt",
        "lists it: it exists, the user may look for it, and its prompt may be on a damaged line",
        _asks_nothing,
    ),
    ListedDifference(
        "title",
        "takes any `summary` in the file",
        "ignores titles of other sessions, which clients 1.0.x wrote there",
        _names_another_session,
    ),
    ListedDifference(
        "title",
        "does not look at other files",
        "finds the `summary` for a record of the session in any file of the project",
        _is_named_elsewhere,
    ),
    ListedDifference(
        "title",
        "shows the first prompt",
        "does the same; the first prompts differ as below",
        _falls_back_to_prompt,
    ),
    ListedDifference(
        "title",
        "shows a command without arguments unchanged",
        "adds the start of the reply, because many sessions start with the same command",
        _is_bare_command,
    ),
    ListedDifference(
        "first prompt",
        "puts it on one line and cuts it at 200 characters",
        "returns all of it; lists cut it to their width",
        _is_put_on_a_line,
    ),
    ListedDifference(
        "first prompt",
        "shows a command without its arguments",
        "shows the arguments, which distinguish calls of one command",
        _lacks_arguments,
    ),
    ListedDifference(
        "first prompt",
        "treats a `!` line or the error of a command as a prompt, including its tags",
        "uses the first text meant for the model",
        _is_markup,
    ),
    ListedDifference(
        "first prompt",
        "uses the task of a subagent, which old clients wrote into the same file",
        "uses the user's prompt",
        _is_task_of_subagent,
    ),
    ListedDifference(
        "first prompt",
        "misses a prompt that ends after the first 64 KB",
        "continues to read until it finds one",
        _stands_behind_the_head,
    ),
    ListedDifference(
        "first prompt",
        "misses a prompt that was sent while Claude was working",
        "uses the first prompt of the user, queued or not",
        _was_queued,
    ),
    ListedDifference(
        "first prompt",
        "returns unpaired surrogates, which cannot be printed or written",
        "replaces it by U+FFFD",
        _has_half_a_character,
    ),
    ListedDifference(
        "working directory",
        "shows where the session started",
        "shows the last one, as both do for the branch: that is where it continues",
        _went_elsewhere,
    ),
    ListedDifference(
        "created",
        "uses the first time in the file, even of a queue entry or a snapshot",
        "uses only times of the conversation; a file without one has none",
        _is_no_time_of_conversation,
    ),
    ListedDifference(
        "created",
        "uses the time of the first record",
        "uses the earliest, because records are not in order of time",
        _is_not_the_earliest,
    ),
)
