"""The files beside a session: plan, tasks, todo lists, workflows, typed prompts, large outputs.

Reads the files that `recollect.locations` finds, each up to a limit. Missing, damaged and too large
files are left out: a session is complete without them.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, TypeVar

from msgspec import Raw, Struct, structs

from recollect.errors import NothingFound, UnreadableInput
from recollect.library.processes import read_head, read_small
from recollect.locations import Transcript, discover, sidecars
from recollect.locations.claude_directories import decode_id
from recollect.reader.line_blocks import NOWHERE, iter_blocks, mask_line, mask_text
from recollect.records.decoding import decode_value
from recollect.records.tools.planning_tools import Task, Todo
from recollect.session.session import Session
from recollect.session.tool_calls import ToolCall
from recollect.sources.safe_files import open_file

MAX_OUTPUT: Final = 64 * 1024 * 1024
"""Default for the maximum size of a large output in bytes."""

_MAX_SIDECAR: Final = 16 * 1024 * 1024

T = TypeVar("T")


class TodoFile(Struct, frozen=True):
    """The last todo list of the session, or of one of its agents."""

    agent_id: str
    todos: tuple[Todo, ...]


class WorkflowFile(Struct, frozen=True):
    """The state of a workflow run, as written by the client."""

    run_id: str
    snapshot: Raw


_CLEAR = b"/clear"


class TypedPrompt(Struct, frozen=True, kw_only=True, rename="camel"):
    """A line of the prompt history: the typed text, without contexts."""

    display: str = ""
    timestamp: float | None = None
    """In milliseconds since 1970, unlike the times in transcripts."""
    project: str | None = None
    session_id: str | None = None
    pasted_contents: Raw = Raw()


class SessionSidecars(Struct, frozen=True, kw_only=True):
    """The content of the files beside a session."""

    plan: str | None = None
    tasks: tuple[Task, ...] = ()
    todos: tuple[TodoFile, ...] = ()
    workflows: tuple[WorkflowFile, ...] = ()
    prompts: tuple[TypedPrompt, ...] = ()


def load_sidecars(session: Session) -> SessionSidecars:
    """Load the files beside an open session; empty if it does not come from a file."""
    transcript = _locate(session)
    if transcript is None:
        return SessionSidecars()
    lists = load_lists(transcript, slug=session.contents.facts.slug)
    return structs.replace(lists, prompts=tuple(_iter_prompts(transcript)))


def load_lists(transcript: Transcript, *, slug: str | None = None) -> SessionSidecars:
    """Return the sidecars without typed prompts, whose file is large and shared by all sessions.

    The plan is found only if the session's `slug` is known.
    """
    found = sidecars.list_session_sidecars(transcript, slug=slug).found
    plans = [
        mask_text(str(path), _text(data))
        for path, data in _iter_files(found, sidecars.SidecarKind.PLAN)
    ]
    return SessionSidecars(
        plan=plans[0] if plans else None,
        tasks=tuple(sorted(_iter_values(found, sidecars.SidecarKind.TASK, Task), key=_number_of)),
        todos=tuple(_iter_todos(found)),
        workflows=tuple(
            WorkflowFile(path.stem, snapshot)
            for path, data in _iter_files(found, sidecars.SidecarKind.WORKFLOW_SNAPSHOT)
            if (snapshot := decode_value(_mask_value(path, data), Raw)) is not None
        ),
    )


def load_session_lists(session: Session) -> SessionSidecars:
    """Return the todo lists, tasks and plan beside an opened session."""
    transcript = _locate(session)
    if transcript is None:
        return SessionSidecars()
    return load_lists(transcript, slug=session.contents.facts.slug)


def read_spilled_output(session: Session, call: ToolCall, *, limit: int = MAX_OUTPUT) -> str | None:
    """Return the whole output of a call that was too large for the transcript, up to `limit` bytes.

    None if it was not too large or the file was deleted; `call.spilled.preview` is still available
    then.
    """
    spilled, transcript = call.spilled, _locate(session)
    if spilled is None or transcript is None:
        return None
    path = sidecars.resolve_tool_result(transcript, spilled.recorded_path)
    data = read_head(path, limit) if path else None
    return None if data is None else mask_text(str(path), _text(data))


def _locate(session: Session) -> Transcript | None:
    path = session.contents.metadata.path
    try:
        return discover(Path(path)).transcripts[0] if path else None
    except (NothingFound, UnreadableInput):
        # The file was deleted after it was opened.
        return None


def _iter_files(
    found: Iterable[sidecars.Sidecar], kind: sidecars.SidecarKind
) -> Iterator[tuple[Path, bytes]]:
    for sidecar in found:
        data = read_small(sidecar.path, _MAX_SIDECAR) if sidecar.kind is kind else None
        if data is not None:
            yield sidecar.path, data


def _iter_values(
    found: Iterable[sidecars.Sidecar], kind: sidecars.SidecarKind, wanted: type[T]
) -> Iterator[T]:
    for path, data in _iter_files(found, kind):
        value = decode_value(_mask_value(path, data), wanted)
        if value is not None:
            yield value


def _iter_todos(found: Iterable[sidecars.Sidecar]) -> Iterator[TodoFile]:
    for path, data in _iter_files(found, sidecars.SidecarKind.TODO):
        todos = decode_value(_mask_value(path, data), tuple[Todo, ...])
        if todos:
            yield TodoFile(path.stem.partition("-agent-")[2], todos)


def _mask_value(path: Path, data: bytes) -> bytes:
    """Return a JSON value, masked; it may have several lines."""
    return mask_line(str(path), NOWHERE, data.replace(b"\n", b" "))


def _number_of(task: Task) -> tuple[int, str]:
    return (int(task.id), "") if task.id.isdecimal() else (0, task.id)


def _iter_prompts(transcript: Transcript) -> Iterator[TypedPrompt]:
    root = transcript.root
    if root is None or transcript.session_id is None:
        return
    session_id = decode_id(transcript.session_id)
    wanted = session_id.encode("utf-8", "replace")
    for typed in _iter_typed(root, wanted):
        if typed.session_id == session_id:
            yield typed


def load_clears(roots: Iterable[Path]) -> list[TypedPrompt]:
    """Return every `/clear` in the prompt histories of Claude directories that names its session.

    The client then continues in a new session, which does not name the previous one; only the
    history has both. Clients before 2.0 wrote no session ids.
    """
    found = (typed for root in roots for typed in _iter_typed(root, _CLEAR))
    return [each for each in found if each.session_id and each.display.strip() == "/clear"]


def _iter_typed(root: Path, mark: bytes) -> Iterator[TypedPrompt]:
    """Yield the prompts in the history of a Claude directory whose lines contain `mark`."""
    path = sidecars.find_history(root)
    if path is None:
        return
    for line in _iter_lines(path):
        # One line in thousands has it, and decoding is slower than searching.
        typed = decode_value(_mask_value(path, line), TypedPrompt) if mark in line else None
        if typed is not None:
            yield typed


def _iter_lines(path: Path) -> Iterator[bytes]:
    try:
        with open_file(path) as file:
            for block in iter_blocks(file):
                yield from block.data.split(b"\n")
    except UnreadableInput:
        return


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
