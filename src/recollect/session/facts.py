"""Facts about a session outside its conversation: titles, directories, modes, links, costs.

Clients append the same state again at every resume, flush and exit, so a fact is the last value, or
the list of its changes. Other modules choose the title that a listing shows.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar, cast

from msgspec import Struct, field

from recollect.records import state
from recollect.records.conversation_records import SYNTHETIC_MODEL, Assistant, User
from recollect.records.envelope import Chain, ForkedFrom, get_offset
from recollect.session.client_reports import Reports, build_reports
from recollect.session.record_texts import join_text, list_blocks

S = TypeVar("S", bound=state.State)


class StateChange(Struct, frozen=True):
    """A value and the record from which it applies; a state record has no uuid, rarely a time."""

    value: str
    uuid: str | None = None
    timestamp: str | None = None


class PullRequest(Struct, frozen=True):
    """A pull request that the session opened or works on."""

    number: int | None
    url: str
    repository: str | None


class QueueEvent(Struct, frozen=True):
    """A text was added to the prompt queue or removed from it."""

    operation: str | None
    words: str
    timestamp: str | None = None
    reason: str | None = None


class Backup(Struct, frozen=True):
    """A backup of a file before a message changed it; without a name, the file did not exist."""

    message_uuid: str | None
    path: str
    backup_name: str | None
    version: int | None


class Facts(Struct, frozen=True, kw_only=True):
    """The facts in the records of a session."""

    custom_title: str | None = None
    ai_title: str | None = None
    own_summaries: tuple[tuple[str, str], ...] = ()
    """Titles in this file, by the uuid of the record that they name, mostly of another session."""
    last_prompt: str | None = None
    tag: str | None = None
    slug: str | None = None
    agent_name: str | None = None
    agent_color: str | None = None
    agent_setting: str | None = None

    session_ids: tuple[str, ...] = ()
    """All session ids in the conversation's records, in order of appearance."""
    forked_from: ForkedFrom | None = None
    continued_in: str | None = None
    bridge_session_id: str | None = None
    team_name: str | None = None
    teammate_name: str | None = None

    cwds: tuple[StateChange, ...] = ()
    git_branches: tuple[StateChange, ...] = ()
    versions: tuple[StateChange, ...] = ()
    models: tuple[StateChange, ...] = ()
    entrypoints: tuple[StateChange, ...] = ()
    permission_modes: tuple[StateChange, ...] = ()
    mode: str | None = None
    worktrees: tuple[state.WorktreeSession | None, ...] = ()
    """Each worktree that was entered, and None each time one was left."""
    relocated_to: str | None = None

    queue_operations: tuple[QueueEvent, ...] = ()
    reports: Reports = Reports()
    pr_links: tuple[PullRequest, ...] = ()
    frame_links: tuple[state.FrameLink, ...] = ()
    file_snapshots: tuple[Backup, ...] = ()
    """Backups that differ from the file's last one; clients repeat all of them at each prompt."""
    content_replacements: dict[str, str] = field(default_factory=dict)
    """Texts that replace tool results, by the id of the call."""
    tools_used: tuple[str, ...] = ()
    cost_states: tuple[state.CostState, ...] = ()
    ended_by_model: bool = False

    @property
    def cost_state(self) -> state.CostState | None:
        """Claude Code's own last figure for the cost."""
        return self.cost_states[-1] if self.cost_states else None


class _States:
    """State records by kind, each kind in file order."""

    def __init__(self, states: Iterable[state.State]) -> None:
        self._by_kind: defaultdict[type[state.State], list[state.State]] = defaultdict(list)
        for each in states:
            self._by_kind[type(each)].append(each)

    def of(self, kind: type[S]) -> list[S]:
        return cast(list[S], self._by_kind.get(kind, []))


def build_facts(chain: Sequence[Chain], states: Sequence[state.State]) -> Facts:
    """Return the facts of the session with these records."""
    known = _States(states)
    used = known.of(state.ToolsUsed)
    return Facts(
        custom_title=_last(each.custom_title for each in known.of(state.CustomTitle)),
        ai_title=_last(each.ai_title for each in known.of(state.AiTitle)),
        own_summaries=tuple(
            (each.leaf_uuid, each.summary)
            for each in known.of(state.Summary)
            if each.leaf_uuid and each.summary
        ),
        last_prompt=_last(each.last_prompt or None for each in known.of(state.LastPrompt)),
        tag=_last(each.tag for each in known.of(state.Tag)),
        slug=next((link.slug for link in reversed(chain) if link.slug), None),
        agent_name=_last(each.agent_name for each in known.of(state.AgentName)),
        agent_color=_last(each.agent_color for each in known.of(state.AgentColor)),
        agent_setting=_last(each.agent_setting for each in known.of(state.AgentSetting)),
        session_ids=tuple(dict.fromkeys(link.session_id for link in chain if link.session_id)),
        forked_from=next((link.forked_from for link in chain if link.forked_from), None),
        continued_in=_last(each.continued_in_session_id for each in known.of(state.ContinuedIn)),
        bridge_session_id=_last(each.bridge_session_id for each in known.of(state.BridgeSession)),
        team_name=next((link.team_name for link in reversed(chain) if link.team_name), None),
        teammate_name=next((link.agent_name for link in reversed(chain) if link.agent_name), None),
        cwds=_find_changes(chain, [link.cwd for link in chain]),
        git_branches=_find_changes(chain, [link.git_branch for link in chain]),
        versions=_find_changes(chain, [link.version for link in chain]),
        models=_find_changes(chain, _list_models(chain)),
        entrypoints=_find_changes(chain, [link.entrypoint for link in chain]),
        permission_modes=_find_modes(chain, known.of(state.PermissionMode)),
        mode=_last(each.mode for each in known.of(state.Mode)),
        worktrees=_list_worktrees(known.of(state.WorktreeState)),
        relocated_to=_last(each.relocated_cwd for each in known.of(state.Relocated)),
        queue_operations=tuple(_read_operation(each) for each in known.of(state.QueueOperation)),
        reports=build_reports(chain),
        pr_links=_list_pull_requests(known.of(state.PrLink)),
        frame_links=_list_frames(known.of(state.FrameLink)),
        file_snapshots=_list_backups(states),
        content_replacements=_collect_replacements(known.of(state.ContentReplacement)),
        tools_used=used[-1].tools if used else (),
        cost_states=tuple(known.of(state.CostState)),
        ended_by_model=bool(known.of(state.EndedByModel)),
    )


