"""Compare rebuilt versions and blame with the known truth of a made-up client."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from recollect.library.opening import open_transcript
from recollect.locations import TranscriptKind, discover_root
from recollect.versions.evidence import Cause, Change, Evidence, Origin, Rename, Window
from recollect.versions.file_history import merge_sessions
from recollect.versions.file_texts import fits_window
from recollect.versions.line_authors import Author, AuthorKind, find_authors
from recollect.versions.recorded_evidence import BackupDirectory
from recollect.versions.replay import Replay, Version, VersionKind, predict, replay
from recollect.versions.session_evidence import collect_evidence
from tests.versions import ground_truth
from tests.versions.ground_truth import BOILERPLATE, Client, File, Truth


class Verdict(NamedTuple):
    """Numbers of right and wrong versions, by grade."""

    right: Counter[str]
    wrong: Counter[str]
    wrong_versions: list[Version]


class Shares(NamedTuple):
    """Shares of lines that are right, and numbers of lines that are wrong and not just unknown."""

    all: float
    touched: float
    false_prompts: int
    false_unique: int
    """Unique lines that were given to a wrong prompt."""
    wrong_unique: int
    """Those, and the ones that were called older than they are, or from outside."""


def read_everything(root: Path) -> list[Evidence]:
    """Return the evidence of all sessions in a Claude directory."""
    backups = BackupDirectory(root)
    sessions = [
        collect_evidence(open_transcript(each), backups)
        for each in discover_root(root).transcripts
        if each.kind is TranscriptKind.SESSION
    ]
    return merge_sessions(sessions)


def replay_everything(
    client: Client, evidence: Sequence[Evidence], bases: dict[str, str] | None = None
) -> dict[str, Replay]:
    """The versions of every file that is named, and of every one that was moved."""
    known = {each.path for each in evidence if not isinstance(each, Cause | Rename)}
    renamed = {each.path for each in evidence if isinstance(each, Rename)}
    paths = sorted(known | (renamed & client.files.keys()))

    def find_base(change: Change, windows: Sequence[Window]) -> str | None:
        base = (bases or {}).get(change.path)
        is_fitting = base is not None and predict(base, change) is not None
        fits = is_fitting and all(
            fits_window(base or "", each.start, each.lines, each.total) for each in windows
        )
        return base if fits else None

    return {path: replay(path, evidence, find_base) for path in paths}


def judge_versions(truth: Truth, replays: dict[str, Replay]) -> Verdict:
    """Compare every version with what the file contained at that moment."""
    right, wrong, wrong_versions = Counter[str](), Counter[str](), []
    for path, found in replays.items():
        for version in found.versions:
            is_unknown = version.text is None and version.kind is not VersionKind.DELETED
            if is_unknown or version.text == _find_truth(truth, path, version):
                right[version.known] += 1
            else:
                wrong[version.known] += 1
                wrong_versions.append(version)
    return Verdict(right, wrong, wrong_versions)


def _find_truth(truth: Truth, path: str, version: Version) -> str | None:
    origin = version.origin
    if origin.call_id:
        texts = truth.before if version.change is None else truth.after
        return texts[origin.call_id]
    uuid = origin.uuid or ""
    for name in _iter_names(truth, path):
        if (uuid, name) in truth.at_touch:
            return truth.at_touch[uuid, name]
    if uuid not in truth.at_prompt:
        return None
    place = list(truth.at_prompt).index(uuid)
    return truth.at_prompt[uuid].get(next(_iter_names(truth, path, place)))


def _iter_names(truth: Truth, path: str, prompt: int = 0) -> Iterator[str]:
    """The name that a file had at a prompt, and those before."""
    name = path
    while name in truth.names and prompt < truth.names[name].prompts:
        if not prompt:
            yield name
        name = truth.names[name].path
    yield name


def judge_blame(
    client: Client, replays: dict[str, Replay], bases: dict[str, str] | None = None
) -> Shares:
    """Compare the author of every line of the final files with the truth."""
    found: dict[str, Sequence[Author]] = {}
    for path, file in client.files.items():
        versions = replays[path].versions if path in replays else ()
        base = (bases or {}).get(path)
        if versions or base is not None:
            found[path] = find_authors(versions, file.text, base)
    return judge_authors(client.files, found, lambda each: f"{each.session_id}:{each.turn}")


def judge_authors(
    files: Mapping[str, File],
    found: Mapping[str, Sequence[Author]],
    label: Callable[[Origin], str],
) -> Shares:
    """Compare the authors that were found with the true ones; `label` names that of a change."""
    counts = Counter[str]()
    for path, authors in found.items():
        file = files[path]
        for line, true, author in zip(file.lines, file.authors, authors, strict=True):
            name = _name_author(author, label)
            counts["all"] += 1
            counts["right"] += name == true
            if true != ground_truth.BASE:
                counts["touched"] += 1
                counts["touched right"] += name == true
            if name != true and author.kind is AuthorKind.CLAUDE:
                counts["false"] += 1
                counts["false unique"] += line not in BOILERPLATE
            if name not in (true, "unknown"):
                counts["wrong unique"] += line not in BOILERPLATE
    return Shares(
        counts["right"] / counts["all"],
        counts["touched right"] / counts["touched"],
        counts["false"],
        counts["false unique"],
        counts["wrong unique"],
    )


def _name_author(author: Author, label: Callable[[Origin], str]) -> str:
    match author.kind:
        case AuthorKind.CLAUDE if author.version:
            return label(author.version.origin)
        case AuthorKind.BEFORE:
            return ground_truth.BASE
        case AuthorKind.OUTSIDE:
            return ground_truth.OUTSIDE
    return "unknown"