def _last(values: Iterable[str | None]) -> str | None:
    """Return the last value; an empty one withdraws earlier values."""
    written = [value for value in values if value is not None]
    return written[-1] or None if written else None


def _find_changes(
    records: Sequence[Chain | state.State], values: Sequence[str | None]
) -> tuple[StateChange, ...]:
    """Return where a value differs from the one before; empty values are skipped."""
    distinct = {value for value in values if value}
    if len(distinct) == 1:
        # This is true of most sessions, and listings call this function for each of them.
        (only,) = distinct
        return (_make_change(only, records[values.index(only)]),)
    found: list[StateChange] = []
    last = None
    for value, record in zip(values, records, strict=True):
        if value and value != last:
            last = value
            found.append(_make_change(value, record))
    return tuple(found)


def _make_change(value: str, record: Chain | state.State) -> StateChange:
    return StateChange(value, record.uuid if isinstance(record, Chain) else None, record.timestamp)


def _list_models(chain: Iterable[Chain]) -> list[str | None]:
    """Return the model of each record; lines generated by the client have none."""
    models = [
        link.message.model if isinstance(link, Assistant) and link.message else None
        for link in chain
    ]
    return [None if model == SYNTHETIC_MODEL else model for model in models]


def _find_modes(
    chain: Iterable[Chain], states: Iterable[state.PermissionMode]
) -> tuple[StateChange, ...]:
    """Return the modes in file order, which needs spans; without them, states come first."""
    prompts = [link for link in chain if isinstance(link, User)]
    records: list[User | state.PermissionMode] = sorted([*states, *prompts], key=get_offset)
    return _find_changes(records, [record.permission_mode for record in records])


def _list_worktrees(
    states: Iterable[state.WorktreeState],
) -> tuple[state.WorktreeSession | None, ...]:
    """Return the moves between worktrees, assuming that the session starts outside of any."""
    found: list[state.WorktreeSession | None] = [None]
    for each in states:
        if each.worktree_session != found[-1]:
            found.append(each.worktree_session)
    return tuple(found[1:])


def _read_operation(each: state.QueueOperation) -> QueueEvent:
    words = join_text(list_blocks(each.content))
    return QueueEvent(each.operation, words, each.timestamp, each.reason)


def _list_pull_requests(states: Iterable[state.PrLink]) -> tuple[PullRequest, ...]:
    found: dict[str, PullRequest] = {}
    for each in states:
        if each.pr_url:
            pull = PullRequest(each.pr_number, each.pr_url, each.pr_repository)
            found.setdefault(each.pr_url, pull)
    return tuple(found.values())


def _list_frames(states: Iterable[state.FrameLink]) -> tuple[state.FrameLink, ...]:
    """Return the published pages, each as last described."""
    return tuple({(each.path, each.frame_url): each for each in states}.values())


def _list_backups(states: Iterable[state.State]) -> tuple[Backup, ...]:
    found: list[Backup] = []
    known: dict[str, tuple[str | None, int | None]] = {}
    for message_uuid, path, backup in _iter_backups(states):
        mark = (backup.backup_file_name, backup.version)
        if known.get(path) != mark:
            known[path] = mark
            found.append(Backup(message_uuid, path, *mark))
    return tuple(found)


def count_backups(states: Iterable[state.State]) -> dict[str, int]:
    """Return the number of files backed up at each prompt, by the prompt's record."""
    found: dict[str, set[str]] = {}
    for each in states:
        if isinstance(each, state.FileHistorySnapshot) and each.snapshot is not None:
            # An update repeats the prompt's snapshot, with later changes.
            prompt = each.snapshot.message_id or each.message_id
            paths = set(each.snapshot.tracked_file_backups)
        elif isinstance(each, state.FileHistoryDelta) and each.tracking_path:
            prompt, paths = each.snapshot_message_id, {each.tracking_path}
        else:
            continue
        if prompt and paths:
            found.setdefault(prompt, set()).update(paths)
    return {prompt: len(paths) for prompt, paths in found.items()}


def _iter_backups(
    states: Iterable[state.State],
) -> Iterator[tuple[str | None, str, state.FileBackup]]:
    for each in states:
        if isinstance(each, state.FileHistorySnapshot) and each.snapshot is not None:
            for path, backup in each.snapshot.tracked_file_backups.items():
                yield each.message_id, path, backup
        elif isinstance(each, state.FileHistoryDelta) and each.tracking_path and each.backup:
            yield each.message_id, each.tracking_path, each.backup


def _collect_replacements(states: Iterable[state.ContentReplacement]) -> dict[str, str]:
    return {
        replacement.tool_use_id: join_text(list_blocks(replacement.replacement))
        for each in states
        for replacement in each.replacements
        if replacement.tool_use_id
    }
